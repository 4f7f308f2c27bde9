"""`Scorer`: scores of words by parts of the sentences, which are the same in every language and for every model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..probing import Scored, class_scores, tally

IntArray = NDArray[np.int64]
SCORES = ("accuracy", "macro_f1")


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
        part = self.part[sentence]
        scored = part >= 0
        counts = tally(true[scored], predicted[scored], classes, part[scored])
        empty = len(self.sizes) - len(counts)  # parts at the end without a word
        counts = np.concatenate([counts, np.zeros((empty, *counts.shape[1:]))])
        whole = counts.sum(0)
        without = None
        if self.intervals and len(counts) > 1:
            without = np.stack([class_scores(whole - mine)[:2] for mine in counts])
        return Scored.of(SCORES, class_scores(whole)[:2], without, self.sizes, self.level)
