"""Layers that are nearly copies of the ones before: a ranked list, and CKA of all layers with all."""

from __future__ import annotations

import math
from typing import Any

import altair as alt
import numpy as np

from ....results import ResultTable
from ...charts.heatmap import CELL_SIZE, LABEL, cell_numbers, cells, square_rows, unit_colour
from ...charts.lines import layer_axis, line_chart
from ...charts.points import Kind, point_rows
from ...charts.style import heading, layered, name_axis, number_axis, r2_scale
from ...charts.values import calculations, column, tooltips
from ...names import rounded
from ...tables import interval_text, table_of
from .view import LayersView, model_signals, model_title, of_all

KINDS = {
    "r2": Kind("R² by the layer before", "#0072b2", "circle", -5),
    "cka": Kind("CKA with the layer before", "#d55e00", "diamond", 5),
}
"""What a row of the list shows."""


def ranked(view: LayersView, model: int) -> list[int]:
    """The places of a model's layers, the one that adds least first; the first layer has none before it."""
    rank = view.numbers("drop_rank")
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
        {"rank": r, "kind": kind.label} for kind in KINDS.values() for r in range(most)
    ]
    values = []
    for k, name in enumerate(KINDS):
        for ending, table in of_all(view, name).items():
            for m, key in enumerate(view.keys):
                for r in range(most):
                    value = table[m, order[m][r]] if r < len(order[m]) else np.nan
                    rows[k * most + r][column(key, ending=ending)] = rounded(float(value))
                    if ending in ("", "_low") and np.isfinite(value):
                        values.append(float(value))
    least = max(min(values, default=0.0), -0.25)
    start = math.floor(10 * least - 0.2) / 10
    ends = [max(start, 0.0) if least >= 0 else start, 1.0]
    x: dict[str, Any] = {
        "title": "R², CKA",
        "scale": alt.Scale(domain=ends, nice=False, zero=False),
        "axis": number_axis(),
    }
    layer_names = {
        key: [[f"{r + 1}. layer {view.layer_numbers[k]}"] for r, k in enumerate(order[m])]
        for m, key in enumerate(view.keys)
    }
    errors = any(view.has_intervals(name) for name in KINDS)
    layers = point_rows(
        KINDS,
        x=x,
        y=alt.Y("rank:O", axis=name_axis()),  # from the data: as many rows as the chosen model has
        tooltip=tooltips(view.level * errors, layer="layer", kind="measure", value="value"),
        calculate={**calculations("'.4f'"), "layer": "name_lines[datum.rank][0]"},
        bars=KINDS,
        beside=["10. layer 10"],
        where="datum.rank < length(name_lines)",
    )
    params = model_signals(view) | {"layers": layer_names, "name_lines": alt.expr("layers[model]")}
    title = model_title(view, "Layers that add least to the one before")
    return layered(layers, rows, params, width=width, height=26 * max(2, most), title=title)


def drop_layers_table(view: LayersView, model: int) -> ResultTable:
    """A line a layer, the one that adds least first: R² and CKA with errors and intervals."""
    columns = [(name, "count") for name in ("rank", "layer", "the one before")]
    for name, kind in KINDS.items():
        columns += [
            (kind.label, "±"),
            *[(f"{view.level} interval", "text")] * view.has_intervals(name),
        ]
    lines = []
    for r, k in enumerate(ranked(view, model)):
        line: list[Any] = [r + 1, view.layer_numbers[k], before(view, model, k)]
        for name in KINDS:
            tables = of_all(view, name)
            value, error, low, high = (
                float(tables[e][model, k]) if e in tables else math.nan
                for e in ("", "_se", "_low", "_high")
            )
            line += [(value, error), *[interval_text(low, high)] * view.has_intervals(name)]
        lines.append(line)
    return table_of("drop", columns, lines)


def cka_heatmap(view: LayersView, *, size: int = 420) -> alt.LayerChart:
    """CKA of all layers of the chosen model with all."""
    numbers = view.layer_numbers
    n = len(numbers)
    rows = square_rows(
        n,
        (
            (column(key, ending=ending), table[m])
            for ending, table in of_all(view, "cka_all").items()
            for m, key in enumerate(view.keys)
        ),
    )
    own = {key: view.own(m) for m, key in enumerate(view.keys)}
    base = (
        alt.Chart()
        .transform_filter("indexof(own[model], datum.i) >= 0 && indexof(own[model], datum.j) >= 0")
        .transform_calculate(
            **calculations("'.4f'"),
            row="'layer ' + numbers[datum.i]",
            column="'layer ' + numbers[datum.j]",
            spoken="datum.row + ', ' + datum.column + ': ' + datum.value",
            label=LABEL,
        )
    )
    shared: dict[str, Any] = {
        "title": "layer",
        "labelExpr": "numbers[datum.value]",
        "labelOverlap": True,
        "labelFontSize": 11,
        "labelPadding": 5,
    }
    # From the data: the layers of the chosen model, the first at the bottom and at the left.
    scale = alt.Scale(paddingInner=0, paddingOuter=0)
    place: dict[str, Any] = {
        "x": alt.X("j:O", scale=scale, axis=alt.Axis(labelAngle=0, **shared)),
        "y": alt.Y("i:O", sort="descending", scale=scale, axis=alt.Axis(**shared)),
    }
    errors = view.has_intervals("cka_all")
    tooltip = tooltips(view.level * errors, row="row", column="column", value="CKA")
    layers = cells(base, place, unit_colour(".1f", values=[0, 0.5, 1]), tooltip)
    layers.append(cell_numbers(base, place, size=CELL_SIZE))
    params = model_signals(view) | {
        "numbers": numbers,
        "own": own,
        "cell": alt.expr("width / max(1, length(own[model]))"),
    }
    title = model_title(view, "CKA of all layers with all")
    return layered(layers, rows, params, width=size, height=size, title=title)


def cka_table(view: LayersView, model: int) -> ResultTable:
    """Layers × layers of a model."""
    values, own = of_all(view, "cka_all")[""][model], view.own(model)
    numbers = [view.layer_numbers[k] for k in own]
    lines = [[number, *values[i, own]] for number, i in zip(numbers, own, strict=True)]
    columns = [("layer", "count"), *((str(number), "number") for number in numbers)]
    return table_of("cka", columns, lines)


def layer_lines(view: LayersView, name: str, *, width: int | str = "container") -> alt.LayerChart:
    """A measure of every layer, all models beside each other, in the order of their layers."""
    tables = of_all(view, name)
    rows: list[dict[str, Any]] = []
    for m, model in enumerate(view.models):
        for k in view.own(m):
            row: dict[str, Any] = {"i": m, "model": model, "layer": view.layer_numbers[k]}
            values = {column("v", ending=e): rounded(table[m, k]) for e, table in tables.items()}
            rows.append(row | values)
    return line_chart(
        rows,
        view.models,
        x=layer_axis(view.layer_numbers),
        y={
            "title": "R²" if name == "r2" else "CKA",
            "scale": r2_scale([tables[""]], [tables.get("_low")]),
            "axis": number_axis(),
        },
        tooltip=tooltips(
            view.level * view.has_intervals(name), model="model", layer="layer", value="value"
        ),
        title=heading(view.measure(name).title),
        calculate=calculations("'.4f'"),
        params={"measure": "v", "scaling": ""},
        width=width,
    )
