"""All layers on all units, without a part, or on one part: from moments, or from the rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Container, Hashable, Iterator, Sequence
from typing import Any

import array_api_compat
import numpy as np
from numpy.typing import NDArray

from ..core import MeasureError, numpy_device, quoted, to_numpy
from ..moments import Moments, PanelMoments
from .from_moments import MomentPair, MomentSide
from .from_rows import RowPair, RowSide
from .pair import LayerStats, Pair

Place = tuple[int, int]
Stage = list[list[Place]]
"""Pairs of layers by number; those of one list may be computed side by side."""
SAMPLED = 1000
"""Rows that measures of rows, of n² cost, are given at most."""


class Replicates(ABC):
    """Where evaluation finds its layers."""

    names: Sequence[str]
    n: int
    part_sizes: dict[Hashable, int]
    threads: bool = True
    """Whether pairs may be computed side by side."""

    def sides(
        self, *, without: Hashable | None = None, only: Hashable | None = None
    ) -> Sequence[LayerStats]:
        """Every layer. Raise if all neurons of one are constant."""
        sides = self._sides(without, only)
        for side in sides:
            require_life(side, without, only)
        return sides

    def stages(self, known: Container[Place] = ()) -> Iterator[Stage]:
        """All pairs of layers but those that are ``known``, in stages: what a stage needs is there while it is on.

        Each layer with itself first: then what belongs to a layer alone is known when it meets others.
        """
        every = range(len(self.names))
        alone = [(i, i) for i in every if (i, i) not in known]
        yield [alone, [(i, j) for i in every for j in every[i + 1 :] if (i, j) not in known]]

    def rounds(self, parts: Sequence[Any]) -> list[list[Any]]:
        """Which parts are left out side by side in a stage; one after another takes less memory."""
        return [[part] for part in parts]

    @abstractmethod
    def _sides(self, without: Hashable | None, only: Hashable | None) -> Sequence[LayerStats]: ...

    @abstractmethod
    def pair(self, x: Any, y: Any, standardized: bool, test: Pair | None = None) -> Pair:
        """Two of the sides together."""


class MomentReplicates(Replicates):
    """From sums alone."""

    def __init__(self, moments: Moments | PanelMoments):
        self.moments = moments
        self.names = [str(g) for g in moments.groups]
        self.n = moments.n
        self.part_sizes = moments.part_sizes
        self.threads = numpy_device(moments.xp)

    def _sides(self, without: Hashable | None, only: Hashable | None) -> list[MomentSide]:
        snapshot = self.moments.snapshot(without=without, only=only)
        if snapshot.n < 3:
            raise too_few(snapshot.n, without, only)
        precision = self.moments.precision or "float32"
        return [MomentSide(snapshot, i, precision) for i in range(len(self.names))]

    def pair(self, x: Any, y: Any, standardized: bool, test: Pair | None = None) -> MomentPair:
        """Two layers of one snapshot."""
        return MomentPair(x, y, standardized=standardized, test=test)


class PanelReplicates(MomentReplicates):
    """From rows in memory: the products of a panel of layers serve all replicates, and are forgotten."""

    def __init__(self, moments: PanelMoments):
        super().__init__(moments)
        self.panels = moments
        self._known_sides: dict[Any, Sequence[LayerStats]] = {}

    def sides(
        self, *, without: Hashable | None = None, only: Hashable | None = None
    ) -> Sequence[LayerStats]:
        """Every layer; made once, as all stages need them."""
        key = (without, only)
        if key not in self._known_sides:
            self._known_sides[key] = super().sides(without=without, only=only)
        return self._known_sides[key]

    def stages(self, known: Container[Place] = ()) -> Iterator[Stage]:
        """Each layer with itself; then panel by panel."""
        alone, others = next(super().stages(known))
        yield [alone]
        layout = self.panels.layout
        for number in range(len(layout.panels)):
            mine = [(i, j) for i, j in others if layout.place(i, j)[0] == number]
            if mine:
                self.panels.load(number)
                yield [mine]

    def rounds(self, parts: Sequence[Any]) -> list[list[Any]]:
        """All at once."""
        return [list(parts)]


class RowReplicates(Replicates):
    """From the rows themselves; ``parts`` names all parts that there are, where some of them have no row here."""

    def __init__(
        self,
        rows: Sequence[tuple[str, Any]],
        part: NDArray[np.int64],
        *,
        keep_parts: bool,
        parts: Sequence[Hashable] = (),
    ):
        if len({array_api_compat.array_namespace(a) for _, a in rows}) > 1:
            rows = [(name, to_numpy(a)) for name, a in rows]
        self.rows = rows
        self.part = part
        self.sample = bool(parts)
        """Whether these are some rows of many."""
        self.names = [name for name, _ in rows]
        self.n = len(part)
        numbers, counts = np.unique(part, return_counts=True)
        sizes = dict(zip(numbers.tolist(), counts.tolist(), strict=True))
        every = range(len(parts)) if parts else sizes
        self.called: dict[Hashable, Hashable] = (
            dict(enumerate(parts)) if parts else {k: k for k in sizes}
        )
        """The names of the parts by their numbers."""
        self.part_sizes = (
            {k: sizes.get(k, 0) for k in every} if keep_parts and len(sizes) > 1 else {}
        )

    def _sides(self, without: Hashable | None, only: Hashable | None) -> list[RowSide]:
        keep = np.ones(self.n, bool)
        if without is not None:
            keep = self.part != without
        elif only is not None:
            keep = self.part == only
        everything = bool(keep.all())
        numbers = np.flatnonzero(keep)
        if len(numbers) < 3:
            called = self.called
            raise too_few(len(numbers), called.get(without), called.get(only), sample=self.sample)
        return [RowSide(a if everything else a[numbers], name) for name, a in self.rows]

    def pair(self, x: Any, y: Any, standardized: bool, test: Pair | None = None) -> RowPair:
        """Two layers with the same rows."""
        return RowPair(x, y, standardized=standardized, test=test)


def sampled(moments: Moments | PanelMoments, most: int = SAMPLED) -> RowReplicates:
    """The rows that moments kept as they are, or some of them."""
    sample = moments.sample
    reference = moments.reference
    if sample.rows is None or reference is None:
        raise MeasureError(
            "This needs some rows as they are, and these moments keep none: make them with sample_rows=2000."
        )
    order = np.sort(np.argsort(sample.keys, kind="stable")[:most])
    part = sample.parts[order]
    # In the order of the parts, as rows came.
    order, part = order[np.argsort(part, kind="stable")], np.sort(part)
    layers = [
        (
            str(group),
            sample.rows[order][:, columns].astype(np.float64) + to_numpy(reference[group][0]),
        )
        for group, columns in zip(moments.groups, moments.layout.slices, strict=True)
    ]
    parts = list(moments.part_sizes)
    return RowReplicates(layers, part, keep_parts=len(parts) > 1, parts=parts)


def too_few(
    n: int, without: Hashable | None, only: Hashable | None, *, sample: bool = False
) -> MeasureError:
    """That fewer than three units are there, where, and what to do; ``sample``: of rows that were drawn."""
    units = "rows that are kept as they are" if sample else "units"
    if only is not None:
        where = f"to score on in part {quoted(str(only))}"
    else:
        where = "" if without is None else f"once part {quoted(str(without))} is left out"
    remedy = f"Take {'more of them (sample_rows=…)' if sample else 'more units'}"
    fewer = ", or fewer parts (parts=…)" if (only, without) != (None, None) else ""
    return MeasureError(
        f"Three {units} at least are needed{' ' * bool(where)}{where}; there are {n}. {remedy}{fewer}."
    )


def require_life(
    side: LayerStats, without: Hashable | None = None, only: Hashable | None = None
) -> None:
    """Raise if all neurons of a layer are constant: nothing is similar to nothing."""
    if not side.n_alive:
        where = "" if without is None else f" once part {quoted(without)} is left out"
        where = where if only is None else f" in part {quoted(only)}"
        raise MeasureError(
            f"All neurons of {side.name} are constant{where}: no similarity is defined for it. Leave that layer out."
        )
