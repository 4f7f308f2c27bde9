"""Probing as an analysis runs it: fits of every model, task and set of layers, each kept when it is finished."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...analysis import Running, Source
from ...core import budget, fingerprint, key_of, progress_bar
from ...estimators import Design, for_each_design
from ...rows import Workspace, parts_of_units
from .baselines import control_task, unseen_words, words_of
from .fits import FittedProbe, code_length, design_of, fit_probe, load_bits, save_bits
from .layer_sets import LayerSet, layer_sets
from .model_rows import AllRows, ModelRows, open_rows, some_layers
from .neurons.study import NeuronStudies, NeuronStudy, open_in_run, rows_of_task
from .options import ProbeOptions
from .plan import bytes_of_fits, bytes_of_scores, require_room
from .probe_rows import ProbeRows
from .scored import Scored
from .scores import score_classes, score_numbers
from .splits import SPLITS
from .tasks import Task, read_tasks

IntArray = NDArray[np.int64]
_OF_FITS = (
    "penalty", "l1", "l2", "standardize", "kkt", "solver", "convention", "subtypes", "train_limit", "label",
)  # fmt: skip
"""Options that a fit depends on."""


@dataclass
class SetScores:
    """What one set of layers of one model says of one task."""

    layers: LayerSet
    fitted: FittedProbe
    scored: dict[str, Scored]
    unseen: dict[str, Scored] = field(default_factory=dict)
    """Of the rows whose word train has not."""
    control: dict[str, Scored] = field(default_factory=dict)
    bits: float | None = None
    """Of the online code of train's labels."""


@dataclass
class TaskRun:
    """All sets of layers of one model, on one task."""

    model: str
    task: Task
    sets: list[SetScores]
    rows: ProbeRows
    neurons: NeuronStudy


@dataclass
class ProbingRun:
    """Everything that was fitted, and the rows it was fitted on."""

    rows: AllRows
    tasks: list[Task]
    parts: dict[str, IntArray]
    made_of: str
    runs: list[TaskRun]


def fit_everything(
    source: Source, options: ProbeOptions, running: Running, work: Workspace
) -> ProbingRun:
    """Open the rows, read the tasks, and fit."""
    rows = open_rows(source, running, work)
    tasks = read_tasks(rows.units, options)
    parts, made_of = {}, ""
    for name, units in rows.units.items():
        parts[name], made_of = parts_of_units(units, options.blocks)
    counts = [len(layer_sets(options.sets(), len(m.layers))) for m in rows.models]
    each = (1 + (options.control and _has_words(rows)) + options.code_length) * len(tasks)
    work.describe(steps=_steps(rows, tasks, options))
    runs = []
    studies = NeuronStudies(options, running)
    total = sum(counts) * each + len(counts) * len(tasks)
    with progress_bar("probes", total, "fits", show=running.progress) as advance:
        for model in rows.models:
            for task in tasks:
                here = _TaskOfModel(rows, model, task, options, running, parts, work)
                sets = here.run(advance)
                known = here.rows()
                study = studies.study(open_in_run(known, here.X), model, task, sets, here.work)
                runs.append(TaskRun(model.name, task, sets, known, study))
                advance(1)
    return ProbingRun(rows, tasks, parts, made_of, runs)


def _steps(rows: AllRows, tasks: Sequence[Task], options: ProbeOptions) -> dict[str, int]:
    """How many fits there are to be, by name: sets of the same layers share one."""
    spans = sum(
        len({layers.span for layers in layer_sets(options.sets(), len(m.layers))})
        for m in rows.models
    )
    classifying = spans * sum(task.classifies for task in tasks)
    steps = {
        "probe": spans * len(tasks),
        "control": classifying * (options.control and _has_words(rows)),
        "code": classifying * options.code_length,
    }
    return {name: count for name, count in steps.items() if count}


def _has_words(rows: AllRows) -> bool:
    return rows.units["train"].kind in ("word", "token")


class _TaskOfModel:
    """One task on one model: its rows are there once, for all sets of layers."""

    def __init__(
        self,
        rows: AllRows,
        model: ModelRows,
        task: Task,
        options: ProbeOptions,
        running: Running,
        parts: Mapping[str, IntArray],
        work: Workspace,
    ):
        self.model, self.task, self.options, self.seed = model, task, options, running.seed
        n, width = sum(len(mine) for mine in task.rows.values()), sum(model.widths)
        classes = max(1, len(task.classes))
        require_room(n, classes, running)
        room = budget(running.memory)
        resident = bytes_of_fits(n, width, classes) <= room.left
        self.X = {name: model.matrix(name, task.rows[name], resident=resident) for name in SPLITS}
        self.room = None if resident else max(0, room.left - bytes_of_scores(n, classes))
        self.part = {
            name: parts[name][task.rows[name]] if options.intervals else None for name in SPLITS
        }
        self.owner = rows.units["train"].sentence[task.rows["train"]].astype(np.int64)
        self.words = words_of(rows.units, task) if _has_words(rows) else None
        self._counting = Lock()
        self.work = work.within(
            activations={n: [a.manifest["key"], a.units.hash] for n, a in model.by_split.items()},
            layers=list(model.layers),
            rows={name: fingerprint(mine) for name, mine in task.rows.items()},
            labels={name: fingerprint(y) for name, y in task.target.items()},
            options={k: v for k, v in key_of(options).items() if k in _OF_FITS},
            seed=running.seed,
        )

    def rows(self) -> ProbeRows:
        """The rows of the task, for those who ask later."""
        return rows_of_task(
            self.model, self.task, self.part, self.owner, room=self.room, level=self.options.level
        )

    @cached_property
    def design(self) -> Design:
        """The rows of train: read once for means and deviations, which all sets of layers and both tasks share."""
        return design_of(self.X["train"], self.options, self.room)

    @cached_property
    def control(self) -> Task | None:
        """The control task, if there is to be one."""
        if not self.options.control or self.words is None or not self.task.classifies:
            return None
        return control_task(self.task, self.words, self.seed)

    @cached_property
    def unseen(self) -> dict[str, NDArray[np.bool_]] | None:
        """Rows whose word train has not."""
        return None if self.words is None else unseen_words(self.words)

    def run(self, advance: Callable[[int], None]) -> list[SetScores]:
        """Fit and score every set of layers; sets of the same layers share a probe, narrow ones run side by side."""
        sets = layer_sets(self.options.sets(), len(self.model.layers))
        first = list({layers.span: layers for layers in reversed(sets)}.values())
        known: dict[tuple[int, int], SetScores] = {}
        _ = self.control, self.unseen, self.design  # before there are threads

        def work(k: int) -> None:
            known[first[k].span] = self._scores_of_set(first[k], advance)

        designs = [self._design(layers, self._rows(layers)["train"]) for layers in first]
        for_each_design(designs, work, threads=self.room is None)
        advance((len(sets) - len(first)) * self._fits_of_set)
        return [replace(known[layers.span], layers=layers) for layers in sets]

    @property
    def _fits_of_set(self) -> int:
        return 1 + (self.control is not None) + self.options.code_length

    def _rows(self, layers: LayerSet) -> dict[str, Any]:
        """Of every split, the columns of some layers."""
        return {n: some_layers(x, self.model, layers.first, layers.end) for n, x in self.X.items()}

    def _design(self, layers: LayerSet, X: Any) -> Design:
        """The rows of train of some layers, with what is known of them."""
        return self.design.part(self.model.columns(layers.first, layers.end), X)

    def _scores_of_set(self, layers: LayerSet, advance: Callable[[int], None]) -> SetScores:
        """Fit and score one set of layers."""
        task, control, X = self.task, self.control, self._rows(layers)
        fitted = self._fit(layers, X, task)
        predicted = {name: fitted.predict(x) for name, x in X.items()}
        mine = SetScores(layers, fitted, self._score(predicted, task))
        if self.unseen is not None and task.classifies:
            mine.unseen = self._score(predicted, task, self.unseen)
        if control is not None:
            beside = self._fit(layers, X, control, fitted.l1, "control")
            told = {name: beside.predict(x) for name, x in X.items()}
            mine.control = self._score(told, control)
        if self.options.code_length and task.classifies:
            mine.bits = self._bits(layers, X)
        with self._counting:
            advance(self._fits_of_set)
        return mine

    def _fit(
        self,
        layers: LayerSet,
        X: Mapping[str, Any],
        task: Task,
        l1: float | None = None,
        what: str = "probe",
    ) -> FittedProbe:
        y = task.target
        return self.work.within(span=layers.span, l1=l1).step(
            f"{what}-{layers.first}-{layers.end}",
            lambda: fit_probe(
                self._design(layers, X["train"]), y["train"], (X["dev"], y["dev"]), len(task.classes),
                self.options, l1=l1, seed=self.seed,
            ),
            FittedProbe.save,
            FittedProbe.load,
        )  # fmt: skip

    def _score(
        self,
        predictions: Mapping[str, NDArray[Any]],
        task: Task,
        only: Mapping[str, NDArray[np.bool_]] | None = None,
    ) -> dict[str, Scored]:
        """Scores of each split; ``only``: of these rows."""
        scored = {}
        for name in SPLITS:
            if only is not None and name == "train":
                continue
            true, predicted, part = task.target[name], predictions[name], self.part[name]
            if only is not None:
                mine = only[name]
                true, predicted = true[mine], predicted[mine]
                part = None if part is None else part[mine]
            part = None if part is None or not len(part) else _numbered(part)
            if task.classifies:
                scored[name] = score_classes(
                    true, predicted, len(task.classes), part, self.options.level
                )
            else:
                scored[name] = score_numbers(true, predicted, part, self.options.level)
        return scored

    def _bits(self, layers: LayerSet, X: Mapping[str, Any]) -> float:
        y = self.task.target
        return self.work.within(span=layers.span).step(
            f"code-{layers.first}-{layers.end}",
            lambda: code_length(
                X["train"], y["train"], (X["dev"], y["dev"]), len(self.task.classes),
                self.owner, self.options, self.seed, self.room,
            ),
            save_bits,
            load_bits,
        )  # fmt: skip


def _numbered(part: IntArray) -> IntArray:
    """Parts that have rows, numbered from 0."""
    return np.unique(part, return_inverse=True)[1].reshape(-1)
