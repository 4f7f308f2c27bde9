"""The metric that steps are measured in: second moments of the neurons, times a curvature for each output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .certificate import Point, Products
from .coordinates import minimize_model
from .losses import Loss
from .penalties import Penalty

Array = NDArray[Any]
_SWEEPS = 40
_LEAST = 1e-3
"""The smallest curvature of an output, in units of the largest."""


class Metric:
    r"""The quadratic model of a loss around a point, for steps u of the weights and e of the intercepts.

    .. math:: \tfrac{L}{2} \sum_c a_c \left[ u_c^\top G \, u_c + (e_c + m_c^\top u_c)^2 \right]

    For classes the Hessian of an output with itself is the second moment of the neurons and of 1, rows weighted by
    :math:`p_{ic} (1 - p_{ic})`. Their mean is :math:`a_c`, the weighted means of the neurons are :math:`m_c`; for the
    weighted covariance, which would be another matrix for every class and every step, stands the covariance G of all
    rows, by blocks of neurons. How much too small or large that is, a line search finds (L). It costs no pass over the
    rows to minimize the model, however ill-conditioned the neurons are.
    """

    def __init__(
        self, columns: Products, loss: Loss, scores: Array, blocks: Sequence[tuple[slice, Array]]
    ):
        weights = loss.curvatures(loss.expected(scores))
        mean = weights.mean(0, dtype=np.float64)
        self.blocks = blocks
        self.curvatures = np.maximum(mean, _LEAST * float(mean.max()) + 1e-12)
        self.means = columns.gradient(weights) / self.curvatures

    def step(
        self, penalty: Penalty, at: Point, G: Array, gb: Array, L: float, tolerance: float
    ) -> tuple[Array, Array]:
        r"""Weights and intercepts that minimize the model around a point, and the penalty; G is without λ₂.

        The best intercepts for given weights are :math:`e_c = -g_c / (L a_c) - m_c^\top u_c`: what remains is a model
        of the weights alone, with the gradient less :math:`g_c m_c`.
        """
        W = np.empty_like(at.W)
        gradient = G - gb * self.means
        for here, moments in self.blocks:
            W[here] = minimize_model(
                moments, L * self.curvatures, np.ascontiguousarray(gradient[here].T),
                np.ascontiguousarray(at.W[here].T), penalty.name, penalty.l1, penalty.l2,
                sweeps=_SWEEPS, tolerance=tolerance,
            ).T  # fmt: skip
        shift = -gb / (L * self.curvatures) - np.einsum("jc,jc->c", self.means, W - at.W)
        return W, at.b + shift

    def times(self, moved: Array, shifted: Array) -> tuple[Array, Array]:
        """The metric, at L = 1, times a step of weights and intercepts."""
        own = (shifted + np.einsum("jc,jc->c", self.means, moved)) * self.curvatures
        pulled = self.means * own
        for here, moments in self.blocks:
            pulled[here] += moments @ moved[here].astype(moments.dtype) * self.curvatures
        return pulled, own

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
