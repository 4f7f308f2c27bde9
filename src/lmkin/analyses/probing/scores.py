"""Scores of predictions: everything about classes comes from counts of true and predicted."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .scored import Scored

Array = NDArray[Any]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
OF_CLASSES = ("accuracy", "macro_f1", "matthews")
OF_SCORES = ("pearson", "spearman", "r2")


def tally(true: IntArray, predicted: IntArray, classes: int, part: IntArray | None) -> FloatArray:
    """Of each part and class the rows that are predicted rightly, that are of it, and that are predicted as it.

    Parts × 3 × (classes + 1): the last class is of labels that train has not (−1), which nothing is predicted as.
    """
    wide = classes + 1
    part = np.zeros(len(true), np.int64) if part is None else part
    parts = int(part.max()) + 1 if len(part) else 1
    true = np.where(true < 0, classes, true)
    counts = [
        np.bincount(part[rows] * wide + of[rows], minlength=parts * wide).reshape(parts, wide)
        for of, rows in (
            (true, true == predicted), (true, slice(None)), (predicted, slice(None)),
        )
    ]  # fmt: skip
    return np.stack(counts, axis=1).astype(np.float64)


def class_scores(counts: FloatArray) -> FloatArray:
    """Accuracy, macro-F1 and Matthews' correlation of what `tally` counts; … × 3 × classes → … × 3.

    A label that train has not is wrong in the first and in the last; macro-F1 is the mean of F1 over the classes that
    occur or are predicted (Matthews: Gorodkin 2004, for several classes).
    """
    hits, true, predicted = (counts[..., k, :] for k in range(3))
    right, total = hits.sum(-1), true.sum(-1)
    f1 = f1_by_class(counts)
    known = np.isfinite(f1)
    covariance = right * total - (true * predicted).sum(-1)
    spread = (total**2 - (true**2).sum(-1)) * (total**2 - (predicted**2).sum(-1))
    scores = (
        _ratio(right, total),
        _ratio(np.where(known, f1, 0).sum(-1), known.sum(-1)),
        _ratio(covariance, np.sqrt(np.maximum(spread, 0))),
    )
    return np.stack(scores, axis=-1)


def f1_by_class(counts: FloatArray) -> FloatArray:
    """2TP / (2TP + FP + FN) of each class; NaN for one that neither occurs nor is predicted."""
    hits, true, predicted = (counts[..., k, :-1] for k in range(3))
    return _ratio(2 * hits, true + predicted)


def recall_by_class(counts: FloatArray) -> FloatArray:
    """Share of the rows of each class that are predicted as it; NaN for one without rows."""
    return _ratio(counts[..., 0, :-1], counts[..., 1, :-1])


def precision_by_class(counts: FloatArray) -> FloatArray:
    """Share of the rows that are predicted as each class that are of it; NaN for one that is not predicted."""
    return _ratio(counts[..., 0, :-1], counts[..., 2, :-1])


def _ratio(of: FloatArray, to: FloatArray) -> FloatArray:
    """A ratio; NaN where there is nothing to divide by."""
    of, to = np.asarray(of, np.float64), np.asarray(to, np.float64)
    return np.asarray(np.divide(of, to, out=np.full(of.shape, np.nan), where=to > 0))


def score_scores(true: FloatArray, predicted: FloatArray) -> FloatArray:
    """Pearson's and Spearman's correlation, and R² against the mean."""
    from scipy.stats import rankdata

    error = float(((true - predicted) ** 2).sum())
    spread = float(((true - true.mean()) ** 2).sum())
    r2 = 1 - error / spread if spread > 0 else np.nan
    return np.array(
        [_correlation(true, predicted), _correlation(rankdata(true), rankdata(predicted)), r2]
    )


def _correlation(x: FloatArray, y: FloatArray) -> float:
    x, y = x - x.mean(), y - y.mean()
    norm = math.sqrt(float(x @ x) * float(y @ y))
    return float(x @ y) / norm if norm > 1e-12 * len(x) else float("nan")


def score_classes(
    true: IntArray, predicted: IntArray, classes: int, part: IntArray | None, level: float
) -> Scored:
    """Scores of predicted classes; ``part`` is what each row belongs to, for the jackknife."""
    by_part = tally(true, predicted, classes, part)
    counts = by_part.sum(0)
    value = class_scores(counts)
    if len(by_part) < 2:
        return Scored.of(OF_CLASSES, value, counts=counts)
    without = class_scores(counts - by_part)
    sizes = by_part[:, 1].sum(1).astype(int).tolist()
    return Scored.of(OF_CLASSES, value, without, sizes, level, counts)


def score_numbers(
    true: FloatArray, predicted: FloatArray, part: IntArray | None, level: float
) -> Scored:
    """Scores of predicted numbers."""
    value = score_scores(true, predicted)
    if part is None or not part.any():
        return Scored.of(OF_SCORES, value)
    without = np.stack(
        [score_scores(true[part != k], predicted[part != k]) for k in range(part.max() + 1)]
    )
    return Scored.of(OF_SCORES, value, without, np.bincount(part).tolist(), level)
