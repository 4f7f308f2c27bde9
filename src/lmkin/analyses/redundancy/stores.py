"""Stored activations that the redundancy of models is computed from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...activations import Activations, open_activations
from ...analysis import Source
from ...core import QUOTED_PATH, LmkinError, choose_layers, quoted
from ...rows import row_source
from .options import RedundancyOptions


def chosen_layers(acts: Activations, layers: Any) -> Sequence[int]:
    """The layers of stored activations that were asked for. Raise if one is not there."""
    have = acts.layers
    asked = list(have) if layers == "all" else choose_layers(layers, max(have) + 1)
    missing = [n for n in asked if n not in have]
    if missing:
        raise LmkinError(
            f"{acts.path or acts.name} has the layers {', '.join(map(str, have))}, and no layer {missing[0]}: choose "
            f"others (layers=…), or extract it."
        )
    return asked


def open_stores(source: Source, options: RedundancyOptions) -> list[Activations]:
    """Stored activations. Raise if one lacks a layer, or if they are of different words."""
    stores = [open_store(spec) for spec in source.specs]
    for acts in stores:
        require_two_layers(acts.name, chosen_layers(acts, source.reading.layers), options)
    row_source(stores, parts=1)  # raises for words of different corpora
    return stores


def open_store(spec: Any) -> Activations:
    """Stored activations. Raise if there are none at that place."""
    if isinstance(spec, Activations):
        return spec
    if not isinstance(spec, str | Path) or not (Path(spec) / "manifest.json").is_file():
        raise LmkinError(
            f"{quoted(spec, QUOTED_PATH)} is no folder of activations. If it is a model, give a corpus for it to read "
            f"(corpus=…)."
        )
    return open_activations(spec)


def require_two_layers(name: str, layers: Sequence[int], options: RedundancyOptions) -> None:
    """Raise if a model has one layer only, and layers are to be compared."""
    if options.layer_regressions and len(layers) < 2:
        raise LmkinError(
            f"{name} has one layer here ({layers[0]}), and layers are compared with each other: take two at least "
            f"(layers=…), or cluster its neurons only (layer_regressions=False)."
        )
