"""The JavaScript that draws charts in a browser, bundled once for each version of it."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from functools import cache
from pathlib import Path

from markupsafe import Markup

from ...core import LmkinError, package_version, replacing
from ..charts import VEGA_LITE

_SNIPPET = "window.vegaEmbed = vegaEmbed;"


@cache
def vega_bundle() -> Markup:
    """Vega, Vega-Lite and vega-embed as the text of a script element; the same on every page.

    To bundle them takes a second, so that they are kept in the user's cache folder, where there is one.
    """
    place = _cache_file()
    text = _kept(place)
    if text is None:
        import vl_convert

        text = vl_convert.javascript_bundle(_SNIPPET, vl_version=VEGA_LITE)
        _keep(place, text)
    return Markup(text.replace("</script", "<\\/script"))


def _cache_file() -> Path | None:
    try:
        root = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    except RuntimeError:  # nobody's home
        return None
    version = package_version("vl-convert-python")
    return root / "lmkin" / f"vega-{VEGA_LITE}-{version}.js"


def _kept(place: Path | None) -> str | None:
    """The bundle as it was kept; None where it is absent, or not whole."""
    try:
        digest, _, text = (place.read_bytes() if place else b"").partition(b"\n")
    except OSError:
        return None
    return text.decode() if digest == _first_line(text) else None


def _keep(place: Path | None, text: str) -> None:
    # No home, no room, no permission: then it is bundled each time.
    with suppress(OSError, LmkinError):
        if place:
            with replacing(place) as temporary:
                temporary.write_bytes(_first_line(text.encode()) + b"\n" + text.encode())


def _first_line(text: bytes) -> bytes:
    return f"// sha256 {hashlib.sha256(text).hexdigest()}".encode()
