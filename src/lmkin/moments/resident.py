"""Rows that stay in memory: centred, scaled, sorted by their part, with the sums that are no products of neurons."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core import Layout, MomentsError, Run, Scratch, to_numpy, varies, workers
from ..rows import CHUNK, RowSource, Spread, blocks_by_part
from .accumulator import HUGE
from .row_sample import RowSample
from .sums import NormWeights, Reference, Sums, add_norms

SLOTS = 8
"""Where no parts are kept, long products are made of so many pieces, and these added up in float64."""
_FEW = 512
"""Rows that stay in the processor's cache."""
Array = NDArray[Any]


@dataclass(frozen=True)
class Slot:
    """The rows of a part, and one more at ``stop``: what leaving the part out does to the mean."""

    name: Hashable
    start: int
    stop: int
    sums: Sums

    @property
    def n(self) -> int:
        """Rows, without the extra one."""
        return self.stop - self.start


class ResidentRows:
    """All rows of a source in one matrix, z = (x − mean) / standard deviation.

    With Σz = 0, the products without a part are Σzzᵀ − (Σ_part zzᵀ + ffᵀ/n'), with f the part's own Σz and n' the rows
    that are left: f/√n' is one more row of the part, and the mean costs nothing.
    """

    def __init__(
        self,
        source: RowSource,
        layout: Layout,
        dtype: Any,
        *,
        keep_parts: bool,
        sample: RowSample,
        advance: Callable[[int], None] | None = None,
    ):
        self.layout = layout
        self.dtype = np.dtype(dtype)
        self.keep_parts = keep_parts
        self.slots = self._make_slots(source)
        self.rows = np.empty((source.n + len(self.slots), layout.width), self.dtype)
        with workers() as run:
            moved, scale = self._read(source, sample, run, advance)
            self._add_up(moved, scale, run)

    def _make_slots(self, source: RowSource) -> list[Slot]:
        if self.keep_parts:
            names, first, sizes = np.unique(source.part, return_index=True, return_counts=True)
            order = np.argsort(first)  # as they come
            names, sizes = names[order], sizes[order]
        else:
            pieces = np.array_split(np.arange(source.n), min(SLOTS, -(-source.n // CHUNK)))
            names, sizes = np.arange(len(pieces)), np.array([len(p) for p in pieces])
        edges = np.concatenate([[0], np.cumsum(sizes + 1)]).tolist()
        return [
            Slot(name, start, stop - 1, self._no_sums())
            for name, (start, stop) in zip(names.tolist(), pairwise(edges), strict=True)
        ]

    def _no_sums(self) -> Sums:
        return Sums(np, self.layout, dtype=self.dtype, device=None)

    def _read(
        self, source: RowSource, sample: RowSample, run: Run, advance: Callable[[int], None] | None
    ) -> tuple[Array, Array]:
        """Rows into their slots, minus the mean of the first; how far that is from the mean, and what to divide by."""
        spreads = [Spread(w) for w in self.layout.widths]
        shift: list[Array] = []
        free = {s.name: s.start for s in self.slots}
        numbers = {s.name: k for k, s in enumerate(self.slots)} if self.keep_parts else {}
        row = 0

        def take(piece: tuple[int, Array, Array]) -> None:
            i, block, target = piece
            with np.errstate(invalid="ignore", over="ignore"):
                np.subtract(block, shift[i], out=target, casting="same_kind")
                spreads[i].add(target)

        blocks_of = (piece for c in source.chunks(advance=advance) for piece in blocks_by_part(c))
        for part, blocks in blocks_of:
            arrays = [to_numpy(blocks[g]) for g in self.layout.groups]
            if not shift:
                with np.errstate(invalid="ignore", over="ignore"):
                    shift = [a.mean(0, dtype=np.float64).astype(self.dtype) for a in arrays]
            for start, stop, place in self._places(part, row, len(arrays[0]), free):
                Z = self.rows[place : place + stop - start]
                pairs = zip(arrays, self.layout.slices, strict=True)
                run(take, [(i, a[start:stop], Z[:, c]) for i, (a, c) in enumerate(pairs)])
                sample.offer(Z, numbers.get(part, 0))
            row += len(arrays[0])
        with np.errstate(invalid="ignore", over="ignore"):
            means_and_spreads = [s.result() for s in spreads]
        moved = np.concatenate([mean for mean, _ in means_and_spreads]).astype(self.dtype)
        scale = np.concatenate([spread for _, spread in means_and_spreads])
        self._require_finite(moved, scale)
        mean = np.concatenate(shift).astype(np.float64) + moved
        eps = float(np.finfo(self.dtype).eps)
        alive = [varies(np, mean[c], scale[c], eps) for c in self.layout.slices]
        scale = np.where(np.concatenate(alive), scale, 1.0)
        self.reference = Reference(mean, scale)
        sample.move(-moved)
        return moved, scale

    def _places(
        self, part: int, row: int, size: int, free: dict[Hashable, int]
    ) -> list[tuple[int, int, int]]:
        """Where the rows of a block go: (start, stop, place), by part, or one slot after another."""
        if self.keep_parts:
            place = free[part]
            free[part] += size
            return [(0, size, place)]
        places = []
        for number, slot in enumerate(self.slots):  # ``number`` extra rows lie before it
            start, stop = max(row, slot.start - number), min(row + size, slot.stop - number)
            if start < stop:
                places.append((start - row, stop - row, start + number))
        return places

    def _require_finite(self, moved: Array, scale: Array) -> None:
        for group, columns in zip(self.layout.groups, self.layout.slices, strict=True):
            if not np.isfinite(moved[columns]).all():
                raise MomentsError(
                    f"{group} holds NaN or infinite values (or values too large for {self.dtype}). Leave those rows "
                    f"out of all groups."
                )
        if not scale.max() <= HUGE:
            raise MomentsError(
                "There are values so large that no number can hold their squares. Divide the rows by a constant first; "
                "no measure minds."
            )

    def _add_up(self, moved: Array, scale: Array, run: Run) -> None:
        """Centre and scale the rows; sum up everything but products."""
        self.weights = NormWeights(np, self.layout, self.reference, self.dtype, None)
        inverse = (1.0 / scale).astype(self.dtype)

        def add(slot: Slot) -> None:
            scratch = Scratch()
            for start in range(slot.start, slot.stop, _FEW):
                Z = self.rows[start : min(start + _FEW, slot.stop)]
                Z -= moved
                Z *= inverse
                add_norms(np, Z, self.layout, self.weights, [slot.sums], scratch)

        run(add, self.slots)
        self.total = self._no_sums()
        for slot in self.slots:
            self.total.add(np, slot.sums)
        first, n = self.total.first, self.total.n
        for slot in self.slots:
            left = max(n - slot.n, 1)
            extra = (first - slot.sums.first) / np.sqrt(left) if self.keep_parts else 0.0
            self.rows[slot.stop] = extra
        # What the products of all slots together have too much: their extra rows, and the mean of all.
        extras = [self.rows[s.stop] for s in self.slots] if self.keep_parts else []
        self._surplus = np.stack([*extras, (first / np.sqrt(n)).astype(self.dtype)])

    def product(self, slot: Slot, rows: slice, columns: slice, out: Array, spare: Scratch) -> None:
        """Products of some columns in a slot, its extra row included."""
        pieces = -(-(slot.n + 1) // CHUNK)
        edges = np.linspace(slot.start, slot.stop + 1, pieces + 1).astype(int).tolist()
        for k, (start, stop) in enumerate(pairwise(edges)):
            Z = self.rows[start:stop]
            if k == 0:
                np.matmul(Z[:, rows].T, Z[:, columns], out=out)
            else:
                out += spare.matmul(np, Z[:, rows].T, Z[:, columns])

    def extra(self, number: int) -> Array:
        """The extra row of a slot, as float64."""
        row: Array = self.rows[self.slots[number].stop].astype(np.float64)
        return row

    def sums_of(self, numbers: Sequence[int]) -> Sums:
        """All but the products, of some slots."""
        result = self._no_sums()
        for k in numbers:
            result.add(np, self.slots[k].sums)
        return result

    def added_up(self, products: list[Array], rows: slice, columns: slice) -> Array:
        """Centred products of all rows in float64, from those of all slots."""
        # Two at a time as they are, then in float64: mixed types are slow to add.
        couples = [a + b for a, b in zip(products[::2], products[1::2], strict=False)]
        couples += products[-1:] if len(products) % 2 else []
        total: Array = couples[0].astype(np.float64)
        for couple in couples[1:]:
            total += couple
        total -= self._surplus[:, rows].T @ self._surplus[:, columns]
        return total
