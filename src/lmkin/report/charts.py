"""What all charts share: the look, names, and pictures as PNG and SVG."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import altair as alt

INK = "#1b2733"
SOFT = "#5b6b7a"
_FONT = "system-ui, sans-serif"


def styled(chart: Any) -> Any:
    """The look that all our charts share."""
    fills = getattr(chart, "width", None) == "container"
    fits: Literal["fit-x", "pad"] = "fit-x" if fills else "pad"
    chart = chart.properties(autosize=alt.AutoSizeParams(type=fits, contains="padding"))
    return (
        chart.configure(font=_FONT)
        .configure_axis(
            domain=False,
            ticks=False,
            titleFontWeight="normal",
            titlePadding=8,
            titleFontSize=12,
            labelFontSize=12,
            labelColor=INK,
            titleColor=SOFT,
        )
        .configure_legend(labelFontSize=12, labelColor=INK, titleColor=SOFT)
        .configure_title(
            anchor="start",
            fontSize=14,
            fontWeight=600,
            color=INK,
            subtitleColor=SOFT,
            subtitleFontSize=12,
        )
        .configure_view(stroke=None)
    )


def one_line(name: str) -> str:
    """A name without line ends of any kind: Vega puts titles into expressions of its own."""
    return " ".join(name.split())


def chosen(texts: Mapping[str, str], signal: str) -> str:
    """A Vega expression that gives the text of the signal's present value."""
    # ASCII JSON is a literal of Vega's expression language too, whatever the text holds.
    return f"({json.dumps(texts)})[{signal}]"


def save_picture(chart: Any, path: Path, *, scale: float = 2.0) -> None:
    """Write a chart as PNG or SVG, by the extension; no browser is needed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    styled(chart).save(str(path), scale_factor=scale)
