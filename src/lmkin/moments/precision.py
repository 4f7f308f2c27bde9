"""The type of numbers that products are made in."""

from __future__ import annotations

from ..core import MomentsError, quoted

NARROW = 2048
"""Up to so many neurons in all, products are made in float64: it costs next to nothing there."""
PRECISIONS = ("float32", "float64")


def check_precision(precision: str | None) -> None:
    """Raise if products cannot be made in a type."""
    if precision is not None and precision not in PRECISIONS:
        raise MomentsError(f"precision is one of {', '.join(PRECISIONS)}; got {quoted(precision)}.")


def choose_precision(asked: str | None, *, double: bool, width: int) -> str:
    """What was asked for, else float32, unless the arrays are ``double`` or there are few neurons."""
    check_precision(asked)
    return asked or PRECISIONS[double or width <= NARROW]
