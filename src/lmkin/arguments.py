"""Checks of what a caller gives, before anything runs."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np

from .errors import MeasureError


def is_whole(value: Any) -> bool:
    """Whether something is a whole number, of Python or of numpy; True and False are none."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def check_seed(seed: Any) -> None:
    """An error for what no generator of random numbers takes."""
    if not is_whole(seed) or seed < 0:
        raise MeasureError(f"seed is a whole number, 0 or more; got {seed!r:.60}.")


def check_replicates(level: Any, parts: Any, seed: Any) -> None:
    """Errors for numbers that cannot be meant, before anything runs."""
    if not isinstance(level, Real) or not 0 < float(level) < 1:
        raise MeasureError(f"level is a share between 0 and 1, such as 0.95; got {level!r:.60}.")
    if not is_whole(parts) or parts < 0:
        raise MeasureError(
            f"parts is a whole number, such as 10, or 0 for none; got {parts!r:.60}."
        )
    check_seed(seed)


def refuse_unused(given: Mapping[str, Any], what: str) -> None:
    """An error for options that would do nothing; ``given``: what is not as it is by default."""
    if given:
        raise MeasureError(f"{what}: leave out {', '.join(given)}, which would do nothing.")
