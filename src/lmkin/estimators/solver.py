"""The solver: a working set of neurons, which grows until no other neuron violates the KKT conditions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .accelerated import Point, descend, smooth_gradient
from .design import Design
from .losses import Loss
from .penalties import Penalty

Array = NDArray[Any]
_FIRST = 64
"""Neurons of the first working set, at least."""
_MOST = 0.5
"""Share of the neurons from which on all of them are the working set."""
_ROUNDS = 50


@dataclass(frozen=True)
class Fit:
    """Weights of a penalized linear model for standardized neurons, and how near to optimal they are.

    ``residual`` is the largest violation of the KKT conditions over all neurons; ``largest`` the λ₁ from which on all
    weights are 0.
    """

    W: Array
    b: Array
    l1: float
    l2: float
    objective: float
    residual: float
    largest: float
    iterations: int
    passes: float
    gradient: Array
    """Of the smooth part, at the end: where a path goes on from."""

    @property
    def relative(self) -> float:
        """The residual in units of λ₁, or of a hundredth of the largest where λ₁ is smaller than that."""
        return self.residual / unit(self.l1, self.largest)

    @property
    def neurons(self) -> NDArray[np.int64]:
        """Those with a weight that is not 0."""
        return np.flatnonzero((self.W != 0).any(1))


def unit(l1: float, largest: float) -> float:
    """What a violation is measured in."""
    return max(l1, 0.01 * largest) or 1.0


def empty_fit(design: Design, loss: Loss, penalty: Penalty) -> Fit:
    """The fit of intercepts alone: optimal from the λ₁ on that it says is the largest."""
    W, b = np.zeros((design.d, loss.outputs)), loss.start()
    point = Point(W, b, design.scores(W, b))
    G, _, _ = smooth_gradient(design, loss, penalty, point)
    largest = float(penalty.sizes(G).max(initial=0.0))
    cost = loss.mean(point.scores)
    return Fit(W, b, largest, penalty.l2, cost, 0.0, largest, 0, design.passes, G)


def solve(
    design: Design,
    loss: Loss,
    penalty: Penalty,
    start: Fit,
    *,
    tolerance: float = 0.01,
    iterations: int = 2000,
) -> Fit:
    """The fit at a penalty, from another one on, such as the one before on a path.

    ``tolerance``: largest violation of the KKT conditions, in the unit of `Fit.relative`.
    """
    aim = tolerance * unit(penalty.l1, start.largest)
    before, spent = design.passes, 0
    W, b, G = start.W.astype(np.float64), start.b.astype(np.float64), start.gradient
    # Strong rule (Tibshirani et al. 2012): what is far from entering is left out until it is shown to violate.
    likely = penalty.sizes(G) >= max(2 * penalty.l1 - start.l1, 0.999 * penalty.l1)
    wanted = (W != 0).any(1) | likely
    curvature, residual, objective = 1.0, np.inf, np.inf
    for _ in range(_ROUNDS):
        columns = np.flatnonzero(wanted)
        everything = len(columns) > _MOST * design.d or not design.has_room(len(columns))
        if everything:
            wanted[:] = True
            columns = np.arange(design.d)
        part = design if everything else design.block(columns)
        point = Point(W[columns], b, part.scores(W[columns], b), curvature)
        point, count = descend(
            part, loss, penalty, point, tolerance=aim / 2, iterations=iterations - spent
        )
        spent += max(count, 1)
        W = np.zeros_like(W)
        W[columns], b, curvature = point.W, point.b, point.curvature
        whole = Point(W, b, point.scores)
        G, gb, _ = smooth_gradient(design, loss, penalty, whole)
        violations = penalty.violations(W, G)
        residual = max(float(violations.max(initial=0.0)), float(np.abs(gb).max()))
        objective = loss.mean(point.scores) + penalty.value(W)
        new = ~wanted & (violations > aim)
        if not new.any() or spent >= iterations:
            break
        # The worst first, about as many as there are; the rest may lose its reason once they are in.
        order = np.argsort(-np.where(new, violations, -1), kind="stable")
        wanted[order[: min(int(new.sum()), max(_FIRST, len(columns)))]] = True
    return Fit(
        W, b, penalty.l1, penalty.l2, objective, residual, start.largest, spent,
        design.passes - before, G,
    )  # fmt: skip
