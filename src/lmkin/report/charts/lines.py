"""Lines with bands, a colour a model: over layers, thresholds, or lengths of a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from .style import layered, model_marks, widened, zero_line

_FEW = 6
"""More bands than these hide each other."""


def layer_axis(layers: Sequence[int]) -> alt.X:
    """Layer numbers, thinned where they would touch."""
    return alt.X(
        "layer:Q",
        title="layer",
        scale=alt.Scale(
            domain=widened(min(layers), max(layers)), nice=False, zero=False, padding=12
        ),
        axis=alt.Axis(
            values=list(layers),
            format="d",
            grid=False,
            labelOverlap=True,
            labelSeparation=4,
            labelPadding=6,
        ),
    )


def line_chart(
    rows: Sequence[Mapping[str, Any]],
    models: Sequence[str],
    *,
    x: alt.X,
    y: Mapping[str, Any],
    tooltip: Sequence[alt.Tooltip],
    title: alt.TitleParams,
    calculate: Mapping[str, str] | None = None,
    params: Mapping[str, Any] | None = None,
    bands: bool = True,
    zero: bool = False,
    legend: bool = True,
    more: Sequence[alt.Chart] = (),
    width: int | str = "container",
    height: int = 340,
) -> alt.LayerChart:
    """The value ``v`` of each model ``i`` as points on a line, with a band from ``low`` to ``high``.

    ``y`` describes the vertical axis; ``zero`` draws a line at 0; ``more`` are layers above all others.
    """
    colour, shape = model_marks(models, legend=legend)
    base = alt.Chart()
    if calculate:
        base = base.transform_calculate(**calculate)
    layers: list[alt.Chart] = []
    if zero:
        layers.append(zero_line(y=alt.Y("zero:Q", **y)))
    if bands:
        area = base.transform_filter("isValid(datum.low) && isValid(datum.high)").mark_area(
            opacity=0.15 if len(models) <= _FEW else 0.07, clip=True, tooltip=None
        )
        layers.append(area.encode(x=x, y=alt.Y("low:Q", **y), y2=alt.Y2("high:Q"), color=colour))
    present = base.transform_filter("isValid(datum.v)")
    place: dict[str, Any] = {"x": x, "y": alt.Y("v:Q", **y), "color": colour}
    points = present.mark_point(filled=True, size=55, opacity=1)
    layers += [
        present.mark_line(strokeWidth=2, tooltip=None).encode(**place),
        points.encode(**place, shape=shape, tooltip=list(tooltip)),
        *more,
    ]
    signals = {**(params or {}), "names": list(models)}
    return layered(layers, rows, signals, width=width, height=height, title=title)
