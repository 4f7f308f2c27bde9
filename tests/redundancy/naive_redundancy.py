"""Clusters of neurons as their definition says, from raw rows: numpy's corrcoef, scipy's trees, plain loops."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.metrics import r2_score

Array = NDArray[Any]
Arrays = Mapping[str, Array]
SPANS = ("alone", "same layer", "±1", "±2", "further")
GRID = np.linspace(0, 1, 41)


# -- trees ----------------------------------------------------------------------------------------


def side_by_side(arrays: Arrays) -> Array:
    return np.concatenate([np.asarray(a, np.float64) for a in arrays.values()], axis=1)


def places(arrays: Arrays) -> list[tuple[int, int]]:
    """(layer, neuron) of every column."""
    return [(int(k.rpartition("/")[2]), i) for k, a in arrays.items() for i in range(a.shape[1])]


def distances(X: Array, copies: float = 1e-12) -> Array:
    """1 − |r|; 0 for what differs from it by rounding only."""
    X = np.asarray(X, np.float64)
    D = 1 - np.abs(np.atleast_2d(np.corrcoef(X - X.mean(0), rowvar=False)))
    D = (D + D.T) / 2
    D[copies > D] = 0
    np.fill_diagonal(D, 0)
    return D


def tree(D: Array, method: str = "average") -> Array:
    return linkage(squareform(D, checks=False), method)


def in_order(labels: Iterable[Any]) -> Array:
    """The same partition, its clusters numbered from 0 in the order of their first member."""
    seen: dict[Any, int] = {}
    return np.array([seen.setdefault(label, len(seen)) for label in labels])


def partition(Z: Array, threshold: float) -> Array:
    return in_order(fcluster(Z, threshold, "distance").tolist())


def cuts(Z: Array, upto: float = 1.0, apart: float = 1e-7, most: int = 60) -> list[float]:
    """Thresholds that lie between the merges, and a grid: none where rounding would decide."""
    heights = np.sort(Z[:, 2])
    between = (heights[:-1] + heights[1:])[np.diff(heights) > 3 * apart] / 2
    if len(between) > most:
        between = between[:: len(between) // most + 1]
    asked = np.concatenate([GRID, between])
    far = [t for t in asked if t == 0 or np.abs(heights - t).min(initial=1) > apart]
    return sorted({float(t) for t in far if t <= upto})


def is_a_tree_of(D: Array, pairs: Sequence[tuple[int, int]], heights: Sequence[float]) -> None:
    """Replay the merges: each joins two clusters whose mean distance is its height, and no two were nearer."""
    clusters = [{i} for i in range(len(D))]
    for (a, b), height in zip(pairs, heights, strict=True):
        first = next(c for c in clusters if a in c)
        second = next(c for c in clusters if b in c)
        assert first is not second
        means = {
            (i, j): D[np.ix_(sorted(clusters[i]), sorted(clusters[j]))].mean()
            for i in range(len(clusters))
            for j in range(i)
        }
        assert D[np.ix_(sorted(first), sorted(second))].mean() == _near(height)
        assert min(means.values()) == _near(height)
        clusters = [c for c in clusters if c is not first and c is not second]
        clusters.append(first | second)


def _near(value: float) -> Any:
    import pytest

    return pytest.approx(value, abs=1e-12)


# -- what clusters are made of --------------------------------------------------------------------


def members(labels: Array, where: Sequence[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    found: list[list[tuple[int, int]]] = [[] for _ in range(max(labels) + 1)]
    for label, place in zip(labels, where, strict=True):
        if label >= 0:
            found[label].append(place)
    return found


def span(layers: Sequence[int], known: Sequence[int]) -> str:
    """How far apart the layers of a cluster lie, counted in layers that were chosen."""
    if len(layers) == 1:
        return "alone"
    steps = sorted(known)
    far = steps.index(max(layers)) - steps.index(min(layers))
    return SPANS[min(far, 3) + 1]


# -- layers ---------------------------------------------------------------------------------------


def unbiased_cka(X: Array, Y: Array) -> float:
    """HSIC₁ of linear kernels (Song et al. 2012) for CKA, from n × n matrices."""

    def kernel(A: Array) -> Array:
        A = np.asarray(A, np.float64)
        A = A - A.mean(0)
        K = A @ A.T
        np.fill_diagonal(K, 0)
        return K

    def hsic(K: Array, L: Array) -> float:
        n = len(K)
        one = np.ones(n)
        first = np.trace(K @ L)
        second = (one @ K @ one) * (one @ L @ one) / ((n - 1) * (n - 2))
        third = 2 * (one @ K @ L @ one) / (n - 2)
        return float((first + second - third) / (n * (n - 3)))

    K, L = kernel(X), kernel(Y)
    return hsic(K, L) / float(np.sqrt(hsic(K, K) * hsic(L, L)))


def mapped_r2(before: Array, after: Array, fit: Array, on: Array, ridge: float = 1e-6) -> float:
    """Of a layer by the one before; the penalty is a share of the mean eigenvalue of the covariance."""
    X, Y = np.asarray(before, np.float64), np.asarray(after, np.float64)
    if ridge:
        mean = float(np.var(X[fit], axis=0, ddof=1).mean())  # the trace by the width
        model = Ridge(alpha=ridge * mean * (len(fit) - 1), solver="svd")
    else:
        model = LinearRegression()
    model.fit(X[fit], Y[fit])
    return float(r2_score(Y[on], model.predict(X[on]), multioutput="variance_weighted"))


def jackknife(statistic: Callable[[Array], float], parts: Sequence[Array]) -> float:
    """Standard error by leaving out a part at a time; parts of unequal size weigh by pseudo-values."""
    every = np.sort(np.concatenate(parts))
    n, g = len(every), len(parts)
    whole = statistic(every)
    pseudo, shares = [], []
    for part in parts:
        h = n / len(part)
        without = statistic(np.setdiff1d(every, part))
        pseudo.append(h * whole - (h - 1) * without)
        shares.append((1 - len(part) / n) * without)
    centre = g * whole - sum(shares)
    total = sum(
        (p - centre) ** 2 / (n / len(part) - 1) for p, part in zip(pseudo, parts, strict=True)
    )
    return float(np.sqrt(total / g))


# -- data -----------------------------------------------------------------------------------------


def independent(n: int, width: int, seed: int) -> Array:
    return np.random.default_rng(seed).standard_normal((n, width))


def blocks(n: int, width: int, seed: int) -> Array:
    """Neurons in groups of one source each, more or less noisy."""
    random = np.random.default_rng(seed)
    group = random.integers(0, max(width // 5, 1), width)
    noise = random.uniform(0.05, 1.5, width)
    sources = random.standard_normal((n, group.max() + 1))
    return sources[:, group] + noise * random.standard_normal((n, width))


def real_shaped(n: int, width: int, seed: int) -> Array:
    """Sums of few factors and noise; rogue neurons, copies, some turned round; offsets and scales of all sizes."""
    random = np.random.default_rng(seed)
    factors = random.standard_normal((n, 8)) * 0.7 ** np.arange(8)
    X = factors @ random.standard_normal((8, width))
    X += random.uniform(0.1, 1.5, width) * random.standard_normal((n, width))
    rogue = random.choice(width, max(width // 20, 1), replace=False)
    X[:, rogue] *= 500
    source = random.choice(width, max(width // 10, 1), replace=False)
    target = random.choice(width, len(source), replace=False)
    signs = random.choice([-1.0, 1.0], len(source))
    X[:, target] = X[:, source] * signs
    return X * 10 ** random.uniform(-1, 1, width) + 50 * random.standard_normal(width)


MAKERS = {"independent": independent, "blocks": blocks, "real-shaped": real_shaped}


def layered(X: Array, widths: Sequence[int], model: str = "m") -> dict[str, Array]:
    """Columns as the layers of a model."""
    edges = np.cumsum([0, *widths])
    assert edges[-1] == X.shape[1]
    return {f"{model}/{k}": X[:, a:b] for k, (a, b) in enumerate(pairwise(edges))}


def rounded(width: int, decimals: int, seed: int) -> Array:
    """Symmetric distances with many that are equal."""
    random = np.random.default_rng(seed)
    D = np.round(random.uniform(0, 1, (width, width)), decimals)
    D = np.triu(D, 1)
    return D + D.T


def planted(n: int, sizes: Sequence[int], noise: float, seed: int) -> tuple[Array, Array]:
    """Neurons, in no order, and which of the sources each is of: r within is 1 / (1 + noise²), between it is chance."""
    random = np.random.default_rng(seed)
    owner = random.permutation(np.repeat(np.arange(len(sizes)), sizes))
    sources = random.standard_normal((n, len(sizes)))
    signs = random.choice([-1.0, 1.0], len(owner))
    X = signs * sources[:, owner] + noise * random.standard_normal((n, len(owner)))
    return X, owner
