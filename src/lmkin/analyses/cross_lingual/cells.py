"""Numbers of a result by the labels of its axes, and what its tables have in common."""

from __future__ import annotations

import xarray as xr

from ...results import Column
from ..probing import Cells

EVERYWHERE, HELD_OUT = "all", "held-out"
_SETS = {
    "all": "all",
    "alternate": "every second layer",
    "top": "upper half of the layers",
    "bottom": "lower half of the layers",
    "embedding": "embedding only",
    "above-embedding": "all but the embedding",
}


class TransferCells(Cells):
    """Numbers of transfer by the labels of their axes."""

    def __init__(self, dataset: xr.Dataset):
        super().__init__(dataset)
        self.kinds = dict(
            zip(self.labels["neurons"], map(str, dataset["kind"].values), strict=True)
        )
        self.families = dict(
            zip(self.labels["language"], map(str, dataset["family_of"].values), strict=True)
        )

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
