"""From fits and scores to a labelled dataset: scores by model, task, set of layers and split."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...results import jackknife
from .baselines import majority, most_frequent, unseen_words, words_of
from .layer_sets import LayerSet
from .run import ProbingRun, SetScores, TaskRun
from .scores import OF_CLASSES, OF_SCORES, Scored, f1_by_class, recall_by_class
from .splits import SPLITS
from .tasks import Task

ERRORS = ("_se", "_low", "_high")
LONG = {
    "accuracy": "accuracy", "macro_f1": "macro-F1", "matthews": "Matthews correlation",
    "pearson": "Pearson correlation", "spearman": "Spearman correlation", "r2": "R²",
    "accuracy_unseen": "accuracy on words that train has not",
    "control": "accuracy on the control task", "selectivity": "accuracy − control accuracy",
    "behind": "score of all layers − score", "kept": "share of the score of all layers, on dev",
    "redundant": "1: keeps the score of all layers, but for the tolerance, on dev",
    "bits": "online code length of the labels of train, in bits",
    "compression": "length of the uniform code / online code length",
    "weights": "weights that are not 0", "neurons": "neurons with such a weight",
    "width": "neurons that the probe reads", "l1": "penalty λ₁", "l2": "penalty λ₂",
    "kkt": "largest violation of the KKT conditions, in units of λ₁", "iterations": "iterations",
    "objective": "objective", "majority": "accuracy of the most frequent class of train",
    "word_majority": "accuracy of the most frequent class of the word in train",
    "f1": "F1 of a class", "recall": "recall of a class", "rows": "rows with a label",
    "missing": "rows without a label", "unseen": "rows whose label train has not",
    "unseen_words": "rows whose word train has not", "support": "rows of a class",
}  # fmt: skip


def main_score(task: Task) -> str:
    """What a task is judged by: accuracy; of scores Pearson's correlation."""
    return "accuracy" if task.classifies else "pearson"


class Variables:
    """Arrays by name over the axes of a result, NaN where nothing was computed."""

    def __init__(self, coords: Mapping[str, list[Any]]):
        self.coords = {name: list(values) for name, values in coords.items()}
        self.values: dict[str, tuple[tuple[str, ...], NDArray[np.float64]]] = {}

    def put(self, name: str, value: float | None, **at: Any) -> None:
        """One number, at labels of its axes."""
        if name not in self.values:
            shape = tuple(len(self.coords[axis]) for axis in at)
            self.values[name] = (tuple(at), np.full(shape, np.nan))
        axes, array = self.values[name]
        place = tuple(self.coords[axis].index(at[axis]) for axis in axes)
        array[place] = np.nan if value is None else value

    def put_scored(self, names: tuple[str, ...], scored: Scored, **at: Any) -> None:
        """Scores with their intervals."""
        for k, name in enumerate(names):
            self.put(name, scored.value[k], **at)
            if scored.interval is not None:
                for ending, array in zip(
                    ERRORS,
                    (scored.interval.se, scored.interval.low, scored.interval.high),
                    strict=True,
                ):
                    self.put(name + ending, array[k], **at)

    def dataset(self, attrs: Mapping[str, Any]) -> xr.Dataset:
        """All of it; every variable says what it is."""
        variables = {}
        for name, (axes, array) in self.values.items():
            base = next((name.removesuffix(e) for e in ERRORS if name.endswith(e)), name)
            variables[name] = (axes, array, {"long_name": LONG[base]})
        return xr.Dataset(variables, coords=self.coords, attrs=dict(attrs))


def make_dataset(run: ProbingRun, tolerance: float, level: float) -> xr.Dataset:
    """Everything that was scored."""
    names = list(dict.fromkeys(r.model for r in run.runs))
    sets: dict[str, LayerSet] = {}
    layers = {m.name: m.layers for m in run.rows.models}
    for task_run in run.runs:
        for mine in task_run.sets:
            sets.setdefault(mine.layers.label(layers[task_run.model]), mine.layers)
    classes = [f"{t.name}/{c}" for t in run.tasks for c in t.classes]
    order = sorted(sets, key=lambda s: (["all", "each", "upto"].index(sets[s].kind), sets[s].end))
    coords: dict[str, list[Any]] = {
        "model": names, "task": [t.name for t in run.tasks], "probe": order, "split": list(SPLITS),
    }  # fmt: skip
    if classes:
        coords["class"] = classes
    table = Variables(coords)
    for task in run.tasks:
        _put_task(table, task, run)
    for task_run in run.runs:
        _put_run(table, task_run, layers[task_run.model], tolerance, level)
    dataset = table.dataset({})
    kinds = [sets[s].kind for s in order]
    longest = max(layers.values(), key=len)
    ends = [longest[-1] if s == "all" else longest[sets[s].end - 1] for s in order]
    return dataset.assign_coords(layers_read=("probe", kinds), layer=("probe", ends))


def _put_task(table: Variables, task: Task, run: ProbingRun) -> None:
    """Rows, labels and baselines."""
    units = run.rows.units
    words = words_of(units, task) if units["train"].kind in ("word", "token") else None
    frequent = most_frequent(task, words) if words is not None and task.classifies else None
    new = None if words is None else unseen_words(words)
    for split in SPLITS:
        at = {"task": task.name, "split": split}
        y = task.target[split]
        table.put("rows", len(y), **at)
        table.put("missing", task.missing[split], **at)
        if not task.classifies:
            continue
        table.put("unseen", task.unseen[split], **at)
        table.put("majority", float((y == majority(task)).mean()), **at)
        if frequent is not None and new is not None:
            table.put("word_majority", float((y == frequent[split]).mean()), **at)
            table.put("unseen_words", int(new[split].sum()), **at)
        counts = np.bincount(y[y >= 0], minlength=len(task.classes))
        for name, count in zip(task.classes, counts.tolist(), strict=True):
            table.put("support", count, split=split, **{"class": f"{task.name}/{name}"})


def _put_run(
    table: Variables, run: TaskRun, layers: tuple[int, ...], tolerance: float, level: float
) -> None:
    task = run.task
    names = OF_CLASSES if task.classifies else OF_SCORES
    main = names.index(main_score(task))
    oracle = run.sets[0]
    best = float(oracle.scored["dev"].value[main])
    for mine in run.sets:
        at = {"model": run.model, "task": task.name, "probe": mine.layers.label(layers)}
        for split, scored in mine.scored.items():
            table.put_scored(names, scored, **at, split=split)
        for split, scored in mine.unseen.items():
            table.put_scored(("accuracy_unseen",), scored, **at, split=split)
        for split, scored in mine.control.items():
            table.put_scored(("control",), scored, **at, split=split)
            table.put_scored(
                ("selectivity",), _difference(mine.scored[split], scored, level), **at, split=split
            )
        score = float(mine.scored["dev"].value[main])
        table.put("kept", score / best if best > 0 else None, **at)
        enough = float(score >= (1 - tolerance) * best) if best > 0 else None
        table.put("redundant", enough, **at)
        if mine is not oracle:
            behind = _difference(oracle.scored["test"], mine.scored["test"], level, main)
            table.put_scored(("behind",), behind, **at)
        _put_fit(table, mine, task, at)


def _put_fit(table: Variables, mine: SetScores, task: Task, at: Mapping[str, Any]) -> None:
    fitted = mine.fitted
    numbers: dict[str, float] = {
        "width": len(fitted.weights), "neurons": len(fitted.neurons),
        "weights": int(np.count_nonzero(fitted.weights)), "l1": fitted.l1, "l2": fitted.l2,
        "kkt": fitted.residual, "iterations": fitted.iterations, "objective": fitted.objective,
    }  # fmt: skip
    for name, value in numbers.items():
        table.put(name, value, **at)
    if mine.bits is not None:
        uniform = len(task.target["train"]) * math.log2(len(task.classes))
        table.put("bits", mine.bits, **at)
        table.put("compression", uniform / mine.bits, **at)
    counts = mine.scored["test"].counts
    if counts is None:
        return
    by_class: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
        "f1": f1_by_class, "recall": recall_by_class,
    }  # fmt: skip
    place = {k: v for k, v in at.items() if k != "task"}
    for name, values_of in by_class.items():
        for label, value in zip(task.classes, values_of(counts).tolist(), strict=True):
            table.put(name, value, **place, **{"class": f"{task.name}/{label}"})


def _difference(one: Scored, other: Scored, level: float, k: int = 0) -> Scored:
    """The difference of two probes on the same rows, with the interval of the difference (paired)."""
    value = one.value[k : k + 1] - other.value[k : k + 1]
    if one.without is None or other.without is None or one.sizes is None:
        return Scored(value, None)
    without = one.without[:, k : k + 1] - other.without[:, k : k + 1]
    return Scored(value, jackknife(value, without, one.sizes, level), None, without)
