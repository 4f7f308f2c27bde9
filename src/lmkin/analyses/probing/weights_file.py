"""Weights of many probes in one safetensors file, each under its key."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ...core import MeasureError, load_tensors, save_tensors
from .fits import HEAD, FittedProbe, head_of

Key = tuple[str, ...]
Tensors = Mapping[str, NDArray[Any]]


def save_weights(
    path: Path, kind: str, probes: Mapping[Any, FittedProbe], more: Mapping[Any, Tensors]
) -> None:
    """Write probes by key, which is several names; ``more`` are further arrays of each."""
    tensors: dict[str, Any] = {}
    heads = []
    for number, (key, fitted) in enumerate(probes.items()):
        mine = {**fitted.tensors(), **more.get(key, {})}
        tensors |= {f"{number}.{name}": array for name, array in mine.items()}
        heads.append({"key": list(key), **head_of(fitted)})
    save_tensors(path, tensors, {"probes": heads}, kind=kind, version=1, error=MeasureError)


def load_weights(path: Path, kind: str, names: int) -> dict[Key, tuple[FittedProbe, Tensors]]:
    """Read what `save_weights` wrote, with all arrays of each; a key has so many names. Raise if it is damaged."""
    schema = {"probes": [{"key": [str], **HEAD}]}
    tensors, head = load_tensors(path, kind=kind, schema=schema, version=1, error=MeasureError)
    probes: dict[Key, tuple[FittedProbe, Tensors]] = {}
    for number, about in enumerate(head["probes"]):
        key = tuple(about.pop("key"))
        if len(key) != names:
            raise MeasureError(
                f"{path} is damaged: a probe has {names} names here, and one has {len(key)}. Run the analysis again."
            )
        own = f"{number}."
        mine = {n.removeprefix(own): a for n, a in tensors.items() if n.startswith(own)}
        probes[key] = FittedProbe.of(mine, about, path), mine
    return probes
