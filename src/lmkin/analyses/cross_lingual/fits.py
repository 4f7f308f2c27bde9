"""Fits on the words of one language, each kept when it is finished."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...analysis import Running
from ...core import LmkinError, budget, fingerprint, key_of
from ...estimators import Design
from ...rows import Workspace
from ..probing import FittedProbe, Task, bytes_of_fits, bytes_of_scores, design_of, fit_probe
from .language_rows import AllLanguages, LanguageRows, SomeColumns
from .options import CrossLingualOptions

IntArray = NDArray[np.int64]
_OF_FITS = ("penalty", "l1", "l2", "standardize", "kkt", "subtypes")
"""Options that a fit depends on."""


class Fits:
    """Fits on the words of one language: its rows are there once, for all tasks and sets of neurons."""

    def __init__(
        self,
        rows: AllLanguages,
        model: LanguageRows,
        language: str,
        options: CrossLingualOptions,
        running: Running,
        work: Workspace,
    ):
        self.options, self.running, self.model = options, running, model
        self.split = dict(zip(("train", "dev"), rows.split(language), strict=True))
        self.n = sum(map(len, self.split.values()))
        acts = model.by_language[language]
        self.room = budget(running.memory)
        self.resident = memory_of_fits(self.n, model.width, 1) <= self.room.left
        self.X: dict[str, Any] = {name: model.matrix(language, r) for name, r in self.split.items()}
        if self.resident:
            self.X = {name: np.asarray(x[:], np.float32) for name, x in self.X.items()}
        self._known: tuple[Any, Design] | None = None
        self.work = work.within(
            activations=[acts.manifest["key"], acts.units.hash],
            layers=list(model.layers),
            rows={name: fingerprint(r) for name, r in self.split.items()},
            options={k: v for k, v in key_of(options).items() if k in _OF_FITS},
            seed=running.seed,
        )

    def fit(self, task: Task, columns: IntArray) -> FittedProbe:
        """The probe of some neurons for a task."""
        classes = len(task.classes)
        require_room(self.n, classes, self.running)
        labels = {name: fingerprint(task.target[name]) for name in ("train", "dev")}
        places = {name: fingerprint(task.rows[name]) for name in ("train", "dev")}
        work = self.work.within(
            task=task.name, labels=labels, places=places, columns=fingerprint(columns)
        )
        return work.step(
            "probe",
            lambda: self._fit(task, columns),
            FittedProbe.save,
            FittedProbe.load,
        )

    def _fit(self, task: Task, columns: IntArray) -> FittedProbe:
        classes, options = len(task.classes), self.options.of_probe(task.name)
        design = self._design(task, classes)
        if len(columns) < design.d:
            design.take_moments()
            design = design.part(columns)
        dev = self._matrix("dev", task, columns), task.target["dev"]
        return fit_probe(design, task.target["train"], dev, classes, options)

    def _design(self, task: Task, classes: int) -> Design:
        """The rows of train with all neurons: fits of the same rows share what is known of them."""
        room = None
        if not self.resident:
            room = max(0, self.room.left - bytes_of_scores(self.n, classes))
        options = self.options.of_probe(task.name)
        place = fingerprint(task.rows["train"]), room, options.standardize, options.solver
        if self._known is None or self._known[0] != place:
            self._known = None  # before the next: there is room for one copy of the rows
            every = np.arange(self.model.width)
            design = design_of(self._matrix("train", task, every), options, room)
            self._known = place, design
        return self._known[1]

    def _matrix(self, split: str, task: Task, columns: IntArray) -> Any:
        X, rows = self.X[split], task.rows[split]
        if not self.resident:
            whole = len(columns) == X.shape[1]
            return X.select(rows) if whole else SomeColumns(X.select(rows), columns)
        if len(rows) < len(X):
            return X[np.ix_(rows, columns)]
        return X if len(columns) == X.shape[1] else np.ascontiguousarray(X[:, columns])


def memory_of_fits(n: int, width: int, classes: int) -> int:
    """What fits take with all rows in memory: a fit of some neurons has a copy of these beside them."""
    return bytes_of_fits(n, width, classes) + 4 * n * width


def require_room(n: int, classes: int, running: Running) -> None:
    """Raise if not even the scores of the rows fit the budget."""
    room, need = budget(running.memory), bytes_of_scores(n, classes)
    if not room.fits(need):
        raise LmkinError(
            f"{room.refusal(need, 'probes')} Take fewer sentences (limit=…), or give more memory."
        )
