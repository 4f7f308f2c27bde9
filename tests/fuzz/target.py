"""A target: a format that lmkin reads, a valid file of it, and how it is read and used."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr


def nothing(folder: Path) -> None:
    """There is no checksum to be made right."""


def itself(value: Any) -> Any:
    """What was read is all that there is to it."""
    return value


@dataclass(frozen=True)
class Target:
    """What is fuzzed.

    ``make`` writes valid files into a folder, ``read`` reads them from there, ``use`` asks what was read for everything
    that may be computed late, and gives something that can be compared.
    """

    name: str
    make: Callable[[Path], None]
    read: Callable[[Path], Any]
    files: Mapping[str, str]
    """The files that are mutated, and the form of each (`fuzz.mutators.DRAWS`)."""
    covers: tuple[str, ...]
    """What is registered in lmkin and read here: ``corpus text``, ``result similarity``, ``module rows.workspace`` …"""
    use: Callable[[Any], Any] = itself
    resign: Callable[[Path], None] = nothing
    """Makes all checksums of a folder right again, as far as what they are of can still be read."""
    sealed: bool = False
    """Whether lmkin wrote it with checksums: a flipped bit is never read as something else."""


def digest(value: Any) -> str:
    """A short name of what was read: the same for the same."""
    found = hashlib.blake2b(digest_size=12)
    _feed(found.update, value)
    return found.hexdigest()


def _feed(take: Callable[[bytes], None], value: Any) -> None:
    if isinstance(value, Mapping):
        take(b"{")
        for key, inner in value.items():
            _feed(take, key)
            _feed(take, inner)
        take(b"}")
    elif isinstance(value, list | tuple | set | frozenset):
        take(b"[")
        for inner in sorted(value, key=str) if isinstance(value, set | frozenset) else value:
            _feed(take, inner)
        take(b"]")
    elif isinstance(value, xr.Dataset):
        _feed(take, value.attrs)
        _feed(take, {str(n): value[n].variable for n in sorted(value.variables, key=str)})
    elif isinstance(value, xr.DataArray | xr.Variable):
        _feed(take, [value.dims, value.attrs, np.asarray(value.values)])
    elif isinstance(value, np.ndarray):
        take(f"{value.dtype}{value.shape}".encode())
        _feed(take, value.tolist()) if value.dtype.hasobject else take(value.tobytes())
    elif isinstance(value, float | np.floating):
        take(b"nan" if math.isnan(value) else repr(float(value)).encode())
    elif isinstance(value, str):
        take(b"'" + value.encode("utf-8", "surrogatepass") + b"'")
    elif isinstance(value, bytes):
        take(b"b" + value)
    elif value is None or isinstance(value, bool | int | np.integer | np.bool_):
        take(f"{type(value).__name__}{value}".encode())
    else:
        raise TypeError(f"a target gave {type(value).__name__}, which cannot be compared")
