"""Coordinate descent on quadratic models of a loss: what a step of the solver costs no pass over the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core import compiled

Array = NDArray[Any]


@dataclass(frozen=True)
class Curvature:
    """Second moments of neurons for every output: a part that all outputs share, and factors of its own.

    ``shared`` is neurons × neurons of one block, and 0 elsewhere: of neuron j, those from ``first[j]`` up to
    ``last[j]``, from the first column on. ``factors`` is outputs × neurons × rows: of output c the second moments are
    the shared ones and A Aᵀ, A its factors.
    """

    shared: Array
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    factors: Array

    @classmethod
    def of_blocks(
        cls, blocks: Sequence[tuple[slice, Array]], share: float, factors: Array
    ) -> Curvature:
        """Of second moments by blocks of neurons, which count with a share."""
        d = factors.shape[1]
        if sum(len(moments) for _, moments in blocks) != d:
            raise ValueError("Second moments by blocks are of all neurons.")
        first, last = np.empty(d, np.int64), np.empty(d, np.int64)
        for here, _ in blocks:
            first[here], last[here] = here.start, here.stop
        if len(blocks) == 1 and share == 1:
            return cls(np.ascontiguousarray(blocks[0][1]), first, last, factors)
        widest = max(len(moments) for _, moments in blocks)
        shared = np.zeros((d, widest), blocks[0][1].dtype)
        for here, moments in blocks:
            np.multiply(moments, share, out=shared[here, : len(moments)])
        return cls(shared, first, last, factors)

    def times(self, moved: Array) -> Array:
        """The second moments of every output times its column, neurons × outputs."""
        V = np.ascontiguousarray(moved.T, self.shared.dtype)
        if self.factors.shape[2]:
            inner = np.matmul(V[:, None, :], self.factors)
            pulled = np.matmul(self.factors, inner.transpose(0, 2, 1))[:, :, 0]
        else:
            pulled = np.zeros_like(V)
        for low in np.unique(self.first):
            here = slice(low, self.last[low])
            pulled[:, here] += V[:, here] @ self.shared[here, : here.stop - low]
        return np.asarray(pulled.T)


def minimize_model(
    curvature: Curvature, sizes: Array, gradient: Array, W: Array, name: str, l1: float, l2: float,
    *, sweeps: int, tolerance: float,
) -> Array:  # fmt: skip
    r"""The weights V, outputs × neurons, that minimize a quadratic model of the loss, and the penalty.

    .. math:: \langle g, V - W \rangle + \tfrac12 \sum_c a_c \, (v_c - w_c)^\top G_c \, (v_c - w_c)
              + \lambda_1 \Omega(V) + \lambda_2 \|V\|^2

    with :math:`G_c` the second moments of an output and :math:`a_c` its size. Cyclic coordinate descent, by
    single weights or by whole neurons as the penalty (``name``) says; between two sweeps over all neurons there are
    sweeps over those that are not 0. It ends when no weight would change the gradient by more than ``tolerance``.
    """
    kind = curvature.shared.dtype.type
    V, R = W.astype(kind), gradient.astype(kind)  # copies: both are changed
    sweep = _single if name == "elementwise" else _whole
    sweep(
        curvature.shared, curvature.first, curvature.last, curvature.factors, np.asarray(sizes, kind), R, V,
        kind(l1), kind(2 * l2), int(sweeps), kind(tolerance),
    )  # fmt: skip
    return V


@compiled
def _single(
    G: Array, first: Array, last: Array, A: Array, a: Array, R: Array, V: Array,
    l1: float, ridge: float, sweeps: int, tolerance: float,
) -> int:  # fmt: skip
    """Soft thresholding of one weight after the other.

    R is the gradient of the smooth part without λ₂ and without what changes do to it through the factors, kept; U are
    changes times factors. An output whose weights come to rest is left alone from then on.
    """
    outputs, d = V.shape
    m = A.shape[2]
    H, U, by = np.empty_like(V), np.zeros((outputs, m), V.dtype), np.empty_like(a)
    for c in range(outputs):
        for j in range(d):
            H[c, j] = G[j, j - first[j]]
            for k in range(m):
                H[c, j] += A[c, j, k] * A[c, j, k]
            H[c, j] *= a[c]
    worst = np.empty_like(a)
    whole, rest = np.ones(outputs, np.bool_), np.zeros(outputs, np.bool_)
    for count in range(sweeps):
        worst[:] = 0
        for j in range(d):
            low = first[j]
            for c in range(outputs):
                old = V[c, j]
                if rest[c] or (old == 0 and not whole[c]):
                    continue
                h = H[c, j]
                by[c] = R[c, j]
                for k in range(m):
                    by[c] += A[c, j, k] * U[c, k]
                pull = h * old - by[c]
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
                    worst[c] = max(worst[c], abs(change) * (h + ridge))
                    by[c] = a[c] * change  # in an array: its type is that of the rows
                    for k in range(last[j] - low):
                        R[c, low + k] += by[c] * G[j, k]
                    for k in range(m):
                        U[c, k] += by[c] * A[c, j, k]
        moving = False
        for c in range(outputs):
            small = worst[c] <= tolerance
            rest[c] = rest[c] or (small and whole[c])
            whole[c] = small
            moving = moving or not rest[c]
        if not moving:
            return count + 1
    return sweeps


@compiled
def _whole(
    G: Array, first: Array, last: Array, A: Array, a: Array, R: Array, V: Array,
    l1: float, ridge: float, sweeps: int, tolerance: float,
) -> int:  # fmt: skip
    r"""One neuron after the other: :math:`v_c = u_c t / (q_c t + \lambda_1)`, t its length.

    The length is the root of :math:`\sum_c u_c^2 / (q_c t + \lambda_1)^2 = 1`, a convex falling function: Newton's
    method from the left never goes past it.
    """
    outputs, d = V.shape
    m = A.shape[2]
    H, U = np.empty_like(V), np.zeros((outputs, m), V.dtype)
    for c in range(outputs):
        for j in range(d):
            H[c, j] = G[j, j - first[j]]
            for k in range(m):
                H[c, j] += A[c, j, k] * A[c, j, k]
            H[c, j] *= a[c]
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
                by[c] = R[c, j]
                for k in range(m):
                    by[c] += A[c, j, k] * U[c, k]
                u[c] = H[c, j] * V[c, j] - by[c]
                q[c] = H[c, j] + ridge
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
                    for k in range(last[j] - first[j]):
                        R[c, first[j] + k] += by[c] * G[j, k]
                    for k in range(m):
                        U[c, k] += by[c] * A[c, j, k]
        if worst <= tolerance:
            if whole:
                return count + 1
            whole = True
        else:
            whole = False
    return sweeps
