"""A measure of every layer, a line a model, with the interval as a band."""

from __future__ import annotations

from typing import Any, cast

import altair as alt
import numpy as np

from .decomposed import GRID, model_scales, r2_scale
from .redundant import LayersView, of_all
from .view import rounded, said

_FEW = 6
"""More bands than these hide each other."""


def layer_lines(
    view: LayersView, name: str, *, width: int | str = "container", height: int = 340
) -> alt.LayerChart:
    """All models beside each other, in the order of their layers."""
    found = of_all(view, name)
    rows: list[dict[str, Any]] = []
    for m, model in enumerate(view.models):
        for k in view.own(m):
            numbers = {e: float(table[m, k]) for e, table in found.items()}
            if not np.isfinite(numbers[""]):
                continue
            row: dict[str, Any] = {"i": m, "model": model, "layer": view.layer_numbers[k]}
            row["v"] = rounded(numbers[""])
            row["value"] = said(numbers[""], numbers.get("_se"))
            for end in ("low", "high"):
                row[end] = rounded(numbers.get(f"_{end}", np.nan))
            low, high = (said(numbers.get(e, np.nan)) for e in ("_low", "_high"))
            row["interval"] = f"{low} to {high}"
            rows.append(row)
    layers = view.layer_numbers
    first, last = min(layers), max(layers)
    x = alt.X(
        "layer:Q",
        title="layer",
        # One layer alone needs some room on both sides.
        scale=alt.Scale(
            domain=[first, last] if last > first else [first - 0.5, last + 0.5],
            nice=False,
            zero=False,
            padding=12,
        ),
        axis=alt.Axis(values=layers, format="d", grid=False, labelOverlap=True, labelSeparation=4),
    )
    y: dict[str, Any] = {
        "title": "R²" if name == "r2" else "CKA",
        "scale": r2_scale([found[""]], [found.get("_low")]),
        "axis": alt.Axis(tickCount=6, gridColor=GRID),
    }
    # It asks for nothing but the names of the models.
    colour, shape = model_scales(cast(Any, view))
    base = alt.Chart()
    bands = base.transform_filter("isValid(datum.low) && isValid(datum.high)").mark_area(
        opacity=0.15 if len(view.models) <= _FEW else 0.07, clip=True, tooltip=None
    )
    lines = base.mark_line(strokeWidth=2, tooltip=None)
    points = base.mark_point(filled=True, size=55, opacity=1)
    tooltip = [alt.Tooltip("model:N"), alt.Tooltip("layer:Q"), alt.Tooltip("value:N")]
    if view.has_intervals(name):
        tooltip.append(alt.Tooltip("interval:N", title=f"{view.level} interval"))
    chart = alt.layer(
        bands.encode(x=x, y=alt.Y("low:Q", **y), y2="high:Q", color=colour),
        lines.encode(x=x, y=alt.Y("v:Q", **y), color=colour),
        points.encode(x=x, y=alt.Y("v:Q", **y), color=colour, shape=shape, tooltip=tooltip),
    ).add_params(alt.param("names", value=view.models))
    title = alt.TitleParams(
        text=view.measure(name).title, frame="group", offset=6, limit=alt.expr("max(width, 190)")
    )
    chart = chart.properties(width=width, height=height, title=title)
    chart.data = alt.InlineData(values=rows)
    return cast(alt.LayerChart, chart)
