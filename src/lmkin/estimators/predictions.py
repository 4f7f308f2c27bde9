"""What a fitted probe says of rows: scores, probabilities, labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from ..core import LmkinError
from .row_blocks import matrix_of
from .selection import on_disk, scores_of
from .targets import require_finite

Array = NDArray[Any]


def _classifies(probe: Predictions) -> bool:
    """Whether a probe has probabilities."""
    return bool(probe.task == "classification")


class Predictions:
    """The methods of a probe that read its weights and no labels."""

    task: Any
    coef_: Array
    intercept_: Array
    classes_: Array
    n_features_in_: int
    _flat: bool

    def _same_columns(self, X: Any) -> Any:
        """Rows with the columns that were fitted, checked; a matrix on disk stays there."""
        X = matrix_of(X)
        if not on_disk(X):
            kinds = np.float64, np.float32
            X = validate_data(self, X, dtype=kinds, reset=False, ensure_all_finite=False)
            return require_finite(X)
        if X.shape[1] != self.n_features_in_:
            raise LmkinError(
                f"X has {X.shape[1]} columns; the probe was fitted on {self.n_features_in_}. Is it another layer?"
            )
        return X

    def _scores(self, X: Any) -> Array:
        check_is_fitted(self)
        return scores_of(
            self._same_columns(X), np.atleast_2d(self.coef_).T, np.atleast_1d(self.intercept_)
        )

    @available_if(_classifies)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Array:
        """Scores of the classes, rows × classes; of two classes, by how much the second is ahead."""
        scores = self._scores(X)
        return np.asarray(scores[:, 1] - scores[:, 0]) if len(self.classes_) == 2 else scores

    @available_if(_classifies)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of the probabilities."""
        scores = self._scores(X)
        top = scores - scores.max(1, keepdims=True)
        return np.asarray(top - np.log(np.exp(top).sum(1, keepdims=True)))

    @available_if(_classifies)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Probabilities, rows × classes."""
        return np.asarray(np.exp(self.predict_log_proba(X)))

    def predict(self, X: Any) -> Array:
        """Labels, or scores."""
        scores = self._scores(X)
        if self.task == "classification":
            return np.asarray(self.classes_[scores.argmax(1)])
        return scores[:, 0] if self._flat else scores

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy, or R²."""
        rate = accuracy_score if self.task == "classification" else r2_score
        return float(rate(y, self.predict(X), sample_weight=sample_weight))
