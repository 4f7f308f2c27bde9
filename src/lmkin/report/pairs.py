"""Heatmap of all pairs of models in a decomposition: rows explain, columns are explained."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import altair as alt
import numpy as np

from .charts import INK, one_line
from .decomposed import MEASURES, SYMMETRIC, DependencyView, signals, title, way
from .heatmap import UNDEFINED, calculations
from .view import ERRORS, rounded

_MOST_NUMBERS = 150_000
_LABEL = 125
"""Pixels that a model's name may take."""


def shown_pairs(view: DependencyView) -> DependencyView:
    """The view, or as much of it as a page has room for: the rows that count, and the longest texts."""
    for change in (
        {"split": [view.scored.name]},
        {"length": [view.dataset.sizes.get("length", 1) - 1]},
    ):
        cells = len(view.models) ** 2 * len(view.splits) * len(view.lengths)
        if cells > _MOST_NUMBERS and next(iter(change)) in view.dataset.dims:
            part = (
                view.dataset.sel(change)
                if "split" in change
                else view.dataset.sortby("length").isel(change)
            )
            view = DependencyView(part)
    return view


def pair_heatmap(view: DependencyView, name: str, *, size: int = 460) -> alt.LayerChart:
    """All pairs of models, rows the basis and columns the target; a model by itself is left grey."""
    n = len(view.models)
    ways = [(s, length) for s in view.splits for length in view.lengths]
    endings: tuple[str, ...] = ("", *ERRORS)
    # The page must stay small: first the ends of the intervals go, then the errors.
    while len(endings) > 1 and n * n * len(ways) * len(endings) > _MOST_NUMBERS:
        endings = ("", "_se") if len(endings) > 2 else ("",)
    columns: dict[str, list[Any]] = {
        "i": [i for i in range(n) for _ in range(n)],
        "j": [j for _ in range(n) for j in range(n)],
    }
    for split, length in ways:
        for ending in endings:
            table = view.values(name + ending, split, length)
            if table is not None:
                table = table.copy()
                np.fill_diagonal(table, np.nan)
                key = f"{name}|{way(split, length)}|{ending}"
                columns[key] = [rounded(float(value)) for value in table.ravel()]
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    base = alt.Chart().transform_calculate(
        **calculations("'.4f'"),
        basis="names[datum.i]",
        target="names[datum.j]",
        spoken="datum.basis + ', ' + datum.target + ': ' + datum.value",
        label="cell >= 24 && isValid(datum.v) ? format(datum.v, '.2f') : ''",
    )
    # Not a part of the width: the page makes the plot as wide as labels leave room, and would never come to rest.
    shared: Mapping[str, Any] = {"labelLimit": _LABEL, "labelOverlap": True, "labelFontSize": 11}
    domain = alt.Scale(domain=list(range(n)), paddingInner=0, paddingOuter=0)
    symmetric = name in SYMMETRIC
    x = alt.X(
        "j:O",
        scale=domain,
        axis=alt.Axis(
            title="the other" if symmetric else "target: is explained",
            labelExpr="names[datum.value]",
            labelAngle=-90,
            **shared,
        ),
    )
    y = alt.Y(
        "i:O",
        scale=domain,
        axis=alt.Axis(
            title="one model" if symmetric else "basis: explains",
            labelExpr="names[datum.value]",
            **shared,
        ),
    )
    colour = alt.Color(
        "v:Q",
        scale=alt.Scale(domain=[0, 1], clamp=True, scheme="blues"),
        legend=alt.Legend(
            orient="top",
            title=None,
            direction="horizontal",
            gradientLength=alt.expr("clamp(width, 140, 220)"),
            gradientThickness=10,
            tickCount=5,
            offset=6,
        ),
    )
    tooltip = [
        alt.Tooltip("basis:N", title="first" if symmetric else "basis"),
        alt.Tooltip("target:N", title="second" if symmetric else "target"),
        alt.Tooltip("value:N", title="ρ" if symmetric else "R²"),
    ]
    if f"{name}_low" in view.dataset and len(endings) > 2:
        tooltip.append(alt.Tooltip("interval:N", title=f"{view.level} interval"))
    line = alt.expr("cell < 9 ? 0.15 : cell < 20 ? 0.4 : 1")
    known = base.transform_filter("isValid(datum.v)").mark_rect(stroke="white", strokeWidth=line)
    unknown = base.transform_filter("!isValid(datum.v)").mark_rect(
        stroke="white", strokeWidth=line, color=UNDEFINED, tooltip=None
    )
    layers: list[alt.Chart] = [
        known.encode(x=x, y=y, color=colour, tooltip=tooltip, description="spoken:N"),
        unknown.encode(x=x, y=y),
    ]
    if n <= 20:
        numbers = base.mark_text(fontSize=alt.expr("clamp(cell * 0.36, 9, 13)"), tooltip=None)
        dark = alt.condition("datum.v > 0.55", alt.value("white"), alt.value(INK))
        layers.append(numbers.encode(x=x, y=y, text="label:N", color=dark))
    text = one_line(MEASURES[name][0])
    chart = alt.layer(*layers).add_params(
        *signals(view, name),
        alt.param("names", value=view.models),
        alt.param("cell", expr=f"width / {n}"),
    )
    chart = chart.properties(width=size, height=size, title=title(view, text))
    chart.data = alt.InlineData(values=rows)
    return cast(alt.LayerChart, chart)
