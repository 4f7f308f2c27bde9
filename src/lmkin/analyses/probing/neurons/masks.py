"""Smallest sets of neurons from a result of probes: masks by model and task."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import xarray as xr

from ....core import LmkinError
from ...redundancy import NeuronMask

Key = tuple[str, str]
"""Model and task."""
ENDINGS = ("", "_se", "_low", "_high")
"""Of a variable with its standard error and the ends of its interval."""


def has_rankings(dataset: xr.Dataset) -> bool:
    """Whether neurons were ranked."""
    return "ranked_layer" in dataset


def smallest_masks(dataset: xr.Dataset) -> dict[Key, Callable[[], NeuronMask]]:
    """The smallest set of each model and task, made when it is asked for."""
    if "minimal" not in dataset:
        return {}
    found: dict[Key, Callable[[], NeuronMask]] = {}
    for i, model in enumerate(dataset["model"].values):
        for j, task in enumerate(dataset["task"].values):
            if np.isfinite(dataset["minimal"].values[i, j]):
                found[str(model), str(task)] = partial(_mask, dataset, str(model), i, j)
    return found


def _mask(dataset: xr.Dataset, model: str, i: int, j: int) -> NeuronMask:
    about = dataset.attrs["probed"][model]
    size = int(dataset["minimal"].values[i, j])
    layer = dataset["ranked_layer"].values[i, j, :size].astype(np.int64)
    number = dataset["ranked_number"].values[i, j, :size].astype(np.int64)
    masks = {
        int(n): np.zeros(int(width), bool)
        for n, width in zip(about["layers"], about["widths"], strict=True)
    }
    for n, k in zip(layer.tolist(), number.tolist(), strict=True):
        if n not in masks or not 0 <= k < len(masks[n]):
            raise LmkinError(
                f"The ranking of {model} names a neuron that it has not: layer {n}, {k}."
            )
        masks[n][k] = True
    return NeuronMask(model, None, masks, about["identity"])
