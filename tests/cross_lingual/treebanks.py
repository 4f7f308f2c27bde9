"""Parallel treebanks of invented languages, and a model that knows the tag of a word as well as it is told to."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import lmkin
from lmkin.corpus import Units
from lmkin.models.base import AlignedCorpus, LanguageModel, Losses, Window
from lmkin.models.rule import UnitRule

TAGS = ("NOUN", "VERB", "ADJ", "DET")
SHARED = {"en": 1.0, "de": 0.9, "fi": 0.5, "ja": 0.1}
"""How much of what tells tags apart in the first language does so in another."""
WIDTH = 6


def treebank(language: str, sentences: int = 60, seed: int = 0) -> lmkin.Corpus:
    """Sentences with a tag a word; word k of a sentence has the same tag in every language that has so many."""
    random = np.random.default_rng(seed)
    made = []
    for number in range(sentences):
        tags = [str(t) for t in random.choice(TAGS, size=8, p=(0.4, 0.3, 0.2, 0.1))]
        tags = tags[: 5 + (len(language) + ord(language[0]) + number) % 4]
        words = [f"{tag}{random.integers(12)}{language}" for tag in tags]
        made.append(sentence(f"s{number}", words, tags))
    return lmkin.Corpus(made, name=f"bank-{language}")


def sentence(
    name: str, words: Sequence[str], tags: Sequence[str], **more: Sequence[str]
) -> lmkin.Sentence:
    """Words with spaces between, and their tags."""
    ends = np.cumsum([len(w) + 1 for w in words])
    spans = tuple((int(end) - len(w) - 1, int(end) - 1) for end, w in zip(ends, words, strict=True))
    relations = [f"{tag.lower()}:{'left' if k % 2 else 'right'}" for k, tag in enumerate(tags)]
    every = {
        "upos": tuple(tags),
        "deprel": tuple(relations),
        **{k: tuple(v) for k, v in more.items()},
    }
    return lmkin.Sentence(" ".join(words), spans, tuple(words), every, id=name)


def treebanks(
    languages: Sequence[str] = tuple(SHARED), sentences: int = 60
) -> dict[str, lmkin.Corpus]:
    """Parallel corpora by language."""
    return {language: treebank(language, sentences) for language in languages}


class WordVectors(LanguageModel):
    """Three layers of a vector for each word, made of its tag, its language and chance; layer 2 repeats layer 1."""

    def __init__(
        self, name: str = "planted", noise: float = 0.7, shared: Mapping[str, float] | None = None
    ):
        self.name, self.noise = name, noise
        self.widths = (WIDTH, WIDTH, WIDTH)
        self.shared = dict(SHARED if shared is None else shared)
        self._words: dict[int, list[str]] = {}

    def read(self, corpus: lmkin.Corpus, rule: UnitRule) -> AlignedCorpus:
        """Every word of every sentence."""
        units = Units.all_words(corpus)
        self._texts = units.texts
        windows = []
        for number in range(len(corpus)):
            place = units.rows_of(number)
            rows = np.arange(place.start, place.stop, dtype=np.int32)
            if len(rows):
                own = np.arange(len(rows), dtype=np.int32)
                windows.append(
                    Window(number, [0] * len(rows), [], own, rows, np.ones(len(rows), np.float32))
                )
        return AlignedCorpus(units, windows, Losses(), rule, len(units))

    def run(self, windows: Sequence[Window], layers: Sequence[int], *, reduce: str = "sum") -> Any:
        """The vectors of the windows' words."""
        rows = np.concatenate([w.rows for w in windows])
        return rows, [np.stack([self._vector(self._texts[r], n) for r in rows]) for n in layers]

    def _vector(self, word: str, layer: int) -> Any:
        tag, language = word.rstrip("abcdefghijklmnopqrstuvwxyz").rstrip("0123456789"), word[-2:]
        plain = np.random.default_rng(sum(map(ord, tag))).normal(size=WIDTH)
        other = np.random.default_rng(sum(map(ord, tag + language))).normal(size=WIDTH)
        digest = hashlib.blake2b(f"{word} {min(layer, 1)}".encode(), digest_size=8).digest()
        chance = np.random.default_rng(int.from_bytes(digest, "little")).normal(size=WIDTH)
        share = self.shared.get(language, 0.5)
        return (share * plain + (1 - share) * other + self.noise * chance).astype(np.float32)

    def identity(self) -> dict[str, Any]:
        """What decides the vectors."""
        return {
            "name": self.name, "spec": "planted", "class": "WordVectors", "layers": 3, "widths": list(self.widths),
            "noise": self.noise, "shared": self.shared,
        }  # fmt: skip
