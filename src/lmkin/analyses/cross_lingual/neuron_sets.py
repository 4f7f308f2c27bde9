"""Which neurons probes read: all, those that clusters leave at each threshold, and those of some layers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...analysis import Running
from ...core import __version__, fingerprint
from ...rows import Workspace
from ..redundancy import Clustering, cluster_neurons
from .ablations import ablation_layers
from .language_rows import LanguageRows
from .options import CrossLingualOptions

IntArray = NDArray[np.int64]
EVERY = "all"


@dataclass(frozen=True)
class NeuronSet:
    """Neurons by their column, layer after layer; what the set is called, and of which kind it is."""

    label: str
    kind: str
    """``all``, ``threshold`` or ``layers``."""
    columns: IntArray
    layers: tuple[int, ...]
    threshold: float | None = None


def cluster_source(
    model: LanguageRows,
    language: str,
    rows: IntArray,
    options: CrossLingualOptions,
    running: Running,
    work: Workspace,
) -> Clustering:
    """Clusters of a model's neurons, found on the train rows of one language and on nothing else."""
    acts = model.by_language[language]
    here = work.within(
        lmkin=__version__, activations=[acts.manifest["key"], acts.units.hash], rows=fingerprint(rows),
        thresholds=options.cuts(), linkage=options.linkage, representative=options.representative,
        seed=running.seed, memory=running.memory,
    )  # fmt: skip
    return here.step(
        "clusters",
        lambda: cluster_neurons(
            acts.select(rows),
            thresholds=options.cuts(),
            linkage=options.linkage,
            representative=options.representative,
            seed=running.seed,
            layers=list(model.layers),
            memory=running.memory,
            progress=running.progress,
        ),
        Clustering.save,
        Clustering.load,
    )


def neuron_sets(
    model: LanguageRows, clustering: Clustering, options: CrossLingualOptions
) -> list[NeuronSet]:
    """All neurons first, then what each threshold leaves, then the layers of each ablation that a model can have."""
    sets = [NeuronSet(EVERY, "all", np.arange(model.width), model.layers)]
    for t in clustering.thresholds:
        masks = clustering.keep(t).masks
        kept = np.concatenate([masks[n] for n in model.layers])
        columns = np.flatnonzero(kept)
        sets.append(NeuronSet(f"{t:g}", "threshold", columns, model.layers, t))
    for name in options.sets():
        layers = ablation_layers(name, model.layers)
        if layers and layers != model.layers:
            sets.append(NeuronSet(name, "layers", model.columns(layers), layers))
    return sets
