"""The report of a Dataset of attention similarities: layers, single heads, and two heads on a sentence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import altair as alt
import xarray as xr

from .chapters import (
    counted,
    facts,
    heatmap_chapter,
    listed,
    only,
    pairs_chapter,
    reproduction_chapter,
    texts,
)
from .charts import save_picture
from .headmaps import Drawn, drawn, head_drawing
from .heads import HeadView, group_table, head_map, model_table, nearest_table
from .heatmap import layers_heatmap
from .page import Chapter, Figure, Option, Report, Switch, Table
from .view import View, json_of

_MAP_SIZE = 640
_DRAWING_SIZE = 460
_MOST_ROWS = 15


def attention_report(
    result: xr.Dataset,
    heads: xr.Dataset | None = None,
    sentence: xr.DataArray | None = None,
    title: str | None = None,
) -> Report:
    """The report: alerts, the heatmap, a map of all heads, those that could go, pairs that are alike, two heads drawn.

    ``result``, ``heads`` and ``sentence`` are what `lmkin.attention_similarities`, `lmkin.attention_heads` and
    `lmkin.sentence_attention` give; what is missing is left out.
    """
    view = View(result)
    chapters = [heatmap_chapter(view, layers_heatmap(view))]
    about = None if heads is None else HeadView(view, heads)
    if about is not None:
        chapters += [
            _map_chapter(about),
            _groups_chapter(about, result),
            _nearest_chapter(about),
        ]
    if sentence is not None:
        chapters.append(_drawing_chapter(view, about, sentence))
    counts = json_of(result.attrs.get("counts", "{}"))
    chapters += [pairs_chapter(view), reproduction_chapter(view, ("What was counted", counts))]
    return Report(
        title=title or f"How alike are the attention heads of {listed(view.models)}?",
        chapters=chapters,
        facts=facts(view, _head_counts(view)),
        alerts=texts(result.attrs.get("alerts", [])),
    )


def save_attention_charts(
    result: xr.Dataset,
    heads: xr.Dataset | None,
    sentence: xr.DataArray | None,
    folder: Path,
    *,
    advance: Callable[[int], None] | None = None,
) -> list[Path]:
    """Write every chart as PNG and SVG; no browser is needed.

    The files are called ``attention-js-dropped.png`` and so on, ``heads-map.png`` and ``heads-pair.png``.
    """
    view = View(result)
    written: list[Path] = []

    def save(chart: Any, name: str) -> None:
        for ending in ("png", "svg"):
            path = Path(folder) / f"{name}.{ending}"
            save_picture(chart, path)
            written.append(path)
        if advance is not None:
            advance(1)

    for scaling in view.scalings:
        for measure in view.measures:
            chart = layers_heatmap(View(only(result, measure, scaling)))
            save(chart, "-".join(p for p in ("attention", measure.key, scaling.key) if p))
    about = None if heads is None else HeadView(view, heads)
    if about is not None:
        save(head_map(about), "heads-map")
    if sentence is not None:
        every = drawn(view, sentence)
        pair = every.only(_matched(every, about))
        sides = zip(("first", "second"), pair.keys, strict=True)
        both = alt.hconcat(*(head_drawing(pair, s, key, fixed=True) for s, key in sides))
        save(both, "heads-pair")
    return written


def count_charts(
    result: xr.Dataset, heads: xr.Dataset | None, sentence: xr.DataArray | None
) -> int:
    """How many charts `save_attention_charts` writes."""
    view = View(result)
    return len(view.measures) * len(view.scalings) + (heads is not None) + (sentence is not None)


def _head_counts(view: View) -> list[int]:
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
    paragraphs = [
        f"Groups of heads of one model of which any two differ by at most {about.threshold:g} bits (sink "
        f"{about.sink}): they look at the same words. The head in the middle of a group stays, the others could go. "
        f"Whether a task can do without them, a test with that task must tell."
    ]
    tables = [Table(model_table(about))]
    head, *rows = group_table(about, result)
    if rows:
        paragraphs.append(
            "Heads are called layer/head, heads counted from 0; divergence is 1 − js of the two heads of a group "
            "that differ most."
        )
        tables.append(Table([head, *rows[:_MOST_ROWS]]))
    if len(rows) > _MOST_ROWS:
        left = counted(len(rows) - _MOST_ROWS, "group")
        tables.append(Table([head, *rows[_MOST_ROWS:]], folded=f"{left} more"))
    return Chapter("Which heads could go", paragraphs, tables=tables)


def _nearest_chapter(about: HeadView) -> Chapter:
    where = "of two models" if about.several else "of the model"
    return Chapter(
        "Nearest heads in other models" if about.several else "Nearest heads",
        [
            f"The pairs of heads {where} that look at the same words most of all: 1 − Jensen-Shannon divergence, sink "
            f"{about.sink}."
        ],
        tables=[Table(nearest_table(about))],
    )


def _drawing_chapter(view: View, about: HeadView | None, sentence: xr.DataArray) -> Chapter:
    every = drawn(view, sentence)
    paragraphs = [f"The sentence: {every.text}"] if every.text else []
    paragraphs.append(
        "Rows are the words that attention comes from, columns those that it goes to; the last column is what goes to "
        "special tokens or to the first position. A row sums to 100%. Point at a cell for its words and its value."
    )
    if every.left_out:
        paragraphs.append(
            f"The first {len(every.words)} words are drawn. What goes to the other {every.left_out} is counted as "
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
