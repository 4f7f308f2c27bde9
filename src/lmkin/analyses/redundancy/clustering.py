"""`Clustering`: which neurons say the same thing, at any threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...activations import Activations
from ...core import Alert, MeasureError, alerts_of, did_you_mean, quoted
from .cluster_tables import tabulate
from .linkage import Tree
from .neuron_mask import NeuronMask, identity_of

if TYPE_CHECKING:
    from .result import Redundancy

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class Neurons:
    """The neurons of a model, its tree, and which of them stands for others."""

    layer: IntArray
    number: IntArray
    """In its layer."""
    moves: BoolArray
    """Constant neurons belong to no cluster."""
    tree: Tree
    """Of those that move."""
    turn: IntArray
    """Random: of a cluster's members that with the lowest stands for all."""
    medoids: dict[float, IntArray] = field(default_factory=dict)
    """By threshold: the member nearest to all others of each cluster; empty where not asked for."""
    identity: str | None = None
    signs: dict[float, NDArray[np.int8]] = field(default_factory=dict)
    """By threshold: whether each neuron runs with (1) or against (-1) the one that stands for it."""

    def labels(self, threshold: float) -> IntArray:
        """Clusters by number; -1 for constant neurons."""
        labels = np.full(len(self.layer), -1, np.int64)
        labels[self.moves] = self.tree.labels(threshold)
        return labels

    def representatives(self, threshold: float) -> IntArray:
        """One neuron of every cluster, by its place among all."""
        labels = self.labels(threshold)
        if self.medoids:
            return self.medoids[threshold]
        order = np.lexsort((self.turn, labels))
        order = order[labels[order] >= 0]
        _, first = np.unique(labels[order], return_index=True)
        return order[first]


class Clustering:
    """Correlation clusters of neurons that say the same thing: of a model, or of several, each by itself.

    ``thresholds`` are those that were asked for; with random representatives, any other up to ``limit`` will do too.
    Clusters are numbered from 0 in the order of their first neuron; -1 is a constant neuron. Where there are several
    models, name the one that you mean.
    """

    def __init__(
        self,
        models: Mapping[str, Neurons],
        thresholds: Sequence[float],
        *,
        linkage: str,
        representative: str,
        seed: int,
        attrs: Mapping[str, Any],
    ):
        self._models = dict(models)
        self.thresholds = tuple(float(t) for t in thresholds)
        self.linkage = linkage
        self.representative = representative
        self.seed = int(seed)
        self.attrs = dict(attrs)

    @property
    def models(self) -> list[str]:
        """Names, in the order given."""
        return list(self._models)

    @property
    def alerts(self) -> list[Alert]:
        """Known traps that were found, as data."""
        return alerts_of(self.attrs)

    @property
    def limit(self) -> float:
        """The highest threshold at which clusters are known."""
        return min(m.tree.limit for m in self._models.values())

    def __repr__(self) -> str:
        middle = min(self.thresholds, key=lambda t: abs(t - 0.3))
        left = ", ".join(
            f"{name} {len(m.layer):,} → {len(m.representatives(middle)):,}"
            for name, m in self._models.items()
        )
        return f"<Clustering of neurons at {middle:g}: {left}>"

    def of(self, model: str | None = None) -> Neurons:
        """The neurons of a model; without a name, of the only one."""
        if model is None:
            if len(self._models) > 1:
                raise MeasureError(
                    f"There are several models: name one of {', '.join(self.models)}."
                )
            return next(iter(self._models.values()))
        if model not in self._models:
            raise MeasureError(
                f"There is no model {quoted(model)} here. {did_you_mean(model, self.models)}"
            )
        return self._models[model]

    def _at(self, threshold: float, model: str | None) -> tuple[Neurons, float]:
        neurons, exact = self._known(threshold, model)
        if neurons.medoids and exact not in self.thresholds:
            raise MeasureError(
                f"Medoids were found at the thresholds {', '.join(f'{t:g}' for t in self.thresholds)}; for "
                f"{threshold:g}, ask for it in thresholds=."
            )
        return neurons, exact

    def _known(self, threshold: float, model: str | None) -> tuple[Neurons, float]:
        """The threshold as it was asked for, where it differs in its last digits only."""
        neurons = self.of(model)
        if (
            not isinstance(threshold, Real)
            or isinstance(threshold, bool)
            or not 0 <= float(threshold) <= 1
        ):
            raise MeasureError(
                f"A threshold is a number from 0 to 1, such as 0.3; got {quoted(threshold)}."
            )
        return neurons, next((t for t in self.thresholds if abs(t - threshold) < 1e-12), threshold)

    # -- at a threshold -------------------------------------------------------------------------

    def labels(self, threshold: float, model: str | None = None) -> IntArray:
        """The cluster of every neuron, layer after layer; -1 for constant neurons."""
        neurons, exact = self._known(threshold, model)
        return neurons.labels(exact)

    def sizes(self, threshold: float, model: str | None = None) -> IntArray:
        """Neurons of every cluster."""
        labels = self.labels(threshold, model)
        return np.bincount(labels[labels >= 0])

    def members(self, threshold: float, model: str | None = None) -> list[list[tuple[int, int]]]:
        """(layer, neuron) of the members of every cluster."""
        neurons, exact = self._known(threshold, model)
        labels = neurons.labels(exact)
        order = np.argsort(labels, kind="stable")
        order = order[labels[order] >= 0]
        ends = np.cumsum(np.bincount(labels[order])) if len(order) else np.zeros(1, int)
        pairs = list(
            zip(neurons.layer[order].tolist(), neurons.number[order].tolist(), strict=True)
        )
        return [pairs[a:b] for a, b in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True)]

    def representatives(self, threshold: float, model: str | None = None) -> list[tuple[int, int]]:
        """(layer, neuron) of the one that stands for each cluster."""
        neurons, exact = self._at(threshold, model)
        indices = neurons.representatives(exact)
        return list(
            zip(neurons.layer[indices].tolist(), neurons.number[indices].tolist(), strict=True)
        )

    def signs(self, threshold: float, model: str | None = None) -> dict[tuple[int, int], int]:
        """Whether each neuron, (layer, neuron), runs with (1) or against (-1) the one that stands for its cluster."""
        neurons, exact = self._known(threshold, model)
        if exact not in neurons.signs:
            raise MeasureError(
                f"Signs are known at the thresholds {', '.join(f'{t:g}' for t in self.thresholds)}; for {exact:g}, ask "
                f"for it in thresholds=."
            )
        places = zip(neurons.layer.tolist(), neurons.number.tolist(), strict=True)
        return dict(zip(places, neurons.signs[exact].tolist(), strict=True))

    def keep(self, threshold: float, model: str | None = None) -> NeuronMask:
        """The representatives as a mask for every layer, with a hash; to be saved, and applied to activations."""
        neurons, exact = self._at(threshold, model)
        mask = np.zeros(len(neurons.layer), bool)
        mask[neurons.representatives(exact)] = True
        masks = {int(n): mask[neurons.layer == n] for n in dict.fromkeys(neurons.layer.tolist())}
        name = next(k for k, v in self._models.items() if v is neurons)
        return NeuronMask(name, exact, masks, neurons.identity)

    def reduce(
        self,
        activations: Activations | Mapping[Any, Any],
        threshold: float,
        model: str | None = None,
    ) -> NDArray[Any]:
        """The representatives' activations side by side, rows × neurons; `keep` says which they are."""
        if model is None and len(self._models) > 1 and isinstance(activations, Activations):
            mine = identity_of(activations.manifest.get("model"))
            same = [name for name, m in self._models.items() if m.identity == mine]
            model = same[0] if len(same) == 1 else model
        return self.keep(threshold, model).apply(activations)

    def linkage_matrix(self, model: str | None = None) -> NDArray[np.float64]:
        """The tree as scipy.cluster.hierarchy has it, over the neurons that are not constant."""
        return self.of(model).tree.to_scipy()

    def tables(self) -> xr.Dataset:
        """Neurons left (by threshold, and by layer), sizes of clusters, and how far apart their members lie."""
        dataset = tabulate(self._models, self.thresholds)
        dataset.attrs = {
            "linkage": self.linkage,
            "representative": self.representative,
            "seed": self.seed,
            "models": self.models,
            **self.attrs,
        }
        return dataset

    def to_result(self) -> Redundancy:
        """The clusters as a result, with tables, findings and charts, as `write_report` shows them."""
        from .result import Redundancy

        return Redundancy.of(self)

    def plot(self, name: str | None = None) -> Any:
        """A chart (Altair), by name; without one, the neurons that are left at each threshold."""
        return self.to_result().plot(name)

    def _repr_html_(self) -> str:
        return self.to_result()._repr_html_()

    # -- storing --------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write everything to a safetensors file: trees, masks of what is kept, and the hashes of these."""
        from .cluster_files import save_clustering

        save_clustering(self, Path(path))

    @staticmethod
    def load(path: str | Path) -> Clustering:
        """Read what `save` wrote. Raise if it was changed since."""
        from .cluster_files import load_clustering

        return load_clustering(Path(path))
