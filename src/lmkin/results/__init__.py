"""Results: labelled, with intervals and alerts, on disk and back."""

from .curves import average_similarity, localization
from .intervals import Interval, jackknife, spread_of_folds
from .labelled import as_dataset, as_matrix
from .saving import load_result, save_result

__all__ = [
    "Interval",
    "as_dataset",
    "as_matrix",
    "average_similarity",
    "jackknife",
    "load_result",
    "localization",
    "save_result",
    "spread_of_folds",
]
