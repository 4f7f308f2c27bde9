"""Charts of a portfolio of models: an order to switch off, and who explains what."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import cast

import altair as alt
import numpy as np
import xarray as xr

from .decomposed import COLOURS, GRID, heading, legend_columns, name_axis
from .view import plain_names, rounded

_SHARED, _LEFT = "#9aa5b1", "#e6eaee"
MEAN, LEAST = "mean of all switched off", "the one that suffers most"


def portfolio_charts(
    portfolio: Mapping[str, xr.Dataset], *, width: int | str = "container"
) -> dict[str, alt.LayerChart]:
    """The charts by the name of their picture."""
    charts = {}
    if "drop_order" in portfolio:
        charts["dependency-drop-order"] = drop_chart(portfolio["drop_order"], width=width)
    if "unique" in portfolio:
        charts["dependency-unique"] = unique_chart(portfolio["unique"], width=width)
    return charts


def on_rows(found: xr.Dataset) -> str:
    """Which rows the figures are of, and texts of how many tokens if that is known."""
    split = str(found.attrs.get("reported_on", found.attrs.get("split", "")))
    length = found.attrs.get("length")
    return f"on {split or 'all'} rows" + (f", {length} tokens" if length not in (None, "") else "")


def dropped(found: xr.Dataset) -> tuple[list[str], str]:
    """The models in the order in which they go, and the one that stays."""
    names = plain_names([*map(str, found["model"].values), str(found.attrs.get("stays", ""))])
    return names[:-1], names[-1]


def drop_chart(found: xr.Dataset, *, width: int | str = "container") -> alt.LayerChart:
    """A row a step, from the top: R² of what was switched off so far."""
    models, _ = dropped(found)
    steps = list(range(len(models)))
    kinds = {
        "r2_dropped": (MEAN, COLOURS[0], "circle"),
        "r2_least": (LEAST, COLOURS[1], "diamond"),
    }
    rows = [
        {"step": k, "kind": label, "off": models[k], "v": rounded(float(value))}
        for name, (label, _, _) in kinds.items()
        for k, value in enumerate(found[name].values)
    ]
    least = float(min(found[name].min() for name in kinds))
    # Points, not bars: the axis may begin near the worst of them.
    start = math.floor(10 * least - 0.5) / 10
    scale = alt.Scale(
        domain=[max(start, 0.0) if least >= 0 else start, 1.0], nice=False, zero=False
    )
    x = alt.X("v:Q", title="R²", scale=scale, axis=alt.Axis(tickCount=6, gridColor=GRID))
    y = alt.Y("step:O", scale=alt.Scale(domain=steps), axis=name_axis())
    domain, colours, shapes = zip(*kinds.values(), strict=True)
    legend = alt.Legend(
        orient="top",
        title=None,
        labelLimit=300,
        symbolSize=80,
        symbolOpacity=1,
        columns=legend_columns(domain, models),
    )
    colour = alt.Color("kind:N", legend=legend, scale=alt.Scale(domain=domain, range=colours))
    shape = alt.Shape("kind:N", legend=legend, scale=alt.Scale(domain=domain, range=shapes))
    base = alt.Chart().transform_filter("isValid(datum.v)")
    lines = base.mark_line(strokeWidth=2, tooltip=None).encode(
        x=x, y=y, color=colour, order="step:Q"
    )
    tooltip = [
        alt.Tooltip("off:N", title="switched off"),
        alt.Tooltip("kind:N", title="R²"),
        alt.Tooltip("v:Q", title="value", format=".4f"),
    ]
    points = base.mark_point(filled=True, size=70, opacity=1).encode(
        x=x, y=y, color=colour, shape=shape, tooltip=tooltip
    )
    chart = alt.layer(lines, points).add_params(
        alt.param("names", value=[f"{k + 1}. {name}" for k, name in enumerate(models)])
    )
    title = heading("Switch off in this order", json.dumps(on_rows(found).removeprefix("on ")))
    chart = chart.properties(width=width, height=30 * len(steps), title=title)
    chart.data = alt.InlineData(values=rows)
    return cast(alt.LayerChart, chart)


def unique_chart(found: xr.Dataset, *, width: int | str = "container") -> alt.LayerChart:
    """A bar a model: unique parts in the colour of the model that gives them, then what is shared, then the rest."""
    names = plain_names([str(m) for m in found["target"].values])
    n = len(names)
    unique = np.asarray(found["unique"].transpose("basis", "target").values, np.float64)
    parts = [*unique, *(np.asarray(found[v].values, np.float64) for v in ("shared", "unexplained"))]
    labels = [*names, "several could give it", "none explains it"]
    said_of = [*(f"only {name}" for name in names), *labels[n:]]
    rows = [
        {"i": i, "model": names[i], "part": p, "said": said_of[p], "v": rounded(float(values[i]))}
        for p, values in enumerate(parts)
        for i in range(n)
        if np.isfinite(values[i])
    ]
    colours = [*(COLOURS[k % len(COLOURS)] for k in range(n)), _SHARED, _LEFT]
    legend = alt.Legend(
        orient="top",
        title=None,
        labelExpr="labels[datum.value]",
        labelLimit=240,
        symbolType="square",
        symbolSize=100,
        columns=legend_columns(labels, names),
    )
    bars = (
        alt.Chart()
        .mark_bar(stroke="white", strokeWidth=0.5)
        .encode(
            x=alt.X(
                "v:Q",
                title="share of the model's variance",
                stack="zero",
                scale=alt.Scale(nice=False),
                axis=alt.Axis(tickCount=6, format=".0%", gridColor=GRID),
            ),
            y=alt.Y(
                "i:O",
                scale=alt.Scale(domain=list(range(n)), paddingInner=0.25),
                axis=name_axis(grid=False),
            ),
            color=alt.Color(
                "part:O", legend=legend, scale=alt.Scale(domain=list(range(n + 2)), range=colours)
            ),
            order=alt.Order("part:Q"),
            tooltip=[
                alt.Tooltip("model:N", title="model"),
                alt.Tooltip("said:N", title="explained by"),
                alt.Tooltip("v:Q", title="share", format=".1%"),
            ],
        )
    )
    zero = alt.Chart(alt.InlineData(values=[{"zero": 0}])).mark_rule(color="#888")
    chart = alt.layer(bars, zero.encode(x="zero:Q")).add_params(
        alt.param("names", value=names), alt.param("labels", value=labels)
    )
    title = heading("Who explains what", json.dumps(on_rows(found).removeprefix("on ")))
    chart = chart.properties(width=width, height=30 * n, title=title)
    chart.data = alt.InlineData(values=rows)
    return cast(alt.LayerChart, chart)
