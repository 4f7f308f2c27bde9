"""A table of results in a terminal: names stay whole, however long they are and however narrow it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from .table import ResultTable

_GAP = 2
"""Spaces between columns."""
_SHORT = 12
"""Letters of a word that may stand in a narrow column."""


class TerminalTable:
    """Draws a `ResultTable` as wide as there is room.

    Where its columns have no room beside each other, those that group rows (else the first) become lines above their
    rows; then headings that are long become numbers, which are explained below. Texts are folded between words.
    """

    def __init__(self, table: ResultTable):
        self.table = table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        table, room = self.table, options.max_width
        headings = [c.heading for c in table.shown]
        texts = [c.kind in ("text", "plain") for c in table.shown]
        rows = list(self._rows())
        grouping = [k for k, c in enumerate(table.shown) if c.key in table.groups]
        cells_of = _cells(headings, [row for _, row in rows])
        above: list[int] = []
        if _width(cells_of) > room and len(headings) > 1:
            above = grouping or [k for k in (0,) if texts[k]]
        least = [_least(cells, text) for cells, text in zip(cells_of, texts, strict=True)]
        columns = [k for k in range(len(headings)) if k not in above]
        while sum(least[k] + _GAP for k in columns) - _GAP > room:
            foldable = [k for k in columns if texts[k]]
            if not foldable or len(columns) == 1:
                break
            above = sorted([*above, max(foldable, key=lambda k: least[k])])
            columns = [k for k in columns if k not in above]
        short: list[str] = [headings[k] for k in columns]
        legend: list[str] = []
        if sum(least[k] + _GAP for k in columns) - _GAP > room:
            short, legend = _numbered(short)
        widths = _shared(
            [
                (_least(c, texts[k]), max(map(cell_len, c)))
                for k, c in zip(
                    columns, _cells(short, [[r[k] for k in columns] for _, r in rows]), strict=True
                )
            ],
            room,
        )

        def drawn(some: Sequence[Sequence[str]], *, head: bool = False) -> Table:
            part = Table(box=None, pad_edge=False, show_header=head, padding=(0, _GAP, 0, 0))
            for k, title, width in zip(columns, short, widths, strict=True):
                side = "left" if texts[k] else "right"
                part.add_column(Text(title, justify=side), justify=side, width=width)  # type: ignore[arg-type]
            for cells in some:
                part.add_row(*(Text(cell) for cell in cells))
            return part

        if table.title:
            yield Text(table.title, style="italic")
        if not above:
            shown, before = [], None
            for group, cells in rows:
                same = group == before and bool(table.groups)
                shown.append(["" if same and k in grouping else cells[k] for k in columns])
                before = group
            yield drawn(shown, head=True)
        else:
            yield drawn([], head=True)
            last: list[str] | None = None
            for _, cells in rows:
                names = [f"{headings[k]}: {cells[k]}" for k in above]
                if names != last:
                    yield from _lines(names, room)
                last = names
                yield drawn([[cells[k] for k in columns]])
        for line in legend:
            yield Text(line)
        if table.caption:
            yield Text(table.caption, style="dim italic")

    def _rows(self) -> Iterator[tuple[tuple[object, ...], list[str]]]:
        """The group and the cells of every row that a terminal shows."""
        before, count = None, 0
        for row, cells in zip(self.table.rows, self.table.cells(), strict=True):
            group = tuple(row.get(key) for key in self.table.groups)
            count = count + 1 if group == before else 1  # without groups, all rows are of one
            before = group
            if self.table.most is None or count <= self.table.most:
                yield group, cells


def _cells(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Headings and cells by column."""
    return [[heading, *(row[k] for row in rows)] for k, heading in enumerate(headings)]


def _width(columns: Sequence[Sequence[str]]) -> int:
    return sum(max(map(cell_len, cells)) + _GAP for cells in columns) - _GAP


def _least(cells: Sequence[str], text: bool) -> int:
    """The least width of a column: texts may be folded between words, headings too, numbers never."""
    words = [word for cell in (cells if text else cells[:1]) for word in cell.split()]
    whole = [] if text else list(cells[1:])
    return max((cell_len(piece) for piece in [*words, *whole]), default=1)


def _shared(wanted: Sequence[tuple[int, int]], room: int) -> list[int]:
    """Widths between the least and the natural ones: what is left beyond the least goes to columns in their order."""
    left = room - sum(least + _GAP for least, _ in wanted) + _GAP
    widths = []
    for least, natural in wanted:
        more = max(0, min(natural - least, left))
        widths.append(least + more)
        left -= more
    return widths


def _numbered(headings: Sequence[str]) -> tuple[list[str], list[str]]:
    """Headings whose words are long, as numbers, and what the numbers mean."""
    short: list[str] = []
    legend: list[str] = []
    for heading in headings:
        if max(map(cell_len, heading.split()), default=0) <= _SHORT:
            short.append(heading)
            continue
        legend.append(f"({len(legend) + 1}) {heading}")
        short.append(f"({len(legend)})")
    return short, legend


def _lines(names: Sequence[str], room: int) -> Iterator[Text]:
    """Names in one line if they fit, else one a line."""
    together = ", ".join(names)
    for line in [together] if cell_len(together) <= room else names:
        yield Text(line, style="bold")
