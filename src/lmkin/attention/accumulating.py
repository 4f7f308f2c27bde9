"""One pass over the sentences: sums of every view and part."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import MeasureError
from ..moments.groups import Layout
from ..threads import Run, workers
from .checkpoint import Checkpoint
from .maps import SINKS, Entries, SentenceMaps, entries_of
from .sources import MapSource
from .views import ViewSums, empty_views

_BATCH = 16_384
"""Numbers of a head that are compared at once."""


def accumulate_maps(
    source: MapSource,
    measures: Sequence[str],
    sinks: Iterable[str] = SINKS,
    *,
    advance: Callable[[int], None] | None = None,
    checkpoint: Path | None = None,
    say: Callable[[str], None] | None = None,
) -> list[ViewSums]:
    """Sums of all views and parts, in one pass; with a ``checkpoint``, finished parts are kept there.

    ``say`` is told of parts that an earlier run finished.
    """
    total = empty_views(source, measures, sinks)
    one_by_one = bool((np.diff(source.part) >= 0).all())
    kept = Checkpoint(checkpoint, source, measures) if checkpoint and one_by_one else None
    known = np.unique(source.part).tolist()
    done = [part for part in known if kept is not None and kept.load(part, total)]
    if done and say is not None:
        say(f"Going on: {len(done)} of {len(known)} parts are there from an earlier run.")
    views, current = total, -1

    def finish() -> None:
        """The part is complete: keep it, and add it to the others."""
        if kept is None or current < 0:
            return
        kept.save(current, views)
        for whole, part in zip(total, views, strict=True):
            whole.parts[current] = part.of_part(current)
            if whole.moments is not None and part.moments is not None:
                whole.moments.absorb(part.moments)

    with workers() as run:
        for part, batch in _batches(source, advance, done):
            if kept is not None and part != current:
                finish()
                views = empty_views(source, measures, sinks)
            current = part
            _add(views, source.layout, batch, part, run)
        finish()
    return total


def _batches(
    source: MapSource, advance: Callable[[int], None] | None, done: Sequence[int]
) -> Iterator[tuple[int, list[SentenceMaps]]]:
    """Neighbouring sentences of one part, a few at a time."""
    batch: list[SentenceMaps] = []
    size, current = 0, -1
    for number, maps in source.sentences(advance, done):
        part = int(source.part[number])
        if batch and (part != current or size >= _BATCH):
            yield current, batch
            batch, size = [], 0
        batch.append(maps)
        size += maps.weights.shape[1] * maps.weights.shape[2]
        current = part
    if batch:
        yield current, batch


def check_views(views: Sequence[ViewSums], spare: Sequence[str] = ()) -> list[ViewSums]:
    """The views that hold something to compare; an error where one does not, unless its sink is ``spare``.

    Nothing to compare would look like heads that are all the same.
    """
    empty = [v for v in views if not any(sums.counts["words"] for sums in v.parts.values())]
    for each in empty:
        if each.view.sink not in spare:
            what = "Without attention to the sink no" if each.view.sink == "dropped" else "No"
            where = " up to its own" if each.view.past else ""
            raise MeasureError(
                f"{what} word sees two positions or more{where}: there is nothing to compare. Give longer sentences."
            )
    lost = {v.view.sink for v in empty}
    return [v for v in views if v.view.sink not in lost]


def _add(
    views: Sequence[ViewSums],
    layout: Layout,
    batch: Sequence[SentenceMaps],
    part: int,
    run: Run,
) -> None:
    for each in views:
        heads: Any = slice(None)
        if len(each.layers) < len(layout.groups):
            slices = [layout.slices[i] for i in each.layers]
            heads = np.concatenate([np.arange(s.start, s.stop) for s in slices])
        entries = [entries_of(maps, each.view, heads) for maps in batch]
        sums = each.of_part(part)
        sums.add(entries, run)
        sums.sink += sum(maps.sink[heads].sum(1) for maps in batch)
        sums.counts["all_sentences"] += len(batch)
        sums.counts["all_words"] += sum(maps.sink.shape[1] for maps in batch)
        if each.moments is not None:
            _add_moments(each, entries, part)


def _add_moments(view: ViewSums, entries: Sequence[Entries], part: int) -> None:
    """Heads as columns, (word, word) pairs as rows."""
    assert view.moments is not None
    values = np.concatenate([e.values for e in entries], axis=1).T
    if len(values):
        places = zip(view.layout.groups, view.layout.slices, strict=True)
        view.moments.update({g: values[:, columns] for g, columns in places}, part=part)
