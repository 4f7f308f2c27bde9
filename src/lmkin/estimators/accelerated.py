"""Accelerated proximal gradient with restarts: the inner solver, on as many columns as it is given."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..core import stop_if_interrupted
from .losses import Loss
from .penalties import Penalty

Array = NDArray[Any]
_GROW = 0.9
"""What the curvature is multiplied by after each step, so that steps may become longer again."""


class Products(Protocol):
    """Columns of a design, in memory or not."""

    n: int
    d: int

    def scores(self, W: Array, b: Array) -> Array:
        """Z W + b."""

    def gradient(self, residuals: Array) -> Array:
        """Zᵀ R / n."""


@dataclass
class Point:
    """Weights, intercepts and the scores that they give; ``curvature`` is what the last step went by."""

    W: Array
    b: Array
    scores: Array
    curvature: float = 1.0


def smooth_gradient(
    columns: Products, loss: Loss, penalty: Penalty, point: Point
) -> tuple[Array, Array, Array]:
    """Gradients of loss and λ₂‖W‖² by W and by b at a point, and what the scores there predict."""
    expected = loss.expected(point.scores)
    residuals = loss.subtract_target(expected.copy())
    G = columns.gradient(residuals) + 2 * penalty.l2 * point.W
    return G, residuals.sum(0, dtype=np.float64) / columns.n, expected


def worst(penalty: Penalty, W: Array, G: Array, gb: Array) -> float:
    """The largest violation of the KKT conditions, that of the intercepts included."""
    own = penalty.violations(W, G)
    return max(float(own.max(initial=0.0)), float(np.abs(gb).max(initial=0.0)))


def descend(
    columns: Products,
    loss: Loss,
    penalty: Penalty,
    start: Point,
    *,
    tolerance: float,
    iterations: int,
) -> tuple[Point, int]:
    """From a point to one whose largest violation is below ``tolerance``, in so many iterations at most; how many.

    FISTA (Beck & Teboulle 2009) with restarts by the gradient (O'Donoghue & Candès 2015). The step is as long as the
    loss's own growth along it allows, which is compared with the quadratic bound in a form without cancellation.
    """
    here, ahead, momentum = start, start, 1.0
    L = start.curvature
    for count in range(iterations):
        stop_if_interrupted()
        G, gb, expected = smooth_gradient(columns, loss, penalty, ahead)
        if ahead is here and worst(penalty, here.W, G, gb) <= tolerance:
            return here, count
        while True:
            W = penalty.shrink(ahead.W - G / L, penalty.l1 / L)
            b = ahead.b - gb / L
            moved, shifted = W - ahead.W, b - ahead.b
            scores = columns.scores(W, b)
            length = float(np.vdot(moved, moved)) + float(np.vdot(shifted, shifted))
            growth = loss.bregman(expected, scores - ahead.scores)
            growth += penalty.l2 * float(np.vdot(moved, moved))
            if growth <= L / 2 * length * (1 + 1e-4) or L > 1e12:
                break
            # The bound that this very step would have needed is the best guess for the next.
            L = max(1.1 * L, min(2 * growth / length, 4 * L))
        there = Point(W, b, scores, L)
        turn = float(np.vdot(ahead.W - W, W - here.W)) + float(np.vdot(ahead.b - b, b - here.b))
        if turn > 0 or worst(penalty, ahead.W, G, gb) <= tolerance:
            here = ahead = there  # momentum leads uphill, or this may be the end: look from here
            momentum = 1.0
        else:
            onward = (
                1 + math.sqrt(1 + 4 * momentum**2)
            ) / 2  # no numpy number: it would make scores float64
            by = (momentum - 1) / onward
            ahead = Point(
                W + by * (W - here.W), b + by * (b - here.b), scores + by * (scores - here.scores)
            )
            here, momentum = there, onward
        L *= _GROW
    return Point(here.W, here.b, here.scores, L), iterations
