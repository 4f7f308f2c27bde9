"""Tables of a clustering: how many neurons are left, where, and how far apart those lie that say the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

if TYPE_CHECKING:
    import pandas as pd

    from .clustering import Neurons

_INTERVAL = ("_se", "_low", "_high")
SPANS = ("alone", "same layer", "±1", "±2", "further")
"""How far apart the layers of a cluster's members lie."""


def tabulate(models: Mapping[str, Neurons], thresholds: Sequence[float]) -> xr.Dataset:
    """By model and threshold.

    ``left``: neurons that stand for all; ``share``: of all. ``left_by_layer``: by layer, too; NaN for layers that a
    model lacks. ``clusters`` and ``neurons_in`` by ``span``, how far apart the layers of a cluster's members lie.
    ``largest``: neurons of the largest cluster. ``neurons``, ``constant``: of each model, all, and those that never
    move.
    """
    layers = sorted({int(n) for m in models.values() for n in np.unique(m.layer)})
    shape = (len(models), len(thresholds))
    left, largest = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    by_layer = np.full((*shape, len(layers)), np.nan)
    clusters = np.zeros((*shape, len(SPANS)), np.int64)
    inside = np.zeros((*shape, len(SPANS)), np.int64)
    widths = np.full((len(models), len(layers)), np.nan)
    for i, m in enumerate(models.values()):
        there = np.isin(layers, m.layer)
        place = np.searchsorted(layers, m.layer)
        widths[i, there] = np.bincount(place, minlength=len(layers))[there]
        for k, t in enumerate(thresholds):
            representatives = m.representatives(t)
            left[i, k] = len(representatives)
            counts = np.bincount(place[representatives], minlength=len(layers))
            by_layer[i, k, there] = counts[there]
            span, sizes = spans(m, t)
            largest[i, k] = sizes.max(initial=0)
            clusters[i, k] = np.bincount(span, minlength=len(SPANS))
            inside[i, k] = np.bincount(span, weights=sizes, minlength=len(SPANS))
    total = np.array([len(m.layer) for m in models.values()])
    variables: dict[str, Any] = {
        "left": (("model", "threshold"), left),
        "share": (("model", "threshold"), left / total[:, None]),
        "left_by_layer": (("model", "threshold", "layer"), by_layer),
        "largest": (("model", "threshold"), largest),
        "clusters": (("model", "threshold", "span"), clusters),
        "neurons_in": (("model", "threshold", "span"), inside),
        "neurons": (("model",), total),
        "constant": (("model",), [int((~m.moves).sum()) for m in models.values()]),
        "width": (("model", "layer"), widths),
    }
    coords = {
        "model": list(models),
        "threshold": list(thresholds),
        "layer": layers,
        "span": list(SPANS),
    }
    return xr.Dataset(variables, coords=coords)


def spans(neurons: Neurons, threshold: float) -> tuple[Any, Any]:
    """Of every cluster how far apart its layers lie, as a place in `SPANS`, and how many neurons it has.

    Layers are counted as they were chosen: of every second layer, neighbours are ±1.
    """
    labels = neurons.labels(threshold)
    mine = labels >= 0
    place = np.unique(neurons.layer, return_inverse=True)[1].reshape(-1)[mine]
    labels = labels[mine]
    if not len(labels):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    count = int(labels.max()) + 1
    low, high = np.full(count, len(place)), np.full(count, -1)
    np.minimum.at(low, labels, place)
    np.maximum.at(high, labels, place)
    sizes = np.bincount(labels)
    return np.where(sizes == 1, 0, np.minimum(high - low, 3) + 1), sizes


def ranked_layers(layers: xr.Dataset) -> pd.DataFrame:
    """The table of what `lmkin.layer_redundancy` gives: a row a layer but the first, candidates to prune first.

    ``rank`` in its model, ``layer``, the layer ``before`` it that explains it, ``r2``, ``cka`` and ``average`` with
    their intervals (NaN where there are none).
    """
    import pandas as pd

    names = [f"{name}{part}" for name in ("r2", "cka", "average") for part in ("", *_INTERVAL)]
    rows = []
    for model in layers["model"].values:
        mine = layers.sel(model=model)
        rank = mine["drop_rank"].values
        there = np.flatnonzero(np.isfinite(mine["cka_all"].values).any(1)).tolist()
        for i in sorted((i for i in there if np.isfinite(rank[i])), key=lambda i: rank[i]):
            before = there[there.index(i) - 1]
            numbers = mine["layer"].values
            rows.append(
                [str(model), int(rank[i]), int(numbers[i]), int(numbers[before])]
                + [float(mine[name].values[i]) if name in mine else np.nan for name in names]
            )
    return pd.DataFrame(rows, columns=["model", "rank", "layer", "before", *names])
