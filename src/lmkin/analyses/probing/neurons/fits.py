"""`NeuronFits`: probes of some of the neurons of a task, each begun at another one, and what they score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core import to_numpy
from ....estimators import (
    Design,
    Fit,
    HeldOut,
    Loss,
    Penalized,
    PenaltyName,
    blocks_of_rows,
    make_penalty,
    moved_fit,
    rate,
    scores_of,
    solve,
)
from ..fits import loss_of
from ..probe_rows import ProbeRows
from ..scored import Scored
from ..scores import OF_CLASSES, score_classes, score_numbers

Array = NDArray[Any]
IntArray = NDArray[np.int64]


_LOOSE = 0.05
"""Largest violation of the KKT conditions, in units of λ₁."""


@dataclass(frozen=True)
class FitSettings:
    """How probes of some neurons are fitted: as the probe of all of them."""

    penalty: PenaltyName = "elementwise"
    l1: float | None = None
    """None: chosen on dev, for each set of neurons."""
    l2: float | None = None
    standardize: bool = True
    kkt: float = 0.01

    @classmethod
    def of(cls, options: Mapping[str, Any], l1: float | None) -> FitSettings:
        """As the options of a run say, as plain data."""
        return cls(
            options.get("penalty", "elementwise"), l1, options.get("l2"),
            bool(options.get("standardize", True)), float(options.get("kkt", 0.01)),
        )  # fmt: skip

    def loose(self) -> FitSettings:
        """The same for many fits whose scores are compared, not their weights."""
        return replace(self, kkt=max(self.kkt, _LOOSE))

    def penalized(self) -> Penalized:
        """What is minimized beside the loss."""
        return Penalized(self.penalty, self.l2, tolerance=self.kkt)


class SomeColumns:
    """Some columns of a matrix, taken out block by block where they are read."""

    ndim = 2

    def __init__(self, X: Any, columns: IntArray):
        self.X, self.columns = X, columns
        self.shape = (int(X.shape[0]), len(columns))
        self.dtype = X.dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Array:
        rows, rest = key if isinstance(key, tuple) else (key, slice(None))
        return np.take(to_numpy(self.X[rows, :]), self.columns[rest], axis=-1)

    def copied(self) -> Array:
        """In memory."""
        found = np.empty(self.shape, self.dtype)
        for here, block in blocks_of_rows(self, self.dtype):
            found[here] = block
        return found

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return self[:].astype(dtype or self.dtype)


@dataclass(frozen=True)
class NeuronFit:
    """A probe of some neurons: weights for standardized neurons, and for neurons as they are."""

    columns: IntArray
    W: Array
    b: Array
    weights: Array
    intercepts: Array
    l1: float


class NeuronFits:
    """Fits of any neurons on the same rows. ``count`` says how many there were."""

    def __init__(self, rows: ProbeRows, settings: FitSettings):
        self.rows = rows
        self.settings = settings
        self.X = {name: rows.read(name) for name in rows.splits}
        self.target = rows.target
        self.classes = rows.classes
        self.d = int(self.X["train"].shape[1])
        self.count = 0
        self._largest: dict[str, Array] = {}
        self._designs: dict[bool, Design] = {}

    def loss(self, split: str) -> Loss:
        """Of the rows of a split whose labels train has."""
        y = self.target[split]
        return loss_of(y[y >= 0] if self.classes else y, self.classes)

    def design(self, columns: IntArray | None = None, *, standardize: bool | None = None) -> Design:
        """The rows of train; means, deviations and second moments of all neurons are taken once for all who ask."""
        own = self.settings.standardize if standardize is None else standardize
        if own not in self._designs:
            self._designs[own] = Design(self.X["train"], standardize=own, room=self.rows.room)
        design = self._designs[own]
        if columns is None or (len(columns) == self.d and (columns == np.arange(self.d)).all()):
            return design
        design.take_moments()
        return design.part(columns)

    def _columns(self, split: str, columns: IntArray | None) -> Any:
        X = self.X[split]
        if columns is None:
            return X
        some = SomeColumns(X, columns)
        if isinstance(X, np.ndarray):  # with the working set, no more than half of all rows
            copies = 3 * len(columns) <= X.shape[1]
        else:  # a pass would read all columns from disk for the sake of a few
            copies = self.rows.room is None or 8 * len(columns) * X.shape[0] <= self.rows.room
        return some.copied() if copies else some

    def largest(self, columns: IntArray, settings: FitSettings) -> float:
        """The λ₁ from which on all weights of these neurons are 0."""
        key = f"{settings.penalty}/{settings.standardize}"
        if key not in self._largest:
            design = self.design(standardize=settings.standardize)
            loss = self.loss("train")
            W, b = np.zeros((design.d, loss.outputs)), loss.start()
            G = gradient_at(design, loss, W, b, 0.0)
            self._largest[key] = make_penalty(settings.penalty, 0.0, 0.0).sizes(G)
        return float(self._largest[key][columns].max(initial=0.0))

    def fit(
        self,
        columns: IntArray,
        start: NeuronFit | None = None,
        settings: FitSettings | None = None,
    ) -> NeuronFit:
        """The probe of some neurons; with ``start`` it is begun at the weights of a probe that shares some."""
        how = self.settings if settings is None else settings
        design = self.design(columns, standardize=how.standardize)
        loss, what = self.loss("train"), how.penalized()
        self.count += 1
        if how.l1 is None:
            y = self.target["dev"]
            known = y >= 0 if self.classes else np.ones(len(y), bool)
            X = self._columns("dev", columns)
            held = HeldOut(X, self.loss("dev"), known, lambda scores: rate(scores, y))
            fit, _ = what.fit_on_dev(design, loss, held)
        elif start is None:
            fit = what.fit_at(design, loss, how.l1)
        else:
            fit = self._from(design, loss, columns, start, how)
        V, b = design.unscaled(fit.W, fit.b)
        return NeuronFit(columns, fit.W, fit.b, V, b, fit.l1)

    def _from(
        self, design: Design, loss: Loss, columns: IntArray, start: NeuronFit, how: FitSettings
    ) -> Fit:
        """The fit from the weights of another one on; neurons that it had not begin at 0."""
        assert how.l1 is not None
        place = np.full(self.d, -1)
        place[start.columns] = np.arange(len(start.columns))
        mine = place[columns]
        W = np.where(mine[:, None] >= 0, start.W[mine], 0.0)
        penalty = make_penalty(
            how.penalty, how.l1, loss.default_l2(how.l1) if how.l2 is None else how.l2
        )
        largest = self.largest(columns, how)
        unknown = np.zeros_like(W)
        begun = Fit(W, start.b, how.l1, penalty.l2, np.inf, np.inf, largest, 0, 0.0, unknown)
        begun = moved_fit(design, loss, penalty, begun, largest)
        what = how.penalized()
        return solve(
            design, loss, penalty, begun, tolerance=what.tolerance, iterations=what.iterations
        )

    # -- scores -------------------------------------------------------------------------------------

    def predict(self, fit: NeuronFit, split: str) -> Array:
        """Numbers of classes, or scores."""
        return predicted(
            scores_of(self._columns(split, fit.columns), fit.weights, fit.intercepts), self.classes
        )

    def linear(self, split: str, weights: Array, intercepts: Array) -> Array:
        """X W + b of all neurons."""
        return scores_of(self.X[split], weights, intercepts)

    def means(self) -> Array:
        """Of every neuron over the rows of train."""
        return self.design().mean

    def scored(self, predictions: Array, split: str, *, intervals: bool = True) -> Scored:
        """Scores of predictions, with intervals where the parts of the rows are known."""
        true = self.target[split]
        part = None if self.rows.part is None or not intervals else self.rows.part.get(split)
        part = None if part is None or not len(part) else np.unique(part, return_inverse=True)[1]
        if self.classes:
            return score_classes(true, predictions, self.classes, part, self.rows.level)
        return score_numbers(true, predictions, part, self.rows.level)

    def score(self, fit: NeuronFit, split: str = "dev") -> float:
        """Accuracy, or Pearson's correlation."""
        return main_value(self.scored(self.predict(fit, split), split, intervals=False))


def predicted(scores: Array, classes: int) -> Array:
    """Numbers of classes, or scores."""
    return np.asarray(scores.argmax(1) if classes else scores[:, 0])


def main_value(scored: Scored) -> float:
    """What a task is judged by: accuracy, or Pearson's correlation. Both come first."""
    assert OF_CLASSES[0] == "accuracy"
    return float(scored.value[0])


def gradient_at(design: Design, loss: Loss, W: Array, b: Array, l2: float) -> Array:
    """Of the loss and λ₂‖W‖², by the weights."""
    residuals = loss.subtract_target(loss.expected(design.scores(W, b)))
    return np.asarray(design.gradient(residuals) + 2 * l2 * W)
