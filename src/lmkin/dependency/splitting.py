"""Which rows are fitted on, which choose the ridge, which are scored; and the parts of each, for intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arguments import is_whole
from ..errors import MeasureError, did_you_mean
from ..moments.parts import PARTS, blocks_at, check_parts

SPLITS = ("train", "validation", "test")
SHARES = {"train": 0.8, "validation": 0.1, "test": 0.1}
_BLOCKS = 200
"""Pieces of a corpus that are dealt out to the splits whole, so that neighbours stay together."""
IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Split:
    """A label for every row: the number of its part, counted through all splits; -1 for rows in none."""

    labels: IntArray
    parts: dict[str, list[int]]
    """Labels of every split."""

    def rows(self, name: str) -> IntArray:
        """Rows of a split, in their order."""
        return np.flatnonzero(np.isin(self.labels, self.parts[name]))


def make_split(
    n: int,
    split: Mapping[str, Any] | None = None,
    *,
    parts: int = PARTS,
    seed: int = 0,
    starts: IntArray | None = None,
) -> Split:
    """A split of ``n`` rows, by row numbers or by shares.

    ``starts`` are rows at which something new begins, such as a document: shares are then dealt out in blocks that
    begin there. Without them, rows are drawn one by one.
    """
    if split is not None and not isinstance(split, Mapping):
        raise MeasureError(
            f"A split is a dict such as {{'train': rows, 'test': rows}} or {{'train': 0.8, 'test': 0.2}}; got "
            f"{split!r:.60}."
        )
    given = dict(SHARES if split is None else split)
    _check_names(given)
    if all(_is_share(v) for v in given.values()):
        chosen = _by_shares(n, {k: float(v) for k, v in given.items()}, seed, starts)
    else:
        chosen = {name: _row_numbers(name, rows, n) for name, rows in given.items()}
        _check_disjoint(chosen)
    labels = np.full(n, -1, np.int64)
    found: dict[str, list[int]] = {}
    used = 0
    for name in (s for s in SPLITS if s in chosen):
        rows = chosen[name]
        if len(rows) < 2:
            raise MeasureError(
                f"The split {name!r} has {len(rows)} rows; two at least are needed. Give it more rows, or a larger "
                f"share; or take more texts."
            )
        pieces = np.array_split(rows, min(check_parts(parts), len(rows)))
        for number, piece in enumerate(pieces):
            labels[piece] = used + number
        found[name] = list(range(used, used + len(pieces)))
        used += len(pieces)
    return Split(labels, found)


def _check_names(given: Mapping[str, Any]) -> None:
    for name in given:
        if name not in SPLITS:
            raise MeasureError(
                f"A split has the names {', '.join(SPLITS)}; got {name!r}. {did_you_mean(str(name), SPLITS)}"
            )
    if "train" not in given:
        raise MeasureError("A split needs rows to fit on: give 'train', and 'test' to score on.")


def _is_share(value: Any) -> bool:
    return isinstance(value, float | np.floating) or (is_whole(value) and value in (0, 1))


def _by_shares(
    n: int, shares: dict[str, float], seed: int, starts: IntArray | None
) -> dict[str, IntArray]:
    total = sum(shares.values())
    if any(not 0 < s <= 1 for s in shares.values()) or total > 1 + 1e-9:
        raise MeasureError(
            f"Shares of a split are above 0 and sum to 1 at most; got {shares}. Leave out a split you do not want."
        )
    random = np.random.default_rng(seed)
    block = np.arange(n)
    if starts is not None:
        block = blocks_at(np.asarray(starts), n, min(_BLOCKS, max(1, len(starts))))
    sizes = np.bincount(block)
    order = random.permutation(len(sizes))
    ends = np.cumsum(sizes[order])
    edges = np.cumsum([0.0, *shares.values()]) * n
    middle = ends - sizes[order] / 2
    found = {}
    for name, low, high in zip(shares, edges[:-1], edges[1:], strict=True):
        mine = order[(middle > low) & (middle <= high)]
        found[name] = np.flatnonzero(np.isin(block, mine))
    return found


def _row_numbers(name: str, rows: Any, n: int) -> IntArray:
    if isinstance(rows, slice):
        return np.arange(n)[rows]
    try:
        array = np.asarray(rows)
    except ValueError:  # lists of lists that differ in length
        array = np.zeros((0, 0))
    if array.dtype == bool:
        if array.shape != (n,):
            raise MeasureError(
                f"split[{name!r}]: a mask needs one value a row: {n} rows, but the shape {array.shape}."
            )
        return np.flatnonzero(array)
    if array.shape == (0,):  # an empty list has no type
        return np.zeros(0, np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise MeasureError(
            f"split[{name!r}] is a list of row numbers, a mask, a slice, or (for all splits) a share such as 0.8; "
            f"got {rows!r:.60}."
        )
    wrong = array[(array < -n) | (array >= n)]
    if len(wrong):
        raise MeasureError(f"split[{name!r}] names row {int(wrong[0])}; there are {n} rows.")
    array = array.astype(np.int64) % max(n, 1)
    if len(np.unique(array)) < len(array):
        raise MeasureError(f"split[{name!r}] names a row twice.")
    return array


def _check_disjoint(chosen: dict[str, IntArray]) -> None:
    for name, rows in chosen.items():
        for other, before in chosen.items():
            if other == name:
                break
            both = np.intersect1d(rows, before)
            if len(both):
                raise MeasureError(
                    f"Row {int(both[0])} is in {other!r} and in {name!r}: what is scored must not have been fitted "
                    f"on."
                )
