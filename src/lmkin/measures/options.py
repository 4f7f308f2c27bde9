"""Values of the options that our measures share: checked before anything is computed."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import Any

from ..errors import MeasureError, did_you_mean
from .averaging import check_top

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
        raise MeasureError(f"{name} is {example}; got {value!r}.")


def _variance(value: Any) -> None:
    example = "a share of the variance between 0 and 1, such as 0.99"
    _number("variance", value, above=0, up_to=1, example=example)


def _ridge(value: Any) -> None:
    example = "a share of the mean eigenvalue, 0 or more"
    _number("ridge", value, above=-1e-300, example=example)


def _tolerance(value: Any) -> None:
    if value is not None:
        example = "a share of the largest variance, 0 or more and below 1"
        _number("tolerance", value, above=-1e-300, up_to=1, example=example)


def _bandwidth(value: Any) -> None:
    _number("bandwidth", value, above=0, example="a multiple of the median distance, such as 1.0")


def _estimator(value: Any) -> None:
    if value not in ESTIMATORS:
        raise MeasureError(f"Unknown estimator {value!r}. {did_you_mean(str(value), ESTIMATORS)}")


def _released(value: Any) -> None:
    if not isinstance(value, bool):
        raise MeasureError(f"released is True or False; got {value!r}.")


_CHECKS: dict[str, Callable[[Any], None]] = {
    "variance": _variance,
    "ridge": _ridge,
    "tolerance": _tolerance,
    "bandwidth": _bandwidth,
    "estimator": _estimator,
    "released": _released,
    "top_k": check_top,
}


def check_value(option: str, value: Any) -> None:
    """An error for a value that one of our options cannot have."""
    if option in _CHECKS:
        _CHECKS[option](value)
