"""Charts as Vega-Lite: interactive in the report, PNG and SVG without a browser."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, cast

import altair as alt
import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
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
    row_name, column_name = _one_line(row_name), _one_line(column_name)
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
    titled = [c.properties(title=_one_line(t)) for c, t in zip(charts, titles, strict=True)]
    return alt.hconcat(*titled, spacing=24)


def styled(chart: Any) -> Any:
    """The look that all our charts share."""
    if not isinstance(chart, alt.HConcatChart):
        fits: Literal["fit-x", "pad"] = "fit-x" if chart.width == "container" else "pad"
        chart = chart.properties(autosize=alt.AutoSizeParams(type=fits, contains="padding"))
    return (
        chart.configure(font=_FONT)
        .configure_axis(
            domain=False, ticks=False, titleFontWeight="normal", titlePadding=8, labelFontSize=12
        )
        .configure_view(stroke=None)
    )


def _one_line(name: str) -> str:
    """A name without line ends of any kind: Vega puts titles into expressions of its own."""
    return " ".join(name.split())


def save_picture(chart: Any, path: Path, *, scale: float = 2.0) -> None:
    """Write a chart as PNG or SVG, by the extension; no browser is needed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    styled(chart).save(str(path), scale_factor=scale)
