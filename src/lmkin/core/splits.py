"""Which rows are fitted on, which choose the ridge, which are scored; and the parts of each, for intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arguments import is_whole
from .errors import MeasureError, did_you_mean
from .folds import PARTS, blocks_of_owners, check_parts
from .quotation import quoted

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
    owner: IntArray | None = None,
) -> Split:
    """A grouped split of ``n`` rows, by row numbers or by shares.

    ``owner`` is what each row belongs to, such as a document: shares are then dealt out in blocks of whole ones, and
    parts of a split are made of whole ones. Without it, rows are drawn one by one.
    """
    if split is not None and not isinstance(split, Mapping):
        raise MeasureError(
            f"A split is a dict such as {{'train': rows, 'test': rows}} or {{'train': 0.8, 'test': 0.2}}; got "
            f"{quoted(split)}."
        )
    given = dict(SHARES if split is None else split)
    _check_names(given)
    drawn = by_shares(given)
    if drawn:
        rows_by_split = _by_shares(n, {k: float(v) for k, v in given.items()}, seed, owner)
    else:
        rows_by_split = {name: _row_numbers(name, rows, n) for name, rows in given.items()}
        _check_disjoint(rows_by_split)
    labels = np.full(n, -1, np.int64)
    parts_by_split: dict[str, list[int]] = {}
    used = 0
    for name in (s for s in SPLITS if s in rows_by_split):
        rows = rows_by_split[name]
        if len(rows) < 2:
            raise MeasureError(
                f"The split {quoted(name)} has {len(rows)} rows; two at least are needed. Give it more rows, or a "
                f"larger fraction; or take more texts."
            )
        if drawn and owner is not None:
            block = blocks_of_owners(owner[rows], check_parts(parts))
            pieces = [rows[block == number] for number in range(int(block.max()) + 1)]
        else:
            pieces = np.array_split(rows, min(check_parts(parts), len(rows)))
        for number, piece in enumerate(pieces):
            labels[piece] = used + number
        parts_by_split[name] = list(range(used, used + len(pieces)))
        used += len(pieces)
    return Split(labels, parts_by_split)


def by_shares(split: Mapping[str, Any] | None) -> bool:
    """Whether a split gives shares, so that rows are drawn, rather than the rows themselves."""
    return split is None or all(_is_share(v) for v in split.values())


def _check_names(given: Mapping[str, Any]) -> None:
    for name in given:
        if name not in SPLITS:
            raise MeasureError(
                f"A split has the names {', '.join(SPLITS)}; got {quoted(name)}. {did_you_mean(str(name), SPLITS)}"
            )
    if "train" not in given:
        raise MeasureError("A split needs rows to fit on: give 'train', and 'test' to score on.")


def _is_share(value: Any) -> bool:
    return isinstance(value, float | np.floating) or (is_whole(value) and value in (0, 1))


def _by_shares(
    n: int, shares: dict[str, float], seed: int, owner: IntArray | None
) -> dict[str, IntArray]:
    total = sum(shares.values())
    if any(not 0 < s <= 1 for s in shares.values()) or total > 1 + 1e-9:
        raise MeasureError(
            f"Fractions of a split are above 0 and sum to 1 at most; got {shares}. Leave out a split you do not want."
        )
    random = np.random.default_rng(seed)
    block = np.arange(n)
    if owner is not None:
        block = blocks_of_owners(owner, min(_BLOCKS, len(np.unique(owner))))
    sizes = np.bincount(block)
    order = random.permutation(len(sizes))
    ends = np.cumsum(sizes[order])
    edges = np.cumsum([0.0, *shares.values()]) * n
    middle = ends - sizes[order] / 2
    rows_by_split = {}
    for name, low, high in zip(shares, edges[:-1], edges[1:], strict=True):
        mine = order[(middle > low) & (middle <= high)]
        rows_by_split[name] = np.flatnonzero(np.isin(block, mine))
    return rows_by_split


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
                f"split[{quoted(name)}]: a mask needs one value a row: {n} rows, but the shape {array.shape}."
            )
        return np.flatnonzero(array)
    if array.shape == (0,):  # an empty list has no type
        return np.zeros(0, np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise MeasureError(
            f"split[{quoted(name)}] is a list of row numbers, a mask, a slice, or (for all splits) a fraction such as "
            f"0.8; got {quoted(rows)}."
        )
    wrong = array[(array < -n) | (array >= n)]
    if len(wrong):
        raise MeasureError(f"split[{quoted(name)}] names row {int(wrong[0])}; there are {n} rows.")
    array = array.astype(np.int64) % max(n, 1)
    if len(np.unique(array)) < len(array):
        raise MeasureError(f"split[{quoted(name)}] names a row twice.")
    return array


def _check_disjoint(rows_by_split: dict[str, IntArray]) -> None:
    for name, rows in rows_by_split.items():
        for other, before in rows_by_split.items():
            if other == name:
                break
            both = np.intersect1d(rows, before)
            if len(both):
                raise MeasureError(
                    f"Row {int(both[0])} is in {quoted(other)} and in {quoted(name)}: what is scored must not have "
                    f"been fitted on."
                )
