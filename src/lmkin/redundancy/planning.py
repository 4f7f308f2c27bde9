"""How neurons are clustered: from one matrix of all correlations, or from tiles; and how much memory that takes."""

from __future__ import annotations

from dataclasses import dataclass

from ..activations.resources import human_bytes
from ..errors import MeasureError
from ..moments.planning import parse_memory
from .growing import TILE

_CHUNK = 4096
"""Rows that are read at a time."""


@dataclass(frozen=True)
class Plan:
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
) -> Plan:
    """For so many neurons and rows (None: there are sums already), cut at ``highest`` or below."""
    budget = parse_memory(memory)
    size = 4 if precision == "float32" else 8
    # Correlations, and distances as float64; before these, some rows.
    matrix = width * width * (size + 8) + (0 if n is None else min(n, _CHUNK) * width * size)
    if matrix <= budget:
        return Plan("matrix", matrix)
    need = f"All correlations of {width:,} neurons take {human_bytes(matrix)}, and the budget is {human_bytes(budget)}."
    if n is None:
        raise MeasureError(
            f"{need} From moments there is no other way: give activations, fewer layers, or more memory."
        )
    rows = n * width * size + min(n, _CHUNK) * width * size + 6 * TILE * TILE * 8
    # A component's matrix, and the tile it is made from.
    most = int((max(budget - rows, 0) / (8 + size)) ** 0.5)
    if highest >= 1:
        raise MeasureError(
            f"{need} Below a threshold of 1 they can be clustered piece by piece; {highest:g} is not."
        )
    if most < TILE:
        raise MeasureError(
            f"{need} Piece by piece, the {n:,} rows take {human_bytes(rows)}: take fewer rows, fewer layers, or give "
            f"more memory."
        )
    return Plan("tiles", min(budget, rows + most * most * (8 + size)), most)
