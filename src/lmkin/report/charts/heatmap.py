"""Heatmaps: cells with a value, cells without one, and numbers where there is room."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import altair as alt

from ..names import FloatArray, rounded
from .style import INK, UNDEFINED, gradient
from .values import rows_of

LABEL = "cell >= 24 && isValid(datum.v) ? format(datum.v, '.2f') : ''"
"""Too small to be read is worse than not there: the colour and the tooltip remain."""
LINE = "cell < 9 ? 0.15 : cell < 20 ? 0.4 : 1"


def cells(
    base: alt.Chart,
    place: dict[str, Any],
    colour: alt.Color,
    tooltip: Sequence[alt.Tooltip],
    *,
    line: str = LINE,
    silent: bool = False,
) -> list[alt.Chart]:
    """Cells of the value ``v``, described as ``spoken``; grey where there is none (``silent``: without a tooltip)."""
    style: dict[str, Any] = {"stroke": "white", "strokeWidth": alt.expr(line)}
    known = base.transform_filter("isValid(datum.v)").mark_rect(**style)
    # Apart from the others: Vega-Lite would give a value that is not there the colour of zero.
    grey: dict[str, Any] = {**style, "color": UNDEFINED} | ({"tooltip": None} if silent else {})
    unknown = base.transform_filter("!isValid(datum.v)").mark_rect(**grey)
    tips: dict[str, Any] = {} if silent else {"tooltip": list(tooltip)}
    return [
        known.encode(
            **place, color=colour, tooltip=list(tooltip), description=alt.Description("spoken:N")
        ),
        unknown.encode(**place, **tips),
    ]


def cell_numbers(
    base: alt.Chart, place: dict[str, Any], *, dark: str = "datum.v > 0.55", size: str = "12"
) -> alt.Chart:
    """The text ``label`` in each cell, white where the cell is ``dark``."""
    numbers: alt.Chart = base.mark_text(fontSize=alt.expr(size), tooltip=None)
    colour = alt.ColorValue(INK, condition={"test": dark, "value": "white"})
    return numbers.encode(**place, text=alt.Text("label:N"), color=colour)


CELL_SIZE = "clamp(cell * 0.36, 9, 12)"
"""Of the font of a number in a cell."""


def unit_colour(style: str | None = None, **more: Any) -> alt.Color:
    """The darker the blue the nearer to 1; colours stop at 0 and 1."""
    scale = alt.Scale(domain=[0, 1], clamp=True, scheme="blues")
    return alt.Color("v:Q", scale=scale, legend=gradient(style, **more))


def square_rows(n: int, tables: Iterable[tuple[str, FloatArray]]) -> list[dict[str, Any]]:
    """Rows ``i`` × columns ``j``, with a column of data for each table."""
    columns: dict[str, list[Any]] = {
        "i": [i for i in range(n) for _ in range(n)],
        "j": [j for _ in range(n) for j in range(n)],
    }
    for name, table in tables:
        columns[name] = [rounded(float(value)) for value in table.ravel()]
    return rows_of(columns)
