"""A path over the penalty: fits from the largest λ₁ that leaves something down to a small one, with warm starts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core import MeasureError
from .certificate import Fit
from .design import Design
from .losses import Loss
from .penalties import make_penalty
from .solver import empty_fit, solve

Array = NDArray[Any]
STEPS = 20
LEAST = 1e-3
"""The smallest λ₁ of a path, in units of the largest."""


def penalties_of_path(largest: float, steps: int = STEPS, least: float = LEAST) -> Array:
    """λ₁ from the largest, at which all weights are 0, down to ``least`` times it, in equal ratios.

    >>> penalties_of_path(1.0, 4).round(4).tolist()
    [1.0, 0.1, 0.01, 0.001]
    """
    if steps < 2:
        raise MeasureError(f"A path has two steps at least; got {steps}.")
    if not 0 < least < 1:
        raise MeasureError(
            f"The least penalty of a path is a share of the largest, such as 0.001; got {least}."
        )
    return largest * least ** (np.arange(steps) / (steps - 1))


def fit_path(
    design: Design,
    loss: Loss,
    *,
    penalty: str = "elementwise",
    l1: Sequence[float] | Array | None = None,
    l2: float | None = None,
    steps: int = STEPS,
    least: float = LEAST,
    tolerance: float = 0.01,
    iterations: int = 2000,
    stop: Callable[[Fit], bool] | None = None,
) -> Iterator[Fit]:
    """Fits along a path of falling λ₁, each begun at the one before; the weights of the first are 0.

    ``l1`` are the penalties in falling order; None: `penalties_of_path`. ``l2`` None: `Loss.default_l2`. With
    ``stop``, the path ends after a fit for which it is true.
    """
    before = empty_fit(design, loss, make_penalty(penalty, 0.0, 0.0))
    values = (
        penalties_of_path(before.largest, steps, least)
        if l1 is None
        else np.asarray(l1, np.float64)
    )
    if (np.diff(values) > 0).any():
        raise MeasureError("The penalties of a path come in falling order, the largest first.")
    for value in values.tolist():
        here = make_penalty(penalty, value, loss.default_l2(value) if l2 is None else l2)
        before = solve(design, loss, here, before, tolerance=tolerance, iterations=iterations)
        yield replace(before, scores=None, by_intercepts=None)
        if stop is not None and stop(before):
            return
