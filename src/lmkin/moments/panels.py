"""Moments of rows in memory: products are made a panel at a time, for all parts at once, and forgotten."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from typing import Any

import array_api_compat.numpy
import numpy as np

from ..core import LayerId, Layout, MomentsError, Scratch, quoted, workers
from ..rows import RowSource
from .resident import Array, ResidentRows
from .row_sample import ROWS, RowSample
from .snapshot import LITTLE, Snapshot
from .sums import Sums

Block = tuple[Array, Array, list[Array]]
"""Centred products of all rows (as float64, and as products are made), and what each slot takes away from them."""


class PanelMoments:
    """What `Moments` has, but the products of two groups only while they are needed.

    Sums of ten parts take ten times the memory of the products, and where memory is fresh that costs more time than the
    products themselves. So the rows are kept instead. `load` makes the products of one panel of groups with all groups
    after it; those of a group with itself are always there.
    """

    xp = array_api_compat.numpy

    def __init__(
        self,
        source: RowSource,
        *,
        keep_parts: bool = True,
        precision: str = "float32",
        rows: int = ROWS,
        seed: int = 0,
        advance: Callable[[int], None] | None = None,
    ):
        self.precision = precision
        self.layout = Layout(source.widths)
        self.info = dict(source.info)
        self.sample = RowSample(rows, seed)
        self.resident = ResidentRows(
            source,
            self.layout,
            precision,
            keep_parts=keep_parts,
            sample=self.sample,
            advance=advance,
        )
        self._own: dict[int, Block] = {}
        with workers() as run:
            run(self._make_own, range(len(self.groups)))
        self._panel = _Panel(self.resident)

    @property
    def n(self) -> int:
        """Rows."""
        return self.resident.total.n

    @property
    def groups(self) -> tuple[LayerId, ...]:
        """(model, layer) of every group, in the order given."""
        return self.layout.groups

    @property
    def widths(self) -> dict[LayerId, int]:
        """Neurons of every group."""
        return dict(zip(self.layout.groups, self.layout.widths, strict=True))

    @property
    def part_sizes(self) -> dict[Hashable, int]:
        """Rows of every part; empty if parts are not kept."""
        return {s.name: s.n for s in self.resident.slots} if self.resident.keep_parts else {}

    @property
    def reference(self) -> dict[LayerId, tuple[Any, Any]]:
        """Mean and standard deviation that products are made with, by group."""
        shift, scale = self.resident.reference.shift, self.resident.reference.scale
        places = zip(self.groups, self.layout.slices, strict=True)
        return {group: (shift[columns], scale[columns]) for group, columns in places}

    def snapshot(
        self, *, without: Hashable | None = None, only: Hashable | None = None
    ) -> PanelSnapshot:
        """The moments of all rows, of all but one part, or of one part only."""
        name = only if without is None else without
        if name is None:
            return PanelSnapshot(self, None, alone=False)
        names = list(self.part_sizes)
        if name not in names:
            raise MomentsError(
                f"There is no part {quoted(name)} here. Parts: {names or 'none kept'}."
            )
        return PanelSnapshot(self, names.index(name), alone=only is not None)

    def load(self, panel: int) -> None:
        """Make the products of a panel of groups with all groups after; those of another are forgotten."""
        self._panel.load(self.layout, panel)

    def block(self, i: int, j: int) -> Block:
        """The products of groups i ≤ j; of different groups only if their panel is loaded."""
        if i == j:
            return self._own[i]
        return self._panel.block(self.layout.slices[i], self.layout.slices[j])

    def _make_own(self, i: int) -> None:
        """The products of a group with itself."""
        columns, width, spare = self.layout.slices[i], self.layout.widths[i], Scratch()
        products = []
        for slot in self.resident.slots:
            out = np.empty((width, width), self.resident.dtype)
            self.resident.product(slot, columns, columns, out, spare)
            products.append(out)
        total = self.resident.added_up(products, columns, columns)
        self._own[i] = total, total, products

    def squares(self, slots: Sequence[int | None] | None) -> Array:
        """Σz² of every neuron in some slots, or in all, as the products have it."""
        numbers = range(len(self.resident.slots)) if slots is None else slots
        squares: Array = np.sum([self._slot_squares[k] for k in numbers if k is not None], axis=0)
        return squares

    @cached_property
    def _slot_squares(self) -> list[Array]:
        by_slot = []
        for k in range(len(self.resident.slots)):
            every = [np.diagonal(self._own[i][2][k]) for i in range(len(self.groups))]
            by_slot.append(np.concatenate(every).astype(np.float64) - self.resident.extra(k) ** 2)
        return by_slot

    def holds_outliers(self, number: int) -> bool:
        """Whether hardly anything is left of a neuron without this slot; constant ones do not count."""
        total = self.squares(None)
        little = total - self._slot_squares[number] < LITTLE * total
        return bool((little & self._alive).any())

    @cached_property
    def _alive(self) -> Array:
        """Which neurons are not constant."""
        whole = self.snapshot()
        alive: Array = np.concatenate([whole.std(i) for i in range(len(self.groups))]) > 0
        return alive


class _Panel:
    """Products of a panel of groups with all groups after each, slot by slot, in memory that is used again."""

    def __init__(self, resident: ResidentRows):
        self._resident = resident
        self._memory = np.empty(0, resident.dtype)
        self._rectangles: list[tuple[slice, slice, list[Array]]] = []
        self._spare = Scratch()
        self._last = threading.local()

    def load(self, layout: Layout, panel: int) -> None:
        """Make them: between groups of the panel, and of all of it with everything to its right."""
        columns = layout.panels[panel]
        inside = [c for c in layout.slices if columns.start <= c.start and c.stop < columns.stop]
        wanted = [(c, slice(c.stop, columns.stop)) for c in inside]
        if columns.stop < layout.width:
            wanted.append((columns, slice(columns.stop, layout.width)))
        shapes = [(rows.stop - rows.start, cols.stop - cols.start) for rows, cols in wanted]
        size = len(self._resident.slots) * sum(a * b for a, b in shapes)
        if self._memory.size < size:
            self._memory = np.empty(size, self._memory.dtype)
        self._rectangles, free = [], 0
        for (rows, cols), shape in zip(wanted, shapes, strict=True):
            products = []
            for slot in self._resident.slots:
                out = self._memory[free : free + shape[0] * shape[1]].reshape(shape)
                self._resident.product(slot, rows, cols, out, self._spare)
                products.append(out)
                free += out.size
            self._rectangles.append((rows, cols, products))
        self._last = threading.local()

    def block(self, a: slice, b: slice) -> Block:
        """Of two groups, by their columns; every thread remembers its last, for one replicate asks after another."""
        if getattr(self._last, "place", None) == (a.start, b.start):
            last: Block = self._last.block
            return last
        for rows, cols, products in self._rectangles:
            if rows.start <= a.start < rows.stop and cols.start <= b.start < cols.stop:
                inner = (
                    slice(a.start - rows.start, a.stop - rows.start),
                    slice(b.start - cols.start, b.stop - cols.start),
                )
                mine = [product[inner] for product in products]
                total = self._resident.added_up(mine, a, b)
                block = (total, total.astype(self._memory.dtype), mine)
                self._last.place, self._last.block = (a.start, b.start), block
                return block
        raise MomentsError("The products of these two groups are not loaded.")


class PanelSnapshot(Snapshot):
    """All rows of `PanelMoments`, or those of some slots.

    Without one slot, its products are taken away from those of all; where hardly anything would be left of a neuron, as
    the slot holds outliers, those of the others are added up instead.
    """

    def __init__(self, moments: PanelMoments, number: int | None, *, alone: bool):
        self._moments = moments
        rows = moments.resident
        self._less_slot: int | None = None
        self._slots: list[int] | None = None
        total, less = rows.total, None
        if number is not None and not alone and not moments.holds_outliers(number):
            self._less_slot, less = number, rows.slots[number].sums
        elif number is not None:
            others = [k for k in range(len(rows.slots)) if k != number]
            self._slots = [number] if alone else others
            total = rows.sums_of(self._slots)
        super().__init__(moments.xp, moments.layout, rows.reference, rows.weights, total, less)

    def centred(self, i: int, j: int) -> Any:
        """Σ (z_i − mean)(z_j − mean)ᵀ."""
        if i > j:
            return self.centred(j, i).T
        total, as_made, slots = self._moments.block(i, j)
        if self._less_slot is not None:
            return as_made - slots[self._less_slot]
        if self._slots is None:
            return total.copy()
        block = np.zeros(total.shape)
        for k in self._slots:
            extra = self._moments.resident.extra(k)
            a, b = (extra[self.layout.slices[n]] for n in (i, j))
            block += slots[k]
            block -= a[:, None] * b[None, :]
        return self._minus_mean(block, i, j)

    def _squares(self, sums: Sums) -> Any:
        if sums is self._less:
            return self._moments.squares([self._less_slot])
        return self._moments.squares(self._slots)
