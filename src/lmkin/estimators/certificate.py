"""How far from optimal weights are: the largest violation of the conditions of Karush, Kuhn and Tucker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .losses import Loss
from .penalties import Penalty

Array = NDArray[Any]


class Products(Protocol):
    """Standardized columns, Z, in memory or not."""

    n: int
    d: int

    def scores(self, W: Array, b: Array) -> Array:
        """Z W + b."""

    def gradient(self, residuals: Array) -> Array:
        """Zᵀ R / n."""

    def some_rows(self, rows: NDArray[np.int64]) -> Array:
        """Some rows of Z."""


@dataclass(frozen=True)
class Point:
    """Weights, intercepts and the scores that they give."""

    W: Array
    b: Array
    scores: Array
    drift: float = 0.0
    """How far scores that were carried on from others may be off, in units of what one sum of scores is."""


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
    """Over all rows and columns, of which each is two reads: one for scores, one for a gradient."""
    gradient: Array
    """Of the smooth part, at the end: where a path goes on from."""
    scores: Array | None = None
    """Of the rows, where the next fit of a path is to begin with them."""
    by_intercepts: Array | None = None
    """The gradient by the intercepts, with them."""
    curvature: float = 1.0
    """What the metric was multiplied by at the end, where the rows were a sample: at another penalty it says little."""

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


def smooth_gradient(
    columns: Products, loss: Loss, penalty: Penalty, point: Point
) -> tuple[Array, Array, Array]:
    """Gradients of loss and λ₂‖W‖² by W and by b at a point, and what the scores there predict."""
    expected = loss.expected(point.scores)
    residuals = loss.subtract_target(expected.copy(order="K"))
    G = columns.gradient(residuals) + penalty.pull(point.W)
    return G, residuals.sum(0, dtype=np.float64) / columns.n, expected


def worst(penalty: Penalty, W: Array, G: Array, gb: Array) -> float:
    """The largest violation of the KKT conditions, that of the intercepts included."""
    own = penalty.violations(W, G)
    return max(float(own.max(initial=0.0)), float(np.abs(gb).max(initial=0.0)))
