"""Coordinate descent on quadratic models of a loss: what a step of the solver costs no pass over the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core import compiled

Array = NDArray[Any]


def minimize_model(
    G: Array, curvatures: Array, gradient: Array, W: Array, name: str, l1: float, l2: float,
    *, sweeps: int, tolerance: float,
) -> Array:  # fmt: skip
    r"""The weights V, outputs × neurons, that minimize a quadratic model of the loss, and the penalty.

    .. math:: \langle g, V - W \rangle + \tfrac12 \sum_c a_c \, (v_c - w_c)^\top G \, (v_c - w_c)
              + \lambda_1 \Omega(V) + \lambda_2 \|V\|^2

    with G the second moments of the neurons and :math:`a_c` the curvature of an output. Cyclic coordinate descent, by
    single weights or by whole neurons as the penalty (``name``) says; between two sweeps over all neurons there are
    sweeps over those that are not 0. It ends when no weight would change the gradient by more than ``tolerance``.
    """
    kind = G.dtype.type
    V, R = W.astype(kind), gradient.astype(kind)  # copies: both are changed
    sweep = _single if name == "elementwise" else _whole
    sweep(
        G, np.asarray(curvatures, kind), R, V, kind(l1), kind(2 * l2), int(sweeps), kind(tolerance)
    )  # fmt: skip
    return V


@compiled
def _single(
    G: Array, a: Array, R: Array, V: Array, l1: float, ridge: float, sweeps: int, tolerance: float
) -> int:
    """Soft thresholding of one weight after the other; R is the gradient of the smooth part without λ₂, kept."""
    outputs, d = V.shape
    by = np.empty_like(a)
    whole = True
    for count in range(sweeps):
        worst = 0.0
        for j in range(d):
            square = G[j, j]
            for c in range(outputs):
                old = V[c, j]
                if old == 0 and not whole:
                    continue
                h = a[c] * square
                pull = h * old - R[c, j]
                new = old
                if pull > l1:
                    new = (pull - l1) / (h + ridge)
                elif pull < -l1:
                    new = (pull + l1) / (h + ridge)
                else:
                    new = 0 * old
                change = new - old
                if change != 0:
                    V[c, j] = new
                    worst = max(worst, abs(change) * (h + ridge))
                    by[c] = a[c] * change  # in an array: its type is that of the rows
                    for k in range(d):
                        R[c, k] += by[c] * G[j, k]
        if worst <= tolerance:
            if whole:
                return count + 1
            whole = True
        else:
            whole = False
    return sweeps


@compiled
def _whole(
    G: Array, a: Array, R: Array, V: Array, l1: float, ridge: float, sweeps: int, tolerance: float
) -> int:
    r"""One neuron after the other: :math:`v_c = u_c t / (q_c t + \lambda_1)`, t its length.

    The length is the root of :math:`\sum_c u_c^2 / (q_c t + \lambda_1)^2 = 1`, a convex falling function: Newton's
    method from the left never goes past it.
    """
    outputs, d = V.shape
    u, q, by = np.empty_like(a), np.empty_like(a), np.empty_like(a)
    whole = True
    for count in range(sweeps):
        worst = 0.0
        for j in range(d):
            some = False
            for c in range(outputs):
                some = some or V[c, j] != 0
            if not whole and not some:
                continue
            length, steepest = 0.0, 0.0
            for c in range(outputs):
                u[c] = a[c] * G[j, j] * V[c, j] - R[c, j]
                q[c] = a[c] * G[j, j] + ridge
                length += u[c] * u[c]
                steepest = max(steepest, q[c])
            length = np.sqrt(length)
            t = 0.0
            if length > l1:
                t = (length - l1) / steepest
                for _ in range(50):
                    beyond, slope = -1.0, 0.0
                    for c in range(outputs):
                        share = u[c] / (q[c] * t + l1)
                        beyond += share * share
                        slope += share * share * q[c] / (q[c] * t + l1)
                    step = beyond / (2 * slope)
                    t += step
                    if step <= 1e-6 * t:
                        break
            for c in range(outputs):
                new = u[c] * t / (q[c] * t + l1) if t > 0 else 0 * u[c]
                change = new - V[c, j]
                if change != 0:
                    V[c, j] = new
                    worst = max(worst, abs(change) * q[c])
                    by[c] = a[c] * change  # in an array: its type is that of the rows
                    for k in range(d):
                        R[c, k] += by[c] * G[j, k]
        if worst <= tolerance:
            if whole:
                return count + 1
            whole = True
        else:
            whole = False
    return sweeps
