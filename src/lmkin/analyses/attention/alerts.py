"""Traps in comparisons of attention, each with a sentence on what to do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core import Alert, AlertKind
from ..similarity import FEW_PARTS, unknown_alerts
from .head_tables import Heads
from .views import ViewSums

SINK = 0.5
"""Fraction of a head's attention from which the sink decides how it looks."""


def find_alerts(
    views: Sequence[ViewSums],
    heads: Heads,
    sink_share: Any,
    info: dict[str, Any],
    parts: int | None,
) -> list[Alert]:
    """All alerts of a comparison."""
    unit = info["units"]
    return [
        *_no_room(views, unit),
        *_sinks(heads, sink_share),
        *_even(views),
        *_undefined(views, heads),
        *_left_out(views, unit),
        *_lost(views[0], info),
        *unknown_alerts(info),
        *_parts(parts),
    ]


def _no_room(views: Sequence[ViewSums], unit: str) -> list[Alert]:
    if any(v.view.sink == "dropped" for v in views):
        return []
    return [
        Alert(
            AlertKind.NO_ROOM,
            f"Without the first {unit} no {unit} sees two positions or more, so there are no values with the sink "
            f"dropped. Give longer sentences if you want them.",
        )
    ]


def _sinks(heads: Heads, share: Any) -> list[Alert]:
    by_model: dict[str, list[str]] = defaultdict(list)
    for name, model, value in zip(
        heads.names, [heads.layout.groups[i].model for i in heads.layer], share, strict=True
    ):
        if value > SINK:
            by_model[model].append(f"{name.removeprefix(model + '/')} ({value:.0%})")
    return [
        Alert(
            AlertKind.SINK,
            f"{model} has {_count(mine, 'head')} (layer/head) with more than half of the attention on special or first "
            f"tokens: {_some(mine, 8)}. Without the sink they are compared on the little that is left; look at both, "
            f"dropped and kept.",
        )
        for model, mine in by_model.items()
    ]


def _count(things: Sequence[Any], name: str) -> str:
    return f"{len(things):,} {name}{'s' if len(things) != 1 else ''}"


def _some(names: Sequence[str], most: int) -> str:
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")


def _even(views: Sequence[ViewSums]) -> list[Alert]:
    count = max(v.total().counts["even"] for v in views)
    if not count:
        return []
    return [
        Alert(
            AlertKind.NOTHING_LEFT,
            f"{count:,} rows of single heads go to the sink alone; without it they are taken as even. The values with "
            f"the sink kept do not have this.",
        )
    ]


def _undefined(views: Sequence[ViewSums], heads: Heads) -> list[Alert]:
    names: set[str] = set()
    for view in views:
        rows = view.total().tables.get("pearson_rows")
        if rows is not None:
            mine = heads.of_layers(view.layers)
            names |= {heads.names[mine[k]] for k in np.flatnonzero(np.diag(rows) == 0)}
    if not names:
        return []
    some = sorted(names)
    return [
        Alert(
            AlertKind.EVEN_HEADS,
            f"{_count(some, 'head')} attend to all positions alike: {_some(some, 5)}. "
            f"Rows that do not vary have no correlation; theirs is given as 0. Use js or norm for them.",
        )
    ]


def _left_out(views: Sequence[ViewSums], unit: str) -> list[Alert]:
    worst = max((v.total().counts for v in views), key=lambda c: c["single"])
    share = worst["single"] / max(worst["single"] + worst["words"], 1)
    if share <= 0.2:
        return []
    return [
        Alert(
            AlertKind.WORDS_LEFT_OUT,
            f"{worst['single']:,} {unit}s ({share:.0%}) see one position only, and are left out. Longer sentences have "
            f"fewer of them.",
        )
    ]


def _lost(view: ViewSums, info: dict[str, Any]) -> list[Alert]:
    """Sentences, and words or tokens, of the corpus that were not compared."""
    counts = view.total().counts
    sentences = info.get("sentences", 0) - counts["all_sentences"]
    offered, unit = info.get("offered", 0), info["units"]
    lost = offered - counts["all_words"]
    if not offered or not (sentences or lost):
        return []
    which = (
        f", those of {sentences:,} {'sentence' if sentences == 1 else 'sentences'} among them"
        if sentences
        else ""
    )
    return [
        Alert(
            AlertKind.DROPPED,
            f"{lost:,} of {offered:,} {unit}s are left out of all models{which}: one of them cannot represent "
            f"them, reads less at once, or has them as the first token of a decoder.",
        )
    ]


def _parts(parts: int | None) -> list[Alert]:
    if parts is None or parts >= FEW_PARTS:
        return []
    if parts < 2:
        return [
            Alert(
                AlertKind.NO_PARTS,
                "There is one part only, so there are no intervals; take a corpus with more sentences, or more parts.",
            )
        ]
    return [
        Alert(
            AlertKind.FEW_PARTS,
            f"The intervals rest on {parts} parts only; take a corpus with more sentences, or more parts.",
        )
    ]
