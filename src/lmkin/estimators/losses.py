"""What a fit minimizes beside the penalty: mean cross-entropy of classes, half the mean squared error of scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class Loss(ABC):
    """The mean over rows of a convex function of their scores, rows × outputs, and of what is true of them.

    ``expected`` is what the scores predict (probabilities, or scores): less what is true, the gradient by the scores.
    """

    outputs: int
    quadratic = False
    """Whether its second derivatives are the same everywhere."""
    spread = 1.0
    """What λ₁ is proportional to: 1, or the deviation of the scores that are to be predicted."""

    def default_l2(self, l1: float) -> float:
        """λ₂ where none is given: λ₁, in a unit that has none.

        Where scores are multiplied by k, the same neurons stay 0 at k times λ₁, and at the same λ₂.
        """
        return l1 / self.spread

    @abstractmethod
    def mean(self, scores: Array) -> float:
        """The loss."""

    @abstractmethod
    def expected(self, scores: Array) -> Array:
        """What the scores predict: a new array."""

    @abstractmethod
    def subtract_target(self, expected: Array) -> Array:
        """Residuals, rows × outputs, in place."""

    @abstractmethod
    def bregman(self, expected: Array, step: Array) -> float:
        """What the loss grows by beyond its linear part, if scores that gave ``expected`` move by ``step``.

        No two losses that are nearly the same are subtracted: it must hold for the smallest steps in float32.
        """

    @abstractmethod
    def curvatures(self, expected: Array) -> Array:
        """Second derivatives by the scores, rows × outputs."""

    @abstractmethod
    def some(self, rows: NDArray[np.int64]) -> Loss:
        """The loss of some of the rows."""

    @abstractmethod
    def start(self) -> Array:
        """The best intercepts while all weights are 0."""


class CrossEntropy(Loss):
    r""":math:`-\frac1n \sum_i \log p_{i y_i}`, with p the softmax of the scores; ``y`` are numbers of classes."""

    def __init__(self, y: NDArray[np.int64], classes: int):
        self.y = y
        self.rows = np.arange(len(y))
        self.outputs = classes

    def mean(self, scores: Array) -> float:
        """The cross-entropy."""
        top = scores.max(1)
        norm = np.log(np.exp(scores - top[:, None]).sum(1)) + top
        return float((norm - scores[self.rows, self.y]).mean(dtype=np.float64))

    def expected(self, scores: Array) -> Array:
        """Probabilities."""
        # Scores whose outputs lie together keep that order: sums over outputs are fast.
        P = scores - scores.max(1, keepdims=True)
        np.exp(P, out=P)
        P /= P.sum(1, keepdims=True)
        return np.asarray(P)

    def subtract_target(self, expected: Array) -> Array:
        """Probabilities, less 1 for the true class."""
        expected[self.rows, self.y] -= 1
        return expected

    def bregman(self, expected: Array, step: Array) -> float:
        r""":math:`\log \sum_c p_c e^{s_c}` with s the step less its mean under p."""
        S = step - (expected * step).sum(1)[:, None]
        with np.errstate(over="ignore", invalid="ignore"):
            beyond = np.expm1(S)
            beyond -= S
            beyond *= expected
            growth = float(np.log1p(np.maximum(beyond.sum(1), 0)).mean(dtype=np.float64))
        return growth if np.isfinite(growth) else np.inf  # a step that is far too long

    def curvatures(self, expected: Array) -> Array:
        """Of p, p (1 − p)."""
        return np.asarray(expected * (1 - expected))

    def some(self, rows: NDArray[np.int64]) -> CrossEntropy:
        """Of these labels."""
        return CrossEntropy(self.y[rows], self.outputs)

    def start(self) -> Array:
        """Logarithms of the classes' shares; a class without a row (of a subset) as if it had half of one."""
        counts = np.maximum(np.bincount(self.y, minlength=self.outputs), 0.5)
        logs = np.log(counts / counts.sum())
        return np.asarray(logs - logs.mean())


class HalfSquaredError(Loss):
    r""":math:`\frac1{2n} \sum_i (s_i - y_i)^2`; ``y`` is rows × outputs."""

    quadratic = True

    def __init__(self, y: Array, spread: float | None = None):
        self.y = y
        self.outputs = y.shape[1]
        if spread is None:
            with np.errstate(over="ignore", invalid="ignore"):
                spread = float(np.sqrt(y.var(0, dtype=np.float64).mean()))
        self.spread = spread if 0 < spread < np.inf else 1.0

    def mean(self, scores: Array) -> float:
        """Half the mean squared error, summed over outputs."""
        E = (scores - self.y).astype(np.float64)
        return float(np.vdot(E, E)) / (2 * len(E))

    def expected(self, scores: Array) -> Array:
        """The scores."""
        return scores.copy(order="K")

    def subtract_target(self, expected: Array) -> Array:
        """Errors."""
        expected -= self.y
        return expected

    def bregman(self, expected: Array, step: Array) -> float:
        """Half the mean square of the step."""
        return float(np.einsum("ij,ij->", step, step, dtype=np.float64)) / (2 * len(step))

    def curvatures(self, expected: Array) -> Array:
        """All 1."""
        return np.ones_like(expected)

    def some(self, rows: NDArray[np.int64]) -> HalfSquaredError:
        """Of these scores."""
        return HalfSquaredError(self.y[rows], self.spread)

    def start(self) -> Array:
        """Means."""
        return np.asarray(self.y.mean(0, dtype=np.float64))
