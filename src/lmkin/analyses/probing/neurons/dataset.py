"""Studies of neurons as variables of a result of probes: rankings, smallest sets, curves, thresholds, overlap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ..options import ProbeOptions
from ..scored import Scored, mean_of
from .arrays import Arrays, with_interval
from .curves import CURVES
from .masks import ENDINGS
from .overlap import overlap_numbers
from .registry import NONE
from .study import NeuronStudy

if TYPE_CHECKING:
    from ..run import ProbingRun

FloatArray = NDArray[np.float64]
Key = tuple[str, str]
LONG = {
    "ranked_layer": "layer of the neuron of this rank",
    "ranked_number": "number of the neuron of this rank, in its layer",
    "ranked_value": "what the neuron of this rank was ranked by",
    "ranked": "neurons that have a reason for their place in the ranking",
    "minimal": "neurons of the smallest set",
    "minimal_dev": "score of the smallest set on dev",
    "minimal_oracle": "score of all neurons on dev",
    "minimal_fits": "fits that the search for the smallest set took",
    "minimal_test": "score of the smallest set on test",
    "minimal_behind": "score of all neurons − score of the smallest set, on test",
    "minimal_in_layer": "neurons of the smallest set that lie in a layer",
    "curve_size": "number of neurons N",
    "curve_kept": "test score of another probe, fitted on the first N neurons",
    "curve_removed": "test score of another probe, fitted on all but the first N neurons",
    "curve_ablated": "test score of the ranking's probe, the first N neurons at their means",
    "curve_random": "test score of another probe, fitted on N random neurons (mean of the draws)",
    "curve_random_least": "the least of the draws",
    "curve_random_most": "the highest of the draws",
    "curve_all": "test score of the other probe, fitted on all neurons",
    "stable_top": "number of neurons N",
    "stable": "share of the first N neurons that the rankings of two halves of train have in common",
    "stable_se": "its standard error over draws",
    "stable_chance": "the same of two random rankings",
    "cluster_left": "neurons left at a clustering threshold",
    "cluster_dev": "score on dev of one neuron of each cluster",
    "cluster_test": "score on test of one neuron of each cluster",
    "cluster_mean": "mean over tasks of the score on test",
    "overlap": "neurons that the smallest sets of two tasks have in common",
    "overlap_expected": "the same of random sets",
    "overlap_log_p": "log of the probability that random sets have as many or more",
}  # fmt: skip


def with_neurons(dataset: xr.Dataset, run: ProbingRun, options: ProbeOptions) -> xr.Dataset:
    """A dataset of probes with what was found of neurons."""
    studies = {(r.model, r.task.name): r.neurons for r in run.runs}
    attrs = dict(dataset.attrs)
    if options.ranking != NONE:
        dataset = _with_rankings(dataset, studies)
        attrs["ranking"] = options.ranking
    if options.thresholds:
        dataset = add_thresholds(
            dataset, {key: s.thresholds for key, s in studies.items()}, options.level
        )
    return dataset.assign_attrs(attrs)


def _with_rankings(dataset: xr.Dataset, studies: Mapping[Key, NeuronStudy]) -> xr.Dataset:
    some = {key: s for key, s in studies.items() if s.ranked and s.neurons is not None}
    if not some:
        return dataset
    add = Adding(dataset)
    ranks = max(len(s.ranked["order"]) for s in some.values())
    layers = sorted({n for s in some.values() if s.neurons for n in s.neurons.layers})
    add.axis("rank", range(1, ranks + 1))
    add.axis("neuron_layer", layers)
    steps = max((len(s.curves["sizes"]) for s in some.values() if s.curves), default=0)
    if steps:
        add.axis("curve_step", range(steps))
    stable = max(len(s.ranked["stable_top"]) for s in some.values())
    if stable:
        add.axis("stable_step", range(stable))
    for key, study in some.items():
        _put_study(add, key, study, layers)
    dataset = add.dataset()
    judges = {int(s.curves["row_judge"][0]) for s in some.values() if s.curves}
    if judges:
        dataset.attrs["judge"] = "row" if judges == {1} else "elementwise"
    return _with_overlap(dataset, some)


def _put_study(add: Adding, key: Key, study: NeuronStudy, layers: Sequence[int]) -> None:
    assert study.neurons is not None
    ranked, neurons = study.ranked, study.neurons
    order = ranked["order"]
    add.put("ranked_layer", key, neurons.layer[order], "rank")
    add.put("ranked_number", key, neurons.number[order], "rank")
    add.put("ranked_value", key, ranked["value"][order], "rank")
    add.put("ranked", key, ranked["informed"][0])
    if len(ranked["stable_top"]):
        for name in ("stable_top", "stable", "stable_se", "stable_chance"):
            add.put(name, key, ranked[name], "stable_step")
    if not study.smallest:
        return
    small = study.smallest
    size = int(small["size"][0])
    add.put("minimal", key, size)
    add.put("minimal_dev", key, small["dev"][0])
    add.put("minimal_oracle", key, small["oracle"][0])
    add.put("minimal_fits", key, small["fits"][0])
    for k, ending in enumerate(ENDINGS):
        add.put("minimal_test" + ending, key, small["test"][0, k])
        add.put("minimal_behind" + ending, key, small["behind"][0, k])
    counts = neurons.by_layer(order[:size])
    add.put("minimal_in_layer", key, [counts.get(n, np.nan) for n in layers], "neuron_layer")
    if study.curves:
        _put_curves(add, key, study.curves)


def _put_curves(add: Adding, key: Key, curves: Arrays) -> None:
    for k, ending in enumerate(ENDINGS):
        add.put("curve_all" + ending, key, curves["whole"][0, k])
        for name in CURVES:
            add.put(f"curve_{name}{ending}", key, curves[name][:, k], "curve_step")
    add.put("curve_size", key, curves["sizes"], "curve_step")
    for name in ("random_least", "random_most"):
        add.put(f"curve_{name}", key, curves[name], "curve_step")


def _with_overlap(dataset: xr.Dataset, studies: Mapping[Key, NeuronStudy]) -> xr.Dataset:
    """Of every pair of tasks of a model."""
    tasks = [str(t) for t in dataset["task"].values]
    models = [str(m) for m in dataset["model"].values]
    if len(tasks) < 2:
        return dataset
    shape = (len(models), len(tasks), len(tasks))
    found = {n: np.full(shape, np.nan) for n in ("overlap", "overlap_expected", "overlap_log_p")}
    for (i, model), (a, one), (b, other) in product(
        enumerate(models), enumerate(tasks), enumerate(tasks)
    ):
        mine, theirs = studies.get((model, one)), studies.get((model, other))
        if mine is None or theirs is None or not (mine.smallest and theirs.smallest):
            continue
        numbers = overlap_numbers(_chosen(mine), _chosen(theirs))
        found["overlap"][i, a, b] = numbers["both"]
        found["overlap_expected"][i, a, b] = numbers["expected"]
        found["overlap_log_p"][i, a, b] = numbers["log_p"] if a != b else np.nan
    variables = {
        name: (("model", "task", "other_task"), values, {"long_name": LONG[name]})
        for name, values in found.items()
    }
    return dataset.assign(variables).assign_coords(other_task=tasks)


def _chosen(study: NeuronStudy) -> NDArray[np.bool_]:
    order, size = study.ranked["order"], int(study.smallest["size"][0])
    chosen = np.zeros(len(order), bool)
    chosen[order[:size]] = True
    return chosen


def add_thresholds(dataset: xr.Dataset, found: Mapping[Key, Arrays], level: float) -> xr.Dataset:
    """A dataset of probes with scores and neurons left by clustering threshold; −1 is no clustering."""
    some = {key: arrays for key, arrays in found.items() if arrays}
    if not some:
        return dataset
    add = Adding(dataset)
    every = sorted({float(t) for a in some.values() for t in a["threshold"]})
    add.axis("threshold", every)

    def at(arrays: Arrays, values: Any) -> FloatArray:
        full = np.full(len(every), np.nan)
        full[[every.index(float(t)) for t in arrays["threshold"]]] = values
        return full

    for key, arrays in some.items():
        add.put("cluster_left", key, at(arrays, arrays["left"]), "threshold")
        add.put("cluster_dev", key, at(arrays, arrays["dev"]), "threshold")
        for k, ending in enumerate(ENDINGS):
            add.put("cluster_test" + ending, key, at(arrays, arrays["test"][:, k]), "threshold")
    dataset = add.dataset()
    models = [str(m) for m in dataset["model"].values]
    main = dataset.attrs["main"]
    means = {"cluster_mean" + e: np.full((len(models), len(every)), np.nan) for e in ENDINGS}
    for i, model in enumerate(models):
        mine = {task: a for (name, task), a in some.items() if name == model}
        if not mine or len({tuple(a["threshold"]) for a in mine.values()}) > 1:
            continue
        # Tasks are scored on the same text, so that the mean is taken without each part of it, too.
        mean = mean_of([_scored(a, main[task], level) for task, a in mine.items()])
        for k, ending in enumerate(ENDINGS):
            values = with_interval(mean)[:, k]
            means["cluster_mean" + ending][i] = at(next(iter(mine.values())), values)
    variables = {
        name: (("model", "threshold"), values, {"long_name": _long(name)})
        for name, values in means.items()
    }
    return dataset.assign(variables)


def _scored(arrays: Arrays, main: str, level: float) -> Scored:
    """Main scores at all thresholds."""
    without = arrays["without"].T if arrays["without"].size else None
    value = arrays["test"][:, 0]
    return Scored.of([main] * len(value), value, without, arrays["sizes"].tolist(), level)


class Adding:
    """Variables by model and task that are added to a dataset, NaN where nothing was computed."""

    def __init__(self, dataset: xr.Dataset):
        self.given = dataset
        self.models = [str(m) for m in dataset["model"].values]
        self.tasks = [str(t) for t in dataset["task"].values]
        self.axes: dict[str, list[Any]] = {}
        self.values: dict[str, tuple[tuple[str, ...], FloatArray]] = {}

    def axis(self, name: str, values: Any) -> None:
        """One more axis."""
        self.axes[name] = list(values)

    def put(self, name: str, key: Key, values: Any, axis: str | None = None) -> None:
        """A number, or the first numbers along an axis."""
        own = (axis,) if axis else ()
        if name not in self.values:
            shape = (len(self.models), len(self.tasks), *(len(self.axes[a]) for a in own))
            self.values[name] = (("model", "task", *own), np.full(shape, np.nan))
        i, j = self.models.index(key[0]), self.tasks.index(key[1])
        array = self.values[name][1]
        if axis:
            array[i, j, : len(values)] = values
        else:
            array[i, j] = values

    def dataset(self) -> xr.Dataset:
        """All of it; every variable says what it is."""
        variables = {
            name: (axes, array, {"long_name": _long(name)})
            for name, (axes, array) in self.values.items()
        }
        return self.given.assign(variables).assign_coords(self.axes)


def _long(name: str) -> str:
    base = next(
        (name.removesuffix(e) for e in ENDINGS[1:] if name.endswith(e) and name not in LONG), name
    )
    return LONG[base]
