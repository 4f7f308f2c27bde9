"""What needs no model: the majority class, and the most frequent tag of a word, in two languages."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..probing import Scored, majority, most_frequent, words_of
from .options import CrossLingualOptions
from .run import EVERYWHERE, HELD_OUT, CrossLingualRun, known_labels, split_of


@dataclass(frozen=True)
class Baselines:
    """Scores that a probe must beat (``majority``, ``word``), and one that it can hardly reach (``own_word``)."""

    majority: dict[tuple[str, str, str, str], Scored]
    """By language of training, task, language and test."""
    word: dict[tuple[str, str, str, str], Scored]
    """The most frequent tag of the word in the language of training; of other words the majority class."""
    own_word: dict[tuple[str, str], Scored]
    """By task and language, on held-out sentences: the tag that the word has most often in the language's own train."""


def score_baselines(run: CrossLingualRun, options: CrossLingualOptions) -> Baselines:
    """All of them, in every language."""
    found = Baselines({}, {}, {})
    all_units = run.rows.units
    for (language, tag), task in run.tasks.items():
        train, held = run.rows.split(language)
        mine = {"train": all_units[language].select(train), "dev": all_units[language].select(held)}
        units = mine | {split_of(name): some for name, some in all_units.items()}
        words = most_frequent(task, words_of(units, task))
        for target in all_units:
            split = split_of(target)
            true = known_labels(task, split, options)
            sentence = all_units[target].sentence[task.rows[split]]
            constant = np.full(len(true), majority(task), np.int64)
            for test, scorer in run.scorers.items():
                if test == EVERYWHERE and target == language:
                    continue
                key = language, tag, target, test
                classes = len(task.classes)
                found.majority[key] = scorer.score(true, constant, sentence, classes)
                found.word[key] = scorer.score(true, words[split], sentence, classes)
    for (language, tag), task in run.own.items():
        train, held = run.rows.split(language)
        units = {
            "train": all_units[language].select(train),
            "dev": all_units[language].select(held),
        }
        words = most_frequent(task, words_of(units, task))
        sentence = units["dev"].sentence[task.rows["dev"]]
        found.own_word[tag, language] = run.scorers[HELD_OUT].score(
            task.target["dev"], words["dev"], sentence, len(task.classes)
        )
    return found
