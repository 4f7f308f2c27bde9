"""Similarity of attention: layers, single heads, and two heads on a sentence."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import altair as alt
import numpy as np
import xarray as xr

from ....results import ResultTable, listed
from ...names import counted, json_of
from ...page import Chapter, Figure, Option, Switch, Table
from .. import Charts, ReportKind, report_kind
from ..layer_pairs import (
    LayerPairs,
    definitions,
    facts,
    heatmap_chapter,
    layers_heatmap,
    only,
    pairs_chapter,
)
from .head_maps import Drawn, drawn, head_drawing
from .heads import HeadView, group_table, head_map, model_table, nearest_table

_MAP_SIZE = 640
_DRAWING_SIZE = 460
_MOST_ROWS = 15


@report_kind
class AttentionReport(ReportKind):
    """How alike attention heads are, by layers and one by one."""

    kind = "attention"

    def title(self, result: Any) -> str:
        """Which models' heads are compared."""
        return f"How alike are the attention heads of {listed(LayerPairs(result.dataset).models)}?"

    def facts(self, result: Any) -> list[tuple[str, str]]:
        """Models with their heads, corpus, units, intervals."""
        view = LayerPairs(result.dataset)
        return facts(view, _head_counts(view))

    def chapters(self, result: Any) -> list[Chapter]:
        """The heatmap, a map of all heads, those that could go, pairs that are alike, two heads drawn."""
        view, heads = _views(result)
        chapters = [heatmap_chapter(view, layers_heatmap(view))]
        if heads is not None:
            chapters += [
                _map_chapter(heads),
                _groups_chapter(heads, result.dataset),
                _nearest_chapter(heads, str(result.dataset.attrs["units"])),
            ]
        if result.sentence is not None:
            chapters.append(_drawing_chapter(view, heads, result.sentence))
        return [*chapters, pairs_chapter(view)]

    def charts(self, result: Any) -> Charts:
        """``attention-js-dropped`` …, ``heads-map`` and ``heads-pair``."""
        view, heads = _views(result)
        charts: Charts = {}
        for scaling in view.scalings:
            for m in view.measures:
                one = LayerPairs(only(result.dataset, m, scaling))
                name = "-".join(part for part in ("attention", m.key, scaling.key) if part)
                charts[name] = partial(layers_heatmap, one)
        if heads is not None:
            charts["heads-map"] = partial(head_map, heads)
        if result.sentence is not None:
            charts["heads-pair"] = lambda: _pair(drawn(view, result.sentence), heads)
        return charts

    def definitions(self, result: Any) -> ResultTable:
        """What the measures are."""
        return definitions(LayerPairs(result.dataset).measures)

    def details(self, result: Any) -> list[tuple[str, Any]]:
        """What was counted, and left out."""
        return [("What was counted", json_of(result.attrs.get("counts", "{}")))]


def _views(result: Any) -> tuple[LayerPairs, HeadView | None]:
    view = LayerPairs(result.dataset)
    return view, None if result.heads is None else HeadView(view, result.heads)


def _pair(every: Drawn, heads: HeadView | None) -> alt.HConcatChart:
    """The two heads that are most alike, beside each other."""
    pair = every.only(_matched(every, heads))
    sides = zip(("first", "second"), pair.keys, strict=True)
    return alt.hconcat(*(head_drawing(pair, s, key, fixed=True) for s, key in sides))


def _head_counts(view: LayerPairs) -> list[int]:
    if "head_model" not in view.dataset:
        return []
    models = [str(m) for m in view.dataset["head_model"].values]
    return [models.count(name) for name in view.raw_models]


def _map_chapter(about: HeadView) -> Chapter:
    shown = float(about.heads["map_share"].sum())
    return Chapter(
        "A map of all heads",
        paragraphs=[
            f"The closer two heads, the more alike what they look at (classical scaling of the Jensen-Shannon "
            f"distance, sink {about.sink}). Two axes show {shown:.0%} of the squared distances: heads that are "
            f"far apart here are unlike, those that are close may still differ on other axes.",
        ],
        figures=[
            Figure(
                head_map(about),
                caption="A point is a head; the paler, the more of its attention goes to special or first tokens. "
                "Point at one for its nearest heads.",
                name="heads-map",
                square=_MAP_SIZE,
            )
        ],
    )


def _groups_chapter(about: HeadView, result: xr.Dataset) -> Chapter:
    unit = result.attrs["units"]
    paragraphs = [
        f"Groups of heads of one model of which any two differ by at most {about.threshold:g} bits (sink "
        f"{about.sink}): they look at the same {unit}s. The head in the middle of a group stays, the others could go. "
        f"Whether a task can do without them, a test with that task must tell."
    ]
    tables = [Table(model_table(about))]
    similarity = np.asarray(result["js_heads"].sel(sink=about.sink).values, dtype=np.float64)
    groups = group_table(about, similarity)
    if groups.rows:
        paragraphs.append(
            "Heads are called layer/head, heads counted from 0; divergence is 1 − js of the two heads of a group "
            "that differ most."
        )
        tables.append(Table(replace(groups, rows=groups.rows[:_MOST_ROWS])))
    if len(groups.rows) > _MOST_ROWS:
        left = counted(len(groups.rows) - _MOST_ROWS, "group")
        rest = replace(groups, rows=groups.rows[_MOST_ROWS:])
        tables.append(Table(rest, folded=f"{left} more"))
    return Chapter("Which heads could go", paragraphs, tables=tables)


def _nearest_chapter(about: HeadView, unit: str) -> Chapter:
    where = "of two models" if about.several else "of the model"
    return Chapter(
        "Nearest heads in other models" if about.several else "Nearest heads",
        [
            f"The pairs of heads {where} that look at the same {unit}s most of all: 1 − Jensen-Shannon divergence, "
            f"sink {about.sink}."
        ],
        tables=[Table(nearest_table(about))],
    )


def _drawing_chapter(view: LayerPairs, about: HeadView | None, sentence: xr.DataArray) -> Chapter:
    every = drawn(view, sentence)
    paragraphs = [f"The sentence: {every.text}"] if every.text else []
    unit = str(sentence.attrs.get("units", "word"))
    paragraphs.append(
        f"Rows are the {unit}s that attention comes from, columns those that it goes to; the last column is what goes "
        f"to special tokens or to the first position. A row sums to 100%. Point at a cell for its {unit}s and its "
        f"value."
    )
    if every.left_out:
        paragraphs.append(
            f"The first {len(every.words)} {unit}s are drawn. What goes to the other {every.left_out} is counted as "
            f"elsewhere."
        )
    options = [
        Option(key, label, _kin(about, name))
        for key, label, name in zip(every.keys, every.labels, every.names, strict=True)
    ]
    figures, switches = [], []
    start = every.only(_matched(every, about)).keys
    for signal, label, key in zip(
        ("first", "second"), ("First head:", "Second head:"), start, strict=True
    ):
        switches.append(Switch(signal, label, options, start=key, folded=True))
        figures.append(
            Figure(
                head_drawing(every, signal, key),
                caption=label.rstrip(":"),
                name="head",
                square=_DRAWING_SIZE,
            )
        )
    return Chapter("Two heads on a sentence", paragraphs, figures, switches)


def _matched(every: Drawn, about: HeadView | None) -> list[str]:
    """The names of the two heads to begin with: the pair that is most alike, of those that are drawn."""
    if about is not None:
        known = set(every.names)
        for a, b, _ in about.pairs():
            pair = [about.all[a].name, about.all[b].name]
            if known.issuperset(pair):
                return pair
    return [every.names[0], every.names[min(1, len(every.names) - 1)]]


def _kin(about: HeadView | None, name: str) -> str:
    """What is known of a head, in a sentence."""
    if about is None or name not in about.place:
        return ""
    k = about.place[name]
    where = "in another model" if about.several else "of all others"
    near, similarity = about.kin[k]
    share = f"{about.share[k]:.0%} of its attention goes to the sink."
    if not about.label(near):
        return share
    return f"Most like it {where}: {about.label(near)} ({similarity:.3f}). {share}"
