"""One heatmap of all layers × all layers, the models as blocks; measure and scaling are signals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import altair as alt
import numpy as np

from .charts import INK, chosen
from .labels import layer_numbers, model_names
from .view import (
    COLUMN,
    ERRORS,
    FloatArray,
    Layer,
    Measure,
    Scaling,
    View,
    column,
    number_format,
    rounded,
)

_CELL = 4  # the side of a cell; the gap between two models is a part of it
_MOST_NUMBERS = 400
_LETTER = 7.5  # pixels of a title
UNDEFINED = "#e3e3e3"


def layers_heatmap(view: View, *, size: int = 640) -> alt.LayerChart:
    """All layers × all layers: rows are the first argument of the measure, columns the second.

    The signals ``measure`` and ``scaling`` hold keys of ``view.measures`` and ``view.scalings``; a column of the
    data is called by both. The colour of a measure between 0 and 1 stops there, the numbers do not.
    """
    starts, end = _places(view.layers)
    base = alt.Chart().transform_calculate(**_calculations())
    scale = alt.Scale(domain=[0, end], nice=False, zero=False)
    x = alt.X("x0:Q", scale=scale, axis=None)
    y = alt.Y("y0:Q", scale=scale, axis=None)
    colour = alt.Color(
        "v:Q",
        scale=alt.Scale(
            domain=[alt.expr("about.lo"), alt.expr("about.hi")],
            clamp=True,
            scheme=alt.expr("about.scheme"),
        ),
        legend=alt.Legend(
            orient="top",
            title=None,
            direction="horizontal",
            gradientLength=alt.expr("clamp(width, 160, 220)"),
            gradientThickness=10,
            tickCount=5,
            offset=6,
        ),
    )
    line = alt.expr("cell < 9 ? 0.15 : cell < 20 ? 0.4 : 1")
    place = {"x": x, "x2": "x1:Q", "y": y, "y2": "y1:Q"}
    said = {"tooltip": _tooltip(view), "description": "spoken:N"}
    known = base.transform_filter("isValid(datum.v)").mark_rect(stroke="white", strokeWidth=line)
    # Apart from the others: Vega-Lite would give a value that is not there the colour of zero.
    unknown = base.transform_filter("!isValid(datum.v)").mark_rect(
        stroke="white", strokeWidth=line, color=UNDEFINED
    )
    layers: list[alt.Chart] = [
        known.encode(**place, **said, color=colour),
        unknown.encode(**place, **said),
    ]
    if len(view.layers) ** 2 <= _MOST_NUMBERS:
        layers.append(_numbers(base))
    layers += [*layer_numbers(view.layers, starts, _CELL), *model_names(view, starts, _CELL)]
    chart = alt.layer(*layers).add_params(*_params(view, starts, end))
    chart = chart.properties(width=size, height=size, title=title_of(view.measures, view.scalings))
    chart.data = alt.InlineData(values=_rows(view))  # last: every step before copies what it has
    return cast(alt.LayerChart, chart)


def title_of(measures: Sequence[Measure], scalings: Sequence[Scaling]) -> alt.TitleParams:
    """A title inside the chart, so that a saved picture says what it shows."""
    text = chosen({m.key: m.title for m in measures}, "measure")
    if any(s.name for s in scalings):
        note = chosen({s.key: f"({s.short})" for s in scalings}, "scaling")
        broken = f"length({text}) + length({note}) > width / {_LETTER}"
        text = f"{broken} ? [{text}, {note}] : {text} + ' ' + {note}"
    limit = alt.expr("max(width, 200)")  # a longer one would make the page wider than a phone
    return alt.TitleParams(text=alt.expr(text), offset=4, frame="group", limit=limit)


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


def _rows(view: View) -> list[dict[str, Any]]:
    n = len(view.layers)
    columns: dict[str, list[Any]] = {
        "i": [i for i in range(n) for _ in range(n)],
        "j": [j for _ in range(n) for j in range(n)],
    }
    for measure in view.measures:
        for scaling in view.scalings:
            for suffix in ("", *ERRORS):
                table = view.table(measure, scaling, suffix)
                if table is not None:
                    values = [rounded(value) for value in table.ravel()]
                    columns[column(measure, scaling, suffix)] = values
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _calculations() -> dict[str, str]:
    return {
        "y0": "places[datum.i].at",
        "y1": f"places[datum.i].at + {_CELL}",
        "x0": "places[datum.j].at",
        "x1": f"places[datum.j].at + {_CELL}",
        "row": "'layer ' + places[datum.i].layer + ' of ' + places[datum.i].model",
        "column": "'layer ' + places[datum.j].layer + ' of ' + places[datum.j].model",
        **calculations("about.format"),
        "spoken": "datum.row + ', ' + datum.column + ': ' + datum.value",
    }


def calculations(style: str) -> dict[str, str]:
    """Expressions of the chosen value ``v``, ``low`` and ``high``, and what a tooltip says of them."""
    return {
        "v": f"datum[{COLUMN.format('')}]",
        "se": f"datum[{COLUMN.format('_se')}]",
        "low": f"datum[{COLUMN.format('_low')}]",
        "high": f"datum[{COLUMN.format('_high')}]",
        "value": f"!isValid(datum.v) ? 'not defined' : format(datum.v, {style})"
        f" + (isValid(datum.se) ? ' ± ' + format(datum.se, {style}) : '')",
        "interval": "isValid(datum.low) && isValid(datum.high)"
        f" ? format(datum.low, {style}) + ' to ' + format(datum.high, {style}) : 'none'",
    }


def _tooltip(view: View) -> list[alt.Tooltip]:
    fields = [
        alt.Tooltip("row:N", title="row"),
        alt.Tooltip("column:N", title="column"),
        alt.Tooltip("value:N", title="value"),
    ]
    if any(view.has_errors(measure) for measure in view.measures):
        fields.append(alt.Tooltip("interval:N", title=f"{view.level} interval"))
    return fields


def _params(view: View, starts: Sequence[int], end: int) -> list[Any]:
    abouts = {column(m, s): _about(view, m, s) for m in view.measures for s in view.scalings}
    places = [
        {"at": at, "model": view.models[layer.model], "layer": layer.number}
        for layer, at in zip(view.layers, starts, strict=True)
    ]
    return [
        alt.param("measure", value=view.measures[0].key),
        alt.param("scaling", value=view.scalings[0].key),
        alt.param("places", value=places),
        alt.param("abouts", value=abouts),
        alt.param("about", expr=f"abouts[{COLUMN.format('')}]"),
        alt.param("cell", expr=f"width * {_CELL / end}"),
    ]


def _about(view: View, measure: Measure, scaling: Scaling) -> dict[str, Any]:
    table = view.table(measure, scaling)
    assert table is not None  # the measures are those that the Dataset has
    # One for all scalings: a switch must not change what a colour means.
    every = [t for t in (view.table(measure, s) for s in view.scalings) if t is not None]
    low, high = colour_range(measure, np.stack(every))
    return {
        "lo": low,
        "hi": high,
        "scheme": "redblue" if low < 0 < high else "blues",
        "format": number_format(table),
    }


def colour_range(measure: Measure, table: FloatArray) -> tuple[float, float]:
    """The values at which the colour stops.

    A measure whose best is 1 and whose "nothing in common" is 0 gets 0 and 1, also if the estimate can fall below 0
    (it is unbiased, or low is minus infinity). Other measures get their range, or that of the values where it has no
    end; if it has both signs, 0 is in the middle.
    """
    if measure.high == 1 and (measure.unbiased or measure.low in (0.0, -math.inf)):
        return 0.0, 1.0
    finite = table[np.isfinite(table)]
    least, most = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    low = measure.low if math.isfinite(measure.low) else least
    high = measure.high if math.isfinite(measure.high) else most
    if low < 0 < high:
        low, high = -max(-low, high), max(-low, high)
    return (low, high) if high > low else (low - 0.5, low + 0.5)


def _numbers(base: alt.Chart) -> alt.Chart:
    numbers: alt.Chart = (
        base.transform_calculate(
            xm=f"datum.x0 + {_CELL / 2}",
            ym=f"datum.y0 + {_CELL / 2}",
            # Too small to be read is worse than not there: the colour and the tooltip remain.
            label="cell >= 24 && isValid(datum.v) ? format(datum.v, '.2f') : ''",
            dark="about.scheme == 'blues' ? (datum.v - about.lo) / (about.hi - about.lo) > 0.55"
            " : abs(datum.v) / about.hi > 0.6",
        )
        .mark_text(fontSize=alt.expr("clamp(cell * 0.36, 9, 12)"), tooltip=None)
        .encode(
            x="xm:Q",
            y="ym:Q",
            text="label:N",
            color=alt.condition("datum.dark", alt.value("white"), alt.value(INK)),
        )
    )
    return numbers
