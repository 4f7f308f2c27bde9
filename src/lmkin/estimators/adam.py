"""Adam on mini-batches (Kingma & Ba 2015): how the papers fit probes. It ends near the minimum, not at it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ..core import LmkinError, did_you_mean, stop_if_interrupted
from .certificate import Fit, Point, smooth_gradient, worst
from .design import Design
from .losses import Loss
from .penalties import Penalty, make_penalty
from .solver import empty_fit

Array = NDArray[Any]
Solver = Literal["exact", "adam"]
Convention = Literal["paper", "released"]
PAPER = 1e-5
"""λ₁ and λ₂ of the papers."""
_DECAY = (0.9, 0.999)
_EPS = 1e-8


def check_solver(solver: str, convention: str) -> None:
    """Raise if there is no such solver or convention, or if they do not go together."""
    for what, name, names in (
        ("solver", solver, get_args(Solver)),
        ("convention", convention, get_args(Convention)),
    ):
        if name not in names:
            raise LmkinError(f"Unknown {what} {name!r}. {did_you_mean(str(name), names)}")
    if convention == "released" and solver != "adam":
        raise LmkinError(
            "convention='released' is of solver='adam': the exact solver has no order of rows. Give both."
        )


def adam_penalty(name: str, l1: float | None, l2: float | None, convention: str) -> Penalty:
    """The penalty of the papers where none is given; as released, with ‖W‖ in place of its square."""
    l1 = PAPER if l1 is None else l1
    return make_penalty(name, l1, l1 if l2 is None else l2, squared=convention != "released")


@dataclass(frozen=True)
class Epochs:
    """How often rows are seen, in which order, and how long the steps are."""

    count: int = 10
    batch: int = 128
    rate: float = 1e-3
    shuffled: bool = True

    def batches(self, n: int, random: np.random.Generator) -> Iterator[NDArray[np.int64]]:
        """Numbers of the rows of one batch after the other."""
        for _ in range(self.count):
            order = random.permutation(n) if self.shuffled else np.arange(n)
            for low in range(0, n, self.batch):
                yield order[low : low + self.batch]


@dataclass
class _Moved:
    """Some numbers, and the running means of their gradient and of its square."""

    value: Array
    mean: Array = field(init=False)
    square: Array = field(init=False)

    def __post_init__(self) -> None:
        self.mean, self.square = np.zeros_like(self.value), np.zeros_like(self.value)

    def step(self, gradient: Array, rate: float, count: int) -> None:
        r""":math:`x \mathrel{-}= \eta \, \hat m / (\sqrt{\hat v} + \epsilon)`, means corrected for their start at 0."""
        one, two = _DECAY
        self.mean += (1 - one) * (gradient - self.mean)
        self.square += (1 - two) * (gradient * gradient - self.square)
        spread = np.sqrt(self.square / (1 - two**count))
        self.value -= rate / (1 - one**count) * self.mean / (spread + _EPS)


def fit_by_adam(
    design: Design, loss: Loss, penalty: Penalty, *, seed: int = 0, epochs: Epochs | None = None
) -> Fit:
    r"""The weights after some epochs, with the objective and the largest violation of the KKT conditions there.

    Weights and intercepts begin between :math:`\pm 1/\sqrt d`, as in torch. One generator gives weights, intercepts and
    then the order of the rows for each epoch, so that a seed decides everything. Ω enters by a subgradient: hardly any
    weight comes to be exactly 0.
    """
    random, epochs = np.random.default_rng(seed), epochs or Epochs()
    bound = 1 / math.sqrt(design.d)
    weights = _Moved(random.uniform(-bound, bound, (design.d, loss.outputs)).astype(design.dtype))
    intercepts = _Moved(random.uniform(-bound, bound, loss.outputs).astype(design.dtype))
    W, b, count = weights.value, intercepts.value, 0
    for count, rows in enumerate(epochs.batches(design.n, random), start=1):
        if count % 64 == 0:
            stop_if_interrupted()
        Z, here = design.some_rows(rows), loss.some(rows)
        R = here.subtract_target(here.expected(Z @ W + b)).astype(design.dtype, copy=False)
        G = Z.T @ R / len(rows) + penalty.l1 * penalty.direction(W) + penalty.pull(W)
        weights.step(G, epochs.rate, count)
        intercepts.step(R.mean(0), epochs.rate, count)
    design.passes += epochs.count
    return _judged(design, loss, penalty, W.astype(np.float64), b.astype(np.float64), count, epochs)


def _judged(
    design: Design, loss: Loss, penalty: Penalty, W: Array, b: Array, steps: int, epochs: Epochs
) -> Fit:
    """The fit with its certificate, which is what it is: nothing here aims at it."""
    largest = empty_fit(design, loss, penalty).largest
    point = Point(W, b, design.scores(W, b))
    G, gb, _ = smooth_gradient(design, loss, penalty, point)
    objective = loss.mean(point.scores) + penalty.value(W)
    return Fit(
        W, b, penalty.l1, penalty.l2, objective, worst(penalty, W, G, gb), largest, steps,
        float(epochs.count), G,
    )  # fmt: skip
