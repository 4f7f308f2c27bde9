"""`probe_clusters`: probes of one neuron of each cluster, of a result that is there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ....analysis import Running
from ....core import LmkinError
from ....rows import Workspace
from ...redundancy import check_thresholds
from ..fits import FittedProbe
from ..result import Probes
from .arrays import Arrays
from .cluster_probes import ModelClusters, probe_thresholds
from .dataset import add_thresholds
from .fits import FitSettings, NeuronFits, predicted

THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def probe_clusters(
    probes: Probes,
    thresholds: float | Sequence[float] = THRESHOLDS,
    *,
    seed: int = 0,
    memory: int | str | None = None,
    workspace: str | Path | Workspace | None = None,
    progress: bool | None = None,
) -> Probes:
    """Add to a result of probes what one neuron of each cluster scores, by the clustering threshold.

    Neurons of all layers are clustered by their correlations (`lmkin.cluster_neurons`) on the rows of train alone. At
    each threshold one neuron of each cluster is left, drawn with ``seed``, and a probe is fitted on these, for every
    task, at the penalty of the probe of all. The result is a new one, with the table ``thresholds`` and its charts: the
    accuracy and the neurons left of Dalvi et al. 2020, figure 2, and the mean over tasks. `lmkin.probe` does the same
    with ``thresholds=``.
    """
    if not isinstance(probes, Probes):
        raise LmkinError(
            f"Clusters are probed of a result of lmkin.probe; got {type(probes).__name__}."
        )
    if not probes.task_rows:
        raise LmkinError(
            "This result was loaded, and has no rows to fit probes on: give lmkin.probe the thresholds, thresholds=…."
        )
    given = [thresholds] if isinstance(thresholds, float | int) else thresholds
    cuts = check_thresholds(given)
    if "threshold" in probes.dataset.dims:
        raise LmkinError("This result has probes of clusters already.")
    running = Running(memory=memory, seed=seed, progress=progress)
    running.check()
    work = Workspace.of(workspace)
    options: dict[str, Any] = probes.provenance.get("options", {})
    clusters: dict[str, ModelClusters] = {}
    found: dict[tuple[str, str], Arrays] = {}
    for (model, task), rows in probes.task_rows.items():
        assert rows.model is not None
        if model not in clusters:
            clusters[model] = ModelClusters(rows.model, cuts, running, work)
        oracle: FittedProbe = probes.fitted[model, task, "all"]
        settings = FitSettings.of(options, oracle.l1)
        fits = NeuronFits(rows.opened(), settings)
        whole = {
            split: fits.scored(predicted(oracle.scores(fits.X[split]), fits.classes), split)
            for split in ("dev", "test")
        }
        # Arrays of a run are kept under the key of its rows; of a result that is there only clusters are.
        found[model, task] = probe_thresholds(fits, clusters[model], oracle, whole, Workspace())
    level = float(probes.attrs["level"])
    dataset = add_thresholds(probes.dataset, found, level).assign_attrs(probes.attrs)
    return Probes(dataset, probes.fitted, probes.task_rows)
