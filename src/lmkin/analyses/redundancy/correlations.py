"""Correlations between all neurons of a model: one matrix, or tile by tile from rows that stay in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...core import LayerId, MomentsError, to_numpy, varies, workers
from ...rows import SlicedSource, Spread

ROUNDING = {"float32": 1e-6, "float64": 1e-12}
"""Two neurons whose correlation is nearer to 1 than this are copies of each other: their distance is 0."""
_BLOCK = 512
Array = NDArray[Any]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]


class Correlations(Protocol):
    """Absolute correlations of ``n`` neurons."""

    n: int

    def block(self, rows: Any, columns: Any) -> Array:
        """|r| of some neurons with some, by their numbers."""

    def signs(self, first: IntArray, second: IntArray) -> NDArray[np.int8]:
        """Whether neurons run with each other (1) or against (-1), pair by pair."""


class Matrix:
    """All of them at once."""

    def __init__(self, absolute: Array, negative: Array | None = None):
        self.R = absolute
        self.n = len(absolute)
        self.negative = negative
        """A bit for each pair in the upper half: which run against each other."""

    def signs(self, first: IntArray, second: IntArray) -> NDArray[np.int8]:
        """Of each pair."""
        if self.negative is None:
            return np.ones(len(first), np.int8)
        low, high = np.minimum(first, second), np.maximum(first, second)
        bits = (self.negative[low, high >> 3] >> (7 - (high & 7)).astype(np.uint8)) & 1
        return np.where(bits == 1, -1, 1).astype(np.int8)

    def block(self, rows: Any, columns: Any) -> Array:
        """|r| of some neurons with some."""
        block: Array = self.R[rows][:, columns]
        return block


class Tiles:
    """From neurons × rows, standardized to length 1: a tile is a product, and is forgotten."""

    def __init__(self, Z: Array):
        self.Z = Z
        self.n = len(Z)

    def signs(self, first: IntArray, second: IntArray) -> NDArray[np.int8]:
        """Of each pair."""
        signs = np.ones(len(first), np.int8)
        for start in range(0, len(first), _BLOCK):
            some = slice(start, start + _BLOCK)
            products = np.einsum("ij,ij->i", self.Z[first[some]], self.Z[second[some]])
            signs[some][products < 0] = -1
        return signs

    def block(self, rows: Any, columns: Any) -> Array:
        """|r| of some neurons with some."""
        products: Array = self.Z[rows] @ self.Z[columns].T
        return clean(products, ROUNDING[str(self.Z.dtype)])


def clean(R: Array, rounding: float) -> Array:
    """Absolute values, in place; those that are 1 but for rounding are 1."""
    np.abs(R, out=R)
    R[rounding > 1 - R] = 1
    return R


class Scale:
    """Mean and standard deviation of every neuron of some groups, from a pass over the rows."""

    def __init__(self, source: SlicedSource, groups: Sequence[LayerId], precision: str):
        self.source = source
        self.groups = list(groups)
        self.dtype = np.dtype(precision)
        widths = [source.widths[g] for g in self.groups]
        edges = np.cumsum([0, *widths]).tolist()
        self.slices = [slice(a, b) for a, b in pairwise(edges)]
        self.width = edges[-1]
        spreads = [Spread(w) for w in widths]
        with workers() as run:
            for chunk in source.only(self.groups).chunks():
                pieces = [(s, chunk.data[g]) for s, g in zip(spreads, self.groups, strict=True)]
                with np.errstate(invalid="ignore", over="ignore"):
                    run(lambda piece: piece[0].add(to_numpy(piece[1])), pieces)
            means_and_spreads = [s.result() for s in spreads]
        for group, (mean, spread) in zip(self.groups, means_and_spreads, strict=True):
            if not np.isfinite(mean).all() or not np.isfinite(spread).all():
                raise MomentsError(
                    f"{group} holds NaN or infinite values, or values too large to be squared. Leave those rows out "
                    f"of all groups, or divide them by a constant."
                )
        self.mean = np.concatenate([mean for mean, _ in means_and_spreads])
        spread = np.concatenate([spread for _, spread in means_and_spreads])
        eps = float(np.finfo(self.dtype).eps)
        parts = [varies(np, m, s, eps) for m, s in means_and_spreads]
        self.moves: BoolArray = np.concatenate(parts)
        """Which neurons are not constant."""
        self.spread = np.where(self.moves, spread, np.inf)

    def chunks(self, advance: Callable[[int], None]) -> Any:
        """Standardized rows, some at a time: their numbers, and rows × neurons; constant neurons are 0."""
        inverse = (1 / self.spread).astype(self.dtype)
        # Centred in the type of the rows' own digits: an offset is not to cost any.
        with workers() as run:
            for chunk in self.source.only(self.groups).chunks():
                blocks, size = chunk.data, len(chunk.rows)
                Z = np.empty((size, self.width), self.dtype)

                def put(number: int, Z: Array = Z, blocks: Any = blocks) -> None:
                    columns = self.slices[number]
                    block = to_numpy(blocks[self.groups[number]])
                    for at in range(0, len(block), _BLOCK):
                        some = slice(at, at + _BLOCK)
                        Z[some, columns] = block[some] - self.mean[columns]
                        Z[some, columns] *= inverse[columns]

                run(put, range(len(self.groups)))
                yield chunk.rows, Z
                advance(size)


def matrix_of_rows(scale: Scale, advance: Callable[[int], None] = lambda _: None) -> Matrix:
    """Every correlation of the neurons that move, from a second pass over the rows: products of one half only."""
    from scipy.linalg import blas

    add = blas.ssyrk if scale.dtype == np.float32 else blas.dsyrk
    N = int(scale.moves.sum())
    C = np.zeros((N, N), scale.dtype, order="F")
    every = bool(scale.moves.all())
    for _, Z in scale.chunks(advance):
        Z = Z if every else np.ascontiguousarray(Z[:, scale.moves])
        C = add(1.0, Z.T, beta=1.0, c=C, lower=1, overwrite_c=1)
    return _finished(C.T, ROUNDING[str(scale.dtype)])


def matrix_of_moments(moments: Any, groups: Sequence[LayerId]) -> tuple[Matrix, BoolArray]:
    """Every correlation of the neurons that move, and which do, from sums."""
    snapshot = moments.snapshot()
    numbers = [moments.layout.find(g) for g in groups]
    alive = [np.asarray(to_numpy(snapshot.std(i))) > 0 for i in numbers]
    edges = np.cumsum([0, *(int(a.sum()) for a in alive)]).tolist()
    precision = str(moments.precision)
    R = np.zeros((edges[-1], edges[-1]), precision)
    for k, i in enumerate(numbers):
        for m in range(k, len(numbers)):
            block = to_numpy(snapshot.corr(i, numbers[m]))[np.ix_(alive[k], alive[m])]
            R[edges[k] : edges[k + 1], edges[m] : edges[m + 1]] = block
    return _finished(R, ROUNDING[precision]), np.concatenate(alive)


def _finished(U: Array, rounding: float) -> Matrix:
    """From products in the upper half to absolute correlations in both, in place, and their signs."""
    inverse = 1 / np.sqrt(np.diagonal(U).astype(np.float64))
    negative = np.zeros((len(U), -(-len(U) // 8)), np.uint8)

    def finish(start: int) -> None:
        rows = slice(start, start + _BLOCK)
        block = U[rows, start:]
        negative[rows] = np.packbits(U[rows] < 0, axis=1)  # below the diagonal it means nothing
        block *= inverse[rows, None].astype(U.dtype)
        block *= inverse[start:].astype(U.dtype)
        clean(block, rounding)
        corner = U[rows, rows]
        corner[:] = np.triu(corner) + np.triu(corner, 1).T
        U[start + _BLOCK :, rows] = U[rows, start + _BLOCK :].T

    with workers() as run:
        run(finish, range(0, len(U), _BLOCK))
    np.fill_diagonal(U, 1)
    return Matrix(U, negative)


def tiles_of_rows(scale: Scale, advance: Callable[[int], None] = lambda _: None) -> Tiles:
    """The rows of the neurons that move, turned round: what is read most is then together."""
    Z = np.empty((int(scale.moves.sum()), scale.source.n), scale.dtype)
    for numbers, rows in scale.chunks(advance):
        Z[:, numbers] = rows[:, scale.moves].T
    with workers() as run:

        def shorten(start: int) -> None:
            some = Z[start : start + _BLOCK]
            length = np.sqrt(np.einsum("ij,ij->i", some, some, dtype=np.float64))
            some /= length[:, None].astype(Z.dtype)

        run(shorten, range(0, len(Z), _BLOCK))
    return Tiles(Z)
