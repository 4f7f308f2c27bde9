"""What a probe is compared with: the majority class, the most frequent tag of a word, and labels drawn by word type."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...corpus import Units
from .tasks import Task

IntArray = NDArray[np.int64]


def majority(task: Task) -> int:
    """The class with the most rows in train; of several the first."""
    return int(task.counts.argmax())


def words_of(units: Mapping[str, Units], task: Task) -> dict[str, list[str]]:
    """The word of each row that has a label, by split."""
    return {
        split: [texts[i] for i in task.rows[split]]
        for split, texts in ((name, some.texts) for name, some in units.items())
    }


def most_frequent(task: Task, words: Mapping[str, Sequence[str]]) -> dict[str, IntArray]:
    """For each row the class that its word has most often in train; else the majority class."""
    counts: dict[str, Counter[int]] = {}
    for word, label in zip(words["train"], task.target["train"].tolist(), strict=True):
        counts.setdefault(word, Counter())[label] += 1
    best = {word: min(c, key=lambda k: (-c[k], k)) for word, c in counts.items()}
    other = majority(task)
    return {
        split: np.array([best.get(word, other) for word in mine], np.int64)
        for split, mine in words.items()
    }


def unseen_words(words: Mapping[str, Sequence[str]]) -> dict[str, NDArray[np.bool_]]:
    """Which rows are of a word that train has not."""
    train = set(words["train"])
    return {
        split: np.array([word not in train for word in mine], bool) for split, mine in words.items()
    }


def control_task(task: Task, words: Mapping[str, Sequence[str]], seed: int) -> Task:
    """The control task (Hewitt & Liang 2019): each word type has one class, drawn from the distribution of the tags.

    What is drawn depends on the word, the name of the task and the seed alone.
    """
    share = np.cumsum(task.counts / task.counts.sum())
    drawn: dict[str, int] = {}
    for mine in words.values():
        for word in mine:
            if word not in drawn:
                place = int(np.searchsorted(share, _uniform(f"{seed}/{task.name}/{word}"), "right"))
                drawn[word] = min(place, len(task.classes) - 1)
    target = {
        split: np.array([drawn[word] for word in mine], np.int64) for split, mine in words.items()
    }
    return replace(task, target=target)


def _uniform(text: str) -> float:
    """A number from 0 to 1 that depends on a text alone."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") / 2**64
