"""What numbers of a fit can be."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core import LmkinError, is_whole, quoted


def check_numbers(l1: Any, l2: Any, tolerance: Any, iterations: Any) -> None:
    """Raise if one of them is no number, or none that can be meant."""
    for name, value in (("l1", l1), ("l2", l2)):
        if value is not None and not _is_number(value):
            raise LmkinError(
                f"{name} is a number, 0 or more, or None (l1 is then chosen, l2 follows it); got {quoted(value)}."
            )
    if not _is_number(tolerance) or not 0 < tolerance < math.inf:
        raise LmkinError(
            f"tolerance is a share of λ₁ above 0, such as 0.01; got {quoted(tolerance)}."
        )
    if not is_whole(iterations) or iterations < 1:
        raise LmkinError(
            f"iterations is a whole number, 1 or more, such as 2000; got {quoted(iterations)}."
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)
