"""Values of a chart that a switch chooses between: one column a way, found by an expression of signals."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from ..names import FloatArray

ERRORS = ("_se", "_low", "_high")
KEY = "measure + '|' + scaling"
"""An expression: what the signals ``measure`` and ``scaling`` choose."""


def column(measure: str, scaling: str = "", ending: str = "") -> str:
    """The name of the column of a chart's data that holds these values."""
    return f"{measure}|{scaling}|{ending}"


def expression(ending: str) -> str:
    """The chosen column of this ending."""
    return f"datum[{KEY} + '|{ending}']"


def calculations(style: str) -> dict[str, str]:
    """Expressions of the chosen value ``v``, ``low`` and ``high``, and what a tooltip says of them.

    An error has as many decimals as its value; one that is too small for them is said to be so.
    """
    tiny = f"({style} == '.4f' && datum.se > 0 && datum.se < 0.00005 ? '< 0.0001' : format(datum.se, {style}))"
    return {
        "v": expression(""),
        "se": expression("_se"),
        "low": expression("_low"),
        "high": expression("_high"),
        "value": f"!isValid(datum.v) ? 'not defined' : format(datum.v, {style})"
        f" + (isValid(datum.se) ? ' ± ' + {tiny} : '')",
        "interval": "isValid(datum.low) && isValid(datum.high)"
        f" ? format(datum.low, {style}) + ' to ' + format(datum.high, {style}) : 'none'",
    }


def number_format(values: FloatArray) -> str:
    """Four decimals, unless the values are of quite another size."""
    finite = np.abs(values[np.isfinite(values)])
    usual = finite.size == 0 or 0.01 <= finite.max() < 1000
    return ".4f" if usual else ".4~g"


def tooltips(level: str = "", /, **fields: str) -> list[alt.Tooltip]:
    """Fields with their titles; ``level`` is that of the intervals, where there are some."""
    made = [alt.Tooltip(f"{name}:N", title=title) for name, title in fields.items()]
    if level:
        made.append(alt.Tooltip("interval:N", title=f"{level} interval"))
    return made


def rows_of(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """Records of columns."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
