"""Clusterings on disk: trees and what stands for whom, all checked before a compiled loop sees them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...core import ALERTS, Choice, MeasureError, Number, Unfit, Whole, load_tensors, save_tensors
from .linkage import LINKAGES, Tree

if TYPE_CHECKING:
    from .clustering import Clustering, Neurons

KIND = "clustering"
_THRESHOLD = Number(0, 1)
_HEAD = {
    "models": [
        {
            "name": str,
            "identity": (str, None),
            "limit": (_THRESHOLD, None),
            "keep": {str: str},
            "medoids": bool,
        }
    ],
    "thresholds": [_THRESHOLD],
    "linkage": Choice(tuple(LINKAGES)),
    "representative": Choice(("random", "medoid")),
    "seed": Whole(0, 2**63),
    "attrs": {"alerts": ALERTS, "provenance": {str: Any}, "units": str, "n": Whole(), str: Any},
}


def save_clustering(clustering: Clustering, path: Path) -> None:
    """Write trees, masks of what is kept, and the hashes of these."""
    tensors: dict[str, Any] = {}
    models = []
    for k, (name, neurons) in enumerate(clustering._models.items()):
        tensors |= {f"{k}/{n}": a for n, a in _arrays(neurons, clustering.thresholds).items()}
        limit = neurons.tree.limit
        models.append(
            {
                "name": name,
                "identity": neurons.identity,
                "limit": float(limit) if np.isfinite(limit) else None,
                "keep": {f"{t:.12g}": clustering.keep(t, name).hash for t in clustering.thresholds},
                "medoids": bool(neurons.medoids),
            }
        )
    head = {
        "models": models,
        "thresholds": [float(t) for t in clustering.thresholds],
        "linkage": clustering.linkage,
        "representative": clustering.representative,
        "seed": int(clustering.seed),
        "attrs": json.loads(json.dumps(clustering.attrs, default=str)),
    }
    save_tensors(path, tensors, head, kind=KIND, version=2, error=MeasureError)


def _arrays(neurons: Neurons, thresholds: Sequence[float]) -> dict[str, NDArray[Any]]:
    tree = neurons.tree
    return {
        "layer": neurons.layer,
        "number": neurons.number,
        "moves": neurons.moves.astype(np.uint8),
        "turn": neurons.turn,
        "first": tree.first,
        "second": tree.second,
        "height": tree.height,
        **{f"medoid/{i}": neurons.medoids[t] for i, t in enumerate(thresholds) if neurons.medoids},
        **{f"sign/{i}": neurons.signs[t] for i, t in enumerate(thresholds)},
    }


def load_clustering(path: Path) -> Clustering:
    """What `save_clustering` wrote. Raise if it was changed, or if a tree points out of its range."""
    from .clustering import Clustering

    tensors, head = load_tensors(path, kind=KIND, schema=_HEAD, version=2, error=MeasureError)
    thresholds = [float(t) for t in head["thresholds"]]
    try:
        models = {}
        for k, about in enumerate(head["models"]):
            mine = {n.partition("/")[2]: a for n, a in tensors.items() if n.startswith(f"{k}/")}
            models[about["name"]] = _neurons(_Numbers(mine), about, thresholds)
        if not models or len(models) < len(head["models"]):
            raise Unfit("it has no models, or one twice")
        made = Clustering(
            models, thresholds, linkage=head["linkage"], representative=head["representative"],
            seed=head["seed"], attrs=head["attrs"],
        )  # fmt: skip
        for about in head["models"]:
            hashes = {f"{t:.12g}": made.keep(t, about["name"]).hash for t in thresholds}
            if hashes != about["keep"]:
                raise Unfit("the neurons that it keeps are not those that it was written with")
    except (Unfit, KeyError, ValueError, IndexError, OverflowError) as error:
        said = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise MeasureError(f"{path} is damaged: {said}. Make it again.") from None
    return made


@dataclass(frozen=True)
class _Numbers:
    """The arrays of a model, each of the length and within the bounds that are asked for."""

    arrays: Mapping[str, NDArray[Any]]

    def whole(self, name: str, length: int | None, least: int, most: int) -> NDArray[np.int64]:
        array = self._of_length(name, length)
        if array.dtype.kind not in "iu":
            raise Unfit(f"{name} holds no whole numbers")
        if array.size and (int(array.min()) < least or int(array.max()) > most):
            raise Unfit(f"{name} points out of its range")
        return array.astype(np.int64)

    def heights(self, length: int) -> NDArray[np.float64]:
        array = self._of_length("height", length)
        if array.dtype.kind != "f" or not np.isfinite(array).all() or (np.diff(array) < 0).any():
            raise Unfit("heights do not rise")
        return array.astype(np.float64)

    def _of_length(self, name: str, length: int | None) -> NDArray[Any]:
        array = self.arrays[name]
        if array.ndim != 1 or (length is not None and len(array) != length):
            raise Unfit(f"{name} has the shape {array.shape}")
        return array


def _neurons(take: _Numbers, about: Mapping[str, Any], thresholds: Sequence[float]) -> Neurons:
    from .clustering import Neurons

    layer = take.whole("layer", None, 0, 10**6)
    n = len(layer)
    moves = take.whole("moves", n, 0, 1).astype(bool)
    leaves = int(moves.sum())
    merges = len(take.arrays["first"])
    if merges > max(leaves - 1, 0):
        raise Unfit("the tree has more merges than leaves")
    first, second = (take.whole(name, merges, 0, leaves - 1) for name in ("first", "second"))
    limit = np.inf if about["limit"] is None else float(about["limit"])
    tree = Tree(leaves, first, second, take.heights(merges), limit)
    numbered = list(enumerate(thresholds))
    medoids = (
        {t: take.whole(f"medoid/{i}", None, 0, n - 1) for i, t in numbered}
        if about["medoids"]
        else {}
    )
    signs = {t: take.whole(f"sign/{i}", n, -1, 1).astype(np.int8) for i, t in numbered}
    number, turn = take.whole("number", n, 0, 10**9), take.whole("turn", n, 0, 2**62)
    return Neurons(layer, number, moves, tree, turn, medoids, about["identity"], signs)
