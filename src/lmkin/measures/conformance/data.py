"""Seeded matrices for the checks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .subject import Subject

Matrix = NDArray[np.float64]
Pair = tuple[Matrix, Matrix]

_SHAPES = ((240, 12, 9), (240, 8, 15), (300, 10, 10))


def related(subject: Subject, n: int, d: int, e: int, label: int = 0) -> Pair:
    """Two matrices that share some of their content: X = Z A + noise, Y = Z B + noise.

    Neurons have different scales, different means and skewed distributions, so that whatever a function
    depends on shows.
    """
    rng = subject.rng(1, label, n, d, e)
    e = d if subject.equal_widths else e
    shared = min(d, e, 6)
    Z = rng.normal(size=(n, shared))
    Z[:, ::2] = rng.exponential(size=Z[:, ::2].shape) - 1
    X, Y = (_side(rng, Z, width) for width in (d, e))
    return X, Y


def _side(rng: np.random.Generator, Z: Matrix, width: int) -> Matrix:
    mixed = Z @ rng.normal(size=(Z.shape[1], width)) / np.sqrt(Z.shape[1])
    noisy = mixed + 0.8 * rng.normal(size=mixed.shape)
    scales = np.geomspace(0.5, 2, width)
    side: Matrix = noisy * rng.permutation(scales) + 0.5 * rng.normal(size=width)
    return side


def datasets(subject: Subject) -> list[Pair]:
    """The ordinary data: three related pairs of different widths."""
    return [related(subject, *shape, label=label) for label, shape in enumerate(_SHAPES)]


def independent(subject: Subject, n: int, d: int, label: int) -> Pair:
    """Two Gaussian matrices that have nothing to do with each other."""
    rng = subject.rng(2, label, n, d)
    return rng.normal(size=(n, d)), rng.normal(size=(n, d))


def on_grid(subject: Subject, n: int = 600, d: int = 48, e: int = 32) -> Pair:
    """Related data in multiples of 1/64 below 8: exact in float16, and in float32 after adding 10,000.

    So a difference between types, or after an offset, is the function's own rounding, not that of its input.
    """
    X, Y = (np.clip(np.round(M * 64) / 64, -7.75, 7.75) for M in related(subject, n, d, e))
    return X, Y
