"""Rows of points with bars for intervals: a row a model or a layer, a colour and a shape a kind of value."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from .style import top_legend
from .text import literal


@dataclass(frozen=True)
class Kind:
    """What a point shows: its name, colour and shape, and how far below the middle of its row it lies."""

    label: str
    colour: str
    shape: str
    below: int = 0


def kind_marks(kinds: Sequence[Kind], beside: Sequence[str]) -> tuple[alt.Color, alt.Shape]:
    """Colours and shapes of the field ``kind``, with a legend above the chart; ``beside`` it are names."""
    labels = [kind.label for kind in kinds]
    legend = top_legend(labels, beside=beside, number=f"indexof({literal(labels)}, datum.value)")
    colours = alt.Scale(domain=labels, range=[kind.colour for kind in kinds])
    shapes = alt.Scale(domain=labels, range=[kind.shape for kind in kinds])
    return (
        alt.Color("kind:N", legend=legend, scale=colours),
        alt.Shape("kind:N", legend=legend, scale=shapes),
    )


def point_rows(
    kinds: Mapping[str, Kind],
    *,
    x: Mapping[str, Any],
    y: alt.Y,
    tooltip: Sequence[alt.Tooltip],
    calculate: Mapping[str, str],
    bars: Collection[str],
    beside: Sequence[str],
    where: str = "true",
) -> list[alt.Chart]:
    """Of each kind the points ``v``, and under them bars from ``low`` to ``high`` for those in ``bars``.

    ``beside`` are the names of the rows.
    """
    colour, shape = kind_marks(list(kinds.values()), beside)
    layers: list[alt.Chart] = []
    for name, kind in kinds.items():
        mine = alt.Chart().transform_filter(f"datum.kind == {json.dumps(kind.label)} && {where}")
        mine = mine.transform_calculate(**calculate)
        if name in bars:
            bar = mine.transform_filter("isValid(datum.low) && isValid(datum.high)").mark_rule(
                strokeWidth=5, opacity=0.35, clip=True, tooltip=None, yOffset=kind.below
            )
            layers.append(bar.encode(x=alt.X("low:Q", **x), x2=alt.X2("high:Q"), y=y, color=colour))
        point = mine.transform_filter("isValid(datum.v)").mark_point(
            filled=True, size=75, opacity=1, yOffset=kind.below
        )
        layers.append(
            point.encode(x=alt.X("v:Q", **x), y=y, color=colour, shape=shape, tooltip=list(tooltip))
        )
    return layers
