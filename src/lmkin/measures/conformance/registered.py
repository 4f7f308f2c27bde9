"""From the name of a registered measure to its function and what it declares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .subject import Function


def registered_measure(name: str, options: Mapping[str, Any]) -> tuple[Function, Any]:
    """The measure's ``fn(X, Y) -> float``, and its entry: symmetric, invariances, range."""
    from ..functions import measure_function
    from ..registry import measure_info

    return measure_function(name, measure_options=options), measure_info(name)
