"""Pairs of layers with all that goes wrong in real ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Case:
    """Two layers with the same rows."""

    name: str
    make: Callable[[np.random.Generator], tuple[Matrix, Matrix]]
    full_rank: bool = True
    """Whether every direction has variance, and there are more rows than neurons."""

    def pair(self) -> tuple[Matrix, Matrix]:
        return self.make(np.random.default_rng(sum(map(ord, self.name))))


def correlated(rng: np.random.Generator, n: int, d: int, e: int) -> tuple[Matrix, Matrix]:
    """Neurons of one layer that are correlated with each other, and partly known to the other layer."""
    X = rng.normal(size=(n, d)) @ (np.eye(d) + 0.4 * rng.normal(size=(d, d)) / np.sqrt(d))
    Y = X @ rng.normal(size=(d, e)) / np.sqrt(d) + 0.7 * rng.normal(size=(n, e))
    return X, Y * rng.uniform(0.2, 3, size=e)


def _deficient(rng: np.random.Generator) -> tuple[Matrix, Matrix]:
    X, Y = correlated(rng, 300, 8, 7)
    return X @ rng.normal(size=(8, 20)), np.hstack([Y, Y @ rng.normal(size=(7, 5))])


def _rogue(share: float) -> Callable[[np.random.Generator], tuple[Matrix, Matrix]]:
    """One neuron of each layer holds that share of the variance; both follow the same rows."""

    def make(rng: np.random.Generator) -> tuple[Matrix, Matrix]:
        X, Y = correlated(rng, 400, 30, 24)
        common = rng.normal(size=400)
        for layer, neuron in ((X, 3), (Y, 11)):
            rest = layer.var(axis=0).sum() - layer[:, neuron].var()
            own = common + 0.5 * rng.normal(size=400)
            layer[:, neuron] = own / own.std() * np.sqrt(rest * share / (1 - share))
        return X, Y

    return make


def _constant_and_double(rng: np.random.Generator) -> tuple[Matrix, Matrix]:
    X, Y = correlated(rng, 250, 9, 6)
    X[:, 4] = 0.1
    Y[:, 0] = -7.3
    return np.hstack([X, X[:, :3]]), np.hstack([Y, 2 * Y[:, 1:3], -Y[:, 5:]])


def _offset(rng: np.random.Generator) -> tuple[Matrix, Matrix]:
    X, Y = correlated(rng, 500, 20, 12)
    X[:, :3] += 1e4
    return X, Y - 1e4


def _half(rng: np.random.Generator) -> tuple[Matrix, Matrix]:
    X, Y = correlated(rng, 300, 12, 10)
    return X * 9000, Y


def _sized(n: int, d: int, e: int) -> Callable[[np.random.Generator], tuple[Matrix, Matrix]]:
    return lambda rng: correlated(rng, n, d, e)


CASES = [
    Case("n 50, d 2", _sized(50, 2, 2)),
    Case("n 50, d 3 and 20", _sized(50, 3, 20)),
    Case("n 333, d 17 and 40", _sized(333, 17, 40)),
    Case("n 1000, d 100", _sized(1000, 100, 60)),
    Case("n 2000, d 300 and 120", _sized(2000, 300, 120)),
    Case("fewer rows than neurons", _sized(60, 100, 80), full_rank=False),
    Case("rows between the widths", _sized(60, 100, 20), full_rank=False),
    Case("rank-deficient", _deficient, full_rank=False),
    Case("rogue neuron, 99 %", _rogue(0.99)),
    Case("rogue neuron, 99.99 %", _rogue(0.9999)),
    Case("constant and duplicated neurons", _constant_and_double, full_rank=False),
    Case("offset of 10,000", _offset),
    Case("values near 60,000", _half),
]


def keywords(options: dict[str, Any]) -> dict[str, Any]:
    """Options of the definitions in `naive` as keywords of `lmkin.similarity`."""
    own = {name: value for name, value in options.items() if name != "standardize"}
    neurons = "standardized" if options.get("standardize") else "raw"
    return {"neurons": neurons, "measure_options": own}
