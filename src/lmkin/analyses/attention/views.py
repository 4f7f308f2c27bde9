"""The views that a comparison needs, and what is known of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...core import Layout
from ...moments import Moments
from .maps import IntArray, View
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

    @property
    def reference(self) -> Any:
        """In which the moments are made, for others that are to be merged with these; None if there are none."""
        return None if self.moments is None else self.moments.reference

    def of_part(self, part: int) -> HeadSums:
        """The sums of a part; empty ones, if there are none yet."""
        return self.parts.setdefault(part, HeadSums(self.heads, self.measures))

    def total(self) -> HeadSums:
        """Over all parts."""
        sums = list(self.parts.values())
        whole = sums[0]
        for part in sums[1:]:
            whole = whole.merge(part)
        return whole


def views_of(causal: Any, sinks: Iterable[str]) -> list[tuple[View, IntArray]]:
    """The views that are needed, with the layers of each.

    Layers that see everything are compared on everything. As soon as one of two layers is causal, both are compared on
    what came before.
    """
    numbers = np.arange(len(causal))
    views = []
    for sink in sinks:
        if not causal.all():
            views.append((View(sink, past=False), numbers[~causal]))
        if causal.any():
            views.append((View(sink, past=True), numbers))
    return views


def empty_views(
    layout: Layout,
    views: Iterable[tuple[View, IntArray]],
    measures: Sequence[str],
    references: Sequence[Any] | None = None,
) -> list[ViewSums]:
    """Views with nothing in them yet; the moments of each in a reference, where there is one."""
    single = [m for m in measures if m in HEAD_MEASURES]
    distributed = len(single) < len(measures)
    empty = []
    for number, (view, layers) in enumerate(views):
        widths = {layout.groups[i]: layout.widths[i] for i in layers}
        reference = references[number] if references else None
        moments = Moments(sample_rows=0, reference=reference) if distributed else None
        empty.append(ViewSums(view, layers, Layout(widths), single, moments=moments))
    return empty
