"""What the charts and tables of neurons need of a result of probes, as arrays and labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from ....core import slugs
from ...names import FloatArray, plain_names

CURVES = {
    "kept": "the first N alone",
    "random": "N random neurons alone",
    "removed": "all but the first N",
    "ablated": "the first N at their means (fitted probe)",
}
"""Curves, and what each is of."""
MEAN = "mean of tasks"
_SCORES = {"accuracy": "accuracy", "pearson": "Pearson correlation"}


class NeuronView:
    """Models and tasks of a result of probes whose neurons were studied."""

    def __init__(self, dataset: xr.Dataset):
        self.dataset = dataset
        self.raw_models = [str(m) for m in dataset["model"].values]
        self.raw_tasks = [str(t) for t in dataset["task"].values]
        self.models, self.tasks = plain_names(self.raw_models), plain_names(self.raw_tasks)
        self.model_keys = slugs(self.models)
        self.model_labels = dict(zip(self.model_keys, self.models, strict=True))
        some = [(m, t) for m in self.raw_models for t in self.raw_tasks]
        if "minimal" in dataset:
            some = [(m, t) for m, t in some if np.isfinite(self.at("minimal", m, t))]
        self.pairs = some
        said = [self._said(m, t) for m, t in some]
        self.keys = slugs(said)
        self.labels = dict(zip(self.keys, said, strict=True))
        names = {str(v) for v in dict(dataset.attrs.get("main", {})).values()}
        self.score_name = _SCORES.get(names.pop(), "score") if len(names) == 1 else "score"

    def _said(self, model: str, task: str) -> str:
        name = self.models[self.raw_models.index(model)]
        tag = self.tasks[self.raw_tasks.index(task)]
        if len(self.models) == 1:
            return tag
        return name if len(self.tasks) == 1 else f"{name}, {tag}"

    @property
    def level(self) -> str:
        """The level of the intervals, as a percentage."""
        return f"{100 * float(self.dataset.attrs.get('level', 0.95)):g}%"

    @property
    def layers(self) -> list[int]:
        """Numbers of the layers."""
        return [int(n) for n in self.dataset["neuron_layer"].values]

    @property
    def thresholds(self) -> list[float]:
        """Clustering thresholds; −1 is no clustering."""
        return [float(t) for t in self.dataset["threshold"].values]

    def at(self, name: str, model: str, task: str) -> FloatArray:
        """A variable of one model and task."""
        values: Any = self.dataset[name].values
        return np.asarray(
            values[self.raw_models.index(model), self.raw_tasks.index(task)], np.float64
        )

    def has(self, name: str) -> bool:
        """Whether a variable is known anywhere."""
        return name in self.dataset and bool(np.isfinite(self.dataset[name].values).any())

    def has_intervals(self, name: str) -> bool:
        """Whether any interval of a variable is known."""
        return self.has(f"{name}_low")
