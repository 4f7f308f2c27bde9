"""`Sampled`: scores with the same scores without each part of the sentences, so that differences are paired."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...results import Interval, jackknife
from ..probing import class_scores, f1_by_class, precision_by_class, recall_by_class, tally

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
SCORES = ("accuracy", "macro_f1")


@dataclass(frozen=True)
class Sampled:
    """Scores of all sentences, and without each part of them: parts × scores; None without intervals.

    Parts are the same sentences in every language and for every model, so that whatever is computed from several
    scores has the interval of what was computed.
    """

    value: FloatArray
    without: FloatArray | None
    sizes: tuple[int, ...]
    """Sentences of each part."""

    def __sub__(self, other: Sampled) -> Sampled:
        without = None
        if self.without is not None and other.without is not None:
            without = self.without - other.without
        return Sampled(self.value - other.value, without, self.sizes)

    def interval(self, level: float) -> Interval | None:
        """Standard errors and intervals; None without parts."""
        if self.without is None or len(self.sizes) < 2:
            return None
        return jackknife(self.value, self.without, self.sizes, level)


@dataclass(frozen=True)
class ClassScores:
    """Scores of each class of a task, in the order of their numbers."""

    support: FloatArray
    """Words of it."""
    precision: FloatArray
    """NaN for a class that is not predicted."""
    recall: FloatArray
    """NaN for a class without words."""
    f1: Sampled
    """NaN for a class that has no words and is not predicted."""


def mean_of(some: Sequence[Sampled]) -> Sampled:
    """The mean over languages, each of the same weight."""
    withouts = [s.without for s in some if s.without is not None]
    return Sampled(
        np.mean([s.value for s in some], axis=0),
        np.mean(withouts, axis=0) if len(withouts) == len(some) else None,
        some[0].sizes,
    )


@dataclass(frozen=True)
class Scorer:
    """Scores predictions for the words of some sentences, whole and without each part."""

    part: IntArray
    """Of each sentence; −1 for those that are not scored."""
    intervals: bool

    @property
    def sizes(self) -> tuple[int, ...]:
        """Sentences of each part."""
        return tuple(np.bincount(self.part[self.part >= 0]).tolist())

    def rows(self, sentence: Any) -> NDArray[np.bool_]:
        """Which words belong to sentences that are scored."""
        return np.asarray(self.part[sentence] >= 0)

    def score(self, true: IntArray, predicted: IntArray, sentence: Any, classes: int) -> Sampled:
        """Accuracy and macro-F1; a label of −1 can only be wrong."""
        counts = self._tally(true, predicted, sentence, classes)
        return self._sampled(counts, lambda some: class_scores(some)[:2])

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
            self._sampled(counts, f1_by_class),
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

    def _sampled(self, counts: FloatArray, scores: Callable[[FloatArray], FloatArray]) -> Sampled:
        """Scores of all parts together, and without each."""
        whole = counts.sum(0)
        without = None
        if self.intervals and len(counts) > 1:
            without = np.stack([scores(whole - mine) for mine in counts])
        return Sampled(scores(whole), without, self.sizes)
