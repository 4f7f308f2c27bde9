"""The look that all charts share: colours, titles that break into lines, axes of names, legends.

Channels are written as what they are, ``x2=alt.X2("x1:Q")``: to make one of a bare text takes Altair seventy times as
long.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import altair as alt
import numpy as np

from ..names import FloatArray
from .text import LETTER, LINE, ROOM, by_room, letters_of, lines_by_room, lines_of, literal

Broken = Callable[[int], str]
"""For a number of letters, a Vega expression of a text whose lines are no longer."""
INK = "#1b2733"
SOFT = "#5b6b7a"
GRID = "#eef1f4"
UNDEFINED = "#e3e3e3"
# Okabe and Ito's colours first; the others are as far from them, and from each other, as twelve models need.
COLOURS = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#4d4d4d",
    "#882255", "#332288", "#999933", "#ff6f61", "#117733", "#8c6d5a", "#a05cff",
)  # fmt: skip
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")
_FONT = "system-ui, sans-serif"
_LETTER = 9.2
"""Pixels of a letter of a title, in a wide font."""
_PHONE = 13
"""Letters of a line of a name beside a chart, on a phone."""
_LONGEST = 42
"""Letters of a line of a legend, at most."""
_NUMBERS = 60
"""Pixels that an axis of numbers takes."""
_SYMBOL = 36
"""Pixels of a legend's entry beside its letters."""
_BLANK = "\u200b"
"""An empty line would have no height."""
_LABEL = f"clamp(0.36 * {ROOM}, 60, 190)"
"""A Vega expression: pixels that a name may take beside a chart, so that most of a phone is left to the plot."""
CENTRED = f"(1 - length(name_lines[0])) * {LINE / 4}"
"""A Vega expression: how far above its place an axis label of `centred_lines` begins."""
_WORST = -0.25
"""An interval that reaches below this does not stretch the axis; its numbers are in the table."""


_LOOK: dict[str, dict[str, Any]] = {
    "axis": {
        "domain": False,
        "ticks": False,
        "titleFontWeight": "normal",
        "titlePadding": 8,
        "titleFontSize": 12,
        "labelFontSize": 12,
        "labelColor": INK,
        "titleColor": SOFT,
    },
    "legend": {"labelFontSize": 12, "labelColor": INK, "titleColor": SOFT},
    "title": {
        "anchor": "start",
        "fontSize": 14,
        "fontWeight": 600,
        "color": INK,
        "subtitleColor": SOFT,
        "subtitleFontSize": 12,
    },
    "view": {"stroke": None},
}


def styled(spec: Mapping[str, Any]) -> dict[str, Any]:
    """A chart as Vega-Lite, with the look that all our charts share.

    It is put on at the end: every setting of an Altair chart copies all of the chart.
    """
    config: dict[str, Any] = {"font": _FONT, **spec.get("config", {})}
    for part, look in _LOOK.items():
        config[part] = {**config.get(part, {}), **look}
    fits = "fit-x" if spec.get("width") == "container" else "pad"
    return {**spec, "autosize": {"type": fits, "contains": "padding"}, "config": config}


def layered(
    layers: Sequence[alt.Chart],
    rows: Sequence[Mapping[str, Any]],
    params: Mapping[str, Any],
    **properties: Any,
) -> alt.LayerChart:
    """Layers over the same data; ``params`` are signals, by name, of a value or of an expression."""
    made = [
        alt.param(name, expr=value.expr)
        if isinstance(value, alt.ExprRef)
        else alt.param(name, value=value)
        for name, value in params.items()
    ]
    first, *others = layers
    first = (
        first.add_params(*made) if made else first
    )  # of one layer: of all of them it would copy all
    data = alt.InlineData(values=list(rows))
    return cast(alt.LayerChart, alt.layer(first, *others, data=data, **properties))


# -- titles -----------------------------------------------------------------------------------------


def signal_text(texts: Mapping[str, str], signal: str) -> Broken:
    """The text of the signal's present value, under a title."""
    return lambda letters: (
        f"({literal({key: _joined(text, letters) for key, text in texts.items()})})[{signal}]"
    )


def said(text: str) -> Broken:
    """A text under a title."""
    return lambda letters: literal(_joined(text, letters))


def _joined(text: str, letters: int) -> str:
    return "\n".join(lines_of(text, letters))


def broken_title(lines: Callable[[int], str], **more: Any) -> alt.TitleParams:
    """A title from the left edge of the chart, in as many lines as it needs there.

    ``lines`` gives for a number of letters a Vega expression of lines that are no longer.
    """
    text = by_room(lines, letter=_LETTER, least=20)
    limit = alt.expr(ROOM)  # a longer one would make the page wider than a phone
    return alt.TitleParams(
        text=alt.expr(text), frame="bounds", limit=limit, **{"offset": 6, **more}
    )


def heading(text: str, *below: Broken, **more: Any) -> alt.TitleParams:
    """A title, and under it what is shown, each from a line of its own on."""

    def lines(letters: int) -> str:
        parts = [literal(_joined(text, letters)), *(part(letters) for part in below)]
        joint = " + '\\n' + "
        return f"split({joint.join(parts)}, '\\n')"

    return broken_title(lines, **more)


def signal_title(texts: Mapping[str, str], signal: str, **more: Any) -> alt.TitleParams:
    """A title that is the text of the signal's present value."""
    text = signal_text(texts, signal)
    return broken_title(lambda letters: f"split({text(letters)}, '\\n')", **more)


# -- axes, legends, marks ---------------------------------------------------------------------------


def name_lines(names: Sequence[str]) -> alt.ExprRef:
    """The signal ``name_lines`` that `name_axis` needs: the names, each in as many lines as it takes beside a chart."""
    return alt.expr(by_room(lambda letters: literal(centred_lines(names, letters)), _LABEL))


def centred_lines(names: Sequence[str], letters: int) -> list[list[str]]:
    """Names in lines, with half lines around and between: the middle of an axis label is that of its first line."""
    broken = [lines_of(name, letters) for name in names]
    most = max(map(len, broken))
    return [
        [
            *[_BLANK] * (most - len(lines)),
            *[part for line in lines for part in (line, _BLANK)][:-1],
            *[_BLANK] * (most - len(lines)),
        ]
        for lines in broken
    ]


def _widest(names: Sequence[str], letters: int) -> str:
    """Pixels of the longest line of names, as an expression."""
    longest = max(letters_of(line) for name in names for line in lines_of(name, letters))
    return f"{longest * LETTER:.0f}"


def row_height(names: Sequence[str], least: int) -> int:
    """Pixels of a row with a name of several lines, on a phone."""
    return max(least, LINE * max(len(lines_of(name, _PHONE)) for name in names) + 4)


def name_axis(**more: Any) -> alt.Axis:
    """Names beside a chart, from the signal ``name_lines``; what the axis holds are their numbers."""
    return alt.Axis(
        title=None,
        labelExpr="name_lines[datum.value]",
        labelLineHeight=LINE / 2,
        labelOffset=alt.expr(CENTRED),
        labelLimit=0,
        **{"grid": True, "gridColor": GRID, "tickBand": "extent", "labelPadding": 6, **more},
    )


def number_axis(**more: Any) -> alt.Axis:
    """An axis of numbers with a pale grid."""
    return alt.Axis(**{"tickCount": 6, "gridColor": GRID, **more})


def top_legend(
    names: Sequence[str],
    *,
    beside: Sequence[str] = (),
    number: str = "datum.value",
    **more: Any,
) -> alt.Legend:
    """Names above a chart, in as many columns as there is room for; ``beside`` are names that stand beside it.

    ``number`` is an expression of which of the names an entry is.
    """
    axis = by_room(lambda letters: _widest(beside, letters), _LABEL) if beside else str(_NUMBERS)
    free = f"({ROOM} - {axis} - 12)"
    widest = min(max(map(letters_of, names)), _LONGEST) * LETTER + _SYMBOL
    room = f"clamp({free} - {_SYMBOL}, 80, {_LONGEST * LETTER:.0f})"
    style: dict[str, Any] = {
        "symbolSize": 75,
        "symbolOpacity": 1,
        "labelExpr": f"{lines_by_room(names, room)}[{number}]",
        "labelLimit": 0,
        "columns": alt.expr(f"clamp(floor({free} / {widest:.0f}), 1, {len(names)})"),
        "rowPadding": 4,
        **more,
    }
    return alt.Legend(orient="top", title=None, **style)


def gradient(style: str | None = None, **more: Any) -> alt.Legend:
    """A bar of colours above a heatmap."""
    return alt.Legend(
        title=None,
        direction="horizontal",
        **{
            "orient": "top",
            "gradientLength": alt.expr("clamp(width, 140, 220)"),
            "gradientThickness": 10,
            "offset": 6,
            **({"format": style} if style else {}),
            **({"tickCount": 5} if "values" not in more else {}),
            **more,
        },
    )


def model_marks(names: Sequence[str], *, legend: bool = True) -> tuple[alt.Color, alt.Shape]:
    """A colour and a shape for each number ``i`` of a model, no two models alike; the signal ``names`` names them."""
    numbers = list(range(len(names)))
    above = top_legend(names) if legend else None
    colours = [COLOURS[k % len(COLOURS)] for k in numbers]
    # Where colours come round again, the shapes are others.
    shapes = [SHAPES[(k + k // len(COLOURS)) % len(SHAPES)] for k in numbers]
    return (
        alt.Color("i:N", legend=above, scale=alt.Scale(domain=numbers, range=colours)),
        alt.Shape("i:N", legend=above, scale=alt.Scale(domain=numbers, range=shapes)),
    )


def widened(low: float, high: float, by: float = 0.5) -> list[float]:
    """The ends of a scale; one value alone needs some room on both sides."""
    return [float(low), float(high)] if high > low else [float(low) - by, float(high) + by]


def r2_scale(
    tables: Sequence[FloatArray | None], lows: Sequence[FloatArray | None] = ()
) -> alt.Scale:
    """From 0, or below it where R² is, to 1; the same for all switches. Intervals stretch it a little only."""
    shown = np.concatenate([np.zeros(1), *(t.ravel() for t in tables if t is not None)])
    ends = [np.maximum(t.ravel(), _WORST) for t in lows if t is not None]
    least = np.nanmin(np.concatenate([shown[np.isfinite(shown)], *ends]))
    return alt.Scale(domain=[float(least), 1.0], nice=bool(least < 0), zero=False)


def zero_line(**place: Any) -> alt.Chart:
    """A line at 0, of the encoding given."""
    rule: alt.Chart = alt.Chart(alt.InlineData(values=[{"zero": 0}])).mark_rule(color="#888")
    return rule.encode(**place)
