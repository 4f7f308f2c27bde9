"""One pass over the sentences: sums of every view and part."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...core import (
    Layout,
    LmkinError,
    MeasureError,
    Run,
    Unfit,
    Whole,
    checked,
    load_tensors,
    save_tensors,
    workers,
)
from ...moments import pack_moments, unpack_moments
from ...rows import Chunk, Shard, Workspace, one_pass
from .maps import SINKS, Entries, SentenceMaps, entries_of
from .sources import MapSource
from .views import ViewSums, empty_views, views_of

_KIND = "attention of a shard"


class MapSums:
    """An accumulator of a pass: sums of all views of some layers, by part.

    Parameters
    ----------
    layout, causal
        Layers with their heads; which of them see only what came before.
    measures, sinks
        What is to be computed of them.
    run
        Works on shares of a batch side by side.
    """

    def __init__(
        self,
        layout: Layout,
        causal: Any,
        measures: Sequence[str],
        sinks: Iterable[str],
        run: Run,
        first: MapSums | None = None,
    ):
        self._layout = layout
        self._causal = causal
        self._measures = list(measures)
        self._sinks = list(sinks)
        self._run = run
        references = [v.reference for v in first.views] if first is not None else None
        self.views: list[ViewSums] = empty_views(
            layout, views_of(causal, self._sinks), self._measures, references
        )

    def settings(self) -> dict[str, Any]:
        """What the sums depend on beside the maps."""
        return {
            "measures": sorted(self._measures),
            "sinks": self._sinks,
            "causal": np.asarray(self._causal).tolist(),
        }

    def fresh(self, shard: Shard, first: MapSums | None) -> MapSums:
        """Empty sums for a shard."""
        return MapSums(self._layout, self._causal, self._measures, self._sinks, self._run, first)

    def update(self, chunk: Chunk[list[SentenceMaps]]) -> None:
        """Add the maps of some sentences, each to its part."""
        for part, mine in chunk.by_part():
            maps = chunk.data
            if not isinstance(mine, slice):
                maps = [maps[i] for i in np.flatnonzero(mine)]
            for view in self.views:
                self._add(view, maps, part)

    def _add(self, view: ViewSums, batch: Sequence[SentenceMaps], part: int) -> None:
        heads: Any = slice(None)
        if len(view.layers) < len(self._layout.groups):
            slices = [self._layout.slices[i] for i in view.layers]
            heads = np.concatenate([np.arange(s.start, s.stop) for s in slices])
        entries = [entries_of(maps, view.view, heads) for maps in batch]
        sums = view.of_part(part)
        sums.add(entries, self._run)
        sums.sink += sum(maps.sink[heads].sum(1) for maps in batch)
        sums.counts["all_sentences"] += len(batch)
        sums.counts["all_words"] += sum(maps.sink.shape[1] for maps in batch)
        if view.moments is not None:
            _add_moments(view, entries, part)

    def merge(self, other: MapSums) -> None:
        """Add the sums of other sentences."""
        for mine, theirs in zip(self.views, other.views, strict=True):
            for part, sums in theirs.parts.items():
                known = mine.parts.get(part)
                mine.parts[part] = sums if known is None else known.merge(sums)
            if mine.moments is not None and theirs.moments is not None:
                mine.moments.absorb(theirs.moments)

    def save(self, path: Path) -> None:
        """Write all views to one file."""
        arrays: dict[str, Any] = {}
        heads = []
        for number, view in enumerate(self.views):
            about: dict[str, Any] = {"parts": [[p, s.counts] for p, s in view.parts.items()]}
            for k, sums in enumerate(view.parts.values()):
                tables = {**sums.tables, "sink": sums.sink}
                arrays |= {f"{number}.{k}.{name}": table for name, table in tables.items()}
            if view.moments is not None:
                packed, about["moments"] = pack_moments(view.moments, f"{number}.moments")
                arrays |= packed
            heads.append(about)
        save_tensors(path, arrays, {"views": heads}, kind=_KIND)

    def load(self, path: Path) -> MapSums:
        """What `save` wrote, to the last bit. Raise if it is damaged."""
        arrays, head = load_tensors(path, kind=_KIND)
        loaded = MapSums(self._layout, self._causal, self._measures, self._sinks, self._run)
        try:
            for number, (view, about) in enumerate(zip(loaded.views, head["views"], strict=True)):
                for k, (part, counts) in enumerate(about["parts"]):
                    sums = view.of_part(checked(part, Whole(-1), "part"))
                    tables = {**sums.tables, "sink": sums.sink}
                    stored = {name: arrays[f"{number}.{k}.{name}"] for name in tables}
                    if any(
                        stored[n].shape != a.shape or stored[n].dtype != a.dtype
                        for n, a in tables.items()
                    ):
                        raise Unfit("a table has another shape")
                    sums.sink = stored.pop("sink")
                    sums.tables = stored
                    sums.counts = checked(counts, dict.fromkeys(sums.counts, Whole()), "counts")
                if view.moments is not None:
                    view.moments = unpack_moments(arrays, about["moments"], f"{number}.moments")
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise LmkinError(f"{path} is damaged: {error}.") from None
        return loaded


def accumulate_maps(
    source: MapSource,
    measures: Sequence[str],
    sinks: Iterable[str] = SINKS,
    *,
    work: Workspace | None = None,
    progress: bool | None = None,
) -> list[ViewSums]:
    """Sums of all views and parts, in one pass; finished shards are kept in ``work``."""
    with workers() as run:
        sums = MapSums(source.layout, source.causal, measures, sinks, run)
        made = one_pass(source, {"maps": sums}, work=work, title="attention", progress=progress)
    views: list[ViewSums] = made["maps"].views
    return views


def check_views(views: Sequence[ViewSums], unit: str, spare: Sequence[str] = ()) -> list[ViewSums]:
    """The views that hold something to compare. Raise if one does not, unless its sink is ``spare``.

    Nothing to compare would look like heads that are all the same.
    """
    empty = [v for v in views if not any(sums.counts["words"] for sums in v.parts.values())]
    for view in empty:
        if view.view.sink not in spare:
            dropped = view.view.sink == "dropped"
            what = (
                "Without attention to special tokens or a decoder's first token no"
                if dropped
                else "No"
            )
            where = " up to its own" if view.view.past else ""
            raise MeasureError(
                f"{what} {unit} sees two positions or more{where}: there is nothing to compare. Give longer sentences."
            )
    lost = {v.view.sink for v in empty}
    return [v for v in views if v.view.sink not in lost]


def _add_moments(view: ViewSums, entries: Sequence[Entries], part: int) -> None:
    """Heads as columns, (word, word) pairs as rows."""
    assert view.moments is not None
    values = np.concatenate([e.values for e in entries], axis=1).T
    if len(values):
        places = zip(view.layout.groups, view.layout.slices, strict=True)
        view.moments.update({g: values[:, columns] for g, columns in places}, part=part)
