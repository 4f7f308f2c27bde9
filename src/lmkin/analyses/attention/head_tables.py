"""From sums to tables: head × head, and layer × layer by the best match of each head."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...core import Layout
from ...results import Interval, jackknife
from .maps import IntArray
from .sums import HeadSums
from .views import ViewSums

FloatTable = NDArray[np.float64]
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Heads:
    """Which rows of a head × head table are whose."""

    layout: Layout

    def of_layers(self, layers: Iterable[int]) -> IntArray:
        """Numbers of the heads of some layers."""
        slices = [self.layout.slices[i] for i in layers]
        return np.concatenate([np.arange(s.start, s.stop) for s in slices]).astype(np.int64)

    @property
    def names(self) -> list[str]:
        """``model/layer/head``, heads from 0."""
        pairs = zip(self.layout.groups, self.layout.widths, strict=True)
        return [f"{group}/{head}" for group, width in pairs for head in range(width)]

    @property
    def layer(self) -> IntArray:
        """The number of every head's layer."""
        return np.repeat(np.arange(len(self.layout.groups)), self.layout.widths)


def head_table(
    views: Sequence[ViewSums],
    sums: Sequence[HeadSums],
    heads: Heads,
    measure: str,
    *,
    released: bool = False,
) -> FloatTable:
    """All heads × all heads; pairs that see everything from that view, others from the one of what came before."""
    size = heads.layout.width
    table = np.full((size, size), np.nan)
    for view, head_sums in sorted(
        zip(views, sums, strict=True), key=lambda pair: not pair[0].view.past
    ):
        mine = heads.of_layers(view.layers)
        table[np.ix_(mine, mine)] = head_sums.similarity(measure, released=released)
    return table


def layer_table(table: FloatTable, layout: Layout) -> FloatTable:
    """The mean over the heads of layer x of the best match among those of layer y, for all pairs."""
    starts = [s.start for s in layout.slices]
    best = np.maximum.reduceat(table, starts, axis=1)
    result: FloatTable = np.add.reduceat(best, starts, axis=0)
    result /= np.array(layout.widths)[:, None]
    return result


def matches(table: FloatTable, layout: Layout) -> dict[tuple[int, int], NDArray[np.int64]]:
    """For all pairs of layers, which head of y is most like each head of x; of equal ones the first; -1 for none."""
    nearest = {}
    for i, rows in enumerate(layout.slices):
        for j, columns in enumerate(layout.slices):
            block = table[rows, columns]
            near = block >= block.max(1, keepdims=True) - _ROUNDING
            nearest[i, j] = np.where(near.any(1), near.argmax(1), -1)
    return nearest


def intervals_by_view(
    value: FloatTable,
    without: FloatTable,
    views: Sequence[ViewSums],
    parts: Sequence[int],
    level: float,
) -> Interval:
    """Intervals of a table of layers; a part is as large as the words of it that two layers are compared on."""
    result = Interval(*(np.full_like(value, np.nan) for _ in range(3)))
    for view in sorted(views, key=lambda v: not v.view.past):
        rows, columns = np.ix_(view.layers, view.layers)
        sizes = [view.parts[p].counts["words"] for p in parts]
        interval = jackknife(value[rows, columns], without[:, rows, columns], sizes, level)
        for name in ("se", "low", "high"):
            getattr(result, name)[rows, columns] = getattr(interval, name)
    return result


def sink_shares(views: Sequence[ViewSums], sums: Sequence[HeadSums], heads: Heads) -> FloatTable:
    """The mean fraction of attention that every head gives to the sink."""
    result = np.zeros(heads.layout.width)
    for view, head_sums in zip(views, sums, strict=True):
        mine = heads.of_layers(view.layers)
        result[mine] = head_sums.sink / max(head_sums.counts["all_words"], 1)
    return result
