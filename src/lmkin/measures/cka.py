r"""Linear centred kernel alignment (Kornblith et al. 2019), unbiased by default (Song et al. 2012)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import LmkinError, did_you_mean

ESTIMATORS = ("unbiased", "biased")
FloatArray = NDArray[np.float64]


def linear_cka(
    X: ArrayLike, Y: ArrayLike, *, estimator: str = "unbiased", standardize: bool = False
) -> float:
    r"""Linear CKA of two matrices whose rows are the same units.

    Biased, with columns centred:

    .. math:: \mathrm{CKA}(X, Y) = \frac{\|X^\top Y\|^2}{\|X^\top X\| \, \|Y^\top Y\|}

    Unbiased: the same ratio of HSIC₁ (Song et al. 2012), where K and L are the Gram matrices with zeroed diagonal:

    .. math:: \mathrm{HSIC}_1 = \frac{1}{n(n-3)} \left[ \mathrm{tr}(KL)
              + \frac{1^\top K 1 \; 1^\top L 1}{(n-1)(n-2)} - \frac{2}{n-2} 1^\top K L 1 \right]

    Invariant to rotation, scale and shift of either side. The biased value of two independent
    matrices grows with neurons / units (0.60 at 768 neurons and 512 units), the unbiased one is 0 on average
    and may be negative. ``standardize`` divides every neuron by its standard deviation first, so that one
    neuron with most of the variance does not decide alone.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> round(linear_cka(X, 3 * X + 1), 6)
    1.0
    """
    return float(cka_matrix([X, Y], estimator=estimator, standardize=standardize)[0, 1])


def cka_matrix(
    matrices: Sequence[ArrayLike],
    *,
    estimator: str = "unbiased",
    standardize: bool = False,
    advance: Callable[[int], None] | None = None,
) -> FloatArray:
    """Linear CKA of every pair of matrices, as a symmetric table; ``advance`` is told of each pair."""
    if estimator not in ESTIMATORS:
        raise LmkinError(f"Unknown estimator {estimator!r}. {did_you_mean(estimator, ESTIMATORS)}")
    if len({h for m in matrices if (h := getattr(m, "units_hash", None))}) > 1:
        raise LmkinError(
            "The rows of these matrices stand for different words, so they cannot be compared. Extract both from "
            "the same corpus; where a model lost some words, lmkin.common_units(a, b) brings both to those they share."
        )
    sides = [_prepare(matrix, standardize=standardize) for matrix in matrices]
    n = len(sides[0].X)
    if any(len(side.X) != n for side in sides):
        sizes = ", ".join(str(len(side.X)) for side in sides)
        raise LmkinError(f"All matrices need the same rows; they have {sizes}.")
    if n < 4:
        raise LmkinError(f"Unbiased CKA needs at least 4 units; there are {n}.")
    hsic = _hsic_unbiased if estimator == "unbiased" else _hsic_biased
    table = np.empty((len(sides), len(sides)))
    for i, a in enumerate(sides):
        for j in range(i + 1):
            table[i, j] = table[j, i] = hsic(a, sides[j])
            if advance is not None:
                advance(1)
    scale = np.sqrt(np.diag(table))
    if not (scale > 0).all():
        raise LmkinError("CKA is not defined for a matrix whose rows are all alike.")
    result: FloatArray = table / np.outer(scale, scale)
    return result


@dataclass(frozen=True)
class _Side:
    """A centred matrix with what its pairs need: row norms and columns weighted by them."""

    X: NDArray[np.float32]
    norms: FloatArray
    """‖x_i‖² of each row."""


def _prepare(matrix: ArrayLike, *, standardize: bool) -> _Side:
    if hasattr(matrix, "layer"):
        raise LmkinError(
            "CKA compares layers, not whole activations: give acts.layer(0), for example."
        )
    raw: NDArray[Any] = np.asarray(matrix)
    if raw.ndim != 2:
        raise LmkinError(f"A matrix of units × neurons expected, got the shape {raw.shape}.")
    if not np.isfinite(raw).all():
        raise LmkinError("The matrix holds NaN or infinite values.")
    # Centred in float64 first: an offset of 100 would eat the digits of a float32 product.
    centred = raw.astype(np.float64)
    centred -= centred.mean(0)
    if standardize:
        spread = centred.std(0)
        centred /= np.where(spread > 0, spread, 1)  # a constant neuron stays 0
    size = np.abs(centred).max(initial=0)
    X = (centred / (size or 1)).astype(np.float32)
    return _Side(X, np.einsum("ij,ij->i", X, X, dtype=np.float64))


def _squared_norm(a: NDArray[Any]) -> float:
    return float(np.square(a, dtype=np.float64).sum())


def _hsic_biased(a: _Side, b: _Side) -> float:
    return _squared_norm(a.X.T @ b.X)


def _hsic_unbiased(a: _Side, b: _Side) -> float:
    """HSIC₁ from products of features: with s_x = Σ x_i = 0 (centred) the identity shortens.

    tr(KL) = ‖XᵀY‖² − Σ‖x‖²‖y‖²;  1ᵀK1 = −Σ‖x‖²;  1ᵀKL1 = Σ‖x‖²‖y‖².
    """
    n = len(a.X)
    both = float(a.norms @ b.norms)
    trace = _squared_norm(a.X.T @ b.X) - both
    sums = float(a.norms.sum()) * float(b.norms.sum())
    return (trace + sums / ((n - 1) * (n - 2)) - 2 * both / (n - 2)) / (n * (n - 3))
