"""One heatmap of all layers × all layers, the models as blocks; measure and scaling are signals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from ...charts.heatmap import CELL_SIZE, LABEL, cell_numbers, cells, square_rows
from ...charts.style import gradient, layered, signal_title
from ...charts.text import ROOM, no_room
from ...charts.values import ERRORS, KEY, calculations, column, number_format, tooltips
from ...names import FloatArray
from .labels import layer_numbers, model_names, names_need
from .view import Layer, LayerPairs, Measure, Scaling

_CELL = 4  # the side of a cell; the gap between two models is a part of it
_MOST_NUMBERS = 400
_MOST_SIZE = 760
_BESIDE = 75
"""Pixels that labels take."""
_NARROW = 0.6
"""Values that fill less of the range from 0 to 1 than this get colours of their own range."""
FITTED, WHOLE = "fitted", "whole"
"""Values of the signal ``colours``."""


def layers_heatmap(view: LayerPairs, *, size: int = 640) -> alt.LayerChart:
    """All layers × all layers: rows are the first argument of the measure, columns the second.

    The signals ``measure`` and ``scaling`` hold keys of ``view.measures`` and ``view.scalings``; a column of the
    data is called by both.
    """
    starts, end = _places(view.layers)
    base = alt.Chart().transform_calculate(
        y0="places[datum.i].at",
        y1=f"places[datum.i].at + {_CELL}",
        x0="places[datum.j].at",
        x1=f"places[datum.j].at + {_CELL}",
        row="'layer ' + places[datum.i].layer + ' of ' + places[datum.i].model",
        column="'layer ' + places[datum.j].layer + ' of ' + places[datum.j].model",
        **calculations("about.format"),
        spoken="datum.row + ', ' + datum.column + ': ' + datum.value",
    )
    scale = alt.Scale(domain=[0, end], nice=False, zero=False)
    x, y = alt.X("x0:Q", scale=scale, axis=None), alt.Y("y0:Q", scale=scale, axis=None)
    colour = alt.Color(
        "v:Q",
        scale=alt.Scale(
            domain=[alt.expr("ends[0]"), alt.expr("ends[1]")],
            clamp=True,
            scheme=alt.expr("about.scheme"),
        ),
        legend=gradient(
            ".3~g",
            gradientLength=alt.expr("clamp(width, 160, 220)"),
            values=alt.expr("[ends[0], (ends[0] + ends[1]) / 2, ends[1]]"),
        ),
    )
    errors = any(view.has_errors(measure) for measure in view.measures)
    tooltip = tooltips(view.level * errors, row="row", column="column", value="value")
    layers = cells(
        base, {"x": x, "x2": alt.X2("x1:Q"), "y": y, "y2": alt.Y2("y1:Q")}, colour, tooltip
    )
    if len(view.layers) ** 2 <= _MOST_NUMBERS:
        middle = base.transform_calculate(
            xm=f"datum.x0 + {_CELL / 2}",
            ym=f"datum.y0 + {_CELL / 2}",
            label=LABEL,
            dark="about.scheme == 'blues' ? (datum.v - ends[0]) / (ends[1] - ends[0]) > 0.55"
            " : abs(datum.v) / ends[1] > 0.6",
        )
        layers.append(
            cell_numbers(
                middle, {"x": alt.X("xm:Q"), "y": alt.Y("ym:Q")}, dark="datum.dark", size=CELL_SIZE
            )
        )
    layers += [*layer_numbers(view.layers, starts, _CELL), *model_names(view, starts, _CELL)]
    rows = square_rows(
        len(view.layers),
        (
            (column(m.key, s.key, ending), table)
            for m in view.measures
            for s in view.scalings
            for ending in ("", *ERRORS)
            if (table := view.table(m, s, ending)) is not None
        ),
    )
    title = measure_title(view.measures, view.scalings)
    return layered(layers, rows, _params(view, starts, end), width=size, height=size, title=title)


def measure_title(measures: Sequence[Measure], scalings: Sequence[Scaling]) -> alt.TitleParams:
    """A title inside the chart, so that a saved picture says what it shows."""
    texts = {
        f"{m.key}|{s.key}": f"{m.title} ({s.short})" if s.name else m.title
        for m in measures
        for s in scalings
    }
    return signal_title(texts, KEY, offset=4)


def _places(layers: Sequence[Layer]) -> tuple[list[int], int]:
    """Where each layer begins, and where the last one ends."""
    starts, place = [], 0
    gap = 1 if len(layers) <= 20 else 2  # small cells need a larger part of one, to be seen
    for i, layer in enumerate(layers):
        if i and layer.model != layers[i - 1].model:
            place += gap
        starts.append(place)
        place += _CELL
    return starts, place


def _params(view: LayerPairs, starts: Sequence[int], end: int) -> dict[str, Any]:
    places = [
        {"at": at, "model": view.models[layer.model], "layer": layer.number}
        for layer, at in zip(view.layers, starts, strict=True)
    ]
    abouts = {f"{m.key}|{s.key}": _about(view, m, s) for m in view.measures for s in view.scalings}
    return {
        "measure": view.measures[0].key,
        "scaling": view.scalings[0].key,
        "places": places,
        "abouts": abouts,
        "about": alt.expr(f"abouts[{KEY}]"),
        "colours": FITTED,
        "ends": alt.expr("about[colours]"),
        "cell": alt.expr(f"width * {_CELL / end}"),
        "lettered": alt.expr(no_room(_plot(view), names_need(view, starts, _CELL))),
    }


def heatmap_size(view: LayerPairs) -> int:
    """The side of the plot on a wide page."""
    return min(_MOST_SIZE, 60 + 60 * len(view.layers))


def _plot(view: LayerPairs) -> str:
    """A Vega expression: the side of the plot, before it is drawn."""
    return f"min({ROOM} - {_BESIDE}, {heatmap_size(view)})"


def _about(view: LayerPairs, measure: Measure, scaling: Scaling) -> dict[str, Any]:
    table = view.table(measure, scaling)
    assert table is not None  # the measures are those that the Dataset has
    # One for all scalings: a switch must not change what a colour means.
    every = [t for t in (view.table(measure, s) for s in view.scalings) if t is not None]
    whole = colour_range(measure, np.stack(every))
    low, high = whole
    return {
        FITTED: fitted_range(measure, np.stack(every)) or whole,
        WHOLE: whole,
        "scheme": "redblue" if low < 0 < high else "blues",
        "format": number_format(table),
    }


def colour_range(measure: Measure, tables: FloatArray) -> tuple[float, float]:
    """The values at which the colour stops, from tables of layers × layers.

    A measure whose best is 1 and whose "nothing in common" is 0 gets 0 and 1, also if the estimate can fall below 0
    (it is unbiased, or low is minus infinity). Other measures get their range, or that of the values where it has no
    end; if it has both signs, 0 is in the middle.
    """
    finite = tables[np.isfinite(tables)]
    if _from_zero_to_one(measure):
        return 0.0, 1.0
    least, most = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    low = measure.low if math.isfinite(measure.low) else least
    high = measure.high if math.isfinite(measure.high) else most
    if low < 0 < high:
        low, high = -max(-low, high), max(-low, high)
    return (low, high) if high > low else (low - 0.5, low + 0.5)


def fitted_range(measure: Measure, tables: FloatArray) -> tuple[float, float] | None:
    """Tenths around the values of different layers, where these fill a part of the range from 0 to 1 only."""
    different = ~np.eye(*tables.shape[-2:], dtype=np.bool_)
    other = np.clip(tables[np.isfinite(tables) & different], 0, 1)
    if not _from_zero_to_one(measure) or not other.size or np.ptp(other) >= _NARROW:
        return None
    low, high = math.floor(10 * other.min()) / 10, math.ceil(10 * other.max()) / 10
    return (low, high) if high > low else (max(low - 0.1, 0.0), min(low + 0.1, 1.0))


def _from_zero_to_one(measure: Measure) -> bool:
    return measure.high == 1 and (measure.unbiased or measure.low in (0.0, -math.inf))
