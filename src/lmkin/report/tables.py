"""Tables of a page, from lines of values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from ..results import Column, ResultTable, format_value

SAME = "The same as a table"
"""Above a folded table that has the numbers of a chart."""


def table_of(
    name: str,
    columns: Iterable[tuple[str, str]],
    lines: Iterable[Sequence[Any]],
    **more: Any,
) -> ResultTable:
    """A table with these headings and kinds of values; of a kind ``±`` a line holds a value and its error."""
    headings = list(columns)
    keys: list[str] = []
    for heading, _ in headings:
        keys.append(heading if heading not in keys else f"{heading} {len(keys)}")
    made = [
        Column(key, heading, "number" if kind == "±" else kind, error=f"{key}_se" * (kind == "±"))
        for key, (heading, kind) in zip(keys, headings, strict=True)
    ]
    rows = []
    for line in lines:
        row: dict[str, Any] = {}
        for column, value in zip(made, line, strict=True):
            if column.error and isinstance(value, tuple):
                row[column.key], row[column.error] = value
            else:
                row[column.key] = value
        rows.append(row)
    return ResultTable(name, made, rows, **more)


def interval_text(low: float, high: float) -> str:
    """From where to where an interval goes."""
    if not math.isfinite(low):
        return "–"
    return f"{format_value(low)} to {format_value(high)}"
