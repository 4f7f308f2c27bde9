"""The sums that everything is computed from, over one set of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..core import Layout, Scratch, to_numpy


@dataclass(frozen=True)
class Reference:
    """The origin and the unit of every neuron that products are made in: z = (x − shift) / scale.

    Sums of x itself would lose their digits to a large mean, and a neuron with large values would take them
    from the others.
    """

    shift: Any
    scale: Any

    def same_as(self, other: Reference) -> bool:
        """Whether sums of both can simply be added."""
        if self is other:
            return True
        ours, theirs = (
            (to_numpy(self.shift), to_numpy(self.scale)),
            (to_numpy(other.shift), to_numpy(other.scale)),
        )
        return all(bool((a == b).all()) for a, b in zip(ours, theirs, strict=True))


class NormWeights:
    """Squared row norms of every group as one product: ‖x‖² in the neurons' own units, and in those of ``scale``.

    Both are divided by a constant of the group, so that they are near 1 whatever the size of the numbers.
    """

    def __init__(self, xp: Any, layout: Layout, reference: Reference, dtype: Any, device: Any):
        g = len(layout.groups)
        squares = reference.scale * reference.scale
        self.units = xp.zeros((2, g), dtype=xp.float64, device=device)
        matrix = xp.zeros((layout.width, 2 * g), dtype=xp.float64, device=device)
        for i, columns in enumerate(layout.slices):
            own = squares[columns]
            total = xp.sum(own)
            self.units[0, i] = total
            self.units[1, i] = float(layout.widths[i])
            matrix[columns, i] = own / total
            matrix[columns, g + i] = 1.0 / layout.widths[i]
        self.matrix = xp.astype(matrix, dtype)


class Sums:
    """Sums over rows: how many, Σz, Σzzᵀ, and what unbiased CKA needs of the row norms.

    ``panels[i]`` is the products of some neighbouring groups (`Layout.panels`) with themselves and all groups after
    them: the symmetric matrix once.
    The row norms a (of a group, raw or standardized) enter as Σa, Σaa' (for pairs of groups), Σza and Σz²a.
    """

    def __init__(self, xp: Any, layout: Layout, *, dtype: Any, device: Any):
        self.dtype = dtype
        """Of the panels."""
        g, width = len(layout.groups), layout.width
        kind = {"dtype": xp.float64, "device": device}
        self.n = 0
        self.first = xp.zeros((width,), **kind)
        self.norm_total = xp.zeros((2, g), **kind)
        self.norm_pairs = xp.zeros((2, g, g), **kind)
        self.norm_first = xp.zeros((2, width, g), **kind)
        self.norm_square = xp.zeros((width, g), **kind)
        self.panels: list[Any] = []
        self._single: list[Any] | None = None

    def in_single(self, xp: Any) -> list[Any]:
        """The panels in float32; made once."""
        if self._single is None:
            self._single = [xp.astype(panel, xp.float32) for panel in self.panels]
        return self._single

    def small(self) -> list[Any]:
        """Everything but the panels; the same order in every `Sums`."""
        return [self.first, self.norm_total, self.norm_pairs, self.norm_first, self.norm_square]

    def add(self, xp: Any, other: Sums) -> None:
        """Add the sums of other rows, of the same reference."""
        self.n += other.n
        for mine, theirs in zip(self.small(), other.small(), strict=True):
            mine += theirs
        for i, panel in enumerate(other.panels):
            self.add_panel(xp, i, panel)

    def add_panel(self, xp: Any, i: int, product: Any) -> None:
        """Add to the i-th panel; the first time a copy, which touches the memory once instead of twice."""
        self._single = None
        if len(self.panels) == i:
            self.panels.append(xp.astype(product, self.dtype, copy=True))
        else:
            panel = self.panels[i]
            panel += product


def add_rows(
    xp: Any,
    Z: Any,
    layout: Layout,
    weights: NormWeights,
    targets: list[Sums],
    scratch: tuple[Scratch, Scratch],
) -> None:
    """Add the rows of a chunk, in units of the reference, to all ``targets``."""
    add_norms(xp, Z, layout, weights, targets, scratch[0])
    for i, columns in enumerate(layout.panels):
        product = scratch[1].matmul(xp, Z[:, columns].T, Z[:, columns.start :])
        for sums in targets:
            sums.add_panel(xp, i, product)


def add_norms(
    xp: Any, Z: Any, layout: Layout, weights: NormWeights, targets: list[Sums], scratch: Scratch
) -> None:
    """Add everything of these rows but the products of neurons."""
    g = len(layout.groups)
    squares = scratch.square(xp, Z)
    N = xp.matmul(squares, weights.matrix)  # rows × 2g
    double = xp.astype(N, xp.float64)
    total = xp.reshape(xp.sum(double, axis=0), (2, g))
    raw, standardized = double[:, :g], double[:, g:]
    pairs = xp.stack([xp.matmul(raw.T, raw), xp.matmul(standardized.T, standardized)])
    ones = xp.ones((Z.shape[0], 1), dtype=Z.dtype, device=Z.device)
    first = xp.astype(xp.matmul(Z.T, xp.concat([N, ones], axis=1)), xp.float64)
    norm_first = xp.stack([first[:, :g], first[:, g : 2 * g]])
    square = xp.astype(xp.matmul(squares.T, N[:, g:]), xp.float64)
    small = [first[:, 2 * g], total, pairs, norm_first, square]
    for sums in targets:
        sums.n += Z.shape[0]
        for mine, new in zip(sums.small(), small, strict=True):
            mine += new
