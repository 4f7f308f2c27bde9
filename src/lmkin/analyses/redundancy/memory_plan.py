"""How neurons are clustered: from one matrix of all correlations, or from tiles; and how much memory that takes."""

from __future__ import annotations

from dataclasses import dataclass

from ...core import MeasureError, human_bytes
from ...core import budget as budget_of
from .tiled_linkage import TILE

_CHUNK = 4096
"""Rows that are read at a time."""


@dataclass(frozen=True)
class ClusterRoute:
    """``matrix`` or ``tiles``, the memory in bytes, and, for tiles, of how many clusters a matrix may be."""

    route: str
    memory: int
    most: int = 0

    def __str__(self) -> str:
        how = "one matrix" if self.route == "matrix" else "tiles, and a matrix of each component"
        return f"Clustering from {how}: {human_bytes(self.memory)}."


def plan_clustering(
    width: int,
    n: int | None,
    *,
    precision: str,
    highest: float,
    memory: float | str | None = None,
) -> ClusterRoute:
    """For so many neurons and rows (None: there are sums already), cut at ``highest`` or below. Raise if nothing fits.

    ``memory`` bounds the whole process.
    """
    budget = budget_of(memory)
    size = 4 if precision == "float32" else 8
    matrix, pieces = clustering_bytes(width, n, size)
    if budget.fits(matrix):
        return ClusterRoute("matrix", matrix)
    need = budget.refusal(matrix, f"all correlations of {width:,} neurons")
    if n is None:
        raise MeasureError(
            f"{need} From moments there is no other way: give activations, fewer layers, or more memory."
        )
    rows = pieces - TILE * TILE * (8 + size)
    # A component's matrix, and the tile it is made from.
    most = int((max(budget.left - rows, 0) / (8 + size)) ** 0.5)
    if highest >= 1:
        raise MeasureError(
            f"{need} Below a threshold of 1 they can be clustered piece by piece; {highest:g} is not."
        )
    if most < TILE or not budget.fits(rows):
        if pieces < matrix:
            need = budget.refusal(pieces, f"clusters of {width:,} neurons, piece by piece,")
        raise MeasureError(f"{need} Take fewer rows, fewer layers, or give more memory.")
    return ClusterRoute("tiles", min(budget.left, rows + most * most * (8 + size)), most)


def clustering_bytes(width: int, n: int | None, size: int) -> tuple[int, int]:
    """What clusters take from one matrix, and at least from tiles; ``size`` is of a number in the rows."""
    some = 0 if n is None else min(n, _CHUNK) * width * size
    # Correlations, and distances as float64; before these, some rows.
    matrix = width * width * (size + 8) + some
    rows = (n or 0) * width * size + some + 6 * TILE * TILE * 8
    return matrix, rows + TILE * TILE * (8 + size)
