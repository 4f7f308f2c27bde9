"""What all charts share: the look, names, and pictures as PNG and SVG."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import altair as alt
from altair.utils.schemapi import debug_mode

from ..errors import LmkinError

VEGA_LITE = "6.4"
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


@contextmanager
def unchecked() -> Iterator[None]:
    """Altair checks every piece of a chart as it is made, which takes most of the time; our tests do that once."""
    with debug_mode(False):
        yield


def specification(chart: Any) -> dict[str, Any]:
    """A chart with our look, as Vega-Lite."""
    with unchecked():
        found: dict[str, Any] = styled(chart).to_dict(validate=False)
    return found


def save_picture(chart: Any, path: Path, *, scale: float = 2.0) -> None:
    """Write a chart as PNG or SVG, by the extension; no browser is needed."""
    import vl_convert

    path.parent.mkdir(parents=True, exist_ok=True)
    spec = specification(chart)
    try:
        if path.suffix == ".svg":
            path.write_text(vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE), "utf-8")
        else:
            path.write_bytes(vl_convert.vegalite_to_png(spec, vl_version=VEGA_LITE, scale=scale))
    except ValueError as error:
        raise LmkinError(f"{path.name} could not be drawn: {error}") from error
