"""How far apart the members of a cluster lie: stacked bars, by threshold or by model."""

from __future__ import annotations

from typing import Any, Literal

import altair as alt

from ....results import ResultTable
from ...charts.bars import stacked_bars
from ...charts.style import (
    SOFT,
    heading,
    layered,
    name_axis,
    name_lines,
    number_axis,
    row_height,
    signal_text,
)
from ...charts.values import tooltips
from ...names import FloatArray, percent, rounded, whole
from ...tables import table_of
from .view import RedundancyView

KINDS = {
    "clusters": "clusters of two or more",
    "neurons": "all neurons that move",
}
"""What a bar is made of."""
ALONE = "alone"
_LABELS = {
    ALONE: "alone",
    "same layer": "in one layer",
    "±1": "in neighbouring layers (±1)",
    "±2": "two layers apart (±2)",
    "further": "further apart",
}
_COLOURS = {
    ALONE: "#e6eaee",
    "same layer": "#0072b2",
    "±1": "#56b4e9",
    "±2": "#e69f00",
    "further": "#d55e00",
}
_ROOM = 1.16
"""Right of the bars is room for a number."""


def spread(view: RedundancyView, kind: str) -> tuple[FloatArray, FloatArray]:
    """Counts by model, threshold and span, and of how many: clusters of two and more, or neurons."""
    counts = view.numbers("clusters" if kind == "clusters" else "neurons_in")
    if kind == "clusters" and ALONE in view.spans:
        counts[..., view.spans.index(ALONE)] = 0
    return counts, counts.sum(-1)


def span_chart(
    view: RedundancyView,
    by: Literal["threshold", "model"] = "threshold",
    kind: str = "clusters",
    *,
    width: int | str = "container",
) -> alt.LayerChart:
    """A bar a threshold, of the chosen model; or a bar a model, at the chosen threshold."""
    names = view.labels if by == "threshold" else view.models
    rows: list[dict[str, Any]] = []
    ends: list[dict[str, Any]] = []
    tables = {kind: spread(view, kind) for kind in KINDS}
    for i, key in enumerate(view.keys):
        for k, level in enumerate(view.levels):
            place = {"model": key, "level": level, "bar": k if by == "threshold" else i}
            for name, (counts, totals) in tables.items():
                of = totals[i, k]
                noun = name if of != 1 else name[:-1]
                ends.append(
                    place | {"kind": name, "end": 1 if of else 0, "label": whole(of) if of else "none"}
                )  # fmt: skip
                for s, count in enumerate(counts[i, k]):
                    if count:
                        rows.append(
                            place
                            | {
                                "kind": name,
                                "s": s,
                                "v": rounded(count / of),
                                "said": f"{count:,.0f} of {of:,.0f} {noun} ({percent(count / of)})",
                            }
                        )
    other = "datum.model == model" if by == "threshold" else "datum.level == threshold"
    here = f"datum.kind == kind && {other}"
    labels = [_LABELS.get(s, s) for s in view.spans]
    numbers = list(range(len(labels)))
    together = [s for s in numbers if view.spans[s] != ALONE]
    x: dict[str, Any] = {
        "title": "fraction",
        "scale": alt.Scale(domain=[0, _ROOM], nice=False),
        "axis": number_axis(values=[0, 0.25, 0.5, 0.75, 1], format=".0%"),
    }
    y = alt.Y(
        "bar:O",
        scale=alt.Scale(domain=list(range(len(names))), paddingInner=0.25),
        axis=name_axis(grid=False)
        if by == "model"
        else alt.Axis(title="threshold", labelExpr="names[datum.value]", labelPadding=6),
    )
    colours = [_COLOURS.get(s, "#4d4d4d") for s in view.spans]
    base = (
        alt.Chart()
        .transform_filter(here)
        .transform_calculate(
            bar_name="names[datum.bar]",
            span="spans[datum.s]",
            spoken="datum.bar_name + ', ' + datum.span + ': ' + datum.said",
        )
    )
    bars = stacked_bars(
        base,
        "s",
        labels,
        colours,
        x=x,
        y=y,
        beside=names,
        tooltip=tooltips(bar_name=by, span="members", said="fraction"),
        legend={"values": alt.expr(f"kind == 'neurons' ? {numbers} : {together}")},
        description=alt.Description("spoken:N"),
    )
    totals_text = (
        alt.Chart(alt.InlineData(values=ends))
        .transform_filter(here)
        .mark_text(align="left", dx=5, fontSize=11, color=SOFT, tooltip=None)
        .encode(x=alt.X("end:Q", **x), y=y, text=alt.Text("label:N"))
    )
    models = dict(zip(view.keys, view.models, strict=True))
    levels = {v: f"threshold {n}" for v, n in zip(view.levels, view.labels, strict=True)}
    one = signal_text(models, "model") if by == "threshold" else signal_text(levels, "threshold")
    start = view.keys[0] if by == "threshold" else view.levels[view.usual]
    # A line each: a phone has no room for both in one.
    return layered(
        [bars, totals_text],
        rows,
        {
            "model" if by == "threshold" else "threshold": start,
            "kind": kind,
            "names": names,
            "name_lines": name_lines(names),
            "spans": labels,
        },
        width=width,
        height=row_height(names, 26) * max(2, len(names)),
        title=heading("How far clusters reach", one, signal_text(KINDS, "kind")),
    )


def span_table(view: RedundancyView, model: int, kind: str) -> ResultTable:
    """A line a threshold: how many clusters (or neurons) there are, and how many of each span."""
    counts, totals = (table[model] for table in spread(view, kind))
    shown = [s for s, name in enumerate(view.spans) if kind == "neurons" or name != ALONE]
    first = "clusters of two or more" if kind == "clusters" else "neurons"
    lines = []
    for k, label in enumerate(view.labels):
        of = totals[k]
        cells = [
            f"{counts[k, s]:,.0f} ({percent(counts[k, s] / of)})" if of else "–" for s in shown
        ]
        lines.append([label, whole(of), *cells])
    names = ("threshold", first, *(_LABELS.get(view.spans[s], view.spans[s]) for s in shown))
    return table_of("spans", [(name, "text") for name in names], lines)
