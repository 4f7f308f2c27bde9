"""`ResultTable`: a table of results, rendered to terminal, HTML, CSV and JSON from one definition."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core import write_csv

if TYPE_CHECKING:
    from .terminal import TerminalTable

NOTHING = "–"


@dataclass(frozen=True)
class Column:
    """A column: its key in the rows, its heading, and how its values are shown.

    ``error`` is the key of a standard error that is shown behind the value, as ``0.123 ± 0.004``.
    """

    key: str
    title: str = ""
    kind: str = "text"
    """``text``, ``count`` (1,234), ``number`` (with ``decimals``), ``percent``, ``p`` (a p-value), ``plain``."""
    decimals: int = 3
    error: str = ""
    help: str = ""
    """What the column means, in a sentence."""
    shown: bool = True
    """False: only in CSV and JSON."""
    template: str = ""
    """Shown instead of a value of its own: other values of the row, such as ``{layer_x} and {layer_y}``."""

    @property
    def heading(self) -> str:
        """What stands above it."""
        return self.title or self.key

    def usual(self, rows: Sequence[Mapping[str, Any]]) -> bool:
        """Whether it holds a number that its decimals can show: then all of its numbers have as many."""
        if self.kind != "number" or self.template:
            return False
        keys = (self.key, self.error) if self.error else (self.key,)
        values = (row.get(key) for row in rows for key in keys)
        return any(
            value is not None and 10.0**-self.decimals <= abs(float(value)) < 1000
            for value in values
        )

    def cell(self, row: Mapping[str, Any], *, usual: bool = False) -> str:
        """A value as people read it; ``usual``: with the decimals of the column, however small it is."""
        if self.template:
            return self.template.format_map(row)
        if self.key not in row:
            return ""
        value = row[self.key]
        if self.kind == "number":
            error = row.get(self.error) if self.error else None
            return format_value(value, error, self.decimals, fixed=usual)
        if value is None or (isinstance(value, float) and not math.isfinite(value)):
            return NOTHING
        if self.kind == "count":
            return f"{int(value):,}"
        if self.kind == "percent":
            return f"{100 * float(value):.1f} %"
        if self.kind == "p":
            return format_p(float(value))
        return str(value)


def format_value(value: Any, error: Any = None, decimals: int = 3, *, fixed: bool = False) -> str:
    """A number, and its standard error with as many decimals; of very small and large ones the digits that count.

    ``fixed``: so many decimals, whatever its size.

    >>> format_value(0.12345, 0.0021), format_value(0.5, 5e-06), format_value(None), format_value(2e-05)
    ('0.123 ± 0.002', '0.500 ± < 0.001', '–', '2e-05')
    """
    if value is None or not math.isfinite(float(value)):
        return NOTHING
    number, least = float(value), 10.0**-decimals
    if error is None or not math.isfinite(float(error)):
        if fixed or number == 0 or least <= abs(number) < 1000:
            return f"{round(number, decimals) + 0:.{decimals}f}"
        return f"{number:.3g}"
    spread = float(error)
    if number and max(abs(number), spread) < least and not fixed:
        return f"{number:.3g} ± {spread:.2g}"  # both tiny: their digits are all that there is
    if max(abs(number), spread) >= 1000 and not fixed:
        decimals, least = 0, 1.0
    small = 0 < spread < least / 2
    shown = f"< {least:.{decimals}f}" if small else f"{spread:.{decimals}f}"
    return f"{round(number, decimals) + 0:.{decimals}f} ± {shown}"


def format_p(p: float) -> str:
    """A p-value; small ones in powers of ten."""
    return f"{p:.3f}" if p >= 0.001 else f"{p:.1e}"


@dataclass(frozen=True)
class ResultTable:
    """Rows by column key; a title above, a caption below."""

    name: str
    """Of its CSV file, and its key in JSON."""
    columns: Sequence[Column]
    rows: Sequence[Mapping[str, Any]]
    title: str = ""
    caption: str = ""
    group: str | Sequence[str] = ()
    """Columns whose values are shown once for neighbouring rows that share all of them."""
    most: int | None = None
    """Rows that the terminal shows of each group; CSV, JSON and HTML have all."""
    about: Mapping[str, Any] = field(default_factory=dict)
    """Plain data that go with it into JSON."""

    @property
    def shown(self) -> list[Column]:
        """The columns that people see."""
        return [c for c in self.columns if c.shown]

    def cells(self) -> list[list[str]]:
        """All rows as people read them, without the heading."""
        columns = [(c, c.usual(self.rows)) for c in self.shown]
        return [[c.cell(row, usual=usual) for c, usual in columns] for row in self.rows]

    def to_rich(self) -> TerminalTable:
        """For a terminal, by rich: names stay whole, numbers are never folded."""
        from .terminal import TerminalTable

        return TerminalTable(self)

    @property
    def groups(self) -> tuple[str, ...]:
        """Keys of the columns that group rows."""
        return (self.group,) if isinstance(self.group, str) else tuple(self.group)

    def to_html(self) -> str:
        """For a page or a notebook; all text is escaped."""
        from html import escape

        head = "".join(f'<th scope="col">{escape(c.heading)}</th>' for c in self.shown)
        kinds = ["" if c.kind in ("text", "plain") else ' class="number"' for c in self.shown]
        body = "".join(
            "<tr>"
            + "".join(f"<td{k}>{escape(cell)}</td>" for k, cell in zip(kinds, cells, strict=True))
            + "</tr>"
            for cells in self.cells()
        )
        title = f"<caption>{escape(self.title)}</caption>" if self.title else ""
        below = f"<p>{escape(self.caption)}</p>" if self.caption else ""
        return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}"

    def to_records(self) -> list[dict[str, Any]]:
        """Plain data, a dict a row; None for what is not finite. What is shown from other values is left out."""
        return [{c.key: _plain(row.get(c.key)) for c in self._all()} for row in self.rows]

    def to_json(self) -> str:
        """The same as JSON."""
        return json.dumps(self.to_records(), ensure_ascii=False)

    def save_csv(self, path: Path) -> None:
        """A line a row; nothing stands for what is not finite."""
        names = [c.key for c in self._all()]
        write_csv(path, names, ([record[n] for n in names] for record in self.to_records()))

    def _repr_html_(self) -> str:
        return self.to_html()

    def __str__(self) -> str:
        from io import StringIO

        from rich.console import Console

        text = StringIO()
        Console(file=text, width=120, emoji=False).print(self.to_rich())
        return text.getvalue()

    def _all(self) -> list[Column]:
        own = [c for c in self.columns if not c.template]
        errors = [Column(c.error) for c in own if c.error]
        known = {c.key for c in own}
        return [*own, *(e for e in errors if e.key not in known)]


def _plain(value: Any) -> Any:
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value
