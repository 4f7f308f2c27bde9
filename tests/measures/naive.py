"""Every measure as its definition says, on raw float64 rows: least squares, full SVD, Gram matrices. Slow and plain.

Written from the definitions alone, so that a test that compares with these compares two computations. Constant neurons
carry nothing: they are left out before anything else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist, squareform

Matrix = NDArray[np.float64]


def alive(X: Matrix) -> NDArray[np.bool_]:
    """Which neurons are not constant."""
    return np.array([len(np.unique(column)) > 1 for column in X.T])


def centred(X: Matrix, *, standardize: bool = False) -> Matrix:
    """Columns minus their mean, by their (population) standard deviation if asked for; without constant ones."""
    X = np.asarray(X, np.float64)
    X = X[:, alive(X)]
    X = X - X.mean(axis=0)
    X = X - X.mean(axis=0)  # what the first mean lost to a large offset
    return X / np.sqrt((X**2).mean(axis=0)) if standardize else X


def mean_of_largest(values: Matrix, top_k: int | None) -> float:
    ordered = sorted(values.tolist(), reverse=True)
    return float(np.mean(ordered[:top_k]))


def neuronsim(
    X: Matrix, Y: Matrix, *, top_k: int | None = None, standardize: bool = False
) -> float:
    A, B = centred(X), centred(Y)
    best = [max(abs(a @ b) / (np.linalg.norm(a) * np.linalg.norm(b)) for b in B.T) for a in A.T]
    return mean_of_largest(np.array(best), top_k)


def neuron_matches(X: Matrix, Y: Matrix) -> list[int]:
    """The neuron of Y that matches each neuron of X; -1 for a constant one."""
    found = []
    for x, lives in zip(X.T, alive(X), strict=True):
        r = [
            abs(correlation(x, y)) if other else -1 for y, other in zip(Y.T, alive(Y), strict=True)
        ]
        found.append(int(np.argmax(r)) if lives else -1)
    return found


def regression_weights(A: Matrix, B: Matrix, ridge: float, width: int) -> Matrix:
    """Of the columns of A on all of B; the ridge is a share of the mean eigenvalue of B's covariance.

    Where rows are too few to say, the weights with the smallest norm, for columns of B in units of their spread.
    """
    if not ridge:
        spread = B.std(axis=0)
        return np.linalg.lstsq(B / spread, A, rcond=1e-7)[0] / spread[:, None]
    penalty = ridge * np.trace(B.T @ B) / width
    return np.linalg.solve(B.T @ B + penalty * np.eye(B.shape[1]), B.T @ A)


def mixedsim(
    X: Matrix,
    Y: Matrix,
    *,
    ridge: float = 0.0,
    top_k: int | None = None,
    convention: str = "paper",
    standardize: bool = False,
) -> float:
    released = convention == "released"
    A, B = centred(X), centred(Y, standardize=standardize or released)
    if released:  # all left singular vectors, of z-scored columns
        U = np.linalg.svd(B, full_matrices=False)[0]
        predicted = U @ (U.T @ A)
    else:
        predicted = B @ regression_weights(A, B, ridge, Y.shape[1])
    r = np.linalg.norm(predicted, axis=0) / np.linalg.norm(A, axis=0)
    return mean_of_largest(r, top_k)


def singular_vectors(A: Matrix, variance: float, released: bool) -> tuple[Matrix, Matrix, Matrix]:
    """The first singular vectors that hold the share of the variance; released: those below it, one fewer."""
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    real = s > 1e-6 * s[0]
    U, s, Vt = U[:, real], s[real], Vt[real]
    share = np.cumsum(s**2) / np.sum(s**2)
    count = next(i + 1 for i, c in enumerate(share) if c >= variance - 1e-12)
    if released:
        count = max(1, count - 1)
    return U[:, :count], s[:count], Vt[:count]


def svsim(
    X: Matrix,
    Y: Matrix,
    *,
    variance: float = 0.99,
    top_k: int | None = None,
    convention: str = "paper",
    standardize: bool = False,
) -> float:
    released = convention == "released"
    z = standardize or released
    A = singular_vectors(centred(X, standardize=z), variance, released)[0]
    B = singular_vectors(centred(Y, standardize=z), variance, released)[0]
    return mean_of_largest(np.linalg.svd(A.T @ B, compute_uv=False), top_k)


def pwsim(
    X: Matrix,
    Y: Matrix,
    *,
    variance: float = 0.99,
    top_k: int | None = None,
    convention: str = "paper",
    standardize: bool = False,
) -> float:
    released = convention == "released"
    z = standardize or released
    A = singular_vectors(centred(X, standardize=z), variance, released)[0]
    B = singular_vectors(centred(Y, standardize=z), variance, released)[0]
    U, rho, _ = np.linalg.svd(A.T @ B, full_matrices=False)
    H = A @ U
    columns = centred(X, standardize=standardize)  # as they are, where the fit z-scored them
    weights = np.array([sum(abs(h @ x) for x in columns.T) for h in H.T])
    weights, rho = weights[:top_k], rho[:top_k]
    return float(weights @ rho / weights.sum())


def hsic_biased(K: Matrix, L: Matrix) -> float:
    """tr(HKHL), H the centring matrix."""
    rows = K - K.mean(axis=0)
    return float(np.sum((rows - rows.mean(axis=1, keepdims=True)) * L))


def hsic_unbiased(K: Matrix, L: Matrix) -> float:
    """Song et al. 2012, equation 5."""
    n = len(K)
    K, L = K.copy(), L.copy()
    np.fill_diagonal(K, 0)
    np.fill_diagonal(L, 0)
    one = np.ones(n)
    terms = np.sum(K * L) + (one @ K @ one) * (one @ L @ one) / ((n - 1) * (n - 2))
    return float((terms - 2 / (n - 2) * (one @ K @ (L @ one))) / (n * (n - 3)))


def aligned(K: Matrix, L: Matrix, estimator: str) -> float:
    hsic = hsic_unbiased if estimator == "unbiased" else hsic_biased
    return hsic(K, L) / np.sqrt(hsic(K, K) * hsic(L, L))


def ckasim(
    X: Matrix, Y: Matrix, *, estimator: str = "unbiased", standardize: bool = False
) -> float:
    A, B = (centred(M, standardize=standardize) for M in (X, Y))
    return aligned(A @ A.T, B @ B.T, estimator)


def procrustes(X: Matrix, Y: Matrix, *, standardize: bool = False) -> float:
    A, B = (centred(M, standardize=standardize) for M in (X, Y))
    return float(np.linalg.norm(A.T @ B, "nuc") / (np.linalg.norm(A) * np.linalg.norm(B)))


def rbfcka(
    X: Matrix,
    Y: Matrix,
    *,
    bandwidth: float = 1.0,
    estimator: str = "unbiased",
    standardize: bool = False,
) -> float:
    kernels = []
    for M in (X, Y):
        distances = pdist(centred(M, standardize=standardize))
        sigma = bandwidth * np.median(distances)
        kernels.append(np.exp(-(squareform(distances) ** 2) / (2 * sigma**2)))
    return aligned(*kernels, estimator)


NAIVE: dict[str, Callable[..., float]] = {
    "neuronsim": neuronsim,
    "mixedsim": mixedsim,
    "svsim": svsim,
    "pwsim": pwsim,
    "ckasim": ckasim,
    "procrustes": procrustes,
    "rbfcka": rbfcka,
}


# -- held out: fitted on all parts but one, scored on that one by correlation ------------------------


def correlation(a: Matrix, b: Matrix) -> float:
    """Pearson's; 0 where one side does not change."""
    a, b = a - a.mean(), b - b.mean()
    spread = np.linalg.norm(a) * np.linalg.norm(b)
    return float(a @ b / spread) if spread > 1e-12 else 0.0


def _scaled(train: Matrix, test: Matrix, standardize: bool) -> tuple[Matrix, Matrix]:
    """Both minus the mean (and by the standard deviation) of the first, without the neurons that are constant there."""
    lives = alive(train)
    train, test = train[:, lives], test[:, lives]
    mean, spread = train.mean(axis=0), train.std(axis=0) if standardize else 1.0
    return (train - mean) / spread, (test - mean) / spread


def mixedsim_on(
    fit: tuple[Matrix, Matrix],
    test: tuple[Matrix, Matrix],
    *,
    ridge: float = 0.0,
    top_k: int | None = None,
    convention: str = "paper",
    standardize: bool = False,
) -> float:
    released = convention == "released"
    A, A_test = _scaled(fit[0], test[0], False)
    B, B_test = _scaled(fit[1], test[1], standardize or released)
    W = regression_weights(A, B, ridge, fit[1].shape[1])
    scores = [correlation(B_test @ w, a) for w, a in zip(W.T, A_test.T, strict=True)]
    # The best neurons are those that were best where the fit was made: the test rows choose nothing.
    in_sample = np.linalg.norm(B @ W, axis=0) / np.linalg.norm(A, axis=0)
    chosen = np.argsort(-in_sample, kind="stable")[:top_k]
    return float(np.mean(np.array(scores)[chosen]))


def _canonical_on(
    fit: tuple[Matrix, Matrix],
    test: tuple[Matrix, Matrix],
    variance: float,
    released: bool,
    standardize: bool,
) -> tuple[Matrix, Matrix]:
    """Correlations of the fitted directions on the test rows, and the directions of x on the rows of the fit."""
    z = standardize or released
    (A, A_test), (B, B_test) = (_scaled(f, t, z) for f, t in zip(fit, test, strict=True))
    Ua, sa, Va = singular_vectors(A, variance, released)
    Ub, sb, Vb = singular_vectors(B, variance, released)
    U, _, Vt = np.linalg.svd(Ua.T @ Ub, full_matrices=False)
    P, Q = A_test @ (Va.T / sa) @ U, B_test @ (Vb.T / sb) @ Vt.T
    rho = np.array([correlation(p, q) for p, q in zip(P.T, Q.T, strict=True)])
    return rho, Ua @ U


def svsim_on(
    fit: tuple[Matrix, Matrix],
    test: tuple[Matrix, Matrix],
    *,
    variance: float = 0.99,
    top_k: int | None = None,
    convention: str = "paper",
    standardize: bool = False,
) -> float:
    released = convention == "released"
    rho, _ = _canonical_on(fit, test, variance, released, standardize)
    return float(rho[:top_k].mean())


def pwsim_on(
    fit: tuple[Matrix, Matrix],
    test: tuple[Matrix, Matrix],
    *,
    variance: float = 0.99,
    top_k: int | None = None,
    convention: str = "paper",
    standardize: bool = False,
) -> float:
    released = convention == "released"
    rho, H = _canonical_on(fit, test, variance, released, standardize)
    columns = centred(fit[0], standardize=standardize)
    weights = np.abs(H.T @ columns).sum(axis=1)[:top_k]
    return float(weights @ rho[:top_k] / weights.sum())


ON_TEST: dict[str, Callable[..., float]] = {
    "mixedsim": mixedsim_on,
    "svsim": svsim_on,
    "pwsim": pwsim_on,
}


def held_out(name: str, X: Matrix, Y: Matrix, parts: Sequence[int], **options: Any) -> float:
    """Each part in turn, weighted by its size."""
    labels = np.asarray(parts)
    total = 0.0
    for part in np.unique(labels):
        test = labels == part
        score = ON_TEST[name]((X[~test], Y[~test]), (X[test], Y[test]), **options)
        total += score * test.sum() / len(labels)
    return total
