"""Measures as plain functions of two matrices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from ..activations import shared_units
from ..core import MeasureError
from .evaluation import Task
from .from_rows import RowPair, RowSide
from .options import is_standardized
from .registry import check_options, measure_info
from .replicates import require_life


def measure_function(
    name: str,
    *,
    neurons: Literal["raw", "standardized"] = "raw",
    measure_options: Mapping[str, Any] | None = None,
) -> Callable[[Any, Any], float]:
    """A registered measure as a function of two matrices with the same rows; options as for `lmkin.similarity`.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(100, 4))
    >>> round(measure_function("procrustes")(X, 2 * X + 1), 6)
    1.0
    """
    info = measure_info(name)
    options = dict(measure_options or {})
    check_options([info], options)
    standardized = is_standardized(neurons)
    task = Task(info, options, standardized)

    def function(X: Any, Y: Any) -> float:
        for matrix in (X, Y):
            if hasattr(matrix, "layer"):
                raise MeasureError(
                    f"{name} compares layers, not whole activations: give acts.layer(0), for example."
                )
        shared_units({"X": X, "Y": Y})
        x, y = RowSide(X, "X"), RowSide(Y, "Y")
        for side in (x, y):
            require_life(side)
        return task(RowPair(x, y, standardized=standardized))[0]

    function.__name__ = name
    function.__doc__ = info.summary
    return function


def linear_cka(
    X: Any, Y: Any, *, estimator: str = "unbiased", neurons: Literal["raw", "standardized"] = "raw"
) -> float:
    """Linear CKA of two matrices whose rows are the same units: `ckasim` as a function.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> round(linear_cka(X, 3 * X + 1), 6)
    1.0
    """
    return measure_function("ckasim", neurons=neurons, measure_options={"estimator": estimator})(
        X, Y
    )
