"""R² of every model by all others: a row a model, and lines against the length of the text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, cast

import altair as alt
import numpy as np

from .decomposed import (
    GRID,
    DependencyView,
    legend_columns,
    model_scales,
    name_axis,
    r2_scale,
    signals,
    title,
    way,
)
from .heatmap import calculations
from .view import ERRORS, FloatArray, rounded

KINDS = {
    "": ("by all other models", "#0072b2", "circle", -7),
    "_beyond_length": ("the same, length of the text taken out", "#d55e00", "diamond", 2),
    "published": ("as published", "#009e73", "triangle-up", 10),
    "_null": ("by chance (rows shuffled)", "#6b7782", "square", 10),
}
"""What a row of the chart shows: its name, colour and shape, and how far below the middle it lies."""


def group_chart(view: DependencyView, *, width: int | str = "container") -> alt.LayerChart:
    """A row a model: R² by all others with its interval, what chance gives, and the length of the text taken out."""
    tables = _tables(view)
    main = view.values("r2_group", view.scored, view.longest)
    assert main is not None
    order = [int(i) for i in np.argsort(-np.nan_to_num(main, nan=-np.inf), kind="stable")]
    rows = [
        {"i": i, "model": view.models[i], "kind": KINDS[kind][0]}
        | {key: rounded(float(table[i])) for key, table in found.items()}
        for kind, found in tables.items()
        for i in order
    ]
    every = [t for found in tables.values() for k, t in found.items() if k.endswith("|")]
    lows = [t for found in tables.values() for k, t in found.items() if k.endswith("|_low")]
    axis = alt.Axis(tickCount=6, gridColor=GRID)
    x: dict[str, Any] = {"title": "R²", "scale": r2_scale(every, lows), "axis": axis}
    y = alt.Y("i:O", scale=alt.Scale(domain=order), axis=name_axis())
    labels, colours, shapes, _ = zip(*(KINDS[kind] for kind in tables), strict=True)
    legend = alt.Legend(
        orient="top",
        title=None,
        labelLimit=300,
        symbolSize=80,
        symbolOpacity=1,
        columns=legend_columns(labels, view.models),
    )
    colour = alt.Color("kind:N", legend=legend, scale=alt.Scale(domain=labels, range=colours))
    shape = alt.Shape("kind:N", legend=legend, scale=alt.Scale(domain=labels, range=shapes))
    tooltip = [
        alt.Tooltip("model:N", title="model"),
        alt.Tooltip("kind:N", title="R²"),
        alt.Tooltip("value:N", title="value"),
        *([alt.Tooltip("interval:N", title=f"{view.level} interval")] if lows else []),
    ]
    zero = alt.Chart(alt.InlineData(values=[{"zero": 0}])).mark_rule(color="#888")
    layers: list[alt.Chart] = [zero.encode(x=alt.X("zero:Q", **x))]
    for kind in tables:
        label, _, _, below = KINDS[kind]
        mine = alt.Chart().transform_filter(f"datum.kind == {json.dumps(label)}")
        mine = mine.transform_calculate(**calculations("'.4f'"))
        if f"r2_group{kind}_low" in view.dataset:
            bars = mine.transform_filter("isValid(datum.low) && isValid(datum.high)").mark_rule(
                strokeWidth=5, opacity=0.35, clip=True, tooltip=None, yOffset=below
            )
            layers.append(bars.encode(x=alt.X("low:Q", **x), x2="high:Q", y=y, color=colour))
        points = mine.transform_filter("isValid(datum.v)").mark_point(
            filled=True, size=80, opacity=1, yOffset=below
        )
        layers.append(
            points.encode(x=alt.X("v:Q", **x), y=y, color=colour, shape=shape, tooltip=tooltip)
        )
    chart = alt.layer(*layers).add_params(
        *signals(view, "r2_group"), alt.param("names", value=view.models)
    )
    above = title(view, "R² by all other models")
    chart = chart.properties(width=width, height=38 * len(order), title=above)
    chart.data = alt.InlineData(values=rows)
    return cast(alt.LayerChart, chart)


def _tables(view: DependencyView) -> dict[str, dict[str, FloatArray]]:
    """What there is of each kind, by column of the chart's data."""
    tables: dict[str, dict[str, FloatArray]] = {}
    for kind in KINDS:
        for split in view.splits:
            for length in view.lengths:
                names = {e: f"r2_group{kind}{e}" for e in ("", *ERRORS)}
                found = {e: view.values(name, split, length) for e, name in names.items()}
                if kind == "published" and split.name == "test":
                    found = {"": view.as_published(length)}
                for ending, table in found.items():
                    if table is not None:
                        key = f"r2_group|{way(split, length)}|{ending}"
                        tables.setdefault(kind, {})[key] = table
    return tables


def length_chart(
    view: DependencyView, *, width: int | str = "container", height: int = 360
) -> alt.LayerChart:
    """R² of every model by all others against the number of tokens: lines with bands, dashed what was published."""
    rows: list[dict[str, Any]] = [
        {"i": i, "model": name, "tokens": int(length.name)}
        for i, name in enumerate(view.models)
        for length in view.lengths
    ]
    shown: list[FloatArray | None] = []
    lows: list[FloatArray | None] = []
    for split in view.splits:
        for ending in ("", *ERRORS):
            found = [view.values(f"r2_group{ending}", split, n) for n in view.lengths]
            if any(table is None for table in found):
                continue
            table = np.stack([t for t in found if t is not None], axis=1)
            (lows if ending == "_low" else shown if not ending else []).append(table)
            for row, value in zip(rows, table.ravel(), strict=True):
                row[f"r2_group|{split.key}|{ending}"] = rounded(float(value))
    tokens = [int(length.name) for length in view.lengths]
    paper = _paper_rows(view, tokens)
    shown.append(np.array([row["p"] for row in paper], dtype=np.float64))
    x = alt.X(
        "tokens:Q",
        title="tokens of a text",
        scale=alt.Scale(
            type="log", base=2, domain=[min(tokens), max(tokens)], nice=False, padding=12
        ),
        axis=alt.Axis(values=tokens, format="d", grid=False, labelOverlap=True),
    )
    ends = r2_scale(shown, lows)
    axis = alt.Axis(tickCount=6, gridColor=GRID)
    y = alt.Y("v:Q", title="R² by all others", scale=ends, axis=axis)
    colour, shape = model_scales(view)
    base = alt.Chart().transform_calculate(**calculations("'.4f'"))
    bands = (
        base.transform_filter("isValid(datum.low) && isValid(datum.high)")
        .mark_area(opacity=0.15, clip=True, tooltip=None)
        .encode(
            x=x, y=alt.Y("low:Q", title="R² by all others", scale=ends), y2="high:Q", color=colour
        )
    )
    present = base.transform_filter("isValid(datum.v)")
    lines = present.mark_line(strokeWidth=2, tooltip=None).encode(x=x, y=y, color=colour)
    tooltip = [alt.Tooltip("model:N"), alt.Tooltip("tokens:Q"), alt.Tooltip("value:N")]
    if any(low is not None for low in lows):
        tooltip.append(alt.Tooltip("interval:N", title=f"{view.level} interval"))
    points = present.mark_point(filled=True, size=55, opacity=1).encode(
        x=x, y=y, color=colour, shape=shape, tooltip=tooltip
    )
    layers: list[alt.Chart] = [bands, lines, points]
    if paper:
        data = alt.InlineData(values=paper)
        theirs = alt.Chart(data).transform_filter("split == 'test'")
        place = {"x": x, "y": alt.Y("p:Q", title="R² by all others", scale=ends), "color": colour}
        layers += [
            theirs.mark_line(strokeWidth=1.5, strokeDash=[5, 4], tooltip=None).encode(**place),
            theirs.mark_point(filled=False, size=35, strokeWidth=1.5).encode(
                **place,
                shape=shape,
                tooltip=[
                    alt.Tooltip("model:N"),
                    alt.Tooltip("tokens:Q"),
                    alt.Tooltip("p:Q", title="as published"),
                ],
            ),
        ]
    chart = alt.layer(*layers).add_params(
        *signals(view, "r2_group", splits=False), alt.param("names", value=view.models)
    )
    chart = chart.properties(
        width=width, height=height, title=title(view, "R² by all other models", lengths=False)
    )
    chart.data = alt.InlineData(values=rows)
    return cast(alt.LayerChart, chart)


def _paper_rows(view: DependencyView, tokens: Sequence[int]) -> list[dict[str, Any]]:
    if view.published is None:
        return []
    table = view.published
    return [
        {"i": i, "model": name, "tokens": int(n), "p": rounded(float(table.values[i, k]))}
        for i, name in enumerate(view.models)
        for k, n in enumerate(table["length"].values)
        if min(tokens) <= int(n) <= max(tokens) and np.isfinite(table.values[i, k])
    ]
