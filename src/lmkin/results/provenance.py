"""Provenance: everything that the numbers of a result depend on, built in one place."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from ..core import __version__

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
    known = {"lmkin": __version__, "python": platform.python_version()}
    for name in _PACKAGES:
        try:
            known[name] = version(name)
        except PackageNotFoundError:
            continue
    return known
