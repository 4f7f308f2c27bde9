"""The metric that steps are measured in: second moments of the neurons, times a curvature for each output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .certificate import Point
from .coordinates import minimize_model
from .penalties import Penalty

Array = NDArray[Any]
_SWEEPS = 40


class Metric:
    r"""The quadratic model of a loss: :math:`\sum_c a_c \, v_c^\top G \, v_c`, G by blocks of neurons.

    For classes the Hessian is :math:`\frac1n \sum_i (\mathrm{diag}(p_i) - p_i p_i^\top) \otimes z_i z_i^\top`, which is
    replaced by the product of its two means, the first by its diagonal (Böhning 1992 has a bound in its place, which is
    many times larger where rows are told well). How much too small or large that is, a line search finds. It costs no
    pass over the rows to minimize the model, however ill-conditioned the neurons are.
    """

    def __init__(self, blocks: Sequence[tuple[slice, Array]], curvatures: Array):
        self.blocks = blocks
        self.curvatures = np.maximum(curvatures, 1e-3 * float(curvatures.max(initial=0.0)) + 1e-12)

    def step(
        self, penalty: Penalty, W: Array, gradient: Array, L: float, tolerance: float
    ) -> Array:
        """The weights that minimize the model with curvature L around W, and the penalty; ``gradient`` has no λ₂."""
        V = np.empty_like(W)
        for here, G in self.blocks:
            V[here] = minimize_model(
                G, L * self.curvatures, np.ascontiguousarray(gradient[here].T),
                np.ascontiguousarray(W[here].T), penalty.name, penalty.l1, penalty.l2,
                sweeps=_SWEEPS, tolerance=tolerance,
            ).T  # fmt: skip
        return V

    def square(self, moved: Array, shifted: Array) -> float:
        """The length of a step of weights and intercepts, squared."""
        total = float(self.curvatures @ (shifted * shifted))
        for here, G in self.blocks:
            D = moved[here].astype(G.dtype)
            total += float(np.einsum("jc,jc->c", D, G @ D) @ self.curvatures)
        return total

    def turn(self, ahead: Point, there: Point, here: Point) -> float:
        """Whether a step from ahead to there leads back to where here is: positive if so. By scores, on the rows."""
        back, onward = ahead.scores - there.scores, there.scores - here.scores
        return float(np.einsum("ij,ij->j", back, onward, dtype=np.float64) @ self.curvatures)
