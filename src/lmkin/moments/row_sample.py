"""A seeded sample of rows, for what cannot be computed from sums: kernels, permutations, a user's own function."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core import to_numpy

ROWS = 2000
_MARKS = 64
"""Values of the first rows that take part in the seed."""


class RowSample:
    """The rows with the smallest random keys: any rows may be added in any order, and two samples merge.

    Every row draws a key; those with the ``size`` smallest keys stay. So each row has the same chance.
    """

    def __init__(self, size: int, seed: int):
        self.size = size
        self.seed = seed
        self._random: np.random.Generator | None = None
        self.keys: NDArray[np.float64] = np.empty(0)
        self.parts: NDArray[np.int64] = np.empty(0, np.int64)
        self._memory: NDArray[Any] | None = None

    @property
    def rows(self) -> NDArray[Any] | None:
        """Sampled rows × all neurons, as they came; None before the first."""
        return None if self._memory is None else self._memory[: len(self.keys)]

    def restore(self, keys: NDArray[Any], parts: NDArray[Any], rows: NDArray[Any]) -> None:
        """Take in what was saved."""
        self._take(keys, parts, rows)

    def offer(self, rows: Any, part: int) -> None:
        """Some of these rows may enter the sample."""
        if not self.size:
            return
        if self._random is None:
            # The first rows take part in the seed: samples of different rows that are merged later do not draw alike.
            self._random = np.random.default_rng([self.seed, _mark(rows)])
        keys = self._random.random(rows.shape[0])
        limit = self.keys.max() if len(self.keys) == self.size else 1.0
        drawn = np.flatnonzero(keys < limit)
        if len(drawn) > self.size:
            drawn = np.sort(drawn[np.argpartition(keys[drawn], self.size - 1)[: self.size]])
        if len(drawn):
            taken = to_numpy(rows[drawn] if isinstance(rows, np.ndarray) else to_numpy(rows)[drawn])
            self._take(keys[drawn], np.full(len(drawn), part), taken)

    def move(self, by: NDArray[Any]) -> None:
        """Add something to every row."""
        rows = self.rows
        if rows is not None:
            rows += by.astype(rows.dtype)

    def merge(self, other: RowSample, parts: dict[int, int], move: NDArray[Any]) -> None:
        """Take another sample in; ``parts`` says what its parts are called here, ``move`` is added to its rows."""
        if other.rows is not None and self.size:
            renamed = np.array([parts[int(p)] for p in other.parts], np.int64)
            self._take(other.keys, renamed, (other.rows + move).astype(other.rows.dtype))

    def _take(self, keys: NDArray[Any], parts: NDArray[Any], rows: NDArray[Any]) -> None:
        """Keep the smallest keys of old and new; new rows go where old ones leave, so memory is touched once."""
        held = len(self.keys)
        everyone = np.concatenate([self.keys, keys])
        stay = np.ones(len(everyone), bool)
        if len(everyone) > self.size:
            stay[:] = False
            stay[np.argpartition(everyone, self.size - 1)[: self.size]] = True
        if self._memory is None:
            self._memory = np.empty((self.size, rows.shape[1]), rows.dtype)
        new = np.flatnonzero(stay[held:])
        free = np.concatenate([np.flatnonzero(~stay[:held]), np.arange(held, self.size)])
        places = free[: len(new)]
        total = max(held, int(places.max(initial=-1)) + 1)
        self.keys = np.resize(self.keys, total) if held else np.empty(total)
        self.parts = np.resize(self.parts, total) if held else np.empty(total, np.int64)
        self.keys[places], self.parts[places] = keys[new], parts[new]
        self._memory[places] = rows[new]


def _mark(rows: Any) -> int:
    """A number that tells some rows from others, and is the same where the last bits of their values differ.

    Another CPU, or another number of threads, moves those bits, and must not draw other rows: so only signs count, and
    what is next to 0 has none. What is next to 0 is measured at the upper quartile: neurons that are far larger than
    the others do not silence them, and constant ones do not speak. Of narrow rows several take part.
    """
    width = rows.shape[1]
    step, count = max(1, width // _MARKS), max(1, _MARKS // width)
    some = to_numpy(rows[:count, ::step])[:, :_MARKS].astype(np.float64)
    sizes = np.abs(some)
    usual = np.sort(sizes, axis=None)[3 * (sizes.size - 1) // 4]
    return zlib.crc32(np.where(sizes > 1e-3 * usual, np.sign(some), 0).astype(np.int8).tobytes())
