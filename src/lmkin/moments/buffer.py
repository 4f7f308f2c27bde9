"""Rows on their way into the sums: all groups side by side, minus the shift."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

import numpy as np

from ..core import LayerId, Layout, as_double, is_double, numpy_device, to_numpy, varies
from .sums import Reference

_FEW = 512


class RowBuffer:
    """Up to ``size`` rows of all groups, in memory that is used again."""

    def __init__(self, xp: Any, layout: Layout, dtype: Any, device: Any, size: int):
        self.xp = xp
        self.layout = layout
        self.dtype = dtype
        self.device = device
        self.size = size
        self.filled = 0
        self.runs: list[tuple[Hashable, int, int]] = []
        """Which rows belong to which part."""
        self.shift: Any = None
        self._memory: Any = None

    @property
    def rows(self) -> Any:
        """The rows that are in it."""
        return self._memory[: self.filled, :]

    def fill(self, blocks: dict[LayerId, Any], start: int, stop: int, part: Hashable) -> int:
        """Take in rows from ``start``, as many as there is room for; how many that were."""
        xp = self.xp
        if self.shift is None:
            # The first block's mean: sums of x itself would lose their digits to a large mean.
            head = slice(start, min(stop, start + self.size))
            means = [
                xp.mean(as_double(xp, b[head, :], self.device), axis=0) for b in blocks.values()
            ]
            # A number that the products' type holds: what is subtracted is then what is remembered.
            self.shift = xp.astype(xp.astype(xp.concat(means), self.dtype), xp.float64)
        self._make_room(self.filled + stop - start)
        taken: int = min(stop - start, self._memory.shape[0] - self.filled)
        place = slice(self.filled, self.filled + taken)
        for block, columns in zip(blocks.values(), self.layout.slices, strict=True):
            self._subtract(block[start : start + taken, :], columns, self._memory[place, columns])
        if self.runs and self.runs[-1][0] == part:
            self.runs[-1] = (part, self.runs[-1][1], place.stop)
        else:
            self.runs.append((part, place.start, place.stop))
        self.filled += taken
        return taken

    def forget(self, start: int) -> None:
        """Take out the rows from ``start`` on."""
        self.filled = start
        self.runs = [(p, a, min(b, start)) for p, a, b in self.runs if a < start]

    def clear(self) -> None:
        """Forget the rows, keep the memory."""
        self.filled = 0
        self.runs = []

    def _make_room(self, rows: int) -> None:
        """Memory for so many rows, but not more than ``size``; a few rows take little."""
        has = 0 if self._memory is None else self._memory.shape[0]
        if rows <= has or has == self.size:
            return
        shape = (self.size if rows > _FEW else _FEW, self.layout.width)
        wider = self.xp.empty(shape, dtype=self.dtype, device=self.device)
        if self.filled:
            wider[: self.filled, :] = self.rows
        self._memory = wider

    def _subtract(self, block: Any, columns: slice, target: Any) -> None:
        xp, shift = self.xp, self.shift[columns]
        if numpy_device(xp):
            block = to_numpy(block)
            narrow = np.result_type(block.dtype, np.float32) == np.float32
            # Infinite values are found, and named, when the buffer is full.
            with np.errstate(invalid="ignore", over="ignore"):
                np.subtract(
                    block,
                    shift.astype(np.float32) if narrow and target.dtype == np.float32 else shift,
                    out=target,
                    casting="same_kind",
                )
        elif is_double(block) or target.dtype == xp.float64:
            target[...] = xp.astype(as_double(xp, block, self.device) - shift, target.dtype)
        else:
            block = xp.asarray(block, device=self.device)
            target[...] = xp.astype(block, target.dtype) - xp.astype(shift, target.dtype)

    def reference(self, Z: Any) -> Reference:
        """The shift, and the standard deviations of these rows; 1 for a neuron that is constant here."""
        xp = self.xp
        one = xp.ones_like(self.shift)
        if Z.shape[0] < 2:
            return Reference(self.shift, one)
        scale = xp.std(xp.astype(Z, xp.float64), axis=0)
        eps = float(xp.finfo(self.dtype).eps)
        alive = [varies(xp, self.shift[c], scale[c], eps) for c in self.layout.slices]
        return Reference(self.shift, xp.where(xp.concat(alive), scale, one))

    def blocks(self) -> Iterator[tuple[Hashable, dict[LayerId, Any]]]:
        """The rows as they came in, by part and group, as float64."""
        groups = list(zip(self.layout.groups, self.layout.slices, strict=True))
        for part, start, stop in self.runs:
            rows = self.xp.astype(self._memory[start:stop, :], self.xp.float64) + self.shift
            yield part, {group: rows[:, columns] for group, columns in groups}
