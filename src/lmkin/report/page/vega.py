"""The JavaScript that draws charts in a browser, bundled once for each version of it."""

from __future__ import annotations

import hashlib
from functools import cache

from markupsafe import Markup

from ...core import keep_cached, package_version, read_cached
from ..charts import VEGA_LITE

_SNIPPET = "window.vegaEmbed = vegaEmbed;"


@cache
def vega_bundle() -> Markup:
    """Vega, Vega-Lite and vega-embed as the text of a script element; the same on every page.

    To bundle them takes a second, so that they are kept in the user's cache folder, where there is one.
    """
    name = _cached_name()
    text = read_cached(name)
    if text is None:
        import vl_convert

        text = vl_convert.javascript_bundle(_SNIPPET, vl_version=VEGA_LITE)
        keep_cached(name, text)
    return Markup(text.replace("</script", "<\\/script"))


def _cached_name() -> str:
    """Of everything that the bundle depends on."""
    digest = hashlib.sha256(_SNIPPET.encode()).hexdigest()[:12]
    return f"vega-{VEGA_LITE}-{package_version('vl-convert-python')}-{digest}.js"
