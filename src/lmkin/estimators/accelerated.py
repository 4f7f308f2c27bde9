"""Proximal gradient steps in a metric, extrapolated: the inner solver, on as many columns as it is given."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core import stop_if_interrupted
from .certificate import Point, Products, smooth_gradient, worst
from .losses import Loss
from .metrics import Metric
from .penalties import Penalty

Array = NDArray[Any]
_GROW = 0.99
"""What the curvature is multiplied by after each step, so that steps may become longer again."""
_USUAL = 3.0
"""The curvature that a metric of the whole Hessian would never need: it is 2 at most."""
_FALL = 0.8
"""What a curvature above the usual one is multiplied by."""
INNER = 0.1
"""How exactly the model is minimized, in units of the violation that is there."""
_MEMORY = 6
"""Steps that are combined."""
_WORSE = 1e-4
"""By how much, as a share of it, the objective may rise where steps are combined."""
_DRIFT = 10.0
"""How far scores may drift before they are computed anew, where a point is to be the last."""
_MOST = 100.0
"""The same, anywhere."""
_LOOK = 5
"""Steps between two that begin at weights with exact zeros, where the certificate is looked at."""


@dataclass(frozen=True)
class _Step:
    """Where a step of the model led, how far, and the same distance times the metric."""

    to: Point
    moved: Array
    shifted: Array
    pulled: tuple[Array, Array]


def descend(
    columns: Products,
    loss: Loss,
    penalty: Penalty,
    metric: Metric,
    start: Point,
    *,
    known: tuple[Array, Array] | None = None,
    curvature: float,
    tolerance: float,
    iterations: int,
    inner: float = INNER,
) -> tuple[Point, float, int]:
    """From a point to one whose largest violation is below ``tolerance``; the last curvature, and how many iterations.

    Proximal gradient steps in a metric. The step is as long as the loss's own growth along it allows, which is compared
    with the model in a form without cancellation. The next one begins at the combination of the last few at which the
    step would be shortest if it were linear (Anderson 1965; with proximal steps Bertrand & Massias 2021): scores are
    linear, so this needs no pass. Where it would raise the objective, the last step is gone on from. ``known``: the
    gradients at the start; ``inner``: how exactly the model of a step is minimized.
    """
    here, ahead, L = start, start, curvature
    steps: deque[_Step] = deque(maxlen=_MEMORY)
    height, look = np.inf, 0
    for count in range(iterations):
        stop_if_interrupted()
        if known is not None and count == 0:
            (G, gb), expected = known, loss.expected(ahead.scores)
        else:
            G, gb, expected = smooth_gradient(columns, loss, penalty, ahead)
        if ahead is here and worst(penalty, here.W, G, gb) <= tolerance:
            if here.drift <= _DRIFT:
                return here, L, count
            here = ahead = _anew(columns, here)
            G, gb, expected = smooth_gradient(columns, loss, penalty, ahead)
            if worst(penalty, here.W, G, gb) <= tolerance:
                return here, L, count
        violation = metric.distance(penalty, ahead.W, G, gb, L)
        G = G - penalty.pull(ahead.W)  # the model has λ₂ itself
        while True:
            W, b = metric.step(penalty, ahead, G, gb, L, inner * violation)
            moved, shifted = W - ahead.W, b - ahead.b
            change = columns.scores(moved, shifted)
            growth, length = loss.bregman(expected, change), metric.square(moved, shifted)
            if growth <= L / 2 * length * (1 + 1e-4) or L > 1e12 or not length > 0:
                break  # as it should be, or no step at all but for rounding
            # The curvature that this very step would have needed is the best guess for the next.
            L = max(1.1 * L, min(2.1 * growth / length, 4 * L))
        here = ahead = Point(W, b, ahead.scores + change, ahead.drift + 1)
        if here.drift > _MOST:
            here = ahead = _anew(columns, here)
        steps.append(_Step(here, moved, shifted, metric.times(moved, shifted)))
        before, height = height, loss.mean(here.scores) + penalty.value(W)
        L *= _FALL if L > _USUAL else _GROW
        if violation <= tolerance and count >= look:
            look = count + _LOOK  # this may be the end: look from here
        elif len(steps) > 1:
            ahead = _combined(steps)
            if not loss.mean(ahead.scores) + penalty.value(ahead.W) <= before + _WORSE * abs(
                before
            ):
                ahead = here
                steps.clear()
    return _anew(columns, here) if here.drift > _DRIFT else here, L, iterations


def _anew(columns: Products, point: Point) -> Point:
    """A point with scores as its weights give them: those that were carried on drift, in float32 soon too far."""
    return Point(point.W, point.b, columns.scores(point.W, point.b))


def _combined(steps: deque[_Step]) -> Point:
    """The affine combination of the ends of steps whose own steps, combined alike, are shortest in the metric."""
    lengths = np.array(
        [[np.vdot(a.moved, b.pulled[0]) + a.shifted @ b.pulled[1] for b in steps] for a in steps]
    )
    eased = (lengths + lengths.T) / 2 + 1e-8 * np.trace(lengths) * np.eye(len(steps))
    shares = np.linalg.lstsq(eased, np.ones(len(steps)), rcond=None)[0]
    # No numbers of numpy: they would make scores float64.
    by = (shares / shares.sum()).tolist() if shares.sum() else [0.0] * (len(steps) - 1) + [1.0]
    ends = [step.to for step in steps]
    scores = by[0] * ends[0].scores
    for share, end in zip(by[1:], ends[1:], strict=True):
        scores += share * end.scores
    W, b = (
        sum(s * v for s, v in zip(by, vs, strict=True))
        for vs in ([e.W for e in ends], [e.b for e in ends])
    )
    drift = 1 + sum(abs(share) * end.drift for share, end in zip(by, ends, strict=True))
    return Point(np.asarray(W), np.asarray(b), scores, drift)
