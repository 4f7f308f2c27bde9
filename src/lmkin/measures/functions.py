"""Measures as plain functions of two matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import MeasureError
from .evaluation import Task
from .from_rows import RowPair, RowSide
from .registry import check_options, measure_info
from .replicates import require_life


def measure_function(
    name: str, *, standardize: bool = False, **options: Any
) -> Callable[[Any, Any], float]:
    """A registered measure as a function of two matrices with the same rows.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(100, 4))
    >>> round(measure_function("procrustes")(X, 2 * X + 1), 6)
    1.0
    """
    info = measure_info(name)
    check_options([info], options)
    task = Task(info, options, standardize)

    def function(X: Any, Y: Any) -> float:
        for matrix in (X, Y):
            if hasattr(matrix, "layer"):
                raise MeasureError(
                    f"{name} compares layers, not whole activations: give acts.layer(0), for example."
                )
        if len({h for m in (X, Y) if (h := getattr(m, "units_hash", None))}) > 1:
            raise MeasureError(
                "The rows of these layers stand for different words, so they cannot be compared. Extract both from the "
                "same corpus; where a model lost some words, lmkin.common_units(a, b) brings both to those they share."
            )
        x, y = RowSide(X, "X"), RowSide(Y, "Y")
        for side in (x, y):
            require_life(side)
        return task(RowPair(x, y, standardized=standardize))[0]

    function.__name__ = name
    function.__doc__ = info.summary
    return function


def linear_cka(X: Any, Y: Any, *, estimator: str = "unbiased", standardize: bool = False) -> float:
    """Linear CKA of two matrices whose rows are the same units: `ckasim` as a function.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> round(linear_cka(X, 3 * X + 1), 6)
    1.0
    """
    return measure_function("ckasim", estimator=estimator, standardize=standardize)(X, Y)
