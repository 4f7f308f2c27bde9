"""How far apart the members of a cluster lie: stacked bars, by threshold or by model."""

from __future__ import annotations

from typing import Any, Literal, cast

import altair as alt

from .charts import chosen
from .decomposed import GRID, heading, legend_columns, name_axis
from .redundant import RedundancyView, percent, whole
from .view import FloatArray, rounded

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
    legend = alt.Legend(
        orient="top",
        title=None,
        labelExpr="spans[datum.value]",
        values=alt.expr(f"kind == 'neurons' ? {numbers} : {together}"),
        labelLimit=240,
        symbolType="square",
        symbolSize=100,
        columns=legend_columns(labels, names),
    )
    x: dict[str, Any] = {
        "title": "share",
        "scale": alt.Scale(domain=[0, _ROOM], nice=False),
        "axis": alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], format=".0%", gridColor=GRID),
    }
    y = alt.Y(
        "bar:O",
        scale=alt.Scale(domain=list(range(len(names))), paddingInner=0.25),
        axis=name_axis(grid=False)
        if by == "model"
        else alt.Axis(title="threshold", labelExpr="names[datum.value]", labelPadding=6),
    )
    colours = [_COLOURS.get(s, "#4d4d4d") for s in view.spans]
    bars = (
        alt.Chart()
        .transform_filter(here)
        .transform_calculate(
            bar_name="names[datum.bar]",
            span="spans[datum.s]",
            spoken="datum.bar_name + ', ' + datum.span + ': ' + datum.said",
        )
        .mark_bar(stroke="white", strokeWidth=0.5)
        .encode(
            x=alt.X("v:Q", stack="zero", **x),
            y=y,
            color=alt.Color("s:O", legend=legend, scale=alt.Scale(domain=numbers, range=colours)),
            order=alt.Order("s:Q"),
            description="spoken:N",
            tooltip=[
                alt.Tooltip("bar_name:N", title=by),
                alt.Tooltip("span:N", title="members"),
                alt.Tooltip("said:N", title="share"),
            ],
        )
    )
    totals_text = (
        alt.Chart(alt.InlineData(values=ends))
        .transform_filter(here)
        .mark_text(align="left", dx=5, fontSize=11, color="#5b6b7a", tooltip=None)
        .encode(x=alt.X("end:Q", **x), y=y, text="label:N")
    )
    models = dict(zip(view.keys, view.models, strict=True))
    levels = {v: f"threshold {n}" for v, n in zip(view.levels, view.labels, strict=True)}
    one = chosen(models, "model") if by == "threshold" else chosen(levels, "threshold")
    chart = alt.layer(bars, totals_text).add_params(
        *(
            [alt.param("model", value=view.keys[0])]
            if by == "threshold"
            else [alt.param("threshold", value=view.levels[view.usual])]
        ),
        alt.param("kind", value=kind),
        alt.param("names", value=names),
        alt.param("spans", value=labels),
    )
    # A line each: a phone has no room for both in one.
    lines = f"{one}, {chosen(KINDS, 'kind')}"
    title = heading("How far clusters reach", lines)
    chart = chart.properties(width=width, height=26 * max(2, len(names)), title=title)
    chart.data = alt.InlineData(values=rows)
    return cast(alt.LayerChart, chart)


def span_table(view: RedundancyView, model: int, kind: str) -> list[list[str]]:
    """A line a threshold: how many clusters (or neurons) there are, and how many of each span."""
    counts, totals = (table[model] for table in spread(view, kind))
    shown = [s for s, name in enumerate(view.spans) if kind == "neurons" or name != ALONE]
    first = "clusters of two or more" if kind == "clusters" else "neurons"
    rows = [["threshold", first, *(_LABELS.get(view.spans[s], view.spans[s]) for s in shown)]]
    for k, label in enumerate(view.labels):
        of = totals[k]
        cells = [
            f"{counts[k, s]:,.0f} ({percent(counts[k, s] / of)})" if of else "–" for s in shown
        ]
        rows.append([label, whole(of), *cells])
    return rows
