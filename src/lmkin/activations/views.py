"""A layer as one array, though it lies in several memory-mapped pieces."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import DTypeLike, NDArray

from ..corpus import Units


class LayerView(NDArrayOperatorsMixin):
    """Units × neurons, array-like: sliced without reading the rest, turned into an array on demand.

    ``np.asarray(view)`` reads all rows; numpy functions and operators do so by themselves. ``view[rows]`` is a numpy
    array, which knows no units; ``view.select(rows)`` is a view, which does.
    """

    def __init__(
        self,
        pieces: Sequence[NDArray[Any]],
        rows: NDArray[np.int64] | None = None,
        *,
        units: Units | None = None,
    ):
        self.units = units
        """What the rows stand for: sentences stay whole in splits and parts; views of other units are refused."""
        self._pieces = list(pieces)
        self._starts = np.cumsum([0, *(len(p) for p in self._pieces)])
        self._rows = rows

    @property
    def shape(self) -> tuple[int, int]:
        """(units, neurons)."""
        n = int(self._starts[-1]) if self._rows is None else len(self._rows)
        return n, int(self._pieces[0].shape[1])

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the numbers as stored."""
        return self._pieces[0].dtype

    ndim = 2

    @property
    def size(self) -> int:
        """Number of values."""
        return self.shape[0] * self.shape[1]

    @property
    def T(self) -> NDArray[Any]:  # noqa: N802 (as numpy calls it)
        """The transposed array."""
        return np.asarray(self).T

    def select(self, rows: slice | Sequence[int] | NDArray[Any]) -> LayerView:
        """Some of the rows with their units, by number, mask or slice; nothing is read."""
        key = rows if isinstance(rows, slice) or len(rows) else slice(0)
        numbers = np.arange(len(self))[key if isinstance(key, slice) else np.asarray(key)]
        absolute = numbers if self._rows is None else self._rows[numbers]
        units = None if self.units is None else self.units.select(numbers)
        return LayerView(self._pieces, absolute, units=units)

    def release(self) -> None:
        """Let go of pages that were mapped from files; they are mapped again when they are read again."""
        for piece in self._pieces:
            unmap(piece)

    def astype(self, dtype: DTypeLike) -> NDArray[Any]:
        """All rows as an array of another type."""
        return np.asarray(self).astype(dtype)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<LayerView {self.shape[0]:,} × {self.shape[1]} {self.dtype}>"

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        if self._rows is None and len(self._pieces) == 1:
            array = np.asarray(self._pieces[0])
            return np.array(array, dtype=dtype, copy=copy)
        return self[:].astype(dtype or self.dtype, copy=False)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        arrays = [np.asarray(x) if isinstance(x, LayerView) else x for x in inputs]
        return getattr(ufunc, method)(*arrays, **kwargs)

    def __getitem__(self, key: Any) -> NDArray[Any]:
        key, rest = (key[0], key[1:]) if isinstance(key, tuple) else (key, ())
        key = slice(None) if key is Ellipsis else key
        key = slice(0) if isinstance(key, list) and not key else key
        if isinstance(key, slice):
            block = self._slice(*key.indices(len(self)))
        elif np.ndim(key) == 0:
            index = range(len(self))[int(key)]  # negative numbers, and IndexError past the end
            block = self._slice(index, index + 1, 1)[0]
        else:
            block = self._gather(np.arange(len(self))[np.asarray(key)])
        return block[(slice(None),) * (block.ndim - 1) + rest] if rest else block

    def _slice(self, start: int, stop: int, step: int) -> NDArray[Any]:
        if self._rows is not None or step != 1:
            return self._gather(np.arange(start, stop, step))
        parts = []
        for piece, offset in zip(self._pieces, self._starts, strict=False):
            low, high = max(start - offset, 0), min(stop - offset, len(piece))
            if low < high:
                parts.append(piece[low:high])
        if not parts:
            return np.empty((0, self.shape[1]), self.dtype)
        return np.asarray(parts[0]) if len(parts) == 1 else np.concatenate(parts)

    def _gather(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        if self._rows is not None:
            rows = self._rows[rows]
        out = np.empty((len(rows), self.shape[1]), self.dtype)
        owner = np.searchsorted(self._starts, rows, side="right") - 1
        for number in np.unique(owner):
            mine = owner == number
            out[mine] = self._pieces[number][rows[mine] - self._starts[number]]
        return out


def unmap(array: NDArray[Any]) -> None:
    """Let go of the resident pages of the file that an array is mapped from, if it is."""
    base: Any = array
    while isinstance(base, np.ndarray):
        base = base.base
    if isinstance(base, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        base.madvise(mmap.MADV_DONTNEED)
