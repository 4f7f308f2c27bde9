"""rbfcka: centred kernel alignment with Gaussian kernels, on a sample of units."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import MeasureError
from ..from_rows import RowPair, RowSide
from ..options import check_value
from ..registry import measure


@measure(
    "rbfcka",
    title="RBF-CKA",
    summary="Like CKA, with a Gaussian kernel: near neighbours count, far ones do not. On a sample of the words.",
    needs="row-pair",
    symmetric=True,
    range=(-1.0, 1.0),
    invariances=("shift", "scale", "rotation"),
    unbiased=True,
    cost="n² a pair, n sampled units",
    reference="Kornblith et al. 2019",
)
def rbfcka(pair: RowPair, *, bandwidth: float = 1.0, estimator: str = "unbiased") -> float:
    r"""Centred kernel alignment of :math:`\exp(-\|x_i - x_j\|^2 / 2\sigma^2)`.

    σ is ``bandwidth`` times the median distance of a layer's units, so that scale does not matter. The estimator is
    that of `ckasim`. It costs n², so it is computed on a seeded sample of the units.
    """
    check_value("estimator", estimator)
    if not bandwidth > 0:
        raise MeasureError(f"bandwidth is a multiple of the median distance; got {bandwidth}.")
    if pair.n < 4:
        raise MeasureError(f"RBF-CKA needs four units at least; there are {pair.n}.")
    key = ("rbf", bandwidth, estimator, pair.standardized)
    K, L = (
        side.remember(key, lambda side=side: _kernel(side, bandwidth, estimator, pair.standardized))
        for side in (pair.x, pair.y)
    )
    own = [
        side.remember(("norm", *key), lambda A=A: float(pair.xp.sum(A * A)) ** 0.5)
        for side, A in ((pair.x, K), (pair.y, L))
    ]
    if pair.order is not None:
        L = pair.xp.take(pair.xp.take(L, pair.order, axis=0), pair.order, axis=1)
    return float(pair.xp.sum(K * L) / (own[0] * own[1]))


def _kernel(side: RowSide, bandwidth: float, estimator: str, standardized: bool) -> Any:
    """The centred kernel matrix; the inner product of two is HSIC, up to a factor that cancels in the ratio."""
    xp, n = side.xp, side.n
    X = side.rows(standardized)
    squares = xp.sum(X * X, axis=1)
    distances = squares[:, None] + squares[None, :] - 2 * xp.matmul(X, X.T)
    distances = xp.where(distances > 0, distances, xp.zeros_like(distances))
    diagonal = xp.eye(n, dtype=xp.float64, device=X.device) > 0
    others = distances[~diagonal]
    middle = others.shape[0] // 2
    # The standard of arrays knows no partition, which takes a fraction of the time.
    others = (
        np.partition(others, [middle - 1, middle])
        if isinstance(others, np.ndarray)
        else xp.sort(others)
    )
    median = (float(others[middle - 1]) ** 0.5 + float(others[middle]) ** 0.5) / 2
    if not median > 0:
        raise MeasureError(
            f"RBF-CKA is not defined for {side.name}: most of its sampled units are alike."
        )
    K = xp.exp(distances / (-2.0 * bandwidth**2 * median**2))
    if estimator == "biased":
        mean = xp.mean(K, axis=0)
        return K - mean[:, None] - mean[None, :] + xp.mean(mean)
    # U-centred (Székely & Rizzo 2014): then Σ K̃L̃ / n(n−3) is HSIC₁.
    K = xp.where(diagonal, xp.zeros_like(K), K)
    row = xp.sum(K, axis=0)
    total = float(xp.sum(row)) / ((n - 1) * (n - 2))
    K = K - row[:, None] / (n - 2) - row[None, :] / (n - 2) + total
    return xp.where(diagonal, xp.zeros_like(K), K)
