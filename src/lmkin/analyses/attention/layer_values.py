"""Values of all pairs of layers, on all sentences and without each part of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...core import PARTS, MeasureError
from ...measures import measure_info
from ...models import AttentionUnit
from ...results import Entry
from ...rows import Workspace
from ..similarity import similarity
from .head_tables import Heads, head_table, intervals_by_view, layer_table, matches
from .options import AttentionOptions
from .sums import HeadSums
from .views import ViewSums


@dataclass(frozen=True)
class Settings(AttentionOptions):
    """The options of a comparison, and what `attention_similarity` takes beside them."""

    parts: Any = PARTS
    """A number, or one label a sentence."""
    units: AttentionUnit = "word"
    layers: Any = "all"
    causal: bool | Sequence[str] | None = None
    batch_tokens: int = 2048
    workspace: str | Path | Workspace | None = None
    progress: bool | None = None

    @property
    def released(self) -> bool:
        """Whether as in the authors' code."""
        return self.convention == "released"


def by_heads(
    views: Sequence[ViewSums], heads: Heads, measure: str, settings: Settings, parts: Sequence[int]
) -> tuple[Entry, Any]:
    """The best match of each head, and head × head."""

    def compute(sums: Sequence[HeadSums]) -> Any:
        return head_table(views, sums, heads, measure, released=settings.released)

    totals = [v.total() for v in views]
    table = compute(totals)
    without = [
        layer_table(
            compute([t.merge(v.parts[p], -1) for t, v in zip(totals, views, strict=True)]),
            heads.layout,
        )
        for p in parts
    ]
    entry = _with_interval(layer_table(table, heads.layout), without, views, parts, settings)
    entry.details = {"match": matches(table, heads.layout)}
    return entry, table


def by_columns(
    views: Sequence[ViewSums],
    heads: Heads,
    measure: str,
    settings: Settings,
    own: dict[str, Any],
    parts: Sequence[int],
) -> Entry:
    """Heads as columns, (word, word) pairs as rows: a measure of layers."""
    info = measure_info(measure)
    options = {k: v for k, v in own.items() if k in info.options}
    if "convention" in info.options:
        options["convention"] = settings.convention
    size = len(heads.layout.groups)
    value = np.full((size, size), np.nan)
    without = np.full((len(parts), size, size), np.nan)
    for view in sorted(views, key=lambda v: not v.view.past):
        assert view.moments is not None
        _require_variety(view, measure, parts)
        matrix = similarity(
            view.moments,
            measures=measure,
            neurons="raw",
            intervals=bool(parts),
            progress=settings.progress,
            measure_options=options,
        ).matrix(measure)
        rows, columns = np.ix_(view.layers, view.layers)
        value[rows, columns] = matrix.values
        known = list(view.moments.part_sizes)
        for number, part in enumerate(parts):
            without[number][rows, columns] = matrix.attrs["without"][known.index(part)]
    return _with_interval(value, list(without), views, parts, settings)


def _require_variety(view: ViewSums, measure: str, parts: Sequence[int]) -> None:
    """Raise if all heads of a layer attend evenly: as columns they are constant."""
    moments = view.moments
    assert moments is not None
    snapshots = [moments.snapshot(), *(moments.snapshot(without=p) for p in parts)]
    for number, group in enumerate(moments.groups):
        if not all((snapshot.std(number) > 0).any() for snapshot in snapshots):
            raise MeasureError(
                f"All heads of {group} attend to all positions alike, so {measure} is not defined for it (sink "
                f"{view.view.sink}). Leave that layer out, or use js or norm."
            )


def _with_interval(
    value: Any,
    without: list[Any],
    views: Sequence[ViewSums],
    parts: Sequence[int],
    settings: Settings,
) -> Entry:
    if not parts:
        return Entry(value, {})
    table = np.stack(without)
    return Entry(value, {}, intervals_by_view(value, table, views, parts, settings.level), table)


def useful_parts(views: Sequence[ViewSums]) -> list[int]:
    """Parts that hold words to compare, in every view."""
    known = [{p for p, sums in v.parts.items() if sums.counts["words"]} for v in views]
    return sorted(set.intersection(*known))
