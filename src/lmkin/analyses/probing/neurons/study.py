"""Which neurons know a task, as the analysis finds it: a ranking, the smallest set, curves, clusters by threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ....analysis import Running
from ....core import fingerprint
from ....rows import Workspace
from ...redundancy import identity_of
from ..fits import FittedProbe
from ..model_rows import ModelRows
from ..options import ProbeOptions
from ..probe_rows import ProbeRows
from ..scored import Scored
from ..tasks import Task
from .arrays import Arrays, kept_arrays, main_with_interval
from .cluster_probes import ModelClusters, probe_thresholds
from .curves import CURVES, compute_curves, curve_sizes
from .fits import FitSettings, NeuronFits, main_value
from .minimal import smallest_set
from .order import NeuronRanking, Neurons
from .registry import NONE, find_ranking
from .subject import Subject, rank_subject

if TYPE_CHECKING:
    from ..run import SetScores

IntArray = NDArray[np.int64]
_SHARES = (0.002, 0.01, 0.05, 0.2, 0.5)
"""Of the neurons, at which a run scores a ranking; beside the smallest set."""
_DRAWS = 2
"""Random sets of each size."""
_SMALLEST_SET, _ITS_CURVES, _HALVES, _CLUSTERED = 1.0, 5.0, 0.3, 0.2
"""Probes of all layers that a smallest set takes; its curves; two halves, ranked; and a clustering threshold."""
_RANKED = (
    "order", "value", "informed", "stable_top", "stable", "stable_se", "stable_chance",
)  # fmt: skip
_SMALLEST = ("size", "dev", "oracle", "fits", "tried", "tried_dev", "test", "behind")
_CURVES = (
    *CURVES, "sizes", "random_least", "random_most", "whole", "fits", "row_judge",
)  # fmt: skip


@dataclass
class NeuronStudy:
    """Arrays of one task on one model: how neurons are ranked, which are enough, and what others say of it."""

    ranked: Arrays = field(default_factory=dict)
    smallest: Arrays = field(default_factory=dict)
    """Empty where all neurons together know nothing."""
    curves: Arrays = field(default_factory=dict)
    """Empty there, too, and where they were not asked for."""
    thresholds: Arrays = field(default_factory=dict)
    neurons: Neurons | None = None


class NeuronStudies:
    """Studies of the neurons of all models; clusters of a model serve all its tasks."""

    def __init__(self, options: ProbeOptions, running: Running):
        self.options, self.running = options, running
        self._clusters: dict[str, ModelClusters] = {}

    def study(
        self,
        rows: ProbeRows,
        model: ModelRows,
        task: Task,
        sets: Sequence[SetScores],
        work: Workspace,
    ) -> NeuronStudy:
        """What was asked for, each part kept when it is finished; ``sets`` begin with the probe of all layers."""
        options = self.options
        study = NeuronStudy()
        if options.ranking == NONE and not options.thresholds:
            return study
        oracle: FittedProbe = sets[0].fitted
        settings = settings_in_run(options, oracle)
        fits = NeuronFits(rows, settings)
        work = work.within(
            l1=oracle.l1, neurons=True, parts=None if rows.part is None else
            {n: None if p is None else fingerprint(p) for n, p in rows.part.items()},
            level=options.level,
        )  # fmt: skip
        study.neurons = neurons_of(model)
        if options.ranking != NONE:
            self._rank(study, rows, task, oracle, settings, fits, sets[0].scored, work)
        if options.thresholds:
            if model.name not in self._clusters:
                self._clusters[model.name] = ModelClusters(
                    model, options.thresholds, self.running, work
                )
            study.thresholds = probe_thresholds(
                fits, self._clusters[model.name], oracle, sets[0].scored, work
            )
        return study

    def _rank(
        self,
        study: NeuronStudy,
        rows: ProbeRows,
        task: Task,
        oracle: FittedProbe,
        settings: FitSettings,
        fits: NeuronFits,
        scored: Mapping[str, Scored],
        work: Workspace,
    ) -> None:
        options, seed = self.options, self.running.seed
        assert study.neurons is not None
        subject = Subject(
            study.neurons, task.name, oracle.standardized.T, settings, oracle,
            np.array(task.classes), rows,
        )  # fmt: skip
        method = find_ranking(options.ranking)
        here = work.within(ranking=options.ranking, resamples=options.resamples)
        known: list[NeuronRanking] = []

        def rank() -> Arrays:
            known.append(
                rank_subject(subject, method, {}, resamples=options.resamples, seed=seed, fits=fits)
            )
            return _arrays_of_ranking(known[0])

        study.ranked = kept_arrays(here, "ranking", _RANKED, rank)
        ranking = NeuronRanking(
            study.ranked["order"], method.name, False, study.ranked["value"],
            int(study.ranked["informed"][0]), study.neurons, task.name, seed, {}, settings, oracle,
            np.array(task.classes), rows,
        )  # fmt: skip
        if not main_value(scored["dev"]) > 0:
            return
        here = here.within(tolerance=options.tolerance)
        study.smallest = kept_arrays(
            here, "smallest", _SMALLEST, lambda: _arrays_of_smallest(ranking, fits, options)
        )
        if not options.curves:
            return
        sizes = curve_sizes(len(ranking), None, [int(study.smallest["size"][0])], _SHARES)
        study.curves = kept_arrays(
            here.within(sizes=sizes), "curves", _CURVES,
            lambda: _arrays_of_curves(ranking, fits, sizes),
        )  # fmt: skip


def settings_in_run(options: ProbeOptions, oracle: FittedProbe) -> FitSettings:
    """Probes of some neurons are fitted as that of all was, at its penalty."""
    return FitSettings(options.penalty, oracle.l1, options.l2, options.standardize, options.kkt)


def neuron_fits_planned(options: ProbeOptions) -> float:
    """What a study of neurons takes, in probes of all layers whose penalty is chosen; measured on one encoder."""
    fits = 0.0
    if options.ranking != NONE:
        fits = _SMALLEST_SET + _ITS_CURVES * options.curves + _HALVES * options.resamples
    return fits + _CLUSTERED * len(options.thresholds or ())


def neurons_of(model: ModelRows) -> Neurons:
    """The columns of all layers of a model."""
    places = [
        (layer, k) for layer, width in zip(model.layers, model.widths, strict=True)
        for k in range(width)
    ]  # fmt: skip
    return Neurons.of(places, model.name, identity_of(model.manifest.get("model")))


def rows_of_task(
    model: ModelRows,
    task: Task,
    part: Mapping[str, IntArray | None],
    owner: IntArray,
    *,
    room: int | None,
    level: float,
) -> ProbeRows:
    """The rows that a task was fitted and scored on, read again where they are asked for."""
    edges = tuple(np.cumsum([0, *model.widths]).tolist())
    resident = room is None

    def read(split: str) -> Any:
        return model.matrix(split, task.rows[split], resident=resident)

    return ProbeRows(
        read, task.target, len(task.classes), owner, part, room, level, edges, model
    )  # fmt: skip


def open_in_run(rows: ProbeRows, X: Mapping[str, Any]) -> ProbeRows:
    """The same with the matrices that are there."""
    return replace(rows, read=lambda name: X[name])


def _arrays_of_ranking(ranking: NeuronRanking) -> Arrays:
    stable = ranking.stability
    empty = np.empty(0)
    return {
        "order": ranking.order.astype(np.int64),
        "value": ranking.value.astype(np.float64),
        "informed": np.array([ranking.informed]),
        "stable_top": empty if stable is None else stable["top"].values.astype(np.float64),
        "stable": empty if stable is None else stable["overlap"].values,
        "stable_se": empty if stable is None else stable["overlap_se"].values,
        "stable_chance": empty if stable is None else stable["chance"].values,
    }


def _arrays_of_smallest(ranking: NeuronRanking, fits: NeuronFits, options: ProbeOptions) -> Arrays:
    found = smallest_set(ranking, fits, options.tolerance)
    assert found.test is not None
    assert found.oracle_test is not None
    behind = found.oracle_test.only(0) - found.test.only(0)
    return {
        "size": np.array([len(found)]),
        "dev": np.array([found.score]),
        "oracle": np.array([found.oracle]),
        "fits": np.array([found.fits]),
        "tried": np.array(list(found.tried), np.int64),
        "tried_dev": np.array(list(found.tried.values())),
        "test": main_with_interval([found.test]),
        "behind": main_with_interval([behind]),
    }


def _arrays_of_curves(ranking: NeuronRanking, fits: NeuronFits, sizes: Sequence[int]) -> Arrays:
    curves = compute_curves(ranking, fits, sizes, "test", _DRAWS)
    return {
        **{name: main_with_interval(scored) for name, scored in curves.scored.items()},
        "sizes": np.array(curves.sizes),
        "random_least": curves.draws.min(0),
        "random_most": curves.draws.max(0),
        "whole": main_with_interval([curves.whole]),
        "fits": np.array([curves.fits]),
        "row_judge": np.array([int(curves.judge == "row")]),
    }
