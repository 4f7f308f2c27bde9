"""What all charts share: the look, names, pictures as PNG and SVG; and the heatmap of two models."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, cast

import altair as alt
import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
INK = "#1b2733"
SOFT = "#5b6b7a"
_SCALE = alt.Scale(domain=[0, 1], clamp=True, scheme="blues")
_FONT = "system-ui, sans-serif"


def similarity_heatmap(
    raw: FloatArray,
    standardized: FloatArray | None,
    rows: Sequence[int],
    columns: Sequence[int],
    *,
    row_name: str,
    column_name: str,
    width: int | str = "container",
) -> alt.LayerChart:
    """Layers × layers, with the number in every cell.

    With ``standardized`` values too, the signal ``kind`` switches between ``raw`` and ``standardized``. The colour
    stops at 0 and 1, the numbers do not.
    """
    row_name, column_name = one_line(row_name), one_line(column_name)
    other = raw if standardized is None else standardized
    values = [
        {"row": row, "column": column, "raw": float(raw[i, j]), "standardized": float(other[i, j])}
        for i, row in enumerate(rows)
        for j, column in enumerate(columns)
    ]
    x = alt.X("column:O", title=f"layer of {column_name}", axis=alt.Axis(labelAngle=0))
    y = alt.Y("row:O", title=f"layer of {row_name}", sort="descending")
    shown = (
        "datum.raw" if standardized is None else "kind == 'raw' ? datum.raw : datum.standardized"
    )
    base = alt.Chart(alt.InlineData(values=values)).transform_calculate(similarity=shown)
    tooltip = [
        alt.Tooltip("row:O", title=f"layer of {row_name}"),
        alt.Tooltip("column:O", title=f"layer of {column_name}"),
        alt.Tooltip("raw:Q", title="CKA as it is", format=".4f"),
        alt.Tooltip("standardized:Q", title="CKA, neurons standardized", format=".4f"),
    ]
    cells = base.mark_rect(stroke="white", strokeWidth=1).encode(
        x=x, y=y, color=alt.Color("similarity:Q", scale=_SCALE, legend=None), tooltip=tooltip
    )
    numbers = base.mark_text(fontSize=11).encode(
        x=x,
        y=y,
        text=alt.Text("similarity:Q", format=".2f"),
        color=alt.condition("datum.similarity > 0.55", alt.value("white"), alt.value("#123")),
    )
    chart = alt.layer(cells, numbers).properties(width=width, height=34 * len(rows))
    if standardized is not None:
        chart = chart.add_params(alt.param("kind", value="raw"))
    return cast(alt.LayerChart, chart)


def side_by_side(charts: Sequence[alt.LayerChart], titles: Sequence[str]) -> alt.HConcatChart:
    """Charts of a fixed width in one row, for a picture."""
    titled = [c.properties(title=one_line(t)) for c, t in zip(charts, titles, strict=True)]
    return alt.hconcat(*titled, spacing=24)


def styled(chart: Any) -> Any:
    """The look that all our charts share."""
    if not isinstance(chart, alt.HConcatChart):
        fits: Literal["fit-x", "pad"] = "fit-x" if chart.width == "container" else "pad"
        chart = chart.properties(autosize=alt.AutoSizeParams(type=fits, contains="padding"))
    return (
        chart.configure(font=_FONT)
        .configure_axis(
            domain=False,
            ticks=False,
            titleFontWeight="normal",
            titlePadding=8,
            titleFontSize=12,
            labelFontSize=12,
            labelColor=INK,
            titleColor=SOFT,
        )
        .configure_legend(labelFontSize=12, labelColor=INK, titleColor=SOFT)
        .configure_title(
            anchor="start",
            fontSize=14,
            fontWeight=600,
            color=INK,
            subtitleColor=SOFT,
            subtitleFontSize=12,
        )
        .configure_view(stroke=None)
    )


def one_line(name: str) -> str:
    """A name without line ends of any kind: Vega puts titles into expressions of its own."""
    return " ".join(name.split())


def chosen(texts: Mapping[str, str], signal: str) -> str:
    """A Vega expression that gives the text of the signal's present value."""
    # ASCII JSON is a literal of Vega's expression language too, whatever the text holds.
    return f"({json.dumps(texts)})[{signal}]"


def save_picture(chart: Any, path: Path, *, scale: float = 2.0) -> None:
    """Write a chart as PNG or SVG, by the extension; no browser is needed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    styled(chart).save(str(path), scale_factor=scale)
