"""Tables of neurons: the smallest set of each task, scores by clustering threshold, what tasks share, the ranking."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from ....results import Column, ResultTable
from .masks import ENDINGS, has_rankings
from .overlap import overlap_columns

_NO_CLUSTERS = -1.0
MEAN = "mean of tasks"


def neuron_tables(dataset: xr.Dataset) -> list[ResultTable]:
    """Smallest sets, thresholds, overlap: those that the result has."""
    tables = []
    if "minimal" in dataset:
        tables.append(smallest_table(dataset))
    if "cluster_left" in dataset:
        tables.append(threshold_table(dataset))
    if "overlap" in dataset:
        tables.append(overlap_table(dataset))
    return tables


def neuron_data(dataset: xr.Dataset) -> dict[str, Any]:
    """The same as plain data."""
    return {table.name: table.to_records() for table in neuron_tables(dataset)}


class NeuronCells:
    """Numbers of neurons by the labels of models and tasks."""

    def __init__(self, dataset: xr.Dataset):
        self.dataset = dataset
        self.models = [str(m) for m in dataset["model"].values]
        self.tasks = [str(t) for t in dataset["task"].values]

    def get(self, name: str, model: str, task: str, at: int | None = None) -> float | None:
        """One number; None where nothing was computed."""
        if name not in self.dataset:
            return None
        values = self.dataset[name].values[self.models.index(model), self.tasks.index(task)]
        number = float(values if at is None else values[at])
        return number if np.isfinite(number) else None

    def with_ends(
        self, name: str, model: str, task: str, at: int | None = None
    ) -> dict[str, float | None]:
        """A number with its standard error and the ends of its interval."""
        return {name + e: self.get(name + e, model, task, at) for e in ENDINGS}

    def layers(self, model: str, task: str) -> dict[int, int]:
        """Neurons of the smallest set in each layer."""
        counts = {}
        for k, layer in enumerate(self.dataset["neuron_layer"].values.tolist()):
            number = self.get("minimal_in_layer", model, task, k)
            if number is not None:
                counts[int(layer)] = int(number)
        return counts

    def neurons(self, model: str) -> int:
        """How many a model has."""
        return int(sum(self.dataset.attrs["probed"][model]["widths"]))

    def pairs(self, name: str) -> list[tuple[str, str]]:
        """Models and tasks for which a number is known."""
        some = [(m, t) for m in self.models for t in self.tasks]
        first = 0 if name in self.dataset and self.dataset[name].ndim > 2 else None
        return [(m, t) for m, t in some if self.get(name, m, t, first) is not None]


def smallest_table(dataset: xr.Dataset) -> ResultTable:
    """A row for each model and task: the smallest set, what it scores, and where it lies."""
    cells = NeuronCells(dataset)
    rows: list[dict[str, Any]] = []
    for model, task in cells.pairs("minimal"):
        layers = cells.layers(model, task)
        size = cells.get("minimal", model, task)
        row: dict[str, Any] = {
            "model": model, "task": task, "neurons": size, "of": cells.neurons(model),
            "oracle": cells.get("minimal_oracle", model, task),
            "dev": cells.get("minimal_dev", model, task),
            **cells.with_ends("minimal_test", model, task),
            **cells.with_ends("minimal_behind", model, task),
            "fits": cells.get("minimal_fits", model, task),
            "ranked": cells.get("ranked", model, task),
            "most": max(layers, key=lambda n: layers[n]),
            "layers": " ".join(f"{n}:{count}" for n, count in layers.items()),
        }  # fmt: skip
        at = _place_of(cells, model, task, size)
        for name in ("kept", "removed", "ablated", "random"):
            row |= {name: None, f"{name}_se": None}
            if at is not None:
                row[name] = cells.get(f"curve_{name}", model, task, at)
                row[f"{name}_se"] = cells.get(f"curve_{name}_se", model, task, at)
        row["judged"] = cells.get("curve_all", model, task)
        rows.append(row)
    tolerance = float(dataset.attrs["tolerance"])
    judge = dataset.attrs.get("judge")
    near = f"within {100 * tolerance:g} % of all neurons"
    caption = f"The first neurons of the ranking whose own probe is {near}, on dev."
    if judge:
        caption += (
            f" By another probe (penalty {judge}): kept, these neurons; random, as many drawn at random; removed, all "
            "others. Ablated: the probe of all neurons, not fitted again, with these at their means."
        )
    hidden = (
        "minimal_behind_se", "minimal_behind_low", "minimal_behind_high", "minimal_test_low",
        "minimal_test_high", "kept_se", "removed_se", "ablated_se", "random_se", "judged",
        "oracle", "dev", "fits", "ranked", "layers",
    )  # fmt: skip
    return ResultTable(
        "neurons",
        [
            Column("model", shown=len(cells.models) > 1),
            Column("task"),
            Column("neurons", kind="count"),
            Column("of", kind="count"),
            Column("minimal_test", "test", kind="number", error="minimal_test_se"),
            Column("minimal_behind", "behind all", kind="number"),
            Column("kept", "kept", kind="number", shown=bool(judge)),
            Column("random", "random", kind="number", shown=bool(judge)),
            Column("removed", "removed", kind="number", shown=bool(judge)),
            Column("ablated", "ablated", kind="number", shown=bool(judge)),
            Column("most", "most in layer", kind="plain"),
            *(Column(name, shown=False) for name in hidden),
        ],
        rows,
        title=f"Smallest sets of neurons, ranked by {dataset.attrs.get('ranking', '')}",
        caption=caption,
        group="model",
        about={"level": float(dataset.attrs["level"])},
    )


def _place_of(cells: NeuronCells, model: str, task: str, size: float | None) -> int | None:
    """Where the curves have the smallest set."""
    if "curve_size" not in cells.dataset:
        return None
    sizes = (
        cells.dataset["curve_size"]
        .values[cells.models.index(model), cells.tasks.index(task)]
        .tolist()
    )
    return sizes.index(size) if size in sizes else None


def threshold_table(dataset: xr.Dataset) -> ResultTable:
    """A row for each model, task and threshold: neurons left, and the score of a probe of them; then the mean."""
    cells = NeuronCells(dataset)
    rows: list[dict[str, Any]] = []
    thresholds = [float(t) for t in dataset["threshold"].values]
    for model in cells.models:
        tasks = [t for t in cells.tasks if cells.get("cluster_left", model, t, 0) is not None]
        whole = cells.neurons(model)
        for k, threshold in enumerate(thresholds):
            said = "none" if threshold == _NO_CLUSTERS else f"{threshold:g}"
            first = {
                "model": model,
                "said": said,
                "threshold": None if said == "none" else threshold,
            }
            left = None
            for task in tasks:
                left = cells.get("cluster_left", model, task, k)
                if left is None:
                    continue
                row = {
                    **first, "task": task, "left": left, "share": left / whole,
                    "dev": cells.get("cluster_dev", model, task, k),
                }  # fmt: skip
                for ending in ENDINGS:
                    row["test" + ending] = cells.get("cluster_test" + ending, model, task, k)
                rows.append(row)
            mean = dataset["cluster_mean"].values[cells.models.index(model), k]
            if len(tasks) > 1 and left is not None and np.isfinite(mean):
                row = {**first, "task": MEAN, "left": left, "share": left / whole, "dev": None}
                for ending in ENDINGS:
                    value = dataset["cluster_mean" + ending].values[cells.models.index(model), k]
                    row["test" + ending] = float(value) if np.isfinite(value) else None
                rows.append(row)
    return ResultTable(
        "thresholds",
        [
            Column("model", shown=len(cells.models) > 1),
            Column("said", "threshold"),
            Column("task", shown=len(cells.tasks) > 1),
            Column("left", "neurons left", kind="count"),
            Column("share", kind="percent"),
            Column("test", kind="number", error="test_se"),
            Column("dev", shown=False),
            Column("threshold", shown=False),
            Column("test_low", shown=False),
            Column("test_high", shown=False),
        ],
        rows,
        title="Scores by clustering threshold",
        caption="Of each cluster of neurons, found on train, one is left, and a probe fitted on these.",
        group="model",
        about={"level": float(dataset.attrs["level"])},
    )


def overlap_table(dataset: xr.Dataset) -> ResultTable:
    """A row for each model and pair of tasks."""
    cells = NeuronCells(dataset)
    rows: list[dict[str, Any]] = []
    for i, model in enumerate(cells.models):
        for a, one in enumerate(cells.tasks):
            for b in range(a + 1, len(cells.tasks)):
                both, expected, log_p = (
                    float(dataset[n].values[i, a, b])
                    for n in ("overlap", "overlap_expected", "overlap_log_p")
                )
                if not np.isfinite(both):
                    continue
                sizes = [cells.get("minimal", model, t) or 0.0 for t in (one, cells.tasks[b])]
                rows.append(
                    {
                        "model": model, "one": one, "other": cells.tasks[b], "size_one": sizes[0],
                        "size_other": sizes[1], "both": both, "expected": expected,
                        "p": float(np.exp(log_p)), "log_p": log_p,
                        "jaccard": both / max(sum(sizes) - both, 1),
                    }
                )  # fmt: skip
    return ResultTable(
        "overlap",
        [
            Column("model", shown=len(cells.models) > 1),
            *overlap_columns(),
            Column("log_p", shown=False),
        ],
        rows,
        title="Neurons that the smallest sets of two tasks have in common",
        caption="By chance: of random sets of these sizes. p: that such sets have as many or more in common "
        "(hypergeometric); large sets overlap for being large.",
        group="model",
    )


def ranking_table(dataset: xr.Dataset) -> ResultTable | None:
    """A row for each model, task and neuron, in the order of the ranking."""
    if not has_rankings(dataset):
        return None
    cells = NeuronCells(dataset)
    rows: list[Mapping[str, Any]] = []
    for model, task in cells.pairs("ranked_layer"):
        place = (cells.models.index(model), cells.tasks.index(task))
        layer, number, value = (
            dataset[f"ranked_{n}"].values[place] for n in ("layer", "number", "value")
        )
        size = cells.get("minimal", model, task)
        rows.extend(
            {
                "model": model, "task": task, "rank": k + 1, "layer": int(layer[k]),
                "neuron": int(number[k]),
                "value": float(value[k]) if np.isfinite(value[k]) else None,
                "smallest": None if size is None else int(k < size),
            }
            for k in range(int(np.isfinite(layer).sum()))
        )  # fmt: skip
    return ResultTable("ranking", [Column(key) for key in rows[0]], rows, title="Neurons by rank")
