"""Files of what was found about neurons: the rankings, and masks of the smallest sets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import xarray as xr

from ....core import slugs
from ....results import Files
from ...redundancy import NeuronMask
from .masks import smallest_masks
from .tables import ranking_table


def neuron_files(dataset: xr.Dataset) -> Files:
    """``ranking.csv``, and a mask for each model and task in ``neurons/``."""
    files: Files = {}
    table = ranking_table(dataset)
    if table is not None:
        files["ranking.csv"] = table.save_csv
    masks = smallest_masks(dataset)
    names = slugs([f"{model}-{task}" for model, task in masks])
    for name, make in zip(names, masks.values(), strict=True):
        files[f"neurons/{name}.safetensors"] = _saving(make)
    return files


def _saving(make: Callable[[], NeuronMask]) -> Callable[[Path], None]:
    return lambda path: make().save(path)
