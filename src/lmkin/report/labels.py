"""The labels of the heatmap: layer numbers, thinned as there is room, and models' names in up to three lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import altair as alt

from .charts import INK, SOFT
from .view import Layer, View

_LETTER = (
    6.4  # pixels; the browser measures text, but here it must be known where lines are to break
)
_LINE = 14
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
    return [below.encode(x="at:Q", text="label:N"), beside.encode(y="at:Q", text="label:N")]


def model_names(view: View, starts: Sequence[int], cell: int) -> list[alt.Chart]:
    """The models' names under and beside their blocks, broken into lines where they are longer than the block."""
    rows = []
    for number, name in enumerate(view.models):
        own = [at for layer, at in zip(view.layers, starts, strict=True) if layer.model == number]
        if own:
            row = {"name": name, "at": (own[0] + own[-1] + cell) / 2, "span": len(own) * cell}
            rows.append(row | {f"line{k}": line for k, line in enumerate(broken(name))})
    base = alt.Chart(alt.InlineData(values=rows)).transform_calculate(
        room=f"max(3, floor(cell * datum.span / {cell * _LETTER}))",
        lines="length(datum.name) <= datum.room || !datum.line1 ? 1 : datum.line2 ? 3 : 2",
    )
    charts: list[alt.Chart] = []
    for count in (1, 2, 3):
        parts = ["datum.name"] if count == 1 else [f"datum.line{k}" for k in range(count)]
        label = f"[{', '.join(f'truncate({part}, datum.room)' for part in parts)}]"
        some = base.transform_filter(f"datum.lines == {count}").transform_calculate(label=label)
        style: dict[str, Any] = {
            "fontSize": 12,
            "lineHeight": _LINE,
            "color": SOFT,
            "align": "center",
            "tooltip": None,
        }
        below = some.mark_text(**style, baseline="top", dy=24, y=alt.expr("height"))
        # Turned to the left, lines follow each other towards the plot: the first begins further out.
        dy = -_NUMBERS - _LINE * (count - 1)
        beside = some.mark_text(**style, angle=270, baseline="bottom", dy=dy, x=0)
        charts += [
            below.encode(x="at:Q", text="label:N"),
            beside.encode(y="at:Q", text="label:N"),
        ]
    return charts


def broken(name: str, *, longest: int = 14) -> list[str]:
    """A name in three lines, some perhaps empty, broken at its own joints where it has some."""
    words = name
    for joint in "-/_ ":
        words = words.replace(joint, joint + "\0")
    lines = [""]
    for word in words.split("\0"):
        if lines[-1] and len(lines[-1]) + len(word.rstrip()) > longest and len(lines) < 3:
            lines.append("")
        lines[-1] += word
    return [line.strip() for line in (*lines, "", "")[:3]]
