"""`load`: anything that lmkin wrote, as the object that wrote it."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ..activations import open_activations
from ..core import LmkinError, as_path, near_files, quoted, tensors_kind
from ..moments import Moments
from .folder import MANIFEST, FolderManifest, written_in
from .result import known_kinds
from .storage import load_result


@dataclass(frozen=True)
class Loadable:
    """A kind of file or folder that lmkin writes: what it is, how it is known, and how it is read."""

    name: str
    """In a sentence: ``clusters of neurons``."""
    claims: Callable[[Path], bool]
    """Whether a path is of this kind; looks at no more than it must."""
    load: Callable[[Path], Any]


_LOADABLE: dict[str, Loadable] = {}


def loadable(name: str, claims: Callable[[Path], bool], load: Callable[[Path], Any]) -> None:
    """Register a kind of file or folder, so that ``lmkin.load`` reads it."""
    _LOADABLE[name] = Loadable(name, claims, load)


def load(path: str | Path) -> Any:
    """Read anything that lmkin wrote: a result (a folder or its .nc file), moments, activations, clusters, masks.

    Gives the object that it was written from: a `Result` such as `lmkin.Similarity`, `lmkin.Moments`,
    `lmkin.Activations`, `lmkin.Clustering`, `lmkin.NeuronMask`. Raise if it is none of these, or damaged.
    """
    path = as_path(path)
    if not path.exists():
        raise LmkinError(f"There is nothing at {path}.{near_files(path)}")
    return find_loadable(path).load(path)


def find_loadable(path: Path) -> Loadable:
    """What a file or folder is; raise if lmkin did not write it."""
    for kind in known_loadable():
        if kind.claims(path):
            return kind
    known = ", ".join(kind.name for kind in known_loadable())
    raise LmkinError(f"{path} is nothing that lmkin wrote: {_said(path)}. It reads {known}.")


def known_loadable() -> list[Loadable]:
    """Everything that is registered."""
    _load_own()
    return list(_LOADABLE.values())


@cache
def _load_own() -> None:
    """Import every folder in `lmkin.analyses`: a registry must find what registers itself."""
    package = importlib.import_module("lmkin.analyses")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"lmkin.analyses.{module.name}")


# -- what is at hand here ----------------------------------------------------------------------------


def holds(kind: str) -> Callable[[Path], bool]:
    """Whether a path is a safetensors file of some kind that lmkin wrote. Raise if it is damaged."""

    def claims(path: Path) -> bool:
        return path.suffix == ".safetensors" and path.is_file() and tensors_kind(path) == kind

    return claims


def _kind_of_folder(path: Path) -> str | None:
    """The kind of the result in a folder: by its manifest, else by the names of files."""
    if not path.is_dir():
        return None
    manifest = FolderManifest.load(path)
    if manifest is not None and manifest.replacing:
        raise LmkinError(
            f"A run was broken off while its results took the place of others in {path}: files of both are there. Run "
            f"the same command again."
        )
    if manifest is not None:
        return manifest.kind
    return next((kind for kind in known_kinds() if (path / f"{kind}.nc").is_file()), None)


def _load_result(path: Path) -> Any:
    kind = _kind_of_folder(path) if path.is_dir() else load_result(path).attrs.get("kind")
    known = known_kinds()
    if not isinstance(kind, str) or kind not in known:
        if path.name in written_in(path.parent):
            raise LmkinError(
                f"{path} is one table of a result. Open the whole result by its folder, {path.parent}."
            )
        said = "is no result of lmkin" if kind is None else f"is of kind {quoted(kind)}"
        raise LmkinError(f"{path} {said}; known are {', '.join(known)}.")
    return known[kind].load(path)


def _said(path: Path) -> str:
    """What was found instead."""
    if path.is_dir():
        names = sorted(p.name for p in path.iterdir())
        some = ", ".join(names[:5]) + (" …" if len(names) > 5 else "")
        return f"a folder with {some}" if names else "an empty folder"
    return f"a file of {path.stat().st_size:,} bytes with the ending {path.suffix or '(none)'}"


loadable(
    "results (a folder, or its .nc file)",
    lambda path: _kind_of_folder(path) is not None or (path.is_file() and path.suffix == ".nc"),
    _load_result,
)
loadable(
    "activations",
    lambda path: (
        path.is_dir() and (path / "manifest.json").is_file() and not (path / MANIFEST).exists()
    ),
    open_activations,
)
loadable("moments", holds("moments"), Moments.load)
