"""Charts as Vega-Lite: interactive in the report, PNG and SVG without a browser."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
_SCALE = alt.Scale(domain=[0, 1], clamp=True, scheme="blues")
_FONT = "system-ui, sans-serif"


def similarity_heatmap(
    raw: FloatArray,
    standardized: FloatArray,
    rows: Sequence[int],
    columns: Sequence[int],
    *,
    row_name: str,
    column_name: str,
    width: int | str = "container",
) -> alt.Chart:
    """Layers × layers, with the number in every cell; the signal ``kind`` switches the values.

    The colour stops at 0 and 1, the numbers do not.
    """
    row_name, column_name = _one_line(row_name), _one_line(column_name)
    values = [
        {
            "row": row,
            "column": column,
            "raw": float(raw[i, j]),
            "standardized": float(standardized[i, j]),
        }
        for i, row in enumerate(rows)
        for j, column in enumerate(columns)
    ]
    kind = alt.param("kind", value="raw")
    x = alt.X("column:O", title=f"layer of {column_name}", axis=alt.Axis(labelAngle=0))
    y = alt.Y("row:O", title=f"layer of {row_name}", sort="descending")
    base = alt.Chart(alt.InlineData(values=values)).transform_calculate(
        similarity="kind == 'raw' ? datum.raw : datum.standardized"
    )
    cells = base.mark_rect(stroke="white", strokeWidth=1).encode(
        x=x,
        y=y,
        color=alt.Color("similarity:Q", scale=_SCALE, legend=None),
        tooltip=[
            alt.Tooltip("row:O", title=f"layer of {row_name}"),
            alt.Tooltip("column:O", title=f"layer of {column_name}"),
            alt.Tooltip("raw:Q", title="CKA as it is", format=".4f"),
            alt.Tooltip("standardized:Q", title="CKA, neurons standardized", format=".4f"),
        ],
    )
    numbers = base.mark_text(fontSize=11).encode(
        x=x,
        y=y,
        text=alt.Text("similarity:Q", format=".2f"),
        color=alt.condition("datum.similarity > 0.55", alt.value("white"), alt.value("#123")),
    )
    chart: alt.Chart = (
        alt.layer(cells, numbers)
        .add_params(kind)
        .properties(
            width=width,
            height=34 * len(rows),
            autosize=alt.AutoSizeParams(
                type="fit-x" if width == "container" else "pad", contains="padding"
            ),
        )
        .configure(font=_FONT)
        .configure_axis(
            domain=False, ticks=False, titleFontWeight="normal", titlePadding=8, labelFontSize=12
        )
        .configure_view(stroke=None)
    )
    return chart


def _one_line(name: str) -> str:
    """A name without line ends of any kind: Vega puts titles into expressions of its own."""
    return " ".join(name.split())


def save_picture(chart: Any, path: Path, *, scale: float = 2.0) -> None:
    """Write a chart as PNG or SVG, by the extension; no browser is needed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    chart.save(str(path), scale_factor=scale)
