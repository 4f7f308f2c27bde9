"""Charts of a portfolio of models: an order to switch off, and who explains what."""

from __future__ import annotations

import math
from typing import Any

import altair as alt
import numpy as np
import xarray as xr

from ...charts.bars import stacked_bars
from ...charts.points import Kind, kind_marks
from ...charts.style import (
    COLOURS,
    Broken,
    heading,
    layered,
    name_axis,
    name_lines,
    number_axis,
    row_height,
    said,
    zero_line,
)
from ...charts.values import tooltips
from ...names import plain_names, rounded

_SHARED, _LEFT = "#9aa5b1", "#e6eaee"
MEAN, LEAST = "mean of all switched off", "the one that suffers most"


def on_rows(table: xr.Dataset) -> str:
    """Which rows the figures are of, and texts of how many tokens if that is known."""
    split = str(table.attrs.get("reported_on", table.attrs.get("split", "")))
    length = table.attrs.get("length")
    return f"on {split or 'all'} rows" + (f", {length} tokens" if length not in (None, "") else "")


def dropped(table: xr.Dataset) -> tuple[list[str], str]:
    """The models in the order in which they go, and the one that stays."""
    names = plain_names([*map(str, table["model"].values), str(table.attrs.get("stays", ""))])
    return names[:-1], names[-1]


def drop_chart(table: xr.Dataset, *, width: int | str = "container") -> alt.LayerChart:
    """A row a step, from the top: R² of what was switched off so far."""
    models, _ = dropped(table)
    steps = list(range(len(models)))
    names = [f"{k + 1}. {name}" for k, name in enumerate(models)]
    kinds = {
        "r2_dropped": Kind(MEAN, COLOURS[0], "circle"),
        "r2_least": Kind(LEAST, COLOURS[1], "diamond"),
    }
    rows = [
        {
            "step": k,
            "kind": kind.label,
            "off": models[k],
            "v": rounded(float(value)),
            "value": f"{float(value):.4f}",
        }
        for name, kind in kinds.items()
        for k, value in enumerate(table[name].values)
    ]
    least = float(min(table[name].min() for name in kinds))
    # Points, not bars: the axis may begin near the worst of them.
    start = math.floor(10 * least - 0.5) / 10
    scale = alt.Scale(
        domain=[max(start, 0.0) if least >= 0 else start, 1.0], nice=False, zero=False
    )
    colour, shape = kind_marks(list(kinds.values()), names)
    place: dict[str, Any] = {
        "x": alt.X("v:Q", title="R²", scale=scale, axis=number_axis()),
        "y": alt.Y("step:O", scale=alt.Scale(domain=steps), axis=name_axis()),
        "color": colour,
    }
    base = alt.Chart().transform_filter("isValid(datum.v)")
    points = base.mark_point(filled=True, size=70, opacity=1)
    layers = [
        base.mark_line(strokeWidth=2, tooltip=None).encode(**place, order=alt.Order("step:Q")),
        points.encode(
            **place, shape=shape, tooltip=tooltips(off="switched off", kind="R²", value="value")
        ),
    ]
    return layered(
        layers,
        rows,
        {"name_lines": name_lines(names)},
        width=width,
        height=row_height(names, 30) * len(steps),
        title=heading("Switched off one by one", _rows_line(table)),
    )


def _rows_line(table: xr.Dataset) -> Broken:
    return said(on_rows(table).removeprefix("on "))


def unique_chart(table: xr.Dataset, *, width: int | str = "container") -> alt.LayerChart:
    """A bar a model: unique parts in the colour of the model that gives them, then what is shared, then the rest."""
    names = plain_names([str(m) for m in table["target"].values])
    n = len(names)
    unique = np.asarray(table["unique"].transpose("basis", "target").values, np.float64)
    parts = [*unique, *(np.asarray(table[v].values, np.float64) for v in ("shared", "unexplained"))]
    labels = [*names, "several could give it", "none explains it"]
    said_of = [*(f"only {name}" for name in names), *labels[n:]]
    rows = [
        {
            "i": i,
            "model": names[i],
            "part": p,
            "said": said_of[p],
            "v": rounded(float(values[i])),
            "share": f"{values[i]:.1%}",
        }
        for p, values in enumerate(parts)
        for i in range(n)
        if np.isfinite(values[i])
    ]
    colours = [*(COLOURS[k % len(COLOURS)] for k in range(n)), _SHARED, _LEFT]
    x: dict[str, Any] = {
        "title": "fraction of the model's variance",
        "scale": alt.Scale(nice=False),
        "axis": number_axis(format=".0%"),
    }
    y = alt.Y(
        "i:O",
        scale=alt.Scale(domain=list(range(n)), paddingInner=0.25),
        axis=name_axis(grid=False),
    )
    tooltip = tooltips(model="model", said="explained by", share="fraction")
    bars = stacked_bars(
        alt.Chart(), "part", labels, colours, x=x, y=y, tooltip=tooltip, beside=names
    )
    return layered(
        [bars, zero_line(x=alt.X("zero:Q"))],
        rows,
        {"name_lines": name_lines(names)},
        width=width,
        height=row_height(names, 30) * n,
        title=heading("Who explains what", _rows_line(table)),
    )
