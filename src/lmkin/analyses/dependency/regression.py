"""Fits of models by others: all leave-one-out fits from one factorisation, pairs from blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh, eigvalsh

from .joint import ROWS, Joint

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
TOLERANCE = {"float32": 3e-8, "float64": 1e-12}
"""Eigenvalues below this fraction of the largest are rounding, where nothing is added to them."""


def columns_of(joint: Joint, groups: Sequence[int]) -> IntArray:
    """Numbers of the columns of some groups."""
    pieces = [np.arange(joint.slices[i].start, joint.slices[i].stop) for i in groups]
    return np.concatenate(pieces).astype(np.int64)


def leave_one_out(S: FloatArray, blocks: Sequence[IntArray], ridge: FloatArray) -> FloatArray:
    r"""The rows of each block of columns are :math:`[-W, I]` of its fit by all other blocks; other columns are 0.

    With :math:`P = (\Lambda + S)^{-1}`, :math:`W_i = -P_{ii}^{-1} P_{i,rest}`: one factorisation serves all. ``ridge``
    is the diagonal of Λ; that of block i itself does not matter to its own fit.
    """
    every = np.concatenate(blocks)
    A = S[np.ix_(every, every)]
    A[np.diag_indices_from(A)] += ridge[every]
    P = inverse(A)
    whole, start = np.zeros_like(S), 0
    for block in blocks:
        mine = slice(start, start + len(block))
        B = cho_solve(cho_factor(P[mine, mine], lower=True), P[mine])
        B[:, mine] = np.eye(len(block))
        whole[np.ix_(block, every)] = B
        start += len(block)
    return whole


def inverse(A: FloatArray) -> FloatArray:
    """Of a symmetric positive definite matrix, which is overwritten."""
    from scipy.linalg.lapack import dpotrf, dpotri

    factor, failed = dpotrf(A.T, lower=1, overwrite_a=1, clean=0)
    if failed:
        raise LinAlgError("not positive definite")
    lower, failed = dpotri(factor, lower=1, overwrite_c=1)
    if failed:
        raise LinAlgError("singular")
    result: FloatArray = np.asarray(lower)
    for start in range(0, len(result), ROWS):  # LAPACK fills the lower half
        corner = result[start : start + ROWS, start : start + ROWS]
        corner[:] = np.tril(corner) + np.tril(corner, -1).T
        result[start : start + ROWS, start + ROWS :] = result[
            start + ROWS :, start : start + ROWS
        ].T
    return result


def weights(
    S: FloatArray,
    target: IntArray,
    basis: IntArray,
    ridge: FloatArray,
    tolerance: float,
    unit: FloatArray,
) -> FloatArray:
    r"""W of a fit of some columns by others, :math:`S_{uz} (\Lambda + S_{zz})^{-1}`, target × basis.

    Where Λ is 0 and S singular, the solution of least norm (Moore-Penrose) in the models' own units: a column of S is
    worth ``unit``.
    """
    A = S[np.ix_(basis, basis)]
    right = S[np.ix_(basis, target)]
    added = ridge[basis]
    if (added > 0).all():
        A[np.diag_indices_from(A)] += added
        try:
            return np.asarray(cho_solve(cho_factor(A, lower=True, overwrite_a=True), right)).T
        except LinAlgError:  # rounding made it indefinite: what is added is less than that
            A = S[np.ix_(basis, basis)]
            A[np.diag_indices_from(A)] += added
    values, vectors = eigh(A, driver="evd")
    kept = values > tolerance * values[-1]
    V = vectors[:, kept]
    W: FloatArray = (V @ ((V.T @ right) / values[kept][:, None])).T
    if kept.all() or not kept.any():
        return W
    # Rank is told in units of one size; the norm is that of weights in the models' own.
    own = W / unit[basis]
    N, _ = np.linalg.qr(vectors[:, ~kept] / unit[basis][:, None])
    least_norm: FloatArray = (own - (own @ N) @ N.T) * unit[basis]
    return least_norm


def residual_rows(W: FloatArray, target: IntArray, basis: IntArray, width: int) -> FloatArray:
    """[−W, I] over all columns."""
    rows = np.zeros((len(target), width))
    rows[:, basis] = -W
    rows[np.arange(len(target)), target] += 1
    return rows


def smallest_eigenvalue(S: FloatArray, basis: IntArray) -> float:
    """Of the covariance of some columns."""
    A = S[np.ix_(basis, basis)]
    return float(eigvalsh(A, subset_by_index=(0, 0))[0])


def as_ridge(value: Any, width: int) -> FloatArray:
    """One number for every column."""
    return np.broadcast_to(np.asarray(value, np.float64), (width,)).copy()
