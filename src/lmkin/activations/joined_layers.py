"""Layers side by side as one matrix, read block by block from where they are stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .views import LayerView


class JoinedLayers:
    """Units × the neurons of several layers: ``[rows]`` and ``[rows, columns]`` read that much and no more."""

    ndim = 2

    def __init__(self, views: Sequence[LayerView]):
        self.views = list(views)
        self._ends = np.cumsum([view.shape[1] for view in self.views])

    @property
    def shape(self) -> tuple[int, int]:
        """(units, neurons)."""
        return len(self.views[0]), int(self._ends[-1])

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the numbers as stored."""
        return np.result_type(*(view.dtype for view in self.views))

    @property
    def nbytes(self) -> int:
        """Bytes of all of it in single precision."""
        return 4 * self.shape[0] * self.shape[1]

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<JoinedLayers {len(self):,} × {self.shape[1]} {self.dtype}>"

    def __getitem__(self, key: Any) -> NDArray[Any]:
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        starts = [0, *self._ends[:-1].tolist()]
        if isinstance(columns, slice) and columns.step in (None, 1):
            low, high, _ = columns.indices(self.shape[1])
            parts = [
                view[rows][:, max(low - start, 0) : max(high - start, 0)]
                for view, start, end in zip(self.views, starts, self._ends, strict=True)
                if low < end and high > start
            ]
            return np.concatenate(parts, axis=1) if parts else self.views[0][rows][:, :0]
        return np.concatenate([view[rows] for view in self.views], axis=1)[:, columns]

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        return self[:].astype(dtype or self.dtype, copy=False)

    def select(self, rows: Any) -> JoinedLayers:
        """Some of the rows; nothing is read."""
        return JoinedLayers([view.select(rows) for view in self.views])

    def part(self, first: int, end: int) -> JoinedLayers:
        """Some neighbouring layers, by their place; nothing is read."""
        return JoinedLayers(self.views[first:end])
