"""`Design`: the rows that a fit reads, as if their columns were standardized; they are neither copied nor changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core import MeasureError, stop_if_interrupted, to_numpy, varies

Array = NDArray[Any]
CHUNK = 8192
"""Rows that are read at a time."""


def matrix_of(rows: Any) -> Any:
    """A tensor as numpy; anything else as it is, such as a layer on disk."""
    return to_numpy(rows) if hasattr(rows, "detach") else rows


def blocks_of_rows(rows: Any, dtype: Any) -> Iterator[tuple[slice, Array]]:
    """Blocks of the rows of a matrix, and which they are."""
    for low in range(0, rows.shape[0], CHUNK):
        stop_if_interrupted()
        here = slice(low, min(low + CHUNK, rows.shape[0]))
        yield here, to_numpy(rows[here, :]).astype(dtype, copy=False)


class Design:
    """Rows × neurons with mean 0, and with ``standardize`` variance 1: z = (x − mean) / scale.

    ``rows`` may be any matrix that gives blocks of rows when it is sliced, such as an array or a layer on disk. A
    constant neuron is 0.

    ``room`` bounds the bytes of columns that are copied into memory at once (`block`); None: no bound.
    ``passes`` counts how often the rows were read, in shares of all columns.
    """

    def __init__(
        self, rows: Any, *, standardize: bool = True, dtype: Any = None, room: int | None = None
    ):
        self.rows = rows
        self.room = room
        self.n, self.d = int(rows.shape[0]), int(rows.shape[1])
        double = str(rows.dtype).endswith("float64")
        self.dtype = np.dtype(dtype or (np.float64 if double else np.float32))
        self.passes = 0.0
        self.mean, std = self._moments()
        eps = float(np.finfo(np.float64 if double else np.float32).eps)
        self.alive = np.asarray(varies(np, self.mean, std, eps))
        self.scale = np.where(self.alive, std if standardize else 1.0, 1.0)
        self._inverse = np.where(self.alive, 1 / self.scale, 0.0)

    def _moments(self) -> tuple[Array, Array]:
        """Mean and standard deviation of every column; float64, around the mean of the first rows."""
        total, squares = np.zeros(self.d), np.zeros(self.d)
        origin: Array | None = None
        for _, block in self.chunks():
            if origin is None:
                origin = block.mean(0, dtype=np.float64)
            shifted = block - origin
            total += shifted.sum(0)
            squares += np.einsum("ij,ij->j", shifted, shifted)
        assert origin is not None
        if not np.isfinite(squares).all():
            bad = int(np.flatnonzero(~np.isfinite(squares))[0])
            raise MeasureError(
                f"Column {bad} holds NaN, infinite values, or values too large to square. Leave out the rows that have "
                f"some."
            )
        offset = total / self.n
        return origin + offset, np.sqrt(np.maximum(squares / self.n - offset**2, 0))

    def chunks(self) -> Iterator[tuple[slice, Array]]:
        """Blocks of rows as they are, and which they are."""
        yield from blocks_of_rows(self.rows, self.dtype)
        self.passes += 1

    def scores(self, W: Array, b: Array) -> Array:
        """Z W + b, rows × outputs."""
        V = (W * self._inverse[:, None]).astype(self.dtype)
        shift = (b - self.mean @ V).astype(self.dtype)
        out = np.empty((self.n, W.shape[1]), self.dtype)
        for here, block in self.chunks():
            np.matmul(block, V, out=out[here])
        out += shift
        return out

    def gradient(self, residuals: Array) -> Array:
        """Zᵀ R / n, neurons × outputs."""
        G = np.zeros((self.d, residuals.shape[1]))
        for here, block in self.chunks():
            G += (residuals[here].T @ block).T
        G -= np.outer(self.mean, residuals.sum(0, dtype=np.float64))
        G *= self._inverse[:, None] / self.n
        return G

    def has_room(self, columns: int) -> bool:
        """Whether so many columns may be copied into memory."""
        return self.room is None or columns * self.n * self.dtype.itemsize <= self.room

    def block(self, columns: NDArray[np.int64]) -> Block:
        """Some columns, standardized, in memory."""
        Z = np.empty((self.n, len(columns)), self.dtype)
        mean, inverse = self.mean[columns], self._inverse[columns].astype(self.dtype)
        for here, rows in self.chunks():
            Z[here] = (rows[:, columns] - mean) * inverse
        return Block(Z)

    def unscaled(self, W: Array, b: Array) -> tuple[Array, Array]:
        """Weights and intercepts for the rows as they are."""
        V = W * self._inverse[:, None]
        return V, b - self.mean @ V


class Block:
    """Some standardized columns in memory, with the same two products."""

    def __init__(self, Z: Array):
        self.Z = Z
        self.n, self.d = Z.shape
        self.dtype = Z.dtype

    def scores(self, W: Array, b: Array) -> Array:
        """Z W + b."""
        out = self.Z @ W.astype(self.dtype, copy=False)
        out += b.astype(self.dtype)
        return np.asarray(out)

    def gradient(self, residuals: Array) -> Array:
        """Zᵀ R / n."""
        return np.asarray((residuals.T @ self.Z).T.astype(np.float64) / self.n)
