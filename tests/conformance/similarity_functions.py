"""Plain similarity functions whose properties are known, what they are, and a short way to run the battery."""

from __future__ import annotations

import numpy as np

from lmkin.measures import Check, check_measure


def run(fn, **claims) -> dict[str, Check]:
    return {row.name: row for row in check_measure(fn, quick=True, show=False, **claims).rows}


def checked(*matrices: np.ndarray) -> list[np.ndarray]:
    """Centred in float64; NaN and rows that do not fit are refused."""
    arrays = [np.asarray(M, dtype=np.float64) for M in matrices]
    if len({len(M) for M in arrays}) > 1:
        raise ValueError("The matrices have different numbers of rows.")
    if not all(np.isfinite(M).all() for M in arrays):
        raise ValueError("The data hold NaN or infinite values.")
    centred = []
    for M in arrays:
        C = M - M.mean(0)
        C[:, np.ptp(M, axis=0) == 0] = 0
        if not C.any():
            raise ValueError("All rows are alike.")
        centred.append(C)
    return centred


def biased_cka(X, Y):
    X, Y = checked(X, Y)
    norm = np.linalg.norm
    return norm(X.T @ Y) ** 2 / (norm(X.T @ X) * norm(Y.T @ Y))


def unbiased_cka(X, Y):
    return _ratio_of_hsic(*checked(X, Y))


def _ratio_of_hsic(X, Y):
    n = len(X)

    def hsic(A, B):
        K, L = A @ A.T, B @ B.T
        np.fill_diagonal(K, 0)
        np.fill_diagonal(L, 0)
        k, l = K.sum(0), L.sum(0)  # noqa: E741
        return (K * L).sum() + k.sum() * l.sum() / ((n - 1) * (n - 2)) - 2 * (k @ l) / (n - 2)

    return hsic(X, Y) / np.sqrt(hsic(X, X) * hsic(Y, Y))


def careless_cka(X, Y):
    """Centred after the fact, from float32 sums, as some streaming code does: XᵀY − n x̄ ȳᵀ."""
    X, Y = X.astype(np.float32), Y.astype(np.float32)
    n = np.float32(len(X))

    def covariance(A, B):
        return A.T @ B - np.outer(A.sum(0), B.sum(0)) / n

    norm = np.linalg.norm
    return norm(covariance(X, Y)) ** 2 / (norm(covariance(X, X)) * norm(covariance(Y, Y)))


def careless_unbiased_cka(X, Y):
    """The unbiased estimator on float32 Gram matrices of data that were not centred: exact on paper."""
    X, Y = X.astype(np.float32), Y.astype(np.float32)
    return np.float32(_ratio_of_hsic(X, Y))


def uncentred_cka(X, Y):
    norm = np.linalg.norm
    return norm(X.T @ Y) ** 2 / (norm(X.T @ X) * norm(Y.T @ Y))


def neuronsim(X, Y):
    """Mean over neurons of X of the best |correlation| with a neuron of Y; a constant neuron has none."""
    X, Y = checked(X, Y)
    X, Y = (M / np.maximum(np.linalg.norm(M, axis=0), 1e-300) for M in (X, Y))
    alive = X.any(axis=0)
    return np.abs(X.T @ Y).max(1)[alive].mean()


def mean_cca(X, Y):
    """Mean canonical correlation of the two column spaces."""
    X, Y = checked(X, Y)
    bases = []
    for M in (X, Y):
        U, s, _ = np.linalg.svd(M, full_matrices=False)
        bases.append(U[:, s > 1e-10 * s[0]])
    return np.linalg.svd(bases[0].T @ bases[1], compute_uv=False).mean()


def regression(X, Y):
    """How much of X a linear map of Y gives: seen from Y any map is alike, seen from X only rotations."""
    X, Y = checked(X, Y)
    U, s, _ = np.linalg.svd(Y, full_matrices=False)
    U = U[:, s > 1e-10 * s[0]]
    return np.linalg.norm(U.T @ X) ** 2 / np.linalg.norm(X) ** 2


KNOWN = {
    # fn: (invariances, symmetric, unbiased)
    biased_cka: ({"shift", "scale", "rotation"}, True, False),
    unbiased_cka: ({"shift", "scale", "rotation"}, True, True),
    neuronsim: ({"shift", "neuron-scale", "sign", "permutation"}, False, False),
    mean_cca: ({"shift", "linear"}, True, False),
    regression: ({"shift", "scale", "rotation"}, False, False),
}
