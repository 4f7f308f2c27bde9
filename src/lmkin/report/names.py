"""Names and numbers as a page says them."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def one_line(name: str) -> str:
    """A name without line ends of any kind: Vega puts titles into expressions of its own."""
    return " ".join(name.split())


def plain_names(names: Sequence[str]) -> list[str]:
    """Names on one line, no two alike."""
    apart: list[str] = []
    for name in names:
        plain = candidate = one_line(name) or "(no name)"
        count = 1
        while candidate in apart:
            count += 1
            candidate = f"{plain} ({count})"
        apart.append(candidate)
    return apart


def counted(n: int, noun: str) -> str:
    """A number of things."""
    return f"{n:,} {noun if n == 1 or noun.endswith('s') else noun + 's'}"


def percent(share: float) -> str:
    """A fraction as people say it."""
    return f"{100 * share:.1f}%" if np.isfinite(share) else "–"


def whole(number: float) -> str:
    """A count."""
    return f"{int(number):,}" if np.isfinite(number) else "–"


def shortened(text: Any, longest: int) -> str:
    """A text on one line, cut where it is long, between words if it has some."""
    plain = one_line(str(text))
    if len(plain) <= longest:
        return plain
    return plain[: longest - 1].rsplit(" ", 1)[0].rstrip() + (" …" if " " in plain else "…")


def rounded(value: float) -> float | None:
    """Five significant digits, which is more than any interval allows; None for NaN and infinity."""
    return float(f"{value:.5g}") if math.isfinite(value) else None


def json_of(text: Any) -> Any:
    """What a JSON text says; the text itself where it is no JSON."""
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return text
