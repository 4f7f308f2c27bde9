"""Numbers of a result by the labels of its axes, and what its tables have in common."""

from __future__ import annotations

import numpy as np
import xarray as xr

from ...results import Column

EVERYWHERE, HELD_OUT = "all", "held-out"
_SETS = {
    "all": "all",
    "alternate": "every second layer",
    "top": "upper half of the layers",
    "bottom": "lower half of the layers",
    "embedding": "embedding only",
    "above-embedding": "all but the embedding",
}
ERRORS = ("_se", "_low", "_high")


class Cells:
    """Numbers of a result by the labels of its axes."""

    def __init__(self, dataset: xr.Dataset):
        self.attrs = dataset.attrs
        self.labels = {
            str(axis): [str(v) for v in dataset[axis].values]
            for axis in dataset.dims
            if axis in dataset.coords
        }
        self.kinds = dict(
            zip(self.labels["neurons"], map(str, dataset["kind"].values), strict=True)
        )
        self.families = dict(
            zip(self.labels["language"], map(str, dataset["family_of"].values), strict=True)
        )
        self._place = {
            axis: {label: k for k, label in enumerate(labels)}
            for axis, labels in self.labels.items()
        }
        self._arrays = {str(n): (dataset[n].dims, dataset[n].values) for n in dataset}

    def get(self, name: str, **at: str) -> float | None:
        """One number; None where nothing was computed."""
        if name not in self._arrays:
            return None
        axes, array = self._arrays[name]
        number = float(array[tuple(self._place[str(axis)][at[str(axis)]] for axis in axes)])
        return number if np.isfinite(number) else None

    def with_errors(self, key: str, name: str, **at: str) -> dict[str, float | None]:
        """A number and its error and interval, under names that begin with ``key``."""
        return {key + ending: self.get(name + ending, **at) for ending in ("", *ERRORS)}

    def runs(self) -> list[dict[str, str]]:
        """Models, languages of training and tasks."""
        labels = self.labels
        return [
            {"model": model, "source": source, "task": task}
            for model in labels["model"]
            for source in labels["source"]
            for task in labels["task"]
        ]

    def sets(self, run: dict[str, str], kind: str | None = None) -> list[str]:
        """The sets of neurons that a run has, of one kind or all."""
        return [
            label
            for label in self.labels["neurons"]
            if (kind is None or self.kinds[label] == kind)
            and self.get("width", **run, neurons=label) is not None
        ]

    def others(self, run: dict[str, str]) -> list[str]:
        """All languages but that of training."""
        return [name for name in self.labels["language"] if name != run["source"]]


def said_of(label: str, kind: str) -> str:
    """A set of neurons as tables name it."""
    return f"clusters at {label}" if kind == "threshold" else _SETS.get(label, label)


def run_columns(dataset: xr.Dataset) -> list[Column]:
    """Models, languages of training and tasks, where there are several."""
    return [
        Column("model", shown=len(dataset["model"]) > 1),
        Column("source", "fitted on", shown=len(dataset["source"]) > 1),
        Column("task", shown=len(dataset["task"]) > 1),
    ]
