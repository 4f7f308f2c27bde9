"""What findings are made of: values and intervals as sentences have them."""

from __future__ import annotations

import math

from .table import format_value


def say_value(value: float, se: float | None = None) -> str:
    """A value with its standard error: ``0.812 ± 0.004``."""
    return format_value(value, se)


def say_interval(low: float | None, high: float | None, level: float) -> str:
    """An interval in brackets behind a value; nothing where there is none.

    >>> say_interval(0.8, 0.82, 0.95)
    ' (95 % interval 0.800 to 0.820)'
    """
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return ""
    return f" ({100 * level:g} % interval {low:.3f} to {high:.3f})"
