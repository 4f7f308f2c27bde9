"""From rows to moments by split and part, in one pass; also with the rows of each model shuffled."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import MomentsError
from ..moments import Group, Moments, RowSource
from ..moments.accumulator import CHUNK
from ..moments.arrays import to_numpy
from ..moments.sources import SlicedSource
from ..progress import progress_bar
from .joint import COVARIATE
from .keeping import Kept, State
from .splitting import Split

_SECONDS = 30.0
"""After so long, unfinished work is written down."""
IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
Blocks = dict[Group, Any]


def functions_of_length(lengths: Any) -> FloatArray:
    """Length, its logarithm and its inverse: a mean over tokens may depend on it in any of these ways."""
    size = np.asarray(lengths, np.float64).reshape(-1)
    if not np.isfinite(size).all() or (size <= 0).any():
        raise MomentsError("Lengths are numbers above 0, one a row.")
    return np.stack([size, np.log(size), 1 / size], axis=1)


def collect(
    source: RowSource,
    split: Split,
    *,
    lengths: FloatArray | None = None,
    precision: str | None = None,
    kept: Kept | None = None,
    null: bool = False,
    seed: int = 0,
    checkpoint: Path | None = None,
    progress: bool | None = None,
    say: Callable[[str], None] | None = None,
) -> tuple[Moments, Moments | None]:
    """Moments of all rows, parts named by the labels of the split; and, if asked, those of shuffled rows."""
    found = Moments(precision=precision, rows=0)
    shuffled = Moments(precision=precision, rows=0) if null else None
    if any(group.model == COVARIATE for group in source.widths):
        raise MomentsError(f"{COVARIATE!r} is the name of something else here: rename that model.")
    covariate = None if lengths is None else functions_of_length(lengths)
    if covariate is not None and (covariate == covariate[0]).all():
        raise MomentsError(
            "All lengths are constant, so there is nothing to regress out: give none."
        )
    # Rows that lie there are read again sooner than sums of them are found again.
    keeps = checkpoint is not None and not isinstance(source, SlicedSource)
    settings = [precision, null, seed if null else None, _digest(covariate)]
    state = State(Path(str(checkpoint)), source, split, settings, null) if keeps else None
    done = state.load(kept) if state else 0
    if state and done:
        found, shuffled = state.moments, state.shuffled
        if say:
            say(f"Going on: {done:,} of {source.n:,} {source.unit}s are there from an earlier run.")
    shuffle = _Shuffle(source, split, seed)
    per_row = 1 if source.reread else len({g.model for g in source.widths})
    with progress_bar("moments", source.n * per_row, f"{source.unit}s", show=progress) as advance:
        advance(done * per_row)
        saved = time.monotonic()
        for numbers, blocks in _pieces(source, split, advance, done):
            if covariate is not None:
                blocks = {**blocks, Group(COVARIATE, 0): covariate[numbers]}
            _add(found, numbers, blocks, split)
            if shuffled is not None:
                _add(shuffled, numbers, shuffle(numbers, blocks), split)
            if kept is not None:
                kept.offer(numbers, blocks)
            if state and time.monotonic() - saved >= _SECONDS:
                state.save(int(numbers[-1]) + 1, found, shuffled, kept)
                saved = time.monotonic()
    found.info = dict(source.info)
    return found, shuffled


def _pieces(
    source: RowSource, split: Split, advance: Callable[[int], None], done: int
) -> Iterator[tuple[IntArray, Blocks]]:
    """Row numbers and rows. Where rows lie there, those of a part together; else as they come."""
    if isinstance(source, SlicedSource):
        for label in range(int(split.labels.max()) + 1):
            rows = np.flatnonzero(split.labels == label)
            for start in range(0, len(rows), CHUNK):
                some = rows[start : start + CHUNK]
                yield some, {g: _taken(a, some) for g, a in source.arrays.items()}
                advance(len(some))
        return
    source.part = (
        np.arange(source.n) // CHUNK
    )  # here only: stretches that are run, and may be skipped
    for stretch, blocks in source.blocks(advance=advance, skip=range(-(-done // CHUNK))):
        size = next(iter(blocks.values())).shape[0]
        yield stretch * CHUNK + np.arange(size), blocks


def _taken(array: Any, rows: IntArray) -> Any:
    """Some rows; neighbours without a copy."""
    if len(rows) == rows[-1] - rows[0] + 1:
        return array[int(rows[0]) : int(rows[-1]) + 1, :]
    return to_numpy(array[rows])


def _add(moments: Moments, numbers: IntArray, blocks: Blocks, split: Split) -> None:
    labels = split.labels[numbers]
    for label in np.unique(labels[labels >= 0]).tolist():
        mine = labels == label
        some = blocks if mine.all() else {g: to_numpy(b)[mine] for g, b in blocks.items()}
        moments.update(some, part=label)


class _Shuffle:
    """The rows of every model in an order of its own: of the whole split; where models run, of some 4,096 together."""

    def __init__(self, source: RowSource, split: Split, seed: int):
        self._seed = seed
        self._arrays: Mapping[Group, Any] = {}
        self._row: dict[Group, IntArray] = {}
        if not isinstance(source, SlicedSource):
            return
        self._arrays = source.arrays
        for k, group in enumerate(source.arrays):
            random = np.random.default_rng([seed, k])
            self._row[group] = np.arange(source.n)
            for name in split.parts:
                mine = split.rows(name)
                self._row[group][mine] = random.permutation(mine)

    def __call__(self, numbers: IntArray, blocks: Blocks) -> Blocks:
        random = np.random.default_rng([self._seed, int(numbers[0])])
        return {
            group: to_numpy(self._arrays[group][self._row[group][numbers]])
            if group in self._row
            else to_numpy(block)[random.permutation(len(numbers))]
            for group, block in blocks.items()
        }


def _digest(array: FloatArray | None) -> str | None:
    return None if array is None else hashlib.blake2b(array.tobytes(), digest_size=16).hexdigest()


def parts_by_split(moments: Moments, split: Split) -> Mapping[str, list[tuple[Moments, Any]]]:
    """Split → its parts."""
    return {name: [(moments, label) for label in labels] for name, labels in split.parts.items()}
