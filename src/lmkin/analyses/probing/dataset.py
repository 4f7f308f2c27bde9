"""From fits and scores to a labelled dataset: scores by model, task, set of layers and split."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from .baselines import majority, most_frequent, unseen_words, words_of
from .layer_sets import LayerSet
from .run import ProbingRun, SetScores, TaskRun
from .scores import OF_CLASSES, OF_SCORES, f1_by_class, recall_by_class
from .splits import SPLITS
from .tasks import Task
from .variables import Variables

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


def make_dataset(run: ProbingRun, tolerance: float) -> xr.Dataset:
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
    table = Variables(coords, LONG)
    for task in run.tasks:
        _put_task(table, task, run)
    for task_run in run.runs:
        _put_run(table, task_run, layers[task_run.model], tolerance)
    dataset = table.dataset()
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


def _put_run(table: Variables, run: TaskRun, layers: tuple[int, ...], tolerance: float) -> None:
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
            selectivity = mine.scored[split].only(0) - scored.only(0)
            table.put_scored(("selectivity",), selectivity, **at, split=split)
        score = float(mine.scored["dev"].value[main])
        table.put("kept", score / best if best > 0 else None, **at)
        enough = float(score >= (1 - tolerance) * best) if best > 0 else None
        table.put("redundant", enough, **at)
        if mine is not oracle:
            behind = oracle.scored["test"].only(main) - mine.scored["test"].only(main)
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
