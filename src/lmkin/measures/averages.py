"""Means over neurons or canonical correlations, of all or of the largest few."""

from __future__ import annotations

from typing import Any

from ..core import MeasureError, quoted


def mean_of_top(xp: Any, values: Any, top_k: int | None, *, by: Any = None) -> float:
    """The mean, or that of the ``top_k`` largest; ``by``: of those that are largest there.

    Held-out scores are averaged over what was best where the fit was made: the best on the test units are too good.
    """
    if top_k is None:
        return float(xp.mean(values))
    check_top(top_k)
    order = xp.argsort(values if by is None else by, descending=True)
    return float(xp.mean(xp.take(values, order[: min(top_k, values.shape[0])], axis=0)))


def check_top(top_k: int | None) -> None:
    """Raise if ``top_k`` is no number of neurons or components."""
    if top_k is not None and (isinstance(top_k, bool) or not isinstance(top_k, int) or top_k < 1):
        raise MeasureError(
            f"top_k is a number of neurons or correlations, 1 or more; got {quoted(top_k)}."
        )
