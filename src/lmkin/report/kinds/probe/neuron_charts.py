"""Charts of neurons: scores by how many are kept, where chosen ones lie, scores by threshold, what tasks share."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
import xarray as xr

from ...charts.heatmap import cell_numbers, cells, unit_colour
from ...charts.lines import layer_axis, line_chart
from ...charts.style import INK, heading, layered, number_axis, said, signal_text, widened
from ...charts.values import tooltips
from ...names import FloatArray, rounded
from .neuron_view import CURVES, MEAN, NeuronView

ENDS = ("_low", "_high")


def curve_chart(view: NeuronView, *, width: int | str = "container") -> alt.LayerChart:
    """Scores by number of neurons, of the chosen model and task, with the smallest set marked."""
    rows: list[dict[str, Any]] = []
    lowest, sizes = 1.0, [1.0]
    for key, (model, task) in zip(view.keys, view.pairs, strict=True):
        counts = view.at("curve_size", model, task)
        for i, name in enumerate(CURVES):
            columns = {e: view.at(f"curve_{name}{e}", model, task) for e in ("", *ENDS)}
            for k, count in enumerate(counts.tolist()):
                value = float(columns[""][k])
                if not np.isfinite(count) or not np.isfinite(value):
                    continue
                ends = [rounded(float(columns[e][k])) for e in ENDS]
                rows.append(
                    {
                        "key": key, "i": i, "n": int(count), "score": rounded(value),
                        "from": ends[0], "to": ends[1], "curve": CURVES[name],
                    }
                )  # fmt: skip
                lowest, sizes = min(lowest, value), [*sizes, count]
        size = float(view.at("minimal", model, task))
        if np.isfinite(size):
            rows.append(
                {
                    "key": key,
                    "i": -1,
                    "n": int(size),
                    "minimal": f"smallest set: {size:,.0f} neurons",
                }
            )
    x = alt.X(
        "n:Q",
        title="number of neurons N",
        scale=alt.Scale(type="log", domain=widened(1, max(sizes)), nice=False, padding=12),
        axis=alt.Axis(format="~s", grid=False, labelOverlap=True, tickCount=6, labelPadding=6),
    )
    y: dict[str, Any] = {
        "title": view.score_name,
        "scale": alt.Scale(domain=[min(0.0, round(lowest, 1)), 1.0], nice=False),
        "axis": number_axis(),
    }
    mine = alt.Chart().transform_filter("datum.key === which && datum.i === -1")
    mark = mine.mark_rule(color=INK, strokeDash=[4, 3], strokeWidth=1.5)
    tips = tooltips(
        view.level * view.has_intervals("curve_kept"), curve="of", n="N", value="test score"
    )
    return line_chart(
        rows,
        list(CURVES.values()),
        x=x,
        y=y,
        tooltip=tips,
        title=heading("Scores by number of neurons", signal_text(view.labels, "which")),
        calculate={
            "v": "datum.key === which && datum.i >= 0 ? datum.score : null",
            "low": "datum.key === which ? datum.from : null",
            "high": "datum.key === which ? datum.to : null",
            "value": "format(datum.score, '.4f')",
            "interval": "isValid(datum.from) ? format(datum.from, '.4f') + ' to ' + format(datum.to, '.4f') : 'none'",
        },
        params={"which": view.keys[0]},
        more=[mark.encode(x=x, tooltip=alt.Tooltip("minimal:N", title="marked"))],
        width=width,
    )


def where_chart(view: NeuronView, *, width: int | str = "container") -> alt.LayerChart:
    """The share of each layer in the smallest set, a line a model and task."""
    rows: list[dict[str, Any]] = []
    for i, (model, task) in enumerate(view.pairs):
        counts = view.at("minimal_in_layer", model, task)
        total = float(np.nansum(counts))
        for layer, count in zip(view.layers, counts.tolist(), strict=True):
            if np.isfinite(count) and total:
                rows.append(
                    {
                        "i": i, "layer": layer, "v": rounded(count / total),
                        "name": view.labels[view.keys[i]],
                        "said": f"{count:,.0f} of {total:,.0f} neurons ({100 * count / total:.1f}%)",
                    }
                )  # fmt: skip
    y: dict[str, Any] = {
        "title": "share of the smallest set",
        "scale": alt.Scale(zero=True),
        "axis": number_axis(format=".0%"),
    }
    return line_chart(
        rows,
        [view.labels[key] for key in view.keys],
        x=layer_axis(view.layers),
        y=y,
        tooltip=tooltips(name="set", layer="layer", said="neurons"),
        title=heading(
            "Where the neurons of the smallest sets lie", said("a layer's share of them")
        ),
        bands=False,
        legend=len(view.pairs) > 1,
        width=width,
    )


def threshold_chart(
    view: NeuronView, what: str = "test", *, width: int | str = "container"
) -> alt.LayerChart:
    """By clustering threshold: scores of the chosen model, a line a task; or neurons left, a line a model."""
    rows: list[dict[str, Any]] = []
    thresholds = [t for t in view.thresholds if t >= 0]
    first = view.thresholds.index(thresholds[0])
    left = what == "left"
    names = view.models if left else [*view.tasks, *([MEAN] if len(view.tasks) > 1 else [])]
    for m, model in enumerate(view.raw_models):
        for i, name in enumerate(names):
            if left and i != m:
                continue
            columns = _threshold_columns(view, model, name, left)
            whole = float(columns[""][0]) if first else np.nan
            for k, threshold in enumerate(thresholds, start=first):
                value = float(columns[""][k])
                if not np.isfinite(value):
                    continue
                rows.append(
                    {
                        "m": view.model_keys[m], "i": i, "t": threshold, "name": name,
                        "score": rounded(value / (whole if left else 1)),
                        "from": None if left else rounded(float(columns["_low"][k])),
                        "to": None if left else rounded(float(columns["_high"][k])),
                        "value": f"{value:,.0f} of {whole:,.0f}" if left
                        else f"{value:.4f} (all neurons: {whole:.4f})",
                    }
                )  # fmt: skip
    x = alt.X(
        "t:Q",
        title="clustering threshold",
        scale=alt.Scale(
            domain=widened(thresholds[0], thresholds[-1], by=0.1),
            nice=False,
            zero=False,
            padding=12,
        ),
        axis=alt.Axis(
            values=thresholds, format=".4~g", grid=False, labelOverlap="greedy", labelPadding=8
        ),
    )
    lows = [r["score"] for r in rows if r["score"] is not None]
    y: dict[str, Any] = {
        "title": "neurons left" if left else view.score_name,
        "scale": alt.Scale(
            domain=[0.0 if left else min([*lows, 0.5]), 1.0], nice=not left, zero=left
        ),
        "axis": number_axis(format=".0%" if left else ".2f"),
    }
    mine = "true" if left else "datum.m === model"
    text = "Neurons left by clustering threshold" if left else "Scores by clustering threshold"
    below = said("share of all neurons") if left else signal_text(view.model_labels, "model")
    level = view.level if not left and view.has_intervals("cluster_test") else ""
    return line_chart(
        rows,
        names,
        x=x,
        y=y,
        tooltip=tooltips(level, name="of", t="threshold", value="left" if left else "test score"),
        title=heading(text, below),
        calculate={
            "v": f"{mine} ? datum.score : null",
            "low": f"{mine} ? datum.from : null",
            "high": f"{mine} ? datum.to : null",
            "interval": "isValid(datum.from) ? format(datum.from, '.4f') + ' to ' + format(datum.to, '.4f') : 'none'",
        },
        params={"model": view.model_keys[0]},
        bands=not left,
        legend=len(names) > 1,
        width=width,
        height=260 if left else 340,
    )


def _threshold_columns(
    view: NeuronView, model: str, name: str, left: bool
) -> dict[str, FloatArray]:
    if left:  # the same for every task
        counts = [view.at("cluster_left", model, task) for task in view.raw_tasks]
        known = [c for c in counts if np.isfinite(c).any()]
        return {"": known[0] if known else counts[0]}
    if name == MEAN:
        place = view.raw_models.index(model)
        return {e: view.dataset["cluster_mean" + e].values[place] for e in ("", *ENDS)}
    task = view.raw_tasks[view.tasks.index(name)]
    return {e: view.at("cluster_test" + e, model, task) for e in ("", *ENDS)}


def overlap_heatmap(view: NeuronView, *, size: int = 420) -> alt.LayerChart:
    """Tasks × tasks of the chosen model: which share of the smaller set the other one has, too."""
    rows: list[dict[str, Any]] = []
    for m, model in enumerate(view.raw_models):
        sizes = [float(view.at("minimal", model, task)) for task in view.raw_tasks]
        for a, one in enumerate(view.tasks):
            for b, other in enumerate(view.tasks):
                both, expected, log_p = (
                    float(view.dataset[n].values[m, a, b])
                    for n in ("overlap", "overlap_expected", "overlap_log_p")
                )
                there = np.isfinite(both)
                p = "" if not np.isfinite(log_p) else f", p = {np.exp(log_p):.2g}"
                text = (
                    f"{both:,.0f} of {sizes[a]:,.0f} and {sizes[b]:,.0f}; chance {expected:.1f}{p}"
                )
                rows.append(
                    {
                        "m": view.model_keys[m], "a": a, "b": b, "one": one, "other": other,
                        "v": rounded(both / min(sizes[a], sizes[b])) if there else None,
                        "label": f"{both:,.0f}" if there else "",
                        "said": text if there else "not defined",
                    }
                )  # fmt: skip
    base = alt.Chart().transform_filter("datum.m === model")
    base = base.transform_calculate(spoken="datum.one + ', ' + datum.other + ': ' + datum.said")
    axis = alt.Axis(labelExpr="names[datum.value]", labelAngle=0, labelLimit=110, title=None)
    place = {
        "x": alt.X("b:O", axis=axis, scale=alt.Scale(paddingInner=0, paddingOuter=0)),
        "y": alt.Y("a:O", axis=axis, scale=alt.Scale(paddingInner=0, paddingOuter=0)),
    }
    tooltip = tooltips(one="one", other="other", said="shared")
    layers = cells(base, place, unit_colour(".0%"), tooltip)
    layers.append(cell_numbers(base, place))
    return layered(
        layers,
        rows,
        {"model": view.model_keys[0], "names": view.tasks, "cell": size / len(view.tasks)},
        width=size,
        height=size,
        title=heading(
            "Neurons that the smallest sets share", signal_text(view.model_labels, "model")
        ),
    )


def stability_chart(view: NeuronView, *, width: int | str = "container") -> alt.LayerChart:
    """What the rankings of two halves of train have in common, by N; random rankings beside."""
    rows: list[dict[str, Any]] = []
    names = [view.labels[key] for key in view.keys]
    for i, (model, task) in enumerate(view.pairs):
        columns = {
            n: view.at(n, model, task)
            for n in ("stable_top", "stable", "stable_se", "stable_chance")
        }
        for k, count in enumerate(columns["stable_top"].tolist()):
            if not np.isfinite(count):
                continue
            share, se = float(columns["stable"][k]), float(columns["stable_se"][k])
            spread = 2 * se if np.isfinite(se) else np.nan
            rows.append(
                {
                    "i": i, "n": int(count), "v": rounded(share), "name": names[i],
                    "low": rounded(share - spread), "high": rounded(share + spread),
                    "said": f"{100 * share:.1f}% (chance {100 * float(columns['stable_chance'][k]):.1f}%)",
                }
            )  # fmt: skip
    x = alt.X(
        "n:Q",
        title="first N neurons",
        scale=alt.Scale(
            type="log", domain=widened(1, max(r["n"] for r in rows)), nice=False, padding=12
        ),
        axis=alt.Axis(format="~s", grid=False, labelOverlap=True, tickCount=6, labelPadding=6),
    )
    y: dict[str, Any] = {
        "title": "in common",
        "scale": alt.Scale(domain=[0, 1]),
        "axis": number_axis(format=".0%"),
    }
    return line_chart(
        rows,
        names,
        x=x,
        y=y,
        tooltip=tooltips(name="ranking", n="N", said="in common"),
        title=heading("Would the ranking come again?", said("two halves of train, ranked apart")),
        legend=len(names) > 1,
        width=width,
        height=260,
    )


def has_neurons(dataset: xr.Dataset) -> bool:
    """Whether there is anything of neurons to be drawn."""
    return "minimal" in dataset or "cluster_left" in dataset
