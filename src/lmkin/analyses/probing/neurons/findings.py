"""What came out about neurons, in sentences: no more than the intervals carry."""

from __future__ import annotations

import numpy as np
import xarray as xr

from ....results import say_interval, say_value
from .tables import NeuronCells

_CHANCE = 0.01
"""The p-value below which the overlap of two sets is said to be more than chance."""


def neuron_findings(dataset: xr.Dataset) -> list[str]:
    """Of each model and task the smallest set; what clusters leave; what tasks share."""
    cells = NeuronCells(dataset)
    found = set(cells.pairs("minimal"))
    sentences = [
        _smallest(cells, model, task)
        if (model, task) in found
        else f"No smallest set of neurons of {model} was looked for on {task}: all do not score above 0 on dev."
        for model, task in cells.pairs("ranked")
    ]
    if "cluster_left" in dataset:
        for model in cells.models:
            sentences += _thresholds(cells, model)
    if "overlap" in dataset:
        for model in cells.models:
            sentences += _overlap(cells, model)
    return sentences


def _smallest(cells: NeuronCells, model: str, task: str) -> str:
    dataset = cells.dataset
    size = int(cells.get("minimal", model, task) or 0)
    level, tolerance = float(dataset.attrs["level"]), 100 * float(dataset.attrs["tolerance"])
    behind = cells.with_ends("minimal_behind", model, task)
    value = behind["minimal_behind"]
    said = "–" if value is None else say_value(value, behind["minimal_behind_se"])
    said += say_interval(behind["minimal_behind_low"], behind["minimal_behind_high"], level)
    layers = cells.layers(model, task)
    most = max(layers, key=lambda n: layers[n])
    return (
        f"Of the {cells.neurons(model):,} neurons of {model}, {size:,} are enough for {task}: the first by "
        f"{dataset.attrs.get('ranking', '')} whose own probe is within {tolerance:g} % of all neurons on dev; behind "
        f"them by {said} on test. Layer {most} has {layers[most]:,} of them, the most of all."
    )


def _thresholds(cells: NeuronCells, model: str) -> list[str]:
    """The highest threshold at which every task stays within the tolerance, on dev."""
    dataset = cells.dataset
    tasks = [t for m, t in cells.pairs("cluster_left") if m == model]
    if not tasks:
        return []
    bound = 1 - float(dataset.attrs["tolerance"])
    kept = None
    for k, threshold in enumerate(dataset["threshold"].values.tolist()):
        if threshold < 0:
            continue
        whole = [cells.get("cluster_dev", model, t, 0) for t in tasks]
        here = [cells.get("cluster_dev", model, t, k) for t in tasks]
        if all(
            a is not None and b is not None and b >= bound * a
            for a, b in zip(whole, here, strict=True)
        ):
            kept = k
    named = tasks[0] if len(tasks) == 1 else f"all {len(tasks)} tasks"
    share = f"{100 * (1 - bound):g} %"
    if kept is None:
        return [
            f"One neuron of each cluster does not keep {named} within {share} of all neurons of {model} at any of the "
            f"thresholds, on dev."
        ]
    left = int(cells.get("cluster_left", model, tasks[0], kept) or 0)
    at = float(dataset["threshold"].values[kept])
    return [
        f"Clustering leaves {left:,} of the {cells.neurons(model):,} neurons of {model} at the threshold {at:g}, the "
        f"highest that keeps {named} within {share} on dev."
    ]


def _overlap(cells: NeuronCells, model: str) -> list[str]:
    dataset = cells.dataset
    i = cells.models.index(model)
    pairs = []
    for a, one in enumerate(cells.tasks):
        for b in range(a + 1, len(cells.tasks)):
            log_p = float(dataset["overlap_log_p"].values[i, a, b])
            if np.isfinite(log_p):
                pairs.append((log_p, one, cells.tasks[b], a, b))
    if not pairs:
        return []
    more = [p for p in pairs if np.exp(p[0]) * len(pairs) < _CHANCE]
    text = (
        f"The smallest sets of {len(more)} of {len(pairs)} pairs of tasks share more neurons of {model} than random "
        f"sets would (p < {_CHANCE:g}, for all pairs together)"
    )
    if not more:
        return [text.replace(f"of {len(more)} of {len(pairs)} pairs", "of no pair") + "."]
    _, one, other, a, b = min(more)
    both, expected = (float(dataset[n].values[i, a, b]) for n in ("overlap", "overlap_expected"))
    return [
        f"{text}; most clearly {one} and {other}, {both:.0f} where chance gives {expected:.1f}."
    ]
