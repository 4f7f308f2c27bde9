"""Neurons left by threshold, a line a model; and by layer, a heatmap of one model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import altair as alt
import numpy as np

from .charts import INK, chosen
from .decomposed import GRID, heading, model_scales
from .heatmap import UNDEFINED, calculations
from .redundant import (
    RedundancyView,
    model_column,
    model_signals,
    model_title,
    percent,
    whole,
)
from .view import FloatArray, rounded

AMOUNTS = {"share": "share of all neurons", "number": "number of neurons"}
"""What the vertical axis may show."""


def left_chart(
    view: RedundancyView,
    amount: str = "share",
    *,
    width: int | str = "container",
    height: int = 340,
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
    low, high = view.thresholds[0], view.thresholds[-1]
    ends = [low, high] if high > low else [low - 0.1, high + 0.1]
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
        ),
    )
    y = alt.Y(
        "v:Q",
        title=None,
        scale=alt.Scale(domain=[0, alt.expr("tops[amount]")], nice=False),
        axis=alt.Axis(
            tickCount=6,
            gridColor=GRID,
            labelExpr="amount == 'share' ? format(datum.value, '.0%') : format(datum.value, ',')",
        ),
    )
    # It asks for nothing but the names of the models.
    colour, shape = model_scales(cast(Any, view))
    base = alt.Chart().transform_calculate(v="datum[amount]")
    lines = base.mark_line(strokeWidth=2, tooltip=None).encode(x=x, y=y, color=colour)
    tooltip = [
        alt.Tooltip("model:N"),
        alt.Tooltip("t:Q", title="threshold"),
        alt.Tooltip("said:N", title="left"),
    ]
    points = base.mark_point(filled=True, size=55, opacity=1).encode(
        x=x, y=y, color=colour, shape=shape, tooltip=tooltip
    )
    chart = alt.layer(lines, points).add_params(
        alt.param("amount", value=amount),
        alt.param("tops", value={"share": 1, "number": int(total.max())}),
        alt.param("names", value=view.models),
    )
    title = heading("Neurons left by threshold", chosen(AMOUNTS, "amount"))
    chart = chart.properties(width=width, height=height, title=title)
    chart.data = alt.InlineData(values=rows)
    return cast(alt.LayerChart, chart)


def left_table(view: RedundancyView) -> list[list[str]]:
    """A line a threshold, a column a model: neurons left, and their share."""
    left, share = view.numbers("left"), view.numbers("share")
    total = view.numbers("neurons")
    names = [f"{m} (of {n:,.0f})" for m, n in zip(view.models, total, strict=True)]
    rows = [["threshold", *names]]
    for k, label in enumerate(view.labels):
        cells = [f"{left[i, k]:,.0f} ({percent(share[i, k])})" for i in range(len(names))]
        rows.append([label, *cells])
    return rows


def largest_table(view: RedundancyView) -> list[list[str]]:
    """A line a threshold, a column a model: neurons of the largest cluster."""
    largest = view.numbers("largest")
    return [
        ["threshold", *view.models],
        *([label, *map(whole, largest[:, k])] for k, label in enumerate(view.labels)),
    ]


def kept(view: RedundancyView) -> FloatArray:
    """The share of its neurons that each layer keeps, by model, threshold and layer."""
    width = view.numbers("width")[:, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(view.numbers("left_by_layer") / width, np.float64)


def layer_heatmap(view: RedundancyView, *, width: int | str = "container") -> alt.LayerChart:
    """Layers of the chosen model × thresholds: which share of a layer's neurons is kept."""
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
            row[model_column(key)] = rounded(shares[i, k, n])
            row[model_column(key, "said")] = (
                f"{whole(left[i, k, n])} of {whole(widths[i, n])}" if there else None
            )
    base = alt.Chart().transform_calculate(
        **calculations("'.1%'"),
        said=f"datum[{model_expression('said')}]",
        threshold="labels[datum.k]",
        label=f"width / {len(view.thresholds)} >= 34 && isValid(datum.v) ? format(datum.v, '.0%') : ''",
        spoken="'layer ' + datum.layer + ', threshold ' + datum.threshold + ': ' + datum.said",
    )
    # Layers that the chosen model lacks are no rows of its heatmap.
    base = base.transform_filter("isValid(datum.said)")
    # From the data: the layers of the chosen model.
    y = alt.Y("layer:O", title="layer", scale=alt.Scale(paddingInner=0, paddingOuter=0))
    x = alt.X(
        "k:O",
        title="threshold",
        scale=alt.Scale(domain=list(range(len(view.thresholds))), paddingInner=0, paddingOuter=0),
        axis=alt.Axis(labelExpr="labels[datum.value]", labelAngle=0, labelOverlap=True),
    )
    colour = alt.Color(
        "v:Q",
        scale=alt.Scale(domain=[0, 1], scheme="blues"),
        legend=gradient(".0%", values=[0, 0.5, 1]),
    )
    tooltip = [
        alt.Tooltip("layer:O", title="layer"),
        alt.Tooltip("threshold:N", title="threshold"),
        alt.Tooltip("said:N", title="kept"),
        alt.Tooltip("value:N", title="share"),
    ]
    style: dict[str, Any] = {"stroke": "white", "strokeWidth": 0.6}
    known = base.transform_filter("isValid(datum.v)").mark_rect(**style)
    unknown = base.transform_filter("!isValid(datum.v)").mark_rect(**style, color=UNDEFINED)
    numbers = base.mark_text(fontSize=11, tooltip=None)
    dark = alt.condition("datum.v > 0.55", alt.value("white"), alt.value(INK))
    layers = [
        known.encode(x=x, y=y, color=colour, tooltip=tooltip, description="spoken:N"),
        unknown.encode(x=x, y=y, tooltip=tooltip),
        numbers.encode(x=x, y=y, text="label:N", color=dark),
    ]
    chart = alt.layer(*layers).add_params(
        *model_signals(view), alt.param("labels", value=view.labels)
    )
    title = model_title(view, "Share of a layer's neurons that is kept")
    chart = chart.properties(width=width, height=22 * max(2, len(view.layer_numbers)), title=title)
    chart.data = alt.InlineData(values=rows)
    return cast(alt.LayerChart, chart)


def model_expression(ending: str) -> str:
    """The column of the chosen model, in an expression."""
    return f"model + '||{ending}'"


def gradient(style: str, *, values: Sequence[float] | None = None) -> alt.Legend:
    """A bar of colours above a heatmap."""
    return alt.Legend(
        orient="top",
        title=None,
        direction="horizontal",
        gradientLength=alt.expr("clamp(width, 140, 220)"),
        gradientThickness=10,
        format=style,
        offset=6,
        **({"tickCount": 5} if values is None else {"values": list(values)}),
    )


def layer_table(view: RedundancyView, model: int) -> list[list[str]]:
    """A line a layer of the model, a column a threshold: neurons kept."""
    left, widths = view.numbers("left_by_layer")[model], view.numbers("width")[model]
    rows = [["layer", "neurons", *view.labels]]
    for n, number in enumerate(view.layer_numbers):
        if np.isfinite(widths[n]):
            rows.append([str(number), whole(widths[n]), *map(whole, left[:, n])])
    return rows
