"""`Scorer`: scores of words by parts of the sentences, which are the same in every language and for every model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..probing import (
    Scored,
    class_scores,
    f1_by_class,
    precision_by_class,
    recall_by_class,
    tally,
)

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
SCORES = ("accuracy", "macro_f1")


@dataclass(frozen=True)
class ClassScores:
    """Scores of each class of a task, in the order of their numbers."""

    support: FloatArray
    """Words of it."""
    precision: FloatArray
    """NaN for a class that is not predicted."""
    recall: FloatArray
    """NaN for a class without words."""
    f1: Scored
    """NaN for a class that has no words and is not predicted."""


@dataclass(frozen=True)
class Scorer:
    """Scores predictions for the words of some sentences, whole and without each part."""

    part: IntArray
    """Of each sentence; −1 for those that are not scored."""
    intervals: bool
    level: float

    @property
    def sizes(self) -> tuple[int, ...]:
        """Sentences of each part."""
        return tuple(np.bincount(self.part[self.part >= 0]).tolist())

    def rows(self, sentence: Any) -> NDArray[np.bool_]:
        """Which words belong to sentences that are scored."""
        return np.asarray(self.part[sentence] >= 0)

    def score(self, true: IntArray, predicted: IntArray, sentence: Any, classes: int) -> Scored:
        """Accuracy and macro-F1; a label of −1 can only be wrong."""
        counts = self._tally(true, predicted, sentence, classes)
        return self._scored(SCORES, counts, lambda some: class_scores(some)[:2])

    def score_classes(
        self, true: IntArray, predicted: IntArray, sentence: Any, classes: int
    ) -> ClassScores:
        """Of each class how many words there are, and how well they are predicted."""
        counts = self._tally(true, predicted, sentence, classes)
        whole = counts.sum(0)
        return ClassScores(
            whole[1, :-1],
            precision_by_class(whole),
            recall_by_class(whole),
            self._scored(["f1"] * classes, counts, f1_by_class),
        )

    def _tally(
        self, true: IntArray, predicted: IntArray, sentence: Any, classes: int
    ) -> FloatArray:
        """What `tally` counts, by part."""
        part = self.part[sentence]
        scored = part >= 0
        counts = tally(true[scored], predicted[scored], classes, part[scored])
        empty = len(self.sizes) - len(counts)  # parts at the end without a word
        return np.concatenate([counts, np.zeros((empty, *counts.shape[1:]))])

    def _scored(
        self,
        names: Sequence[str],
        counts: FloatArray,
        scores: Callable[[FloatArray], FloatArray],
    ) -> Scored:
        """Scores of all parts together, and without each."""
        whole = counts.sum(0)
        without = None
        if self.intervals and len(counts) > 1:
            without = np.stack([scores(whole - mine) for mine in counts])
        return Scored.of(names, scores(whole), without, self.sizes, self.level)
