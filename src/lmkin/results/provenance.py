"""Provenance: everything that the numbers of a result depend on, built in one place."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from typing import Any

from ..core import __version__, package_version

_PACKAGES = ("numpy", "scipy", "xarray", "torch", "transformers", "tokenizers", "safetensors")


def make_provenance(
    *,
    analysis: str,
    options: Mapping[str, Any],
    source: Mapping[str, Any],
    running: Mapping[str, Any] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """Plain data: the analysis, its options, where the rows came from, how it was run, and the versions."""
    return {
        "lmkin": __version__,
        "analysis": analysis,
        "options": dict(options),
        "running": dict(running or {}),
        "source": dict(source),
        "versions": package_versions(),
        **more,
    }


def package_versions() -> dict[str, str]:
    """Versions of Python and of the packages that numbers come from."""
    known = {name: package_version(name) for name in _PACKAGES}
    own = {"lmkin": __version__, "python": platform.python_version()}
    return own | {name: version for name, version in known.items() if version is not None}
