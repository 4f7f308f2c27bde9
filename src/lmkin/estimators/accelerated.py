"""Accelerated proximal gradient with restarts: the inner solver, on as many columns as it is given."""

from __future__ import annotations

import math

from ..core import stop_if_interrupted
from .certificate import Point, Products, smooth_gradient, worst
from .losses import Loss
from .metrics import Metric
from .penalties import Penalty

_GROW = 0.95
"""What the curvature is multiplied by after each step, so that steps may become longer again."""
_INNER = 0.1
"""How exactly the model is minimized, in units of the violation that is there."""


def descend(
    columns: Products,
    loss: Loss,
    penalty: Penalty,
    metric: Metric,
    start: Point,
    *,
    curvature: float,
    tolerance: float,
    iterations: int,
) -> tuple[Point, float, int]:
    """From a point to one whose largest violation is below ``tolerance``; the last curvature, and how many iterations.

    FISTA (Beck & Teboulle 2009) in a metric, with restarts by the gradient (O'Donoghue & Candès 2015). The step is as
    long as the loss's own growth along it allows, which is compared with the model in a form without cancellation. The
    model is minimized as far as some sweeps go, so momentum may lead astray: a step that ends higher than the one
    before is not taken, and the next one goes on without it.
    """
    here, ahead, momentum, L = start, start, 1.0, curvature
    height = loss.mean(start.scores) + penalty.value(start.W)
    for count in range(iterations):
        stop_if_interrupted()
        G, gb, expected = smooth_gradient(columns, loss, penalty, ahead)
        if ahead is here and worst(penalty, here.W, G, gb) <= tolerance:
            return here, L, count
        violation = metric.distance(penalty, ahead.W, G, gb, L)
        G -= penalty.pull(ahead.W)  # the model has λ₂ itself
        while True:
            W, b = metric.step(penalty, ahead, G, gb, L, _INNER * violation)
            moved, shifted = W - ahead.W, b - ahead.b
            change = columns.scores(moved, shifted)
            growth, length = loss.bregman(expected, change), metric.square(moved, shifted)
            if growth <= L / 2 * length * (1 + 1e-4) or L > 1e12:
                break
            # The curvature that this very step would have needed is the best guess for the next.
            L = max(1.1 * L, min(2.1 * growth / length, 4 * L))
        there = Point(W, b, ahead.scores + change)
        top = loss.mean(there.scores) + penalty.value(W)
        if momentum > 1 and not top <= height:
            ahead, momentum = here, 1.0
            continue
        height = top
        turn = metric.turn(ahead, there, here)
        if turn > 0 or violation <= tolerance:
            here = ahead = there  # momentum leads uphill, or this may be the end: look from here
            momentum = 1.0
        else:
            onward = (1 + math.sqrt(1 + 4 * momentum**2)) / 2
            by = (momentum - 1) / onward  # no numpy number: it would make scores float64
            ahead = Point(
                W + by * (W - here.W), b + by * (b - here.b), there.scores + by * (there.scores - here.scores)
            )  # fmt: skip
            here, momentum = there, onward
        L *= _GROW
    return here, L, iterations
