"""Charts as Vega-Lite, and as pictures (PNG, SVG)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from altair.utils.schemapi import debug_mode

from ...core import LmkinError, printable, replacing
from .style import styled

VEGA_LITE = "6.4"


@contextmanager
def unchecked() -> Iterator[None]:
    """Altair checks every piece of a chart as it is made, which takes most of the time; our tests do that once."""
    with debug_mode(False):
        yield


def specification(chart: Any) -> dict[str, Any]:
    """A chart with our look, as Vega-Lite."""
    with unchecked():
        return styled(chart.to_dict(validate=False))


def save_picture(chart: Any, path: Path, *, scale: float = 2.0) -> None:
    """Write a chart as PNG or SVG, by the extension; no browser is needed. Raise if it cannot be drawn."""
    import vl_convert

    spec = specification(chart)
    try:
        if path.suffix == ".svg":
            drawn = printable(vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE)).encode()
        else:
            drawn = vl_convert.vegalite_to_png(spec, vl_version=VEGA_LITE, scale=scale)
    except ValueError as error:
        raise LmkinError(f"{path.name} could not be drawn: {error}") from error
    with replacing(path) as temporary:
        temporary.write_bytes(drawn)
