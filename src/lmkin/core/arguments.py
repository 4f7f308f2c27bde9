"""Checks of what a caller gives, before anything runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from .errors import LmkinError, MeasureError, did_you_mean
from .quotation import quoted


def is_whole(value: Any) -> bool:
    """Whether something is a whole number, of Python or of numpy; True and False are none."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def check_seed(seed: Any) -> None:
    """Raise if no generator of random numbers takes a seed."""
    if not is_whole(seed) or seed < 0:
        raise MeasureError(f"seed is a whole number, 0 or more; got {quoted(seed)}.")


def check_intervals(intervals: Any, level: Any, parts: Any, *, labels: bool = False) -> None:
    """Raise if intervals cannot be asked for like this; with ``labels``, parts may be one label a row too."""
    if not isinstance(intervals, bool | np.bool_):
        raise MeasureError(f"intervals is True or False; got {quoted(intervals)}.")
    if not isinstance(level, Real) or not 0 < float(level) < 1:
        raise MeasureError(
            f"level is a fraction between 0 and 1, such as 0.95; got {quoted(level)}."
        )
    if labels and np.ndim(parts) == 1:
        return
    if not is_whole(parts) or parts < 0:
        raise MeasureError(f"parts is a whole number, such as 10; got {quoted(parts)}.")
    if intervals and parts < 2:
        raise MeasureError(
            f"A jackknife leaves out one of the parts at a time, so there are two parts at least; got {parts}. For no "
            "intervals: intervals=False."
        )


def refuse_unused(given: Mapping[str, Any], what: str) -> None:
    """Raise if options would do nothing; ``given``: what is not as it is by default."""
    if given:
        raise MeasureError(f"{what}: leave out {', '.join(given)}, which would do nothing.")


def one_of(what: str, name: str | None, known: Sequence[str]) -> str:
    """The one of several that was named; the only one, where none was. Raise if it cannot be told, or is not there."""
    if name is None:
        if len(known) > 1:
            raise LmkinError(f"Say which {what} ({what}=…): {', '.join(known)}.")
        return known[0]
    if name not in known:
        raise LmkinError(f"There is no {what} {quoted(name)} here. {did_you_mean(name, known)}")
    return name
