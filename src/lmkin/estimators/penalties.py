"""What a fit pays for weights: elastic nets by single weights, or by whole rows, so that a neuron is in or out."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..core import MeasureError, did_you_mean

Array = NDArray[Any]
PenaltyName = Literal["elementwise", "row"]


class Penalty(ABC):
    r""":math:`\lambda_1 \Omega(W) + \lambda_2 \|W\|^2` of weights W, neurons × outputs.

    The second term is smooth: it is in the gradient that the methods are given. ``squared=False`` is
    :math:`\lambda_2 \|W\|` in its place, as code that was released with the papers has it.
    """

    name: PenaltyName

    def __init__(self, l1: float, l2: float, *, squared: bool = True):
        self.l1 = l1
        self.l2 = l2
        self.squared = squared

    def value(self, W: Array) -> float:
        """What the weights cost."""
        W = W.astype(np.float64, copy=False)
        square = float(np.vdot(W, W))
        return self.l1 * self.omega(W) + self.l2 * (square if self.squared else math.sqrt(square))

    def pull(self, W: Array) -> Array:
        """The gradient of the smooth term."""
        if self.squared:
            return 2 * self.l2 * W
        return self.l2 * W / (float(np.linalg.norm(W)) or 1.0)

    @staticmethod
    @abstractmethod
    def direction(W: Array) -> Array:
        """A subgradient of Ω: 0 where all of it is."""

    @staticmethod
    @abstractmethod
    def omega(W: Array) -> float:
        """The term that makes zeros."""

    @abstractmethod
    def shrink(self, W: Array, by: float) -> Array:
        r"""The proximal step: :math:`\arg\min_V \tfrac12\|V - W\|^2 + by \cdot \Omega(V)`."""

    @staticmethod
    @abstractmethod
    def sizes(G: Array) -> Array:
        """Of every neuron's gradient, what must stay below λ₁ for its weights to be 0."""

    @abstractmethod
    def violations(self, W: Array, G: Array) -> Array:
        """Of every neuron, how far its smooth gradient is from one that makes its weights optimal (KKT)."""


class Elementwise(Penalty):
    r""":math:`\Omega(W) = \sum |w_{jc}|`: a zero pattern for every output."""

    name = "elementwise"

    @staticmethod
    def omega(W: Array) -> float:
        """Σ|w|."""
        return float(np.abs(W).sum())

    @staticmethod
    def direction(W: Array) -> Array:
        """Signs."""
        return np.asarray(np.sign(W))

    def shrink(self, W: Array, by: float) -> Array:
        """Soft thresholding."""
        return np.asarray(W - np.clip(W, -by, by))

    @staticmethod
    def sizes(G: Array) -> Array:
        """The largest |g| of a neuron."""
        return np.asarray(np.abs(G).max(1))

    def violations(self, W: Array, G: Array) -> Array:
        """|g + λ₁ sign(w)| where w is not 0, else what |g| exceeds λ₁ by."""
        here = np.abs(G + self.l1 * self.direction(W))
        absent = np.maximum(np.abs(G) - self.l1, 0)
        return np.asarray(np.where(W != 0, here, absent).max(1))


class Row(Penalty):
    r""":math:`\Omega(W) = \sum_j \|w_j\|_2` over neurons j: one is in or out for all outputs together."""

    name = "row"

    @staticmethod
    def omega(W: Array) -> float:
        """Σ‖w_j‖."""
        return float(_norms(W).sum())

    @staticmethod
    def direction(W: Array) -> Array:
        """Rows of length 1."""
        norms = _norms(W)[:, None]
        return np.asarray(W / np.where(norms > 0, norms, 1))

    def shrink(self, W: Array, by: float) -> Array:
        """Every row is shortened, or becomes 0."""
        norms = _norms(W)[:, None]
        with np.errstate(
            over="ignore"
        ):  # of a row that is nearly 0 it is infinite: the row becomes 0
            keep = np.maximum(1 - by / np.maximum(norms, np.finfo(W.dtype).tiny), 0)
        return np.asarray(W * keep.astype(W.dtype))

    @staticmethod
    def sizes(G: Array) -> Array:
        """The length of a neuron's gradient."""
        return _norms(G)

    def violations(self, W: Array, G: Array) -> Array:
        """‖g + λ₁ w/‖w‖‖ where w is not 0, else what ‖g‖ exceeds λ₁ by."""
        norms = _norms(W)[:, None]
        here = _norms(G + self.l1 * self.direction(W))
        absent = np.maximum(_norms(G) - self.l1, 0)
        return np.where(norms[:, 0] > 0, here, absent)


def _norms(W: Array) -> Array:
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", W, W)))


_PENALTIES: dict[str, type[Penalty]] = {"elementwise": Elementwise, "row": Row}


def make_penalty(name: str, l1: float, l2: float, *, squared: bool = True) -> Penalty:
    """A penalty by its name. Raise if there is none, or if a number cannot be meant."""
    if name not in _PENALTIES:
        raise MeasureError(f"Unknown penalty {name!r}. {did_you_mean(str(name), _PENALTIES)}")
    for what, number in (("l1", l1), ("l2", l2)):
        if not (np.isfinite(number) and number >= 0):
            raise MeasureError(f"{what} is 0 or more; got {number}.")
    return _PENALTIES[name](float(l1), float(l2), squared=squared)
