"""Curves over the layers, a colour a model, with the interval as a band."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import altair as alt
import numpy as np
import xarray as xr

from .heatmap import calculations, title_of
from .view import (
    COLUMN,
    ERRORS,
    Measure,
    Scaling,
    View,
    column,
    number_format,
    rounded,
    said,
    scalings_of,
    select,
)

# Okabe and Ito's colours, told apart by the colour-blind too (yellow left out: it vanishes on white).
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#4d4d4d")
_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
"""One fewer than there are colours, so that the first 42 models all look different."""


def layer_curves(
    view: View,
    dataset: xr.Dataset,
    measures: Sequence[Measure],
    *,
    axis: str,
    width: int | str = "container",
    height: int = 320,
) -> alt.LayerChart:
    """Values over the layers, from a Dataset with the dimensions model and layer and a variable for each measure.

    The signals are those of the heatmap, ``measure`` and ``scaling``.
    """
    scalings = scalings_of(dataset)
    rows, formats, ranges = _rows(view, dataset, measures, scalings)
    layers = [int(n) for n in dataset["layer"].values]
    base = alt.Chart().transform_calculate(**calculations("formats[measure]"))
    x = alt.X(
        "layer:Q",
        title="layer",
        # One layer alone needs some room on both sides.
        scale=alt.Scale(domain=_widened(min(layers), max(layers)), nice=False, padding=12),
        axis=alt.Axis(values=layers, format="d", grid=False, labelOverlap=True),
    )
    # Ends of the axis are computed here: a measure without any value would give Vega an endless one.
    ends = alt.Scale(domain=[alt.expr("range[0]"), alt.expr("range[1]")], nice=True)
    y = alt.Y("v:Q", title=axis, scale=ends, axis=alt.Axis(tickCount=6))
    models = view.models
    colour, shape = model_marks(models)
    bands = (
        base.transform_filter("isValid(datum.low) && isValid(datum.high)")
        .mark_area(opacity=0.15, tooltip=None)
        .encode(x=x, y=alt.Y("low:Q", title=axis, scale=ends), y2="high:Q", color=colour)
    )
    present = base.transform_filter("isValid(datum.v)")
    lines = present.mark_line(strokeWidth=2, tooltip=None).encode(x=x, y=y, color=colour)
    tooltip = [
        alt.Tooltip("model:N", title="model"),
        alt.Tooltip("layer:Q", title="layer"),
        alt.Tooltip("value:N", title="value"),
    ]
    if any(f"{m.name}_low" in dataset for m in measures):
        tooltip.append(alt.Tooltip("interval:N", title=f"{view.level} interval"))
    points = present.mark_point(filled=True, size=55, opacity=1).encode(
        x=x, y=y, color=colour, shape=shape, tooltip=tooltip
    )
    # Both differences and similarities are read from zero.
    zero = (
        alt.Chart(alt.InlineData(values=[{"zero": 0}]))
        .mark_rule(color="#888")
        .encode(y=alt.Y("zero:Q", title=axis, scale=ends))
    )
    chart = alt.layer(zero, bands, lines, points).add_params(
        alt.param("measure", value=measures[0].key),
        alt.param("scaling", value=scalings[0].key),
        alt.param("formats", value=formats),
        alt.param("ranges", value=ranges),
        alt.param("range", expr=f"ranges[{COLUMN.format('')}]"),
    )
    title = title_of(measures, scalings)
    chart = chart.properties(width=width, height=height, title=title)
    chart.data = alt.InlineData(values=rows)
    return cast(alt.LayerChart, chart)


def model_marks(models: Sequence[str]) -> tuple[alt.Color, alt.Shape]:
    """A colour and a shape for each value of the field ``model``, with a legend above the chart."""
    colours = alt.Scale(domain=list(models), range=_cycled(_COLOURS, len(models)))
    shapes = alt.Scale(domain=list(models), range=_cycled(_SHAPES, len(models)))
    legend = _legend(models)
    return (
        alt.Color("model:N", scale=colours, legend=legend),
        alt.Shape("model:N", scale=shapes, legend=legend),
    )


def curve_table(
    view: View, dataset: xr.Dataset, measure: Measure, scaling: Scaling
) -> list[list[str]]:
    """The curves' numbers: a row for each layer, a column for each model."""
    value, error = _tables(view, dataset, measure, scaling, ("", "_se"))
    assert value is not None
    rows = [["layer", *view.models]]
    for k, number in enumerate(dataset["layer"].values):
        cells = [
            said(value[m, k], None if error is None else error[m, k])
            for m in range(len(view.models))
        ]
        if any(cell != "–" for cell in cells):
            rows.append([str(int(number)), *cells])
    return rows


def _tables(
    view: View,
    dataset: xr.Dataset,
    measure: Measure,
    scaling: Scaling,
    suffixes: Sequence[str],
) -> list[Any]:
    found: list[Any] = []
    for suffix in suffixes:
        name = measure.name + suffix
        if name not in dataset:
            found.append(None)
            continue
        values = select(dataset[name], scaling).transpose("model", "layer")
        found.append(np.asarray(values.sel(model=view.raw_models).values, dtype=np.float64))
    return found


def _rows(
    view: View, dataset: xr.Dataset, measures: Sequence[Measure], scalings: Sequence[Scaling]
) -> tuple[list[dict[str, Any]], dict[str, str], dict[str, list[float]]]:
    """The data; how numbers of each measure are written; and between which ends each curve lies."""
    rows: list[dict[str, Any]] = [
        {"model": model, "layer": int(layer)}
        for model in view.models
        for layer in dataset["layer"].values
    ]
    formats, ranges = {}, {}
    suffixes = ("", *ERRORS)
    for measure in measures:
        for scaling in scalings:
            tables = _tables(view, dataset, measure, scaling, suffixes)
            for suffix, table in zip(suffixes, tables, strict=True):
                if table is None:
                    continue
                for row, value in zip(rows, table.ravel(), strict=True):
                    row[column(measure, scaling, suffix)] = rounded(value)
            formats[measure.key] = number_format(tables[0])
            shown = np.concatenate([t.ravel() for t in (tables[0], *tables[2:]) if t is not None])
            shown = np.append(shown[np.isfinite(shown)], 0.0)
            ranges[column(measure, scaling)] = _widened(shown.min(), shown.max())
    return rows, formats, ranges


def _widened(low: float, high: float) -> list[float]:
    return [float(low), float(high)] if high > low else [float(low) - 0.5, float(high) + 0.5]


def _legend(models: Sequence[str]) -> alt.Legend | None:
    """Above the curves, in as many columns as there is room for."""
    if len(models) == 1:
        return None
    column = min(max(len(name) for name in models), 30) * 7 + 40
    return alt.Legend(
        orient="top",
        title=None,
        columns=alt.expr(f"max(1, min({len(models)}, floor(width / {column})))"),
        labelLimit=240,
        symbolSize=70,
        symbolOpacity=1,
    )


def _cycled(values: Sequence[str], n: int) -> list[str]:
    return [values[i % len(values)] for i in range(n)]
