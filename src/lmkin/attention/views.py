"""The views that a comparison needs, and what is known of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..moments import Moments
from ..moments.groups import Layout
from .maps import IntArray, View
from .sources import MapSource
from .sums import HEAD_MEASURES, HeadSums


@dataclass
class ViewSums:
    """What is known of some layers in one view: sums of pairs of heads by part, and moments of heads as columns."""

    view: View
    layers: IntArray
    """Numbers of the layers that take part."""
    layout: Layout
    measures: Sequence[str]
    """Those of single heads."""
    parts: dict[int, HeadSums] = field(default_factory=dict)
    moments: Moments | None = None

    @property
    def heads(self) -> int:
        """How many heads take part."""
        return self.layout.width

    def of_part(self, part: int) -> HeadSums:
        """The sums of a part; empty ones, if there are none yet."""
        return self.parts.setdefault(part, HeadSums(self.heads, self.measures))

    def total(self) -> HeadSums:
        """Over all parts."""
        sums = list(self.parts.values())
        whole = sums[0]
        for each in sums[1:]:
            whole = whole.merge(each)
        return whole


def views_of(causal: Any, sinks: Iterable[str]) -> list[tuple[View, IntArray]]:
    """The views that are needed, with the layers of each.

    Layers that see everything are compared on everything. As soon as one of two layers is causal, both are compared on
    what came before.
    """
    numbers = np.arange(len(causal))
    found = []
    for sink in sinks:
        if not causal.all():
            found.append((View(sink, past=False), numbers[~causal]))
        if causal.any():
            found.append((View(sink, past=True), numbers))
    return found


def empty_views(source: MapSource, measures: Sequence[str], sinks: Iterable[str]) -> list[ViewSums]:
    """All views of a source, with nothing in them yet."""
    single = [m for m in measures if m in HEAD_MEASURES]
    distributed = len(single) < len(measures)
    found = []
    for view, layers in views_of(source.causal, sinks):
        widths = {source.layout.groups[i]: source.layout.widths[i] for i in layers}
        moments = Moments(rows=0) if distributed else None
        found.append(ViewSums(view, layers, Layout(widths), single, moments=moments))
    return found
