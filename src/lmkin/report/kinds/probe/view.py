"""What the charts and tables need of probes: models, tasks, layers, and numbers by their labels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import xarray as xr

from ....analyses.probing import ProbeCells
from ....core import LmkinError, slugs
from ...charts.style import heading, signal_text
from ...charts.values import ERRORS, column
from ...names import plain_names, rounded
from ...page import Option, Switch

SPLITS = ("test", "dev", "train")
"""In the order of what they are worth."""
_NEEDED = ("width", "rows", "redundant")
_TITLES = {"accuracy": "accuracy", "pearson": "Pearson correlation"}


class ProbeView:
    """Models and tasks of a result, and its numbers."""

    def __init__(self, dataset: xr.Dataset, published: xr.DataArray | None = None):
        missing = [name for name in _NEEDED if name not in dataset]
        if missing or "probe" not in dataset.dims:
            raise LmkinError(
                "A report of probes shows what lmkin.probe gives. This Dataset has the variables "
                f"{', '.join(map(str, dataset)) or 'none'}."
            )
        self.dataset = dataset
        self.cells = ProbeCells(dataset)
        self.published = published
        self.raw_models, self.raw_tasks = self.cells.labels["model"], self.cells.labels["task"]
        self.models, self.tasks = plain_names(self.raw_models), plain_names(self.raw_tasks)
        self.keys, self.task_keys = slugs(self.models), slugs(self.tasks)

    @property
    def level(self) -> str:
        """The level of the intervals, as a percentage."""
        return f"{100 * float(self.dataset.attrs.get('level', 0.95)):g}%"

    @property
    def tolerance(self) -> str:
        """What may be lost, as a percentage."""
        return f"{100 * float(self.dataset.attrs['tolerance']):g} %"

    @property
    def has_intervals(self) -> bool:
        """Whether any score has one."""
        return any(self.known(f"{name}_low") for name in _TITLES)

    def known(self, name: str) -> bool:
        """Whether a variable is there, and has a number."""
        return name in self.dataset and bool(np.isfinite(self.dataset[name]).any())

    def pairs(self) -> list[tuple[int, int]]:
        """The places of every model and task."""
        return [(m, t) for m in range(len(self.models)) for t in range(len(self.tasks))]

    def score(self, t: int) -> str:
        """What a task is judged by: the name of a variable."""
        return self.cells.main(self.raw_tasks[t])

    def score_title(self, t: int) -> str:
        """The same, in words."""
        return _TITLES[self.score(t)]

    def axis_title(self) -> str:
        """What all tasks are judged by, in words."""
        return ", ".join(dict.fromkeys(self.score_title(t) for t in range(len(self.tasks))))

    def get(self, name: str, m: int, t: int, probe: str, **at: str) -> float:
        """A number; NaN where there is none."""
        where = {"model": self.raw_models[m], "task": self.raw_tasks[t], "probe": probe, **at}
        value = self.cells.get(name, **where)
        return math.nan if value is None else value

    def of_task(self, name: str, t: int, split: str = "test") -> float:
        """A number that no model has a part in; NaN where there is none."""
        value = self.cells.get(name, task=self.raw_tasks[t], split=split)
        return math.nan if value is None else value

    def layers(self, m: int) -> list[int]:
        """The layers of a model."""
        return [int(n) for n in self.dataset.attrs["probed"][self.raw_models[m]]["layers"]]

    def all_layers(self) -> list[int]:
        """The layers that any model has."""
        return sorted({n for m in range(len(self.models)) for n in self.layers(m)})

    def probes(self, m: int, t: int, kind: str) -> dict[int, str]:
        """The sets of layers of a kind, by their last layer."""
        names = self.cells.probes(self.raw_models[m], self.raw_tasks[t], kind)
        return {int(self.cells.ends[name]): name for name in names}

    def has(self, kind: str) -> bool:
        """Whether there are sets of layers of this kind."""
        return kind in self.cells.kinds.values()

    def single(self, m: int) -> ProbeView:
        """The same with one model."""
        return ProbeView(self.dataset.isel(model=[m]), self.published)

    def columns(
        self, name: str, m: int, t: int, probe: str, key: str, other: str, **at: str
    ) -> dict[str, Any]:
        """A value and its errors, as columns of a chart's data."""
        return {
            column(key, other, ending): rounded(self.get(name + ending, m, t, probe, **at))
            for ending in ("", *ERRORS)
        }


def signals(view: ProbeView) -> dict[str, Any]:
    """Of a chart that shows one model and one task: columns are called by both keys."""
    return {
        "model": view.keys[0], "task": view.task_keys[0],
        "measure": alt.expr("model"), "scaling": alt.expr("task"),
    }  # fmt: skip


def titled(view: ProbeView, text: str, *, model: bool = True, task: bool = True) -> Any:
    """A title, and under it the chosen model and task."""
    below = []
    if model:
        below.append(signal_text(dict(zip(view.keys, view.models, strict=True)), "model"))
    if task:
        below.append(signal_text(dict(zip(view.task_keys, view.tasks, strict=True)), "task"))
    return heading(text, *below)


def switches(
    view: ProbeView,
    *,
    model: bool = True,
    task: bool = True,
    notes: Mapping[str, str] | None = None,
) -> list[Switch]:
    """Switches between tasks and models, where there are several; ``notes`` say something of a task, by its key."""
    made = []
    if task and len(view.tasks) > 1:
        options = [
            Option(key, name, (notes or {}).get(key, ""))
            for key, name in zip(view.task_keys, view.tasks, strict=True)
        ]
        made.append(Switch("task", "Task:", options))
    if model and len(view.models) > 1:
        options = [Option(key, name) for key, name in zip(view.keys, view.models, strict=True)]
        made.append(Switch("model", "Model:", options))
    return made


def when(view: ProbeView, m: int | None = None, t: int | None = None) -> dict[str, str]:
    """The switches under which a table is shown."""
    shown = {}
    if m is not None and len(view.models) > 1:
        shown["model"] = view.keys[m]
    if t is not None and len(view.tasks) > 1:
        shown["task"] = view.task_keys[t]
    return shown


def ends_of(values: Sequence[float], *, zero: bool) -> list[float]:
    """From where to where an axis goes: from 0 to 1, or as near as the values are."""
    known = [v for v in values if math.isfinite(v)] or [0.0, 1.0]
    low, high = min(known), max(known)
    if zero:
        return [min(0.0, low), max(1.0, high)]
    room = max(0.05 * (high - low), 0.005)
    return [low - room, min(high + room, max(1.0, high))]
