"""Scores of predictions, and their intervals: everything about classes comes from counts of true and predicted."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...results import Interval, jackknife

Array = NDArray[Any]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
OF_CLASSES = ("accuracy", "macro_f1", "matthews")
OF_SCORES = ("pearson", "spearman", "r2")


def confusion(true: IntArray, predicted: IntArray, classes: int) -> FloatArray:
    """Counts, true × predicted; the last row is of labels that train has not (−1)."""
    pairs = np.where(true < 0, classes, true) * classes + predicted
    return np.bincount(pairs, minlength=(classes + 1) * classes).reshape(-1, classes).astype(float)


def class_scores(counts: FloatArray) -> FloatArray:
    """Accuracy, macro-F1 and Matthews' correlation of counts.

    A label that train has not is wrong in the first and in the last; macro-F1 is the mean of F1 over the classes that
    occur or are predicted (Matthews: Gorodkin 2004, for several classes).
    """
    total = counts.sum()
    if not total:
        return np.full(len(OF_CLASSES), np.nan)
    right = counts.diagonal().sum()  # of the square above the last row
    present = f1_by_class(counts)
    f1 = np.nanmean(present) if np.isfinite(present).any() else np.nan
    true, predicted = counts.sum(1), np.append(counts.sum(0), 0.0)
    covariance = right * total - true @ predicted
    spread = (total**2 - true @ true) * (total**2 - predicted @ predicted)
    matthews = covariance / math.sqrt(spread) if spread > 0 else np.nan
    return np.array([right / total, f1, matthews])


def f1_by_class(counts: FloatArray) -> FloatArray:
    """2TP / (2TP + FP + FN) of each class; NaN for one that neither occurs nor is predicted."""
    classes = counts.shape[1]
    hits = counts[:classes].diagonal()
    both = counts[:classes].sum(1) + counts.sum(0)
    return np.asarray(np.divide(2 * hits, both, out=np.full(classes, np.nan), where=both > 0))


def recall_by_class(counts: FloatArray) -> FloatArray:
    """Share of the rows of each class that are predicted as it; NaN for one without rows."""
    classes = counts.shape[1]
    rows = counts[:classes].sum(1)
    hits = counts[:classes].diagonal()
    return np.asarray(np.divide(hits, rows, out=np.full(classes, np.nan), where=rows > 0))


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


@dataclass(frozen=True)
class Scored:
    """Scores of one probe on the rows of a split, and their intervals."""

    value: FloatArray
    interval: Interval | None
    counts: FloatArray | None = None
    """True × predicted, of all rows (classes)."""
    without: FloatArray | None = None
    """Parts × scores: without each part."""
    sizes: tuple[int, ...] | None = None
    """Rows of each part."""


def score_classes(
    true: IntArray, predicted: IntArray, classes: int, part: IntArray | None, level: float
) -> Scored:
    """Scores of predicted classes; ``part`` is what each row belongs to, for the jackknife."""
    if part is None:
        counts = confusion(true, predicted, classes)
        return Scored(class_scores(counts), None, counts)
    by_part = np.stack(
        [confusion(true[part == k], predicted[part == k], classes) for k in range(part.max() + 1)]
    )
    counts = by_part.sum(0)
    value = class_scores(counts)
    without = np.stack([class_scores(counts - mine) for mine in by_part])
    return _with_parts(value, without, part, level, counts)


def score_numbers(
    true: FloatArray, predicted: FloatArray, part: IntArray | None, level: float
) -> Scored:
    """Scores of predicted numbers."""
    value = score_scores(true, predicted)
    if part is None:
        return Scored(value, None)
    without = np.stack(
        [score_scores(true[part != k], predicted[part != k]) for k in range(part.max() + 1)]
    )
    return _with_parts(value, without, part, level)


def _with_parts(
    value: FloatArray,
    without: FloatArray,
    part: IntArray,
    level: float,
    counts: FloatArray | None = None,
) -> Scored:
    sizes = tuple(np.bincount(part).tolist())
    if len(sizes) < 2:
        return Scored(value, None, counts)
    return Scored(value, jackknife(value, without, sizes, level), counts, without, sizes)
