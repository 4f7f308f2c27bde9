"""Stacked bars: the parts of a whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from .style import top_legend


def stacked_bars(
    base: alt.Chart,
    part: str,
    labels: Sequence[str],
    colours: Sequence[str],
    *,
    x: dict[str, Any],
    y: alt.Y,
    tooltip: Sequence[alt.Tooltip],
    beside: Sequence[str],
    legend: dict[str, Any] | None = None,
    **more: Any,
) -> alt.Chart:
    """Bars of the shares ``v``, coloured by the number ``part`` of a label; ``beside`` are their names."""
    above = top_legend(
        labels,
        beside=beside,
        symbolType="square",
        symbolSize=100,
        **(legend or {}),
    )
    scale = alt.Scale(domain=list(range(len(labels))), range=list(colours))
    bars: alt.Chart = base.mark_bar(stroke="white", strokeWidth=0.5)
    return bars.encode(
        x=alt.X("v:Q", stack="zero", **x),
        y=y,
        color=alt.Color(f"{part}:O", legend=above, scale=scale),
        order=alt.Order(f"{part}:Q"),
        tooltip=list(tooltip),
        **more,
    )
