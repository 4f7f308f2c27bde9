"""Tables of probes: scores by layer, what they are compared with, and classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from ...results import Column, ResultTable

_CLASSES = 12
"""Classes that the terminal shows of each task."""


class Cells:
    """Numbers of a result by the labels of its axes."""

    def __init__(self, dataset: xr.Dataset):
        self.attrs = dataset.attrs
        self.labels = {str(axis): [str(v) for v in dataset[axis].values] for axis in dataset.dims}
        self.kinds = dict(
            zip(self.labels["probe"], map(str, dataset["layers_read"].values), strict=True)
        )
        self.ends = dict(zip(self.labels["probe"], dataset["layer"].values.tolist(), strict=True))
        self._place = {
            axis: {label: k for k, label in enumerate(labels)}
            for axis, labels in self.labels.items()
        }
        # Of each variable as it is stored: labels of axes would be put to every one of some hundred.
        stored = ((str(name), dataset.variables[name]) for name in dataset)
        self._arrays = {name: (variable.dims, variable.values) for name, variable in stored}

    def get(self, name: str, **at: str) -> float | None:
        """One number; None where nothing was computed."""
        if name not in self._arrays:
            return None
        axes, array = self._arrays[name]
        number = float(array[tuple(self._place[str(axis)][at[str(axis)]] for axis in axes)])
        return number if np.isfinite(number) else None

    def main(self, task: str) -> str:
        """What a task is judged by."""
        return str(self.attrs["main"][task])

    def classes(self, task: str) -> list[str]:
        """The classes of a task; none for scores."""
        return [str(c) for c in self.attrs["classes"].get(task, [])]

    def probes(self, model: str, task: str, kind: str | None = None) -> list[str]:
        """The sets of layers that a model has, of one kind or all."""
        return [
            probe
            for probe in self.labels["probe"]
            if (kind is None or self.kinds[probe] == kind)
            and self.get("width", model=model, task=task, probe=probe) is not None
        ]


def score_rows(dataset: xr.Dataset) -> list[dict[str, Any]]:
    """A row for each model, task and set of layers, as plain data."""
    rows = []
    cells = Cells(dataset)
    kinds, value = cells.kinds, cells.get
    for model in cells.labels["model"]:
        for task in cells.labels["task"]:
            main = cells.main(task)
            for probe in cells.probes(model, task):
                at = {"model": model, "task": task, "probe": probe}
                row: dict[str, Any] = {
                    **at, "layers": said_of(kinds[probe], probe), "kind": kinds[probe], "score": main,
                }  # fmt: skip
                for split in ("train", "dev", "test"):
                    row[split] = value(main, **at, split=split)
                    row[f"{split}_se"] = value(f"{main}_se", **at, split=split)
                    row[f"{split}_low"] = value(f"{main}_low", **at, split=split)
                    row[f"{split}_high"] = value(f"{main}_high", **at, split=split)
                for name in (
                    "macro_f1",
                    "matthews",
                    "spearman",
                    "r2",
                    "accuracy_unseen",
                    "control",
                    "selectivity",
                ):
                    row[name] = value(name, **at, split="test")
                    row[f"{name}_se"] = value(f"{name}_se", **at, split="test")
                for name in (
                    "kept", "redundant", "behind", "behind_se", "behind_low", "behind_high", "compression", "bits",
                    "width", "neurons", "weights", "l1", "l2", "kkt",
                ):  # fmt: skip
                    row[name] = value(name, **at)
                row["redundant"] = None if row["redundant"] is None else bool(row["redundant"])
                row["keeps"] = "yes" if row["redundant"] and kinds[probe] != "all" else ""
                rows.append(row)
    return rows


def said_of(kind: str, probe: str) -> str:
    """A set of layers as tables name it."""
    return {"all": "all layers", "each": f"layer {probe}", "upto": f"layers {probe}"}[kind]


def score_table(dataset: xr.Dataset) -> ResultTable:
    """A row a set of layers: train, dev, test, and what they are compared with."""
    rows = score_rows(dataset)
    level, tolerance = float(dataset.attrs["level"]), float(dataset.attrs["tolerance"])
    several = {name: len(dataset[name]) > 1 for name in ("model", "task")}
    there = {name for row in rows for name, v in row.items() if v is not None}
    classes = any(row["score"] == "accuracy" for row in rows)
    binary = any(len(c) == 2 for c in dataset.attrs["classes"].values())
    optional = [
        Column("macro_f1", "macro-F1", kind="number", shown=False),
        Column("matthews", "Matthews", kind="number", shown=binary),
        Column("accuracy_unseen", "unseen words", kind="number"),
        Column("selectivity", "selectivity", kind="number"),
        Column("compression", "code", kind="number", decimals=2),
        Column("spearman", "Spearman", kind="number"),
        Column("r2", "R²", kind="number"),
    ]
    caption = [
        f"Accuracy of {dataset.attrs['units']}s" if classes else "Pearson correlation",
        "on train, dev and test; ± standard error."
        if "test_se" in there
        else "on train, dev and test.",
        f"Keeps: within {100 * tolerance:g} % of the score of all layers, on dev.",
    ]
    if "selectivity" in there:
        caption.append(
            "Selectivity: test accuracy less that of a probe for random tags by word type (control task)."
        )
    if "compression" in there:
        caption.append(
            "Code: how many times shorter the online code of train's labels is than a uniform one."
        )
    hidden = (
        "layers", "kind", "score", "train_se", "dev_se", "train_low", "train_high", "dev_low", "dev_high", "test_low",
        "test_high", "macro_f1_se", "matthews_se", "accuracy_unseen_se", "control", "control_se",
        "selectivity_se", "spearman_se", "r2_se", "kept", "redundant", "behind", "behind_se", "behind_low",
        "behind_high", "bits", "weights", "l1", "l2", "kkt",
    )  # fmt: skip
    shown = [c for c in optional if c.key in there]
    return ResultTable(
        "probes",
        [
            Column("model", shown=several["model"]),
            Column("task", shown=several["task"]),
            Column("probe", "layers"),
            Column("train", kind="number"),
            Column("dev", kind="number"),
            Column("test", kind="number", error="test_se"),
            *shown,
            Column("neurons", kind="count", help="Neurons with a weight that is not 0."),
            Column("width", "of", kind="count", shown=False),
            Column("keeps", "keeps"),
            *(Column(name, shown=False) for name in hidden),
            *(Column(c.key, shown=False) for c in optional if c.key not in there),
        ],
        rows,
        title=title_of(dataset),
        caption=" ".join(caption),
        group=("model", "task"),
        about={"level": level},
    )


def title_of(dataset: xr.Dataset) -> str:
    """What was predicted, of how many rows."""
    tasks = [str(t) for t in dataset["task"].values]
    rows = dataset["rows"].sel(task=tasks[0])
    said = ", ".join(f"{int(rows.sel(split=s)):,} {s}" for s in ("train", "dev", "test"))
    return f"Probes for {', '.join(tasks)}: {said} {dataset.attrs['units']}s"


def baseline_table(dataset: xr.Dataset) -> ResultTable:
    """Of each task the classes, and what needs no model."""
    rows = []
    cells = Cells(dataset)
    value = cells.get
    for task in cells.labels["task"]:
        at = {"task": task, "split": "test"}
        row = {
            "task": task,
            "classes": len(cells.classes(task)) or None,
            "rows": value("rows", **at),
        }
        for name in ("majority", "word_majority", "unseen", "unseen_words"):
            row[name] = value(name, **at)
        row["missing"] = sum(
            value("missing", task=task, split=s) or 0 for s in ("train", "dev", "test")
        )
        rows.append(row)
    return ResultTable(
        "baselines",
        [
            Column("task"),
            Column("classes", kind="count"),
            Column("rows", "test rows", kind="count"),
            Column("majority", "majority class", kind="number"),
            Column("word_majority", "tag of the word", kind="number"),
            Column("unseen", "unseen labels", kind="count"),
            Column("unseen_words", "unseen words", kind="count"),
            Column("missing", "without label", kind="count"),
        ],
        rows,
        title="What needs no model",
        caption="Accuracy on test of the most frequent class of train, and of the one that the word has most often in "
        "train. Unseen: test rows whose label, or whose word, train has not. Without label: rows of all splits that "
        "are left out.",
    )


def class_rows(dataset: xr.Dataset) -> list[dict[str, Any]]:
    """A row for each model, task, class and set of layers, as plain data."""
    rows: list[dict[str, Any]] = []
    cells = Cells(dataset)
    value = cells.get
    for model in cells.labels["model"]:
        for task in cells.labels["task"]:
            for probe in cells.probes(model, task):
                for label in cells.classes(task):
                    key = {"class": f"{task}/{label}"}
                    at = {"model": model, "probe": probe}
                    rows.append(
                        {
                            "model": model, "task": task, "probe": probe, "class": label,
                            "support": value("support", split="test", **key),
                            "train": value("support", split="train", **key),
                            "f1": value("f1", **at, **key),
                            "recall": value("recall", **at, **key),
                        }
                    )  # fmt: skip
    return rows


def class_table(dataset: xr.Dataset) -> ResultTable:
    """F1 of each class, by all layers and by the best single one."""
    rows: list[dict[str, Any]] = []
    by_key = {(r["model"], r["task"], r["probe"], r["class"]): r for r in class_rows(dataset)}
    cells = Cells(dataset)
    for model in cells.labels["model"]:
        for task in cells.labels["task"]:
            single = cells.probes(model, task, "each")
            order = sorted(
                cells.classes(task), key=lambda c: -(by_key[model, task, "all", c]["train"] or 0)
            )
            for label in order:
                whole = by_key[model, task, "all", label]
                each = {p: by_key[model, task, p, label]["f1"] for p in single}
                known = {p: f for p, f in each.items() if f is not None}
                best = max(known, key=lambda p: known[p]) if known else None
                rows.append(
                    {
                        "model": model, "task": task, "class": label, "train": whole["train"],
                        "support": whole["support"], "f1": whole["f1"], "recall": whole["recall"],
                        "best": None if best is None else known[best], "layer": best,
                    }
                )  # fmt: skip
    several = {name: len(dataset[name]) > 1 for name in ("model", "task")}
    return ResultTable(
        "classes",
        [
            Column("model", shown=several["model"]),
            Column("task", shown=several["task"]),
            Column("class"),
            Column("train", "in train", kind="count"),
            Column("support", "in test", kind="count"),
            Column("f1", "F1, all layers", kind="number"),
            Column("best", "F1, best layer", kind="number"),
            Column("layer", "which", kind="plain"),
            Column("recall", shown=False),
        ],
        rows,
        title="Classes, the most frequent first",
        caption="F1 on test. The best single layer is the best of all on test, so its F1 is a little too high.",
        group=("model", "task"),
        most=_CLASSES,
    )


def published_table(beside: xr.DataArray) -> ResultTable:
    """Layers of a paper's models on the same tasks."""
    tasks = [str(t) for t in beside["task"].values]
    rows: list[dict[str, Any]] = [
        {
            "model": str(model), "layer": str(layer),
            **{t: float(v) for t, v in zip(tasks, line.values.tolist(), strict=True) if np.isfinite(v)},
        }
        for model in beside["model"].values
        for layer, line in zip(beside["layer"].values, beside.sel(model=model), strict=True)
    ]  # fmt: skip
    return ResultTable(
        "published",
        [Column("model"), Column("layer"), *(Column(t, kind="number") for t in tasks)],
        rows,
        title="The same tasks as published",
        caption=f"{beside.attrs['title']}. Other models, and for some tasks other texts: what can be compared is how "
        "accuracy goes with the layers.",
        group=("model",),
    )
