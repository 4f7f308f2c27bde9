"""CSV that people open in spreadsheets: a text that would run as a formula is marked as text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ..printable import printable
from .atomic import replacing

_FORMULA = re.compile(r"[=+\-@\t\r|].", re.S)


def cell(value: Any) -> Any:
    """A value as a cell: texts that begin like a formula get an apostrophe, which spreadsheets read as "text".

    >>> cell("=cmd|' /C calc'!A0"), cell("-"), cell(-3.5), cell("bert-base")
    ("'=cmd|' /C calc'!A0", '-', -3.5, 'bert-base')
    """
    if not isinstance(value, str):
        return value
    text = printable(value)
    return f"'{text}" if _FORMULA.match(text) and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def write_csv(path: Path, names: Sequence[str], rows: Iterable[Iterable[Any]]) -> None:
    """Write a table, whole or not at all; None is an empty cell."""
    import csv

    with (
        replacing(path) as temporary,
        temporary.open("w", newline="", encoding="utf-8") as file,
    ):
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow([cell(name) for name in names])
        for row in rows:
            lines.writerow(["" if value is None else cell(value) for value in row])
