"""What the charts need of cross-lingual transfer, as arrays and labels; and the switches between its runs."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import xarray as xr

from ....core import LmkinError, slugs
from ...charts.style import Broken, heading, said, signal_text
from ...charts.values import ERRORS, column
from ...names import FloatArray, plain_names, rounded
from ...page import Option, Switch

TESTS = {
    "held-out": "sentences whose translations were not fitted on",
    "all": "all sentences, most of whose translations were fitted on",
}
SETS = {
    "all": "all neurons",
    "alternate": "every second layer",
    "top": "upper half of the layers",
    "bottom": "lower half of the layers",
    "embedding": "embedding only",
    "above-embedding": "all but the embedding",
}
AXES = ("model", "source", "task")


class TransferView:
    """Models, languages of training, tasks, languages and sets of neurons, and scores as arrays."""

    def __init__(self, dataset: xr.Dataset):
        needed = ("accuracy", "mean_accuracy", "width")
        missing = [name for name in needed if name not in dataset]
        if missing or "language" not in dataset.dims:
            raise LmkinError(
                "A report of transfer shows what lmkin.cross_lingual gives. This Dataset has the variables "
                f"{', '.join(map(str, dataset)) or 'none'}."
            )
        self.dataset = dataset
        self.names = {
            axis: plain_names([str(v) for v in dataset[axis].values])
            for axis in (*AXES, "language", "neurons", "test")
        }
        self.families = (
            plain_names([str(v) for v in dataset["family"].values])
            if "family_accuracy" in dataset
            else []
        )
        self.keys = {axis: slugs(self.names[axis]) for axis in AXES}
        self.kinds = [str(v) for v in dataset["kind"].values]
        self.tests = [str(t) for t in TESTS if t in dataset["test"].values]

    @property
    def level(self) -> str:
        """The level of the intervals, as a percentage; empty where there are none."""
        if "accuracy_low" not in self.dataset:
            return ""
        return f"{100 * float(self.dataset.attrs.get('level', 0.95)):g}%"

    @property
    def cuts(self) -> list[int]:
        """The places of all neurons, and of the thresholds."""
        return [k for k, kind in enumerate(self.kinds) if kind != "layers"]

    def set_name(self, place: int) -> str:
        """A set of neurons, in words."""
        label = self.names["neurons"][place]
        return (
            f"clusters at {label}" if self.kinds[place] == "threshold" else SETS.get(label, label)
        )

    def runs(self, by: Sequence[str] = AXES) -> list[tuple[str, dict[str, int]]]:
        """The key and the places of each model, language of training and task (or of some of these)."""
        places = itertools.product(*(range(len(self.names[axis])) for axis in by))
        return [
            (
                "~".join(self.keys[axis][k] for axis, k in zip(by, mine, strict=True)),
                dict(zip(by, mine, strict=True)),
            )
            for mine in places
        ]

    def values(self, name: str, *axes: str, **places: int) -> FloatArray | None:
        """A variable over some axes, at places of the others; None where it is not there."""
        if name not in self.dataset:
            return None
        values = self.dataset.variables[
            name
        ]  # no labels of axes: it is asked for hundreds of times
        values = values.isel({axis: k for axis, k in places.items() if axis in values.dims})
        return np.asarray(values.transpose(*axes).values, np.float64)

    def only(self, **places: int) -> TransferView:
        """The same with one model, language of training or task."""
        return TransferView(self.dataset.isel({axis: [k] for axis, k in places.items()}))

    def put(
        self,
        rows: Sequence[dict[str, Any]],
        name: str,
        over: Sequence[str],
        by: Sequence[str] = AXES,
        **places: int,
    ) -> None:
        """Put a variable over some axes into rows that stand for them, in a column for each run and test."""
        for key, mine in self.runs(by):
            for test in self.tests:
                for ending in ("", *ERRORS):
                    at = {**mine, **places, "test": self.names["test"].index(test)}
                    found = self.values(name + ending, *over, **at)
                    if found is None:
                        continue
                    for row, value in zip(rows, found.ravel(), strict=True):
                        row[column(key, test, ending)] = rounded(float(value))


def run_signals(view: TransferView, by: Sequence[str] = AXES) -> dict[str, Any]:
    """The signals that choose a run, and the column of the data that they lead to."""
    chosen: dict[str, Any] = {axis: view.keys[axis][0] for axis in by}
    measure = " + '~' + ".join(by)
    return chosen | {
        "test": view.tests[0],
        "measure": alt.expr(measure),
        "scaling": alt.expr("test"),
    }


def run_title(
    view: TransferView,
    text: str,
    by: Sequence[str] = AXES,
    *,
    test: bool = True,
    more: Sequence[Broken] = (),
) -> alt.TitleParams:
    """A title, and under it what is chosen; ``more`` of it comes first."""
    below = list(more)
    words = {"model": "{}", "source": "fitted on {}", "task": "{}"}
    names = {axis: [words[axis].format(name) for name in view.names[axis]] for axis in by}
    alone = [mine[0] for mine in names.values() if len(mine) == 1]
    if alone:
        below.append(said(", ".join(alone)))
    below += [
        signal_text(dict(zip(view.keys[axis], mine, strict=True)), axis)
        for axis, mine in names.items()
        if len(mine) > 1
    ]
    if test:
        below.append(signal_text({t: TESTS[t] for t in view.tests}, "test"))
    return heading(text, *below)


def run_switches(
    view: TransferView, by: Sequence[str] = AXES, *, test: bool = True
) -> list[Switch]:
    """Switches between models, languages of training, tasks and tests, where there are several."""
    words = {"model": "Model:", "source": "Fitted on:", "task": "Task:"}
    switches = [
        Switch(
            axis,
            words[axis],
            [Option(*o) for o in zip(view.keys[axis], view.names[axis], strict=True)],
        )
        for axis in by
        if len(view.names[axis]) > 1
    ]
    if test:
        switches.append(
            Switch("test", "Tested on:", [Option(t, t, TESTS[t] + ".") for t in view.tests])
        )
    return switches
