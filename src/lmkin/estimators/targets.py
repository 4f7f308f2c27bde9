"""What is predicted: labels as numbers of classes, which are fixed by the rows that are fitted; or scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from ..core import ArrayError, LmkinError, kind_of_array, quoted

Array = NDArray[Any]


def numbered_classes(y: Array) -> tuple[Array, NDArray[np.int64]]:
    """The classes, sorted, and the number of each label. Raise if they cannot be told apart."""
    y = column_or_1d(y, warn=True)
    check_classification_targets(y)
    classes, target = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ArrayError(
            f"There is one class only, {quoted(classes.tolist()[0])}: a classifier needs labels of 2 classes at least. "
            f"Take more rows, or other labels."
        )
    if len(classes) == len(y) > 2:
        raise ArrayError(
            f"There are {len(y):,} rows, and as many different labels ({quoted(classes.tolist()[0])} …): nothing can "
            f"be learned from labels that occur once. Take more rows, or fewer classes; for numbers that are scores, "
            f"task='regression'."
        )
    return classes, np.asarray(target.reshape(-1), np.int64)


def numbers_of(classes: Array, y: Array) -> NDArray[np.int64]:
    """The numbers of labels of other rows; −1 for one that was not fitted."""
    theirs, own = kind_of_array(y), kind_of_array(classes)
    if theirs != own:
        raise LmkinError(
            f"Labels that choose the penalty cannot be compared with those that are fitted: one is "
            f"{quoted(y.tolist()[0])}, another {quoted(classes.tolist()[0])}. Give both as strings, or both as numbers."
        )
    place = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    return np.where(classes[place] == y, place, -1).astype(np.int64)


def scores_as_columns(y: Array) -> Array:
    """Scores, rows × outputs. Raise if they are no numbers."""
    if y.dtype.kind not in "biufO":
        raise LmkinError(
            f"Scores are numbers, and y holds {quoted(y.reshape(-1).tolist()[0])}. Give numbers, or predict these "
            f"labels as classes: task='classification'."
        )
    return np.asarray(y.reshape(len(y), -1), np.float64)


def output_units(scores: Array) -> Array:
    """What each output is divided by, so that all have the same deviation: that of one alone stays as it is.

    The deviation of an output in units of their root mean square; of a constant one 1.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        deviation = scores.std(0)
        units = deviation / np.sqrt((deviation**2).mean())
    return np.where((units > 0) & np.isfinite(units), units, 1.0)


def require_finite(X: Any) -> Any:
    """The rows. Raise if there is NaN in them, or something infinite."""
    with np.errstate(over="ignore", invalid="ignore"):
        finite = bool(np.isfinite(X.sum(dtype=np.float64)))
    bad = np.zeros((0, 2)) if finite else np.argwhere(~np.isfinite(X))
    if len(bad):
        row, column = bad[0].tolist()
        raise ArrayError(
            f"X holds NaN or infinite values: {len(bad):,} of them, the first in row {row}, column {column}. Leave out "
            f"the rows that have some."
        )
    return X
