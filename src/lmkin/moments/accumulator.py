"""The sums of moments while they grow: by rows, or by the sums of others."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from ..core import LayerId, Layout, MomentsError, Scratch, as_double, to_numpy
from ..rows import CHUNK
from .buffer import RowBuffer
from .change_reference import rebased
from .row_sample import RowSample
from .sums import NormWeights, Reference, Sums, add_rows

HUGE = 1e75
"""Values from here on have fourth powers that float64 cannot hold."""


class Accumulator:
    """Sums of all rows and of every part, in one reference, of arrays of one namespace and device."""

    def __init__(
        self,
        xp: Any,
        device: Any,
        layout: Layout,
        precision: str,
        *,
        keep_parts: bool,
        sample: RowSample,
    ):
        self.xp = xp
        self.device = device
        self.layout = layout
        self.precision = precision
        self.dtype = getattr(xp, precision)
        self.keep_parts = keep_parts
        self.sample = sample
        self.reference: Reference | None = None
        self.weights: NormWeights | None = None
        self.total: Sums | None = None
        self.parts: dict[Hashable, Sums] = {}
        self.numbers: dict[Hashable, int] = {}
        """Of the parts, in the order they came."""
        self._buffer = RowBuffer(xp, layout, self.dtype, device, CHUNK)
        self._scratch = (Scratch(), Scratch())

    @property
    def n(self) -> int:
        """Rows so far."""
        return (self.total.n if self.total else 0) + self._buffer.filled

    def set_reference(self, shift: Any, scale: Any) -> None:
        """The origin and unit of products; a scale of 0, of a constant neuron, becomes 1."""
        xp = self.xp
        shift, scale = (as_double(xp, a, self.device) for a in (shift, scale))
        if bool(xp.any(scale > HUGE)):
            raise MomentsError(
                f"There are values of the size {float(xp.max(scale)):.0e}, whose squares no number can "
                "hold. Divide the "
                f"rows by a constant first; no measure minds."
            )
        scale = xp.where(scale > 0, scale, xp.ones_like(scale))
        shift = xp.astype(xp.astype(shift, self.dtype), xp.float64)  # as it will be subtracted
        self.reference = Reference(shift, scale)
        self.weights = NormWeights(xp, self.layout, self.reference, self.dtype, self.device)
        self._buffer.shift = shift

    def fill(self, blocks: dict[LayerId, Any], n: int, part: Hashable) -> None:
        """Copy rows into the buffer; a full buffer goes into the sums."""
        self.numbers.setdefault(part, len(self.numbers))
        buffer, start = self._buffer, 0
        # A product is of one part. Only the first waits for more rows, which say how large the neurons are.
        enough = CHUNK // 2 if self.reference is None else 1
        if buffer.filled >= enough and buffer.runs[-1][0] != part:
            self.flush()
        while start < n:
            before = buffer.filled
            start += buffer.fill(blocks, start, n, part)
            self._require_finite(before)
            if buffer.filled == CHUNK:
                self.flush()

    def flush(self) -> None:
        """The rows in the buffer go into the sums of their parts, and of all."""
        if not self._buffer.filled:
            return
        xp, Z, runs = self.xp, self._buffer.rows, self._buffer.runs
        self._buffer.clear()
        for part, start, stop in runs:
            self.sample.offer(Z[start:stop, :], self.numbers[part])
        if self.reference is None:
            reference = self._buffer.reference(Z)
            self.set_reference(reference.shift, reference.scale)
        assert self.reference is not None
        assert self.weights is not None
        Z *= xp.astype(1.0 / self.reference.scale, self.dtype)
        if self.total is None:
            self.total = self._no_sums(xp.float64)
        for part, start, stop in runs:
            targets = [self.total]
            if self.keep_parts:
                targets.append(self.parts.setdefault(part, self._no_sums(self.dtype)))
            add_rows(xp, Z[start:stop, :], self.layout, self.weights, targets, self._scratch)

    def absorb(self, other: Accumulator) -> None:
        """Add the sums of another, whose layout is the same."""
        for name in other.numbers:
            self.numbers.setdefault(name, len(self.numbers))
        if other.total is None:  # a few rows that wait in a buffer: they come over as they are
            for part, blocks in other._buffer.blocks():
                self.fill(blocks, next(iter(blocks.values())).shape[0], part)
            return
        self.flush()
        other.flush()
        assert other.reference is not None
        if self.reference is None:
            self.set_reference(other.reference.shift, other.reference.scale)
        assert self.reference is not None
        if self.total is None:
            self.total = self._no_sums(self.xp.float64)
        self._add(self.total, other.total, other.reference)
        for name, sums in other.parts.items() if self.keep_parts else ():
            mine = self.parts.setdefault(name, self._no_sums(self.dtype))
            self._add(mine, sums, other.reference)
        numbers = {other.numbers[p]: self.numbers[p] for p in other.numbers}
        moved = other.reference.shift - self.reference.shift
        self.sample.merge(other.sample, numbers, to_numpy(moved))

    def _add(self, mine: Sums, theirs: Sums, reference: Reference) -> None:
        assert self.reference is not None
        if not self.reference.same_as(reference):
            theirs = rebased(self.xp, theirs, self.layout, reference, self.reference, self.device)
        mine.add(self.xp, theirs)

    def _no_sums(self, dtype: Any) -> Sums:
        return Sums(self.xp, self.layout, dtype=dtype, device=self.device)

    def _require_finite(self, before: int) -> None:
        """Raise, naming the layer, if the rows of the buffer from ``before`` on hold NaN; they are forgotten."""
        xp, Z = self.xp, self._buffer.rows[before:, :]
        ones = xp.ones((1, Z.shape[0]), dtype=Z.dtype, device=Z.device)
        with np.errstate(invalid="ignore", over="ignore"):
            sums = xp.matmul(ones, Z)
        if bool(xp.all(xp.isfinite(sums))):
            return
        self._buffer.forget(before)
        if self.reference is None and not self._buffer.filled:
            self._buffer.shift = None  # it was the mean of these rows
        for group, columns in zip(self.layout.groups, self.layout.slices, strict=True):
            if not bool(xp.all(xp.isfinite(sums[:, columns]))):
                raise MomentsError(
                    f"{group} holds NaN or infinite values (or values too large for {self.precision}). Leave those "
                    f"rows out of all groups; rows added before these are kept."
                )
