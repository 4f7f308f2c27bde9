"""Rows of a matrix, in memory or not, block by block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from numpy.typing import NDArray

from ..core import stop_if_interrupted, to_numpy

Array = NDArray[Any]
CHUNK = 8192
"""Rows that are read at a time."""


def matrix_of(rows: Any) -> Any:
    """A tensor as numpy; anything else as it is, such as a layer on disk."""
    return to_numpy(rows) if hasattr(rows, "detach") else rows


def blocks_of_rows(rows: Any, dtype: Any) -> Iterator[tuple[slice, Array]]:
    """Blocks of the rows of a matrix, and which they are."""
    for low in range(0, rows.shape[0], CHUNK):
        stop_if_interrupted()
        here = slice(low, min(low + CHUNK, rows.shape[0]))
        yield here, to_numpy(rows[here, :]).astype(dtype, copy=False)
