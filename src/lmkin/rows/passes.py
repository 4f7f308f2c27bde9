"""`one_pass`: the only driver of a pass over rows, for any accumulators, in shards that can be done in any order."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..core import progress_bar, runs
from .workspace import Workspace

_log = logging.getLogger("lmkin")
CHUNK = 4096
"""Rows of a chunk: enough for a fast product, few enough for float32 to add up."""
SHARDS = 16
"""About how many shards a pass is cut into where parts do not say: what is lost by a kill, at most."""
IntArray = NDArray[np.int64]
Data = TypeVar("Data")
Advance = Callable[[int], None]


@dataclass(frozen=True)
class Chunk(Generic[Data]):
    """Some rows: their numbers in the source, the part of each (-1: in none), and what they hold."""

    rows: IntArray
    parts: IntArray
    data: Data

    def by_part(self) -> Iterator[tuple[int, NDArray[np.bool_] | slice]]:
        """(part, which of the rows are its own); rows in no part are left out."""
        first = int(self.parts[0])
        if (self.parts == first).all():
            if first >= 0:
                yield first, slice(None)
            return
        for part in np.unique(self.parts[self.parts >= 0]).tolist():
            yield part, self.parts == part


@dataclass(frozen=True)
class Shard:
    """Neighbouring rows, from one up to another, that are accumulated by themselves."""

    number: int
    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start


class Accumulator(Protocol):
    """What a pass feeds: sums (or kept rows) that grow by chunks, merge, and live on disk."""

    def settings(self) -> dict[str, Any]:
        """Plain data: what the numbers depend on beside the rows."""

    def fresh(self, shard: Shard, first: Self | None) -> Self:
        """An empty one for a shard; ``first`` holds the rows of the shards before it, for an origin that all share."""

    def update(self, chunk: Chunk[Any]) -> None:
        """Take in the rows of a chunk."""

    def merge(self, other: Self) -> None:
        """Take in what another one holds, of other rows; in place."""

    def save(self, path: Path) -> None:
        """Write everything to a file, whole or not at all."""

    def load(self, path: Path) -> Self:
        """What `save` wrote. Raise if the file is damaged."""


class PassSource(Protocol[Data]):
    """What a pass reads: rows in an order, each in a part."""

    part: IntArray
    """The part of each row; -1 for rows in none."""
    unit: str
    reread: bool
    """Whether reading the rows a second time is cheap: then nothing is kept of a pass."""

    @property
    def small(self) -> int:
        """Rows that are run again sooner than sums of them are read: a shard has more."""

    @property
    def steps(self) -> int:
        """Steps of progress for each row: the models that run over it."""

    def identity(self) -> dict[str, Any]:
        """Plain data: everything that the rows depend on."""

    def starts(self) -> IntArray | None:
        """Rows at which a document (or a sentence) begins; None where nobody knows."""

    def chunks(
        self, start: int = 0, stop: int | None = None, advance: Advance | None = None
    ) -> Iterator[Chunk[Data]]:
        """The rows from ``start`` up to ``stop``, in chunks."""


def one_pass(
    source: PassSource[Any],
    accumulators: Mapping[str, Any],
    *,
    work: Workspace | None = None,
    title: str = "rows",
    progress: bool | None = None,
) -> dict[str, Any]:
    """Feed all rows of a source to some accumulators, in one pass.

    With a workspace, every shard is accumulated by itself, and kept under a name made of its content as soon as it is
    finished: the same call goes on after a kill with the shards that are missing, and gives the same to the last bit.
    Without one (or where rows are read again sooner than sums of them) there is one shard, and nothing is kept.

    Parameters
    ----------
    source
        What is read.
    accumulators
        By name; as they are given they stay empty, and `fresh` ones are made of them.
    work
        Where finished shards are kept.
    title, progress
        Of the progress bar; whether it is shown.
    """
    n = len(source.part)
    with progress_bar(title, n * source.steps, f"{source.unit}s", show=progress) as advance:
        if work is None or not work.keeps or source.reread or n <= source.small:
            return _accumulate(source, Shard(0, 0, n), accumulators, None, advance)
        kept = work.within(rows=source.identity())
        shards = cut_shards(source.part, source.starts(), source.small)
        there = sum(_is_there(kept, shard, accumulators) for shard in shards)
        if there:
            _log.info(
                "Going on: %s of %s shards of the corpus are there from an earlier run.",
                there,
                len(shards),
            )
        total: dict[str, Any] | None = None
        for shard in shards:
            sums = finish_shard(source, shard, accumulators, total, kept, advance)
            if total is None:
                total = {name: a.fresh(shard, sums[name]) for name, a in accumulators.items()}
            for name, mine in total.items():
                mine.merge(sums.pop(name))
            del sums  # beside the total there is one shard in memory, never two
        assert total is not None
        return total


def finish_shard(
    source: PassSource[Any],
    shard: Shard,
    accumulators: Mapping[str, Any],
    first: Mapping[str, Any] | None,
    work: Workspace,
    advance: Advance = lambda _: None,
) -> dict[str, Any]:
    """What the rows of one shard add up to: from its files, or accumulated now and kept.

    Shards may be done in any order, by anybody. ``first`` (the first shard, or any total with it) gives the origin that
    sums share; without it a shard has one of its own, which is changed when they are merged: the same but for rounding.
    """
    sums = _load(work, shard, accumulators)
    if sums is not None:
        advance(len(shard) * source.steps)
        return sums
    sums = _accumulate(source, shard, accumulators, first, advance)
    _save(work, shard, accumulators, sums)
    return sums


def _accumulate(
    source: PassSource[Any],
    shard: Shard,
    accumulators: Mapping[str, Any],
    first: Mapping[str, Any] | None,
    advance: Advance,
) -> dict[str, Any]:
    """What the rows of one shard add up to."""
    fresh = {
        k: a.fresh(shard, None if first is None else first[k]) for k, a in accumulators.items()
    }
    for chunk in source.chunks(shard.start, shard.stop, advance):
        for accumulator in fresh.values():
            accumulator.update(chunk)
    return fresh


def _step(work: Workspace, shard: Shard, accumulator: Any) -> Workspace:
    """Where what one accumulator holds of a shard is kept."""
    return work.within(
        shard=[shard.number, shard.start, shard.stop], settings=accumulator.settings()
    )


def _save(
    work: Workspace, shard: Shard, accumulators: Mapping[str, Any], sums: Mapping[str, Any]
) -> None:
    """Keep a finished shard; it counts as finished once the files of all its accumulators are there."""
    assert work.folder is not None
    work.folder.mkdir(parents=True, exist_ok=True)
    for name, accumulator in accumulators.items():
        sums[name].save(_step(work, shard, accumulator).path(name))


def _is_there(work: Workspace, shard: Shard, accumulators: Mapping[str, Any]) -> bool:
    return all(_step(work, shard, a).path(name).exists() for name, a in accumulators.items())


def _load(work: Workspace, shard: Shard, accumulators: Mapping[str, Any]) -> dict[str, Any] | None:
    """A finished shard; None where one of its files is missing or damaged."""
    sums: dict[str, Any] = {}
    for name, accumulator in accumulators.items():
        sums[name] = _step(work, shard, accumulator).load(name, accumulator.load)
        if sums[name] is None:
            return None
    return sums


def cut_shards(part: IntArray, starts: IntArray | None, small: int = CHUNK) -> list[Shard]:
    """Shards of whole documents (or sentences): the parts, where rows of a part are neighbours, else equal shares.

    Shares have at least ``small`` rows.

    >>> [(s.start, s.stop) for s in cut_shards(np.array([0, 0, 0, 1, 1]), None)]
    [(0, 3), (3, 5)]
    """
    n = len(part)
    pieces = runs(part, n)
    if len(pieces) > 1 and in_one_piece(part):
        edges = [start for _, start, _ in pieces]
    else:
        count = max(1, min(SHARDS, n // max(small, 1)))
        wanted = np.arange(1, count) * n // count
        if starts is None or len(starts) < 2:
            edges = [0, *wanted.tolist()]
        else:
            nearest = np.abs(starts[None, :] - wanted[:, None]).argmin(1)
            edges = sorted({0, *starts[nearest].tolist()})
    stops = [*edges[1:], n]
    return [Shard(k, a, b) for k, (a, b) in enumerate(zip(edges, stops, strict=True))]


def in_one_piece(part: IntArray) -> bool:
    """Whether the rows of every part are neighbours.

    >>> in_one_piece(np.array([1, 1, 0])), in_one_piece(np.array([1, 0, 1]))
    (True, False)
    """
    return len(part) == 0 or 1 + int(np.count_nonzero(np.diff(part))) == len(np.unique(part))


def chunk_ranges(
    part: IntArray, start: int, stop: int, *, mixed: bool = False
) -> list[tuple[int, int]]:
    """Where chunks begin and end: of one part where rows of a part are neighbours, unless parts may be ``mixed``."""
    mine = part[start:stop]
    if not len(mine):
        return []
    if mixed or not in_one_piece(mine):
        return [(low, min(low + CHUNK, stop)) for low in range(start, stop, CHUNK)]
    return [(start + low, start + high) for _, low, high in runs(mine, CHUNK)]


def starts_of(owner: IntArray) -> IntArray:
    """Rows at which another owner begins.

    >>> starts_of(np.array([4, 4, 5, 7, 7]))
    array([0, 2, 3])
    """
    return np.flatnonzero(np.diff(owner, prepend=owner[:1] - 1)).astype(np.int64)
