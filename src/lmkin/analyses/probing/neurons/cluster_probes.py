"""Clusters × probes: what a probe still scores when one neuron of each cluster is left, by the clustering threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....analysis import Running
from ....rows import Workspace
from ...redundancy import Clustering, NeuronMask, cluster_neurons
from ..fits import FittedProbe
from ..model_rows import ModelRows
from ..scored import Scored
from .arrays import Arrays, kept_arrays, main_with_interval
from .fits import NeuronFits, main_value

IntArray = NDArray[np.int64]
_NAMES = ("threshold", "left", "dev", "test", "without", "sizes")


class ModelClusters:
    """Clusters of the neurons of a model, by their correlations on train alone; found when first asked for."""

    def __init__(
        self, model: ModelRows, thresholds: Sequence[float], running: Running, work: Workspace
    ):
        self.model = model
        self.thresholds = tuple(sorted({float(t) for t in thresholds}))
        self.running = running
        train = model.by_split["train"]
        self.work = Workspace(work.folder).within(
            clusters=[train.manifest["key"], train.units.hash],
            layers=list(model.layers),
            thresholds=self.thresholds,
            seed=running.seed,
        )
        self._clustering: Clustering | None = None

    @property
    def clustering(self) -> Clustering:
        """One neuron of a cluster stands for all of it, drawn with the seed."""
        if self._clustering is None:
            self._clustering = self.work.step(
                "clusters", self._cluster, lambda found, path: found.save(path), Clustering.load
            )
        return self._clustering

    def _cluster(self) -> Clustering:
        running = self.running
        return cluster_neurons(
            self.model.by_split["train"],
            thresholds=list(self.thresholds),
            seed=running.seed,
            memory=running.memory,
            progress=running.progress,
            layers=list(self.model.layers),
        )

    def mask(self, threshold: float) -> NeuronMask:
        """One neuron of each cluster."""
        return self.clustering.keep(threshold)

    def columns(self, threshold: float) -> IntArray:
        """The same as columns of the matrix of all layers."""
        masks = self.mask(threshold).masks
        return np.flatnonzero(np.concatenate([masks[n] for n in self.model.layers]))


def probe_thresholds(
    fits: NeuronFits,
    clusters: ModelClusters,
    oracle: FittedProbe,
    scored: Mapping[str, Scored],
    work: Workspace,
) -> Arrays:
    """Neurons left and scores at each threshold, by a probe of its own; the first row is of all neurons."""

    def compute() -> Arrays:
        reached = [t for t in clusters.thresholds if t <= clusters.clustering.limit]
        left, dev, test = [fits.d], [main_value(scored["dev"])], [scored["test"]]
        before = None
        for threshold in reached:
            columns = clusters.columns(threshold)
            before = fits.fit(columns, before)
            left.append(len(columns))
            dev.append(fits.score(before))
            test.append(fits.scored(fits.predict(before, "test"), "test"))
        known = all(s.without is not None for s in test)
        return {
            "threshold": np.array([-1.0, *reached]),
            "left": np.array(left),
            "dev": np.array(dev),
            "test": main_with_interval(test),
            "without": np.array([s.without[:, 0] for s in test if s.without is not None])
            if known
            else np.empty((0, 0)),
            "sizes": np.array(test[0].sizes if known else (), np.float64),
        }

    own: dict[str, Any] = {"thresholds": clusters.thresholds}
    return kept_arrays(work.within(**own), "thresholds", _NAMES, compute)
