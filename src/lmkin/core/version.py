"""The version of lmkin, and those of the packages that its numbers come from."""

from __future__ import annotations

import functools
from importlib.metadata import PackageNotFoundError, version

__version__ = "0.1.0"


@functools.cache
def package_version(name: str) -> str | None:
    """The installed version of a package, if there is one; its metadata are a long file, and read once."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None
