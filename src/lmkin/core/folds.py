"""Parts of the rows: blocks of whole documents, so that what belongs together is left out together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import MomentsError

PARTS = 10
IntArray = NDArray[np.int64]


def parts_of_rows(n: int, parts: int | Sequence[Any]) -> IntArray:
    """The part of each row: equal blocks of neighbouring rows, or as given, one label a row.

    >>> parts_of_rows(7, 3)
    array([0, 0, 0, 1, 1, 2, 2])
    """
    if not isinstance(parts, int | np.integer):
        labels = np.asarray(parts)
        if labels.shape != (n,):
            raise MomentsError(
                f"parts is a number, or one label a row: {n} rows, but labels of the shape {labels.shape}."
            )
        return np.unique(labels, return_inverse=True)[1].astype(np.int64)
    count = check_parts(int(parts))
    blocks = np.array_split(np.arange(n), max(1, min(count, n)))
    return np.repeat(np.arange(len(blocks)), [len(b) for b in blocks])


def blocks_of_owners(owner: IntArray, count: int) -> IntArray:
    """The block of each row: about ``count`` of nearly equal size, none of which divides the rows of an owner.

    >>> blocks_of_owners(np.array([4, 4, 1, 1, 1, 4, 9]), 3)
    array([1, 1, 0, 0, 0, 1, 2])
    """
    order = np.argsort(owner, kind="stable")  # rows that were selected may be in any order
    starts = np.flatnonzero(np.diff(owner[order], prepend=-1))
    result = np.empty(len(owner), np.int64)
    result[order] = blocks_at(starts, len(owner), count)
    return result


def blocks_at(starts: IntArray, n: int, count: int) -> IntArray:
    """Cut into ``count`` blocks at those of ``starts`` that are nearest to equal shares."""
    wanted = np.arange(1, count) * n / count
    result = np.zeros(n, np.int64)
    if len(starts) < 2:
        return result
    nearest = np.abs(starts[None, :] - wanted[:, None]).argmin(1)
    for cut in set(starts[nearest].tolist()) - {0}:
        result[cut:] += 1
    return result


def check_parts(count: int) -> int:
    """The number of parts, 1 for none. Raise if it is negative; 0 and 1 mean no parts."""
    if count < 0:
        raise MomentsError(f"parts is a number of parts, such as 10; got {count}.")
    return max(1, count)


def runs(part: IntArray, most: int) -> list[tuple[int, int, int]]:
    """Neighbouring rows of one part, at most so many at a time: (part, start, stop)."""
    edges = [0, *(np.flatnonzero(np.diff(part)) + 1).tolist(), len(part)]
    spans: list[tuple[int, int, int]] = []
    for start, stop in pairwise(edges):
        pieces = -(-(stop - start) // most)
        for k in range(pieces):
            low = start + (stop - start) * k // pieces
            high = start + (stop - start) * (k + 1) // pieces
            spans.append((int(part[start]), low, high))
    return spans
