"""The metric that steps are measured in: second moments of the neurons, times a curvature for each output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .certificate import Point, Products
from .coordinates import Curvature, minimize_model
from .losses import Loss
from .penalties import Penalty

Array = NDArray[Any]
_SWEEPS = 10
_LEAST = 1e-3
"""The smallest curvature of an output, in units of the largest."""
_SHARED = 0.5
"""Share of the covariance of all rows in that of an output."""


class Metric:
    r"""The quadratic model of a loss around a point, for steps u of the weights and e of the intercepts.

    .. math:: \tfrac{L}{2} \sum_c a_c \left[ u_c^\top G_c \, u_c + (e_c + m_c^\top u_c)^2 \right]

    For classes the Hessian of an output with itself is the second moment of the neurons and of 1, rows weighted by
    :math:`p_{ic} (1 - p_{ic})`. Their mean is :math:`a_c`, the weighted means of the neurons are :math:`m_c`. For the
    weighted covariance, which would cost neurons² × rows for every class, stands :math:`G_c`: one half the covariance
    of all rows, by blocks of neurons, the other half that of a few hundred rows drawn for the class by these weights,
    which is kept as the rows themselves: it knows of classes that lie apart, and of neurons of different blocks.
    Their means are :math:`m_c` then. How much too small or large all of it is, a line search finds (L). It costs no
    pass over the rows to minimize the model, however ill-conditioned the neurons are.
    """

    def __init__(
        self, columns: Products, loss: Loss, scores: Array, blocks: Sequence[tuple[slice, Array]],
        *, drawn: int = 0,
    ):  # fmt: skip
        weights = loss.curvatures(loss.expected(scores))
        mean = weights.mean(0, dtype=np.float64)
        self.curvatures = np.maximum(mean, _LEAST * float(mean.max()) + 1e-12)
        if drawn:
            factors, self.means = _drawn_rows(columns, weights, drawn, blocks[0][1].dtype)
        else:
            factors = np.zeros((loss.outputs, columns.d, 0), blocks[0][1].dtype)
            self.means = columns.gradient(weights) / self.curvatures
        self.moments = Curvature.of_blocks(blocks, _SHARED if drawn else 1.0, factors)

    def step(
        self, penalty: Penalty, at: Point, G: Array, gb: Array, L: float, tolerance: float
    ) -> tuple[Array, Array]:
        r"""Weights and intercepts that minimize the model around a point, and the penalty; G is without λ₂.

        The best intercepts for given weights are :math:`e_c = -g_c / (L a_c) - m_c^\top u_c`: what remains is a model
        of the weights alone, with the gradient less :math:`g_c m_c`.
        """
        gradient = G - gb * self.means
        W = minimize_model(
            self.moments, L * self.curvatures, np.ascontiguousarray(gradient.T), np.ascontiguousarray(at.W.T),
            penalty.name, penalty.l1, penalty.l2, sweeps=_SWEEPS, tolerance=tolerance,
        ).T.astype(at.W.dtype)  # fmt: skip
        shift = -gb / (L * self.curvatures) - np.einsum("jc,jc->c", self.means, W - at.W)
        return W, at.b + shift

    def times(self, moved: Array, shifted: Array) -> tuple[Array, Array]:
        """The metric, at L = 1, times a step of weights and intercepts."""
        own = (shifted + np.einsum("jc,jc->c", self.means, moved)) * self.curvatures
        return self.means * own + self.moments.times(moved) * self.curvatures, own

    def square(self, moved: Array, shifted: Array) -> float:
        """The length of a step of weights and intercepts, squared."""
        pulled, own = self.times(moved, shifted)
        return float(np.vdot(moved, pulled)) + float(shifted @ own)

    def distance(self, penalty: Penalty, W: Array, G: Array, gb: Array, L: float) -> float:
        """How far weights are from a fixed point of a plain proximal step, in terms of the gradient.

        Unlike the violation it is small where a tiny weight has the wrong sign.
        """
        h = L * float(self.curvatures.min())
        away = h * np.abs(W - penalty.shrink(W - G / h, penalty.l1 / h))
        return max(float(away.max(initial=0.0)), float(np.abs(gb).max(initial=0.0)))


def _drawn_rows(columns: Products, weights: Array, drawn: int, dtype: Any) -> tuple[Array, Array]:
    """For each output, rows drawn by their weights, as factors of its covariance: outputs × neurons × drawn; means.

    The draw is systematic: a row wherever the sum of the weights passes another ``1 / drawn`` of the whole.
    """
    outputs = weights.shape[1]
    factors, means = np.zeros((outputs, columns.d, drawn), dtype), np.zeros((columns.d, outputs))
    places = (np.arange(drawn) + 0.5) / drawn
    for c in range(outputs):
        whole = np.cumsum(weights[:, c], dtype=np.float64)
        rows, counts = np.unique(np.searchsorted(whole, places * whole[-1]), return_counts=True)
        Z = columns.some_rows(np.minimum(rows, columns.n - 1))
        centre = (counts / drawn).astype(dtype) @ Z
        means[:, c] = centre
        Z -= centre  # it is a copy
        Z *= np.sqrt((1 - _SHARED) * counts / drawn).astype(dtype)[:, None]
        factors[c, :, : len(Z)] = Z.T
    return factors, means
