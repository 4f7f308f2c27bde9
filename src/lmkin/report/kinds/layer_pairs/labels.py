"""The labels of the heatmap: layer numbers, thinned as there is room, and models' names in lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import altair as alt

from ...charts.style import INK, SOFT
from ...charts.text import LINE, by_room, few_lines, lines_of, literal, short_names
from .view import Layer, LayerPairs

_LETTER = 6.6
"""Pixels; the browser measures text, but here it must be known where lines are to break."""
_MOST_LINES = 3
_NUMBERS = 28  # pixels beside the plot that the layer numbers take


def layer_numbers(layers: Sequence[Layer], starts: Sequence[int], cell: int) -> list[alt.Chart]:
    """The number of each layer at the middle of its cells; every second, third … where they would touch.

    They are marks and no axis, because Vega thins the labels of an axis without regard to where a model begins.
    """
    rows, rank = [], 0
    counts = Counter(layer.model for layer in layers)
    for i, (layer, at) in enumerate(zip(layers, starts, strict=True)):
        rank = rank + 1 if i and layer.model == layers[i - 1].model else 0
        left = counts[layer.model] - rank
        rows.append({"at": at + cell / 2, "number": str(layer.number), "rank": rank, "left": left})

    def label(room: int) -> str:
        regular = f"datum.rank % ceil({room} / cell) == 0"
        # The first number of the next model is shown always, and must not touch this one.
        free = f"(datum.rank == 0 || cell * (datum.left + 0.25) >= {room - 2})"
        return f"{regular} && {free} ? datum.number : ''"

    base = alt.Chart(alt.InlineData(values=rows))
    style: dict[str, Any] = {"fontSize": 11, "color": INK, "tooltip": None}
    below = base.transform_calculate(label=label(18)).mark_text(
        **style, align="center", baseline="top", dy=6, y=alt.expr("height")
    )
    beside = base.transform_calculate(label=label(13)).mark_text(
        **style, align="right", baseline="middle", dx=-6, x=0
    )
    return [
        below.encode(x=alt.X("at:Q"), text=alt.Text("label:N")),
        beside.encode(y=alt.Y("at:Q"), text=alt.Text("label:N")),
    ]


def model_names(view: LayerPairs, starts: Sequence[int], cell: int) -> list[alt.Chart]:
    """The models' names under and beside their blocks, in lines no longer than the block; letters if ``lettered``."""
    rows = []
    for number, letter in enumerate(short_names(len(view.models))):
        own = [at for layer, at in zip(view.layers, starts, strict=True) if layer.model == number]
        if own:
            place = {"at": (own[0] + own[-1] + cell) / 2, "span": len(own)}
            rows.append({"k": number, "letter": letter, **place})
    lines = by_room(
        lambda letters: literal([lines_of(name, letters) for name in view.models]),
        "datum.room",
        letter=_LETTER,
        least=0,
    )
    base = alt.Chart(alt.InlineData(values=rows)).transform_calculate(
        room="cell * datum.span", label=f"lettered ? [datum.letter] : {lines}[datum.k]"
    )
    style: dict[str, Any] = {
        "fontSize": 12,
        "lineHeight": LINE,
        "color": SOFT,
        "align": "center",
        "tooltip": None,
        "limit": alt.expr("datum.room + 8"),
    }
    below = base.mark_text(**style, baseline="top", dy=24, y=alt.expr("height"))
    # Turned to the left, lines follow each other towards the plot: the first begins further out.
    dy = alt.expr(f"-{_NUMBERS} - {LINE} * (length(datum.label) - 1)")
    beside = base.mark_text(**style, angle=270, baseline="bottom", dy=dy, x=0)
    return [
        below.encode(x=alt.X("at:Q"), text=alt.Text("label:N")),
        beside.encode(y=alt.Y("at:Q"), text=alt.Text("label:N")),
    ]


def names_need(view: LayerPairs, starts: Sequence[int], cell: int) -> float:
    """How wide the plot must be for every name to have room at its block."""
    counts = Counter(layer.model for layer in view.layers)
    end = starts[-1] + cell
    return max(
        few_lines(view.models[model], _MOST_LINES) * _LETTER * end / (cell * count)
        for model, count in counts.items()
    )
