"""Neurons left by threshold, a line a model; and by layer, a heatmap of one model."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from ....results import ResultTable
from ...charts.heatmap import cell_numbers, cells, unit_colour
from ...charts.lines import line_chart
from ...charts.style import heading, layered, number_axis, signal_text, widened
from ...charts.values import calculations, column, expression, tooltips
from ...names import FloatArray, percent, rounded, whole
from ...tables import table_of
from .view import RedundancyView, model_signals, model_title

AMOUNTS = {"share": "fraction of all neurons", "number": "number of neurons"}
"""What the vertical axis may show."""


def left_chart(
    view: RedundancyView,
    amount: str = "share",
    *,
    width: int | str = "container",
) -> alt.LayerChart:
    """A line a model: how many neurons stand for all at each threshold."""
    left, share, total = (view.numbers(name) for name in ("left", "share", "neurons"))
    rows = [
        {
            "i": i,
            "model": name,
            "t": t,
            "share": rounded(share[i, k]),
            "number": int(left[i, k]),
            "said": f"{left[i, k]:,.0f} of {total[i]:,.0f} ({percent(share[i, k])})",
        }
        for i, name in enumerate(view.models)
        for k, t in enumerate(view.thresholds)
    ]
    ends = widened(view.thresholds[0], view.thresholds[-1], by=0.1)
    x = alt.X(
        "t:Q",
        title="threshold (distance 1\u00a0−\u00a0|r|)",
        scale=alt.Scale(domain=ends, nice=False, zero=False, padding=12),
        axis=alt.Axis(
            values=view.thresholds,
            format=".4~g",
            grid=False,
            labelOverlap="greedy",
            labelSeparation=6,
            labelPadding=8,
        ),
    )
    label = "amount == 'share' ? format(datum.value, '.0%') : format(datum.value, ',')"
    y: dict[str, Any] = {
        "title": None,
        "scale": alt.Scale(domain=[0, alt.expr("tops[amount]")], nice=False),
        "axis": number_axis(labelExpr=label),
    }
    return line_chart(
        rows,
        view.models,
        x=x,
        y=y,
        tooltip=tooltips(model="model", t="threshold", said="left"),
        title=heading("Neurons left by threshold", signal_text(AMOUNTS, "amount")),
        calculate={"v": "datum[amount]"},
        params={"amount": amount, "tops": {"share": 1, "number": int(total.max())}},
        bands=False,
        width=width,
    )


def left_table(view: RedundancyView) -> ResultTable:
    """A line a threshold, a column a model: neurons left, and their share."""
    left, share, total = (view.numbers(name) for name in ("left", "share", "neurons"))
    names = [f"{m} (of {n:,.0f})" for m, n in zip(view.models, total, strict=True)]
    lines = [
        [label, *(f"{left[i, k]:,.0f} ({percent(share[i, k])})" for i in range(len(names)))]
        for k, label in enumerate(view.labels)
    ]
    return table_of("left", [(name, "text") for name in ("threshold", *names)], lines)


def largest_table(view: RedundancyView) -> ResultTable:
    """A line a threshold, a column a model: neurons of the largest cluster."""
    largest = view.numbers("largest")
    lines = [[label, *largest[:, k]] for k, label in enumerate(view.labels)]
    models = [(name, "count") for name in view.models]
    return table_of("largest", [("threshold", "text"), *models], lines)


def kept(view: RedundancyView) -> FloatArray:
    """The fraction of its neurons that each layer keeps, by model, threshold and layer."""
    width = view.numbers("width")[:, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(view.numbers("left_by_layer") / width, np.float64)


def layer_heatmap(view: RedundancyView, *, width: int | str = "container") -> alt.LayerChart:
    """Layers of the chosen model × thresholds: which fraction of a layer's neurons is kept."""
    left, widths, shares = view.numbers("left_by_layer"), view.numbers("width"), kept(view)
    rows: list[dict[str, Any]] = [
        {"layer": number, "k": k}
        for number in view.layer_numbers
        for k in range(len(view.thresholds))
    ]
    for i, key in enumerate(view.keys):
        for r, row in enumerate(rows):
            n, k = divmod(r, len(view.thresholds))
            there = np.isfinite(widths[i, n])
            row[column(key)] = rounded(shares[i, k, n])
            row[column(key, ending="said")] = (
                f"{whole(left[i, k, n])} of {whole(widths[i, n])}" if there else None
            )
    base = alt.Chart().transform_calculate(
        **calculations("'.1%'"),
        said=expression("said"),
        threshold="labels[datum.k]",
        label=f"width / {len(view.thresholds)} >= 34 && isValid(datum.v) ? format(datum.v, '.0%') : ''",
        spoken="'layer ' + datum.layer + ', threshold ' + datum.threshold + ': ' + datum.said",
    )
    # Layers that the chosen model lacks are no rows of its heatmap.
    base = base.transform_filter("isValid(datum.said)")
    # From the data: the layers of the chosen model, the first at the bottom, as in all heatmaps of layers.
    y = alt.Y(
        "layer:O",
        title="layer",
        sort="descending",
        scale=alt.Scale(paddingInner=0, paddingOuter=0),
        axis=alt.Axis(labelPadding=5),
    )
    x = alt.X(
        "k:O",
        title="threshold",
        scale=alt.Scale(domain=list(range(len(view.thresholds))), paddingInner=0, paddingOuter=0),
        axis=alt.Axis(
            labelExpr="labels[datum.value]",
            labelAngle=0,
            labelOverlap="greedy",
            labelSeparation=5,
            labelPadding=4,
        ),
    )
    place = {"x": x, "y": y}
    tooltip = tooltips(layer="layer", threshold="threshold", said="kept", value="fraction")
    layers = cells(base, place, unit_colour(".0%", values=[0, 0.5, 1]), tooltip, line="0.6")
    layers.append(cell_numbers(base, place, size="11"))
    return layered(
        layers,
        rows,
        model_signals(view) | {"labels": view.labels},
        width=width,
        height=22 * max(2, len(view.layer_numbers)),
        title=model_title(view, "Fraction of a layer's neurons that is kept"),
    )


def layer_table(view: RedundancyView, model: int) -> ResultTable:
    """A line a layer of the model, a column a threshold: neurons kept."""
    left, widths = view.numbers("left_by_layer")[model], view.numbers("width")[model]
    lines = [
        [number, widths[n], *left[:, n]]
        for n, number in enumerate(view.layer_numbers)
        if np.isfinite(widths[n])
    ]
    names = ("layer", "neurons", *view.labels)
    return table_of("left_by_layer", [(name, "count") for name in names], lines)
