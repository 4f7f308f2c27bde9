"""Values of the options that our measures share: checked before anything is computed."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import Any, get_args

from ..core import Convention, MeasureError, did_you_mean, quoted
from .averages import check_top

ESTIMATORS = ("unbiased", "biased")


def _number(name: str, value: Any, *, above: float, up_to: float = math.inf, example: str) -> None:
    """A number above one end and not above the other."""
    fits = (
        isinstance(value, Real)
        and not isinstance(value, bool)
        and above < float(value) <= up_to
        and math.isfinite(value)
    )
    if not fits:
        raise MeasureError(f"{name} is {example}; got {quoted(value)}.")


def _variance(value: Any) -> None:
    example = "a fraction of the variance between 0 and 1, such as 0.99"
    _number("variance", value, above=0, up_to=1, example=example)


def _ridge(value: Any) -> None:
    example = "a fraction of the mean eigenvalue, 0 or more"
    _number("ridge", value, above=-1e-300, example=example)


def _tolerance(value: Any) -> None:
    if value is not None:
        example = "a fraction of the largest variance, 0 or more and below 1"
        _number("tolerance", value, above=-1e-300, up_to=1, example=example)


def _bandwidth(value: Any) -> None:
    _number("bandwidth", value, above=0, example="a multiple of the median distance, such as 1.0")


def _estimator(value: Any) -> None:
    if value not in ESTIMATORS:
        raise MeasureError(
            f"Unknown estimator {quoted(value)}. {did_you_mean(str(value), ESTIMATORS)}"
        )


def check_convention(value: Any) -> None:
    """Raise if something is neither the formula of a paper nor that of its code."""
    if value not in get_args(Convention):
        raise MeasureError(f"convention is 'paper' or 'released'; got {quoted(value)}.")


def is_standardized(neurons: Any) -> bool:
    """Whether neurons are standardized, from ``raw`` or ``standardized``. Raise if it is neither."""
    if neurons not in ("raw", "standardized"):
        raise MeasureError(f"neurons is 'raw' or 'standardized' here; got {quoted(neurons)}.")
    return bool(neurons == "standardized")


_CHECKS: dict[str, Callable[[Any], None]] = {
    "variance": _variance,
    "ridge": _ridge,
    "tolerance": _tolerance,
    "bandwidth": _bandwidth,
    "estimator": _estimator,
    "convention": check_convention,
    "top_k": check_top,
}


def check_value(option: str, value: Any) -> None:
    """Raise if an option that our measures share cannot have a value."""
    if option in _CHECKS:
        _CHECKS[option](value)
