"""Layers that are nearly copies of the ones before: a ranked list, and CKA of all layers with all."""

from __future__ import annotations

import math
from typing import Any, cast

import altair as alt
import numpy as np

from .charts import INK
from .decomposed import GRID, legend_columns, name_axis
from .heatmap import UNDEFINED, calculations
from .neuronsleft import gradient
from .redundant import LayersView, model_column, model_signals, model_title, of_all
from .view import rounded, said

KINDS = {
    "r2": ("R² by the layer before", "#0072b2", "circle", -5),
    "cka": ("CKA with the layer before", "#d55e00", "diamond", 5),
}
"""What a row of the list shows: its name, colour and shape, and how far below the middle it lies."""


def ranked(view: LayersView, model: int) -> list[int]:
    """The places of a model's layers, the one that adds least first; the first layer has none before it."""
    rank = view.numbers("rank")
    assert rank is not None
    own = [k for k in view.own(model) if np.isfinite(rank[model, k])]
    return sorted(own, key=lambda k: float(rank[model, k]))


def before(view: LayersView, model: int, place: int) -> int:
    """The number of the layer before."""
    own = view.own(model)
    return view.layer_numbers[own[own.index(place) - 1]]


def drop_layers_chart(view: LayersView, *, width: int | str = "container") -> alt.LayerChart:
    """A row a layer of the chosen model, the one that adds least at the top."""
    order = [ranked(view, m) for m in range(len(view.models))]
    most = max(map(len, order))
    rows: list[dict[str, Any]] = [
        {"rank": r, "kind": label} for label, *_ in KINDS.values() for r in range(most)
    ]
    values = []
    for k, name in enumerate(KINDS):
        for ending, table in of_all(view, name).items():
            for m, key in enumerate(view.keys):
                column = model_column(key, ending)
                for r in range(most):
                    value = table[m, order[m][r]] if r < len(order[m]) else np.nan
                    rows[k * most + r][column] = rounded(float(value))
                    if ending in ("", "_low") and np.isfinite(value):
                        values.append(float(value))
    least = max(min(values, default=0.0), -0.25)
    start = math.floor(10 * least - 0.2) / 10
    ends = [max(start, 0.0) if least >= 0 else start, 1.0]
    x: dict[str, Any] = {
        "title": "R², CKA",
        "scale": alt.Scale(domain=ends, nice=False, zero=False),
        "axis": alt.Axis(tickCount=6, gridColor=GRID),
    }
    layer_names = {
        key: [f"{r + 1}. layer {view.layer_numbers[k]}" for r, k in enumerate(order[m])]
        for m, key in enumerate(view.keys)
    }
    labels, colours, shapes, _ = zip(*KINDS.values(), strict=True)
    legend = alt.Legend(
        orient="top",
        title=None,
        labelLimit=300,
        symbolSize=80,
        symbolOpacity=1,
        columns=legend_columns(labels, ["10. layer 10"]),
    )
    colour = alt.Color("kind:N", legend=legend, scale=alt.Scale(domain=labels, range=colours))
    shape = alt.Shape("kind:N", legend=legend, scale=alt.Scale(domain=labels, range=shapes))
    # From the data: as many rows as the chosen model has.
    y = alt.Y("rank:O", axis=name_axis())
    tooltip = [
        alt.Tooltip("layer:N"),
        alt.Tooltip("kind:N", title="measure"),
        alt.Tooltip("value:N"),
    ]
    if any(view.has_intervals(name) for name in KINDS):
        tooltip.append(alt.Tooltip("interval:N", title=f"{view.level} interval"))
    layers: list[alt.Chart] = []
    for label, _, _, below in KINDS.values():
        mine = alt.Chart().transform_filter(
            f"datum.kind == '{label}' && datum.rank < length(names)"
        )
        mine = mine.transform_calculate(**calculations("'.4f'"), layer="names[datum.rank]")
        bars = mine.transform_filter("isValid(datum.low) && isValid(datum.high)").mark_rule(
            strokeWidth=5, opacity=0.35, clip=True, tooltip=None, yOffset=below
        )
        points = mine.mark_point(filled=True, size=70, opacity=1, yOffset=below, invalid="filter")
        layers += [
            bars.encode(x=alt.X("low:Q", **x), x2="high:Q", y=y, color=colour),
            points.encode(x=alt.X("v:Q", **x), y=y, color=colour, shape=shape, tooltip=tooltip),
        ]
    chart = alt.layer(*layers).add_params(
        *model_signals(view),
        alt.param("layers", value=layer_names),
        alt.param("names", expr="layers[model]"),
    )
    title = model_title(view, "Layers that add least to the one before")
    chart = chart.properties(width=width, height=26 * max(2, most), title=title)
    chart.data = alt.InlineData(values=rows)
    return cast(alt.LayerChart, chart)


def drop_layers_table(view: LayersView, model: int) -> list[list[str]]:
    """A line a layer, the one that adds least first: R² and CKA with errors and intervals."""
    tables = {name: of_all(view, name) for name in KINDS}
    rows = [["rank", "layer", "the one before"]]
    for name, (label, *_) in KINDS.items():
        rows[0] += [label, *([f"{view.level} interval"] * view.has_intervals(name))]
    for r, k in enumerate(ranked(view, model)):
        line = [str(r + 1), str(view.layer_numbers[k]), str(before(view, model, k))]
        for name, found in tables.items():
            value, error, low, high = (
                float(found[e][model, k]) if e in found else math.nan
                for e in ("", "_se", "_low", "_high")
            )
            line.append(said(value, error))
            if view.has_intervals(name):
                line.append(f"{said(low)} to {said(high)}" if math.isfinite(low) else "–")
        rows.append(line)
    return rows


def cka_heatmap(view: LayersView, *, size: int = 420) -> alt.LayerChart:
    """CKA of all layers of the chosen model with all."""
    numbers = view.layer_numbers
    n = len(numbers)
    columns: dict[str, list[Any]] = {
        "i": [i for i in range(n) for _ in range(n)],
        "j": [j for _ in range(n) for j in range(n)],
    }
    for ending, table in of_all(view, "cka_all").items():
        for m, key in enumerate(view.keys):
            values = [rounded(float(v)) for v in table[m].ravel()]
            columns[model_column(key, ending)] = values
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    own = {key: view.own(m) for m, key in enumerate(view.keys)}
    base = (
        alt.Chart()
        .transform_filter("indexof(own[model], datum.i) >= 0 && indexof(own[model], datum.j) >= 0")
        .transform_calculate(
            **calculations("'.4f'"),
            row="'layer ' + numbers[datum.i]",
            column="'layer ' + numbers[datum.j]",
            spoken="datum.row + ', ' + datum.column + ': ' + datum.value",
            label="cell >= 24 && isValid(datum.v) ? format(datum.v, '.2f') : ''",
        )
    )
    shared: dict[str, Any] = {
        "title": "layer",
        "labelExpr": "numbers[datum.value]",
        "labelOverlap": True,
        "labelFontSize": 11,
    }
    # From the data: the layers of the chosen model.
    scale = alt.Scale(paddingInner=0, paddingOuter=0)
    x = alt.X("j:O", scale=scale, axis=alt.Axis(labelAngle=0, **shared))
    y = alt.Y("i:O", scale=scale, axis=alt.Axis(**shared))
    scheme = alt.Scale(domain=[0, 1], clamp=True, scheme="blues")
    colour = alt.Color("v:Q", scale=scheme, legend=gradient(".1f", values=[0, 0.5, 1]))
    tooltip = [
        alt.Tooltip("row:N"),
        alt.Tooltip("column:N"),
        alt.Tooltip("value:N", title="CKA"),
    ]
    if view.has_intervals("cka_all"):
        tooltip.append(alt.Tooltip("interval:N", title=f"{view.level} interval"))
    style: dict[str, Any] = {"stroke": "white", "strokeWidth": alt.expr("cell < 20 ? 0.4 : 1")}
    known = base.transform_filter("isValid(datum.v)").mark_rect(**style)
    unknown = base.transform_filter("!isValid(datum.v)").mark_rect(**style, color=UNDEFINED)
    text = base.mark_text(fontSize=alt.expr("clamp(cell * 0.36, 9, 12)"), tooltip=None)
    dark = alt.condition("datum.v > 0.55", alt.value("white"), alt.value(INK))
    chart = alt.layer(
        known.encode(x=x, y=y, color=colour, tooltip=tooltip, description="spoken:N"),
        unknown.encode(x=x, y=y, tooltip=tooltip),
        text.encode(x=x, y=y, text="label:N", color=dark),
    ).add_params(
        *model_signals(view),
        alt.param("numbers", value=numbers),
        alt.param("own", value=own),
        alt.param("cell", expr="width / max(1, length(own[model]))"),
    )
    title = model_title(view, "CKA of all layers with all")
    chart = chart.properties(width=size, height=size, title=title)
    chart.data = alt.InlineData(values=rows)
    return cast(alt.LayerChart, chart)


def cka_table(view: LayersView, model: int) -> list[list[str]]:
    """Layers × layers of a model."""
    found, own = of_all(view, "cka_all"), view.own(model)
    head = [str(view.layer_numbers[k]) for k in own]
    rows = [["layer", *head]]
    for name, i in zip(head, own, strict=True):
        rows.append([name, *(said(float(found[""][model, i, j])) for j in own)])
    return rows
