"""Parts of the rows: blocks of whole documents, so that what belongs together is left out together."""

from __future__ import annotations

from collections.abc import Container, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..corpus import Units
from ..errors import MomentsError

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


def parts_of_units(units: Units, parts: int | Sequence[Any]) -> tuple[IntArray, str]:
    """The part of each unit, and what parts are made of: documents, else sentences, of nearly equal size."""
    if not isinstance(parts, int | np.integer):
        return parts_of_rows(len(units), parts), "labels"
    count = check_parts(int(parts))
    documents = np.array([s.document or "" for s in units.corpus], dtype=object)
    new = np.ones(len(documents), bool)
    new[1:] = documents[1:] != documents[:-1]
    for made_of, firsts in (("documents", new), ("sentences", np.ones(len(documents), bool))):
        owner = np.cumsum(firsts)[units.sentence]  # which document or sentence a unit is of
        starts = np.flatnonzero(np.diff(owner, prepend=-1))
        if len(starts) >= 2 * count or made_of == "sentences":
            return blocks_at(starts, len(units), count), made_of
    raise AssertionError


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
    """An error for a number of parts that makes no sense; 0 and 1 mean no parts."""
    if count < 0:
        raise MomentsError(f"parts is a number of parts, such as 10; got {count}.")
    return max(1, count)


def runs(part: IntArray, most: int, skip: Container[int] = ()) -> list[tuple[int, int, int]]:
    """Neighbouring rows of one part, at most so many at a time: (part, start, stop)."""
    edges = [0, *(np.flatnonzero(np.diff(part)) + 1).tolist(), len(part)]
    found: list[tuple[int, int, int]] = []
    for start, stop in pairwise(edges):
        if int(part[start]) in skip:
            continue
        pieces = -(-(stop - start) // most)
        for k in range(pieces):
            low = start + (stop - start) * k // pieces
            high = start + (stop - start) * (k + 1) // pieces
            found.append((int(part[start]), low, high))
    return found
