"""`Design`: the rows that a fit reads, as if their columns were standardized; they are neither copied nor changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import get_blas_funcs

from ..core import MeasureError, stop_if_interrupted, to_numpy, varies
from .row_blocks import blocks_of_rows
from .standard import Standard

Array = NDArray[Any]
_FEW = 2048
"""Rows that are read at a time, where a block is copied beside second moments."""
_FINE = 256
"""Rows whose sum is taken in one go: they stay in the cache."""
_OF_MOMENTS = 6144
"""Rows that second moments are taken of; of many columns two rows for each."""
_COPIED = 3
"""Columns are copied out of so many times as many at least; of fewer, a product of all is faster."""
FAR = 100
"""Deviations from 0 to the mean of a column, from which on float32 needs an origin there: products cancel."""
_SAFE = 1e-12, 1e12
"""Deviations whose squares are as exact in single precision as others."""


def row_step(n: int, columns: int) -> int:
    """Which rows second moments are taken of: every so many. A metric need not be exact, and costs columns² a row."""
    return max(1, n // max(_OF_MOMENTS, 2 * columns))


class Design:
    """Rows × neurons with mean 0, and with ``standardize`` variance 1: z = (x − mean) / scale.

    ``rows`` may be any matrix that gives blocks of rows when it is sliced, such as an array or a layer on disk. A
    constant neuron is 0. One design serves many fits: of other labels, of some of its columns (`part`), of some of its
    rows (`sample`).

    ``room`` bounds the bytes of columns and rows that are copied into memory at once; None: a quarter of the rows.
    ``passes`` counts how often the rows were read, in shares of all columns.
    """

    def __init__(
        self, rows: Any, *, standardize: bool = True, dtype: Any = None, room: int | None = None,
        centre: bool = True, standard: Standard | None = None,
    ):  # fmt: skip
        self.rows = rows
        self.n, self.d = int(rows.shape[0]), int(rows.shape[1])
        self.double = str(rows.dtype).endswith("float64")
        self.dtype = np.dtype(dtype or (np.float64 if self.double else np.float32))
        self.passes = 0.0
        self.room = room
        # Second moments by first and last column, and the columns of the whole that these are.
        self._known, self._place = dict[tuple[int, int], Array](), np.arange(self.d)
        self._of: Design | None = None
        self._within: NDArray[np.int64] | None = (
            None  # of the rows' columns, those that are its own
        )
        self.standard = standard or self._standard(standardize, centre)
        self.mean, self._inverse = self.standard.mean, self.standard.inverse
        self._far = np.flatnonzero(self.standard.far)

    def _standard(self, standardize: bool, centre: bool) -> Standard:
        mean, std = self._means(self.dtype)
        usual = (std > _SAFE[0]) & (std < _SAFE[1])
        if not usual.all() and self.dtype != np.float64:
            mean, std = self._means(np.dtype(np.float64))
        if not np.isfinite(std).all():
            bad = int(np.flatnonzero(~np.isfinite(std))[0])
            raise MeasureError(
                f"Column {bad} holds NaN, infinite values, or values too large to square. Leave out the rows that have "
                f"some."
            )
        eps = float(np.finfo(np.float64 if self.double else np.float32).eps)
        alive = np.asarray(varies(np, mean, std, eps))
        scale = np.where(alive, std if standardize else 1.0, 1.0)
        far = alive & (np.abs(mean) > FAR * std) & centre & (self.dtype != np.float64)
        return Standard(mean if centre else np.zeros(self.d), scale, alive, far)

    def _means(self, dtype: Any) -> tuple[Array, Array]:
        """Mean and standard deviation of every column: sums of a few rows as they are, of these float64."""
        total, squares = np.zeros(self.d), np.zeros(self.d)
        origin: Array | None = None
        with np.errstate(over="ignore", invalid="ignore"):
            for _, block in self.chunks():
                if origin is None:
                    origin = block.mean(0, dtype=np.float64).astype(dtype)
                for low in range(0, len(block), _FINE):
                    shifted = block[low : low + _FINE] - origin
                    total += shifted.sum(0)
                    squares += np.multiply(shifted, shifted, out=shifted).sum(0)
            assert origin is not None
            offset = total / self.n
            return origin + offset, np.sqrt(np.maximum(squares / self.n - offset**2, 0))

    def chunks(self) -> Iterator[tuple[slice, Array]]:
        """Blocks of rows as they are, and which they are."""
        yield from blocks_of_rows(self.rows, self.dtype)
        self.passes += 0.5

    def scores(self, W: Array, b: Array) -> Array:
        """Z W + b, rows × outputs; what belongs to one output lies together."""
        V = (W * self._inverse[:, None]).astype(self.dtype)
        far, mean = V[self._far], self._mean_in_products()
        shift = (b - mean @ V).astype(self.dtype)
        V[self._far] = 0
        if self._within is not None:
            own, V = V, np.zeros((self.rows.shape[1], W.shape[1]), self.dtype)
            V[self._within] = own
        out = np.empty((self.n, W.shape[1]), self.dtype, order="F")
        for here, block in self.chunks():
            np.matmul(block, V, out=out[here])
            if len(far):
                out[here] += self._from_origin(block) @ far
        out += shift
        return out

    def gradient(self, residuals: Array) -> Array:
        """Zᵀ R / n, neurons × outputs."""
        G = np.zeros((self.rows.shape[1], residuals.shape[1]))
        own = np.zeros((len(self._far), residuals.shape[1]))
        for here, block in self.chunks():
            G += (residuals[here].T @ block).T
            if len(self._far):
                own += (residuals[here].T @ self._from_origin(block)).T
        if self._within is not None:
            G = G[self._within]
        G[self._far] = own
        G -= np.outer(self._mean_in_products(), residuals.sum(0, dtype=np.float64))
        G *= self._inverse[:, None] / self.n
        return G

    def _from_origin(self, block: Array) -> Array:
        """The far columns of a block of rows, from their means on: that is exact, where products with them are not."""
        mine = self._far if self._within is None else self._within[self._far]
        return np.asarray(block[:, mine] - self.mean[self._far].astype(self.dtype))

    def _mean_in_products(self) -> Array:
        """What the columns of products are still to be centred by: of far ones what rounding has left of the mean."""
        mean = self.mean.copy()
        mean[self._far] -= self.mean[self._far].astype(self.dtype)
        return mean

    def some_rows(self, rows: NDArray[np.int64]) -> Array:
        """Some rows, standardized."""
        X = self._own(to_numpy(self.rows[rows])).astype(self.dtype, copy=False)
        Z = X - self.mean.astype(self.dtype)
        if len(self._far):
            Z[:, self._far] -= self._mean_in_products()[self._far].astype(self.dtype)
        return np.asarray(Z * self._inverse.astype(self.dtype))

    def has_room(self, numbers: int) -> bool:
        """Whether so many numbers may be copied into memory."""
        return numbers * self.dtype.itemsize <= self.room_for_copies

    @property
    def room_for_copies(self) -> int:
        """Bytes of rows and columns that may be copied into memory at once."""
        return self.n * self.d * self.dtype.itemsize // 4 if self.room is None else self.room

    def block(self, columns: NDArray[np.int64]) -> Block:
        """Some columns, standardized, in memory."""
        Z = np.empty((self.n, len(columns)), self.dtype)
        mean, inverse = self.mean[columns], self._inverse[columns].astype(self.dtype)
        mine = columns if self._within is None else self._within[columns]
        far = np.flatnonzero(self.standard.far[columns])
        left = self._mean_in_products()[columns[far]].astype(self.dtype)
        for here, rows in self.chunks():
            np.subtract(rows[:, mine], mean.astype(self.dtype), out=Z[here])
            if len(far):
                Z[here, far] -= left
            Z[here] *= inverse
        return Block(Z)

    def part(self, columns: slice | NDArray[np.int64], rows: Any = None) -> Design:
        """The design of some columns, which knows what this one knows of them; ``rows``: only these columns.

        Few columns that lie apart are copied where there is room. Of many, or without room, the products are those of
        all columns with weights of 0, for it takes longer to pick columns out of every block of rows.
        """
        if isinstance(columns, slice):
            rows = self.rows[:, columns] if rows is None else rows
            mine = columns.indices(self.d)[0] + np.arange(rows.shape[1])
        else:
            mine = np.asarray(columns)
        within = None
        if rows is None:
            within = mine if self._within is None else self._within[mine]
            rows = self.rows
            if _COPIED * len(mine) <= self.d and self.has_room(self.n * len(mine)):
                rows, within = self._copied(within), None
        part = Design(rows, dtype=self.dtype, room=self.room, standard=self.standard.part(mine))
        part.d, part._within = len(mine), within
        part._known = self._known
        part._place = self._place[mine]
        return part

    def _copied(self, columns: NDArray[np.int64]) -> Array:
        """Some columns of the rows, in memory."""
        found = np.empty((self.n, len(columns)), self.dtype)
        for here, block in self.chunks():
            np.take(block, columns, axis=1, out=found[here], mode="clip")
        return found

    def _own(self, block: Array) -> Array:
        return block if self._within is None else block[:, self._within]

    def sample(self, count: int) -> tuple[NDArray[np.int64], Design]:
        """About so many rows in memory, the same at each call, as if they were all; and which they are."""
        rows = np.sort(np.random.default_rng(0).choice(self.n, min(count, self.n), replace=False))
        few = self._own(to_numpy(self.rows[rows])).astype(self.dtype, copy=False)
        self.passes += len(rows) / self.n / 2
        sample = Design(few, standard=self.standard, dtype=self.dtype, room=few.nbytes)
        sample._of = self
        return rows, sample

    @property
    def sampled(self) -> bool:
        """Whether these rows are a sample, on which a fit only begins; second moments are those of all rows."""
        return self._of is not None

    def take_moments(self) -> None:
        """Take the second moments of all columns, where there is room: every part has its own from then on."""
        if self.has_room(self.d * self.d):
            self.second_moments(slice(0, self.d))

    def known_moments(self, columns: NDArray[np.int64]) -> Array | None:
        """ZᵀZ / n of some columns, where those of a range with all of them were taken."""
        if self._of is not None:
            return self._of.known_moments(columns)
        place = self._place[columns]
        for (low, high), G in self._known.items():
            if len(place) and low <= place.min() and place.max() < high:
                return G if _is_range(place, low, high) else G[np.ix_(place - low, place - low)]
        return None

    def second_moments(self, columns: slice) -> Array:
        """ZᵀZ / n of neighbouring columns, of some rows; of what is a range of the whole it is kept, for other fits."""
        if self._of is not None:
            return self._of.second_moments(columns)
        low, high, _ = columns.indices(self.d)
        known = self.known_moments(np.arange(low, high))
        if known is not None:
            return known
        every = row_step(self.n, high - low)
        mean, inverse = (v[columns].astype(self.dtype) for v in (self.mean, self._inverse))
        mine = columns if self._within is None else self._within[columns]
        G = np.zeros((high - low, high - low), self.dtype, order="F")
        syrk, count = get_blas_funcs("syrk", (G,)), 0
        for here in range(0, self.n, _FEW * every):
            stop_if_interrupted()
            block = to_numpy(self.rows[here : here + _FEW * every : every, :])[:, mine]
            Z = block.astype(self.dtype, copy=False) - mean
            Z *= inverse
            G = syrk(1.0, Z.T, beta=1.0, c=G, overwrite_c=True)  # its upper half
            count += len(Z)
        self.passes += 0.5 * (high - low) / self.d * count / self.n
        for row in range(high - low):
            G[row + 1 :, row] = G[row, row + 1 :]
        G /= count
        G = G.T  # rows lie together; it is symmetric
        place = self._place[columns]
        first, end = int(place[0]), int(place[-1]) + 1
        if _is_range(place, first, end):
            self._known[first, end] = G
        return G

    def unscaled(self, W: Array, b: Array) -> tuple[Array, Array]:
        """Weights and intercepts for the rows as they are."""
        V = W * self._inverse[:, None]
        return V, b - self.mean @ V


def _is_range(place: NDArray[np.int64], low: int, high: int) -> bool:
    """Whether these are the numbers from low to high."""
    return len(place) == high - low and bool((place == np.arange(low, high)).all())


class Block:
    """Some standardized columns in memory, with the same two products."""

    def __init__(self, Z: Array):
        self.Z = Z
        self.n, self.d = Z.shape
        self.dtype = Z.dtype

    def scores(self, W: Array, b: Array) -> Array:
        """Z W + b."""
        out = np.empty((self.n, W.shape[1]), self.dtype, order="F")
        np.matmul(self.Z, W.astype(self.dtype, copy=False), out=out)
        out += b.astype(self.dtype)
        return out

    def gradient(self, residuals: Array) -> Array:
        """Zᵀ R / n."""
        return np.asarray((residuals.T @ self.Z).T.astype(np.float64) / self.n)

    def some_rows(self, rows: NDArray[np.int64]) -> Array:
        """Some rows."""
        return np.asarray(self.Z[rows])

    def second_moments(self) -> Array:
        """ZᵀZ / n, of some rows for each column."""
        Z = self.Z[:: row_step(self.n, self.d)]
        return np.asarray(Z.T @ Z / self.dtype.type(len(Z)))
