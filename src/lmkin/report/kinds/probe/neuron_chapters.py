"""Chapters of neurons in a report of probes: how many are enough, where they lie, clusters, what tasks share."""

from __future__ import annotations

from functools import partial
from typing import Any

from ...page import Chapter, Figure, Option, Switch, Table
from ...tables import SAME
from .. import Charts
from .neuron_charts import (
    curve_chart,
    has_neurons,
    overlap_heatmap,
    stability_chart,
    threshold_chart,
    where_chart,
)
from .neuron_view import NeuronView


def neuron_chapters(result: Any) -> list[Chapter]:
    """Those that the result has something to show for."""
    if not has_neurons(result.dataset):
        return []
    view = NeuronView(result.dataset)
    chapters = []
    if view.has("minimal"):
        chapters += [_smallest(view, result), _where(view)]
    if view.has("cluster_left"):
        chapters.append(_thresholds(view, result))
    if view.has("overlap"):
        chapters.append(_overlap(view, result))
    return chapters


def neuron_charts(result: Any) -> Charts:
    """Pictures by name: ``probe-neurons-upos``, ``probe-neurons-where``, ``probe-thresholds-MiniLM`` …."""
    charts: Charts = {}
    if not has_neurons(result.dataset):
        return charts
    view = NeuronView(result.dataset)
    if view.has("curve_kept"):
        for key, (model, task) in zip(view.keys, view.pairs, strict=True):
            one = NeuronView(result.dataset.sel(model=[model], task=[task]))
            charts[f"probe-neurons-{key}"] = partial(curve_chart, one, width=640)
    if view.has("minimal"):
        charts["probe-neurons-where"] = partial(where_chart, view, width=640)
        if view.has("stable"):
            charts["probe-neurons-stability"] = partial(stability_chart, view, width=640)
    if view.has("cluster_left"):
        for name, key in zip(view.raw_models, view.model_keys, strict=True):
            one = NeuronView(result.dataset.sel(model=[name]))
            charts[f"probe-thresholds-{key}"] = partial(threshold_chart, one, width=640)
        charts["probe-thresholds-left"] = partial(threshold_chart, view, "left", width=640)
    if view.has("overlap"):
        for name, key in zip(view.raw_models, view.model_keys, strict=True):
            one = NeuronView(result.dataset.sel(model=[name]))
            charts[f"probe-overlap-{key}"] = partial(overlap_heatmap, one)
    return charts


def neuron_figures(result: Any) -> dict[str, Any]:
    """Every chart of neurons, drawn, by name."""
    return {name: draw() for name, draw in neuron_charts(result).items()}


def _pair_switch(view: NeuronView) -> list[Switch]:
    if len(view.pairs) == 1:
        return []
    return [Switch("which", "Show:", [Option(key, view.labels[key]) for key in view.keys])]


def _model_switch(view: NeuronView) -> list[Switch]:
    if len(view.models) == 1:
        return []
    options = [Option(key, name) for key, name in view.model_labels.items()]
    return [Switch("model", "Model:", options)]


def _smallest(view: NeuronView, result: Any) -> Chapter:
    """Smallest sets, with the curves where these were asked for."""
    attrs = view.dataset.attrs
    text = (
        f"Neurons of all layers are ranked ({attrs.get('ranking', '')}). The smallest set is that of the first neurons "
        f"whose own probe keeps the score of all within {100 * float(attrs['tolerance']):g} %, on dev."
    )
    table = Table(result.find_table("neurons"))
    title = "How many neurons are enough?"
    if not view.has("curve_kept"):
        return Chapter(title, paragraphs=[text], tables=[table])
    text += (
        " The curves are scores on test by a probe that the ranking does not know (with the penalty "
        f"“{attrs.get('judge', '')}”): of the first N neurons alone, of N random ones, and of all but the first N. If "
        "a ranking is good, the first line rises fast above the second. What is left without the first N says how "
        "much the others know, too: mostly the same."
    )
    figure = Figure(
        curve_chart(view),
        caption="The dashed line marks the smallest set. Point at a mark for its value.",
        name="probe-neurons",
    )
    return Chapter(
        title, paragraphs=[text], figures=[figure], switches=_pair_switch(view), tables=[table]
    )


def _where(view: NeuronView) -> Chapter:
    figures = [
        Figure(
            where_chart(view),
            caption="Of the neurons of a smallest set, the share that lies in each layer.",
            name="probe-neurons-where",
        )
    ]
    if view.has("stable"):
        figures.append(
            Figure(
                stability_chart(view),
                caption="The share of the first N neurons that two halves of train, ranked apart, have in common "
                "(mean over draws, with two standard errors).",
                name="probe-neurons-stability",
            )
        )
    return Chapter("Where do these neurons lie?", figures=figures)


def _thresholds(view: NeuronView, result: Any) -> Chapter:
    return Chapter(
        "How much may be clustered away?",
        paragraphs=[
            "Neurons of all layers that say the same thing are put into clusters, by their correlations on train; one "
            "of each cluster is left, and a probe is fitted on these, for every task."
        ],
        figures=[
            Figure(
                threshold_chart(view),
                caption="Scores on test by clustering threshold.",
                name="probe-thresholds",
            ),
            Figure(
                threshold_chart(view, "left"),
                caption="Neurons that are left, as a share of all.",
                name="probe-thresholds-left",
            ),
        ],
        switches=_model_switch(view),
        tables=[Table(result.find_table("thresholds"), folded=SAME)],
    )


def _overlap(view: NeuronView, result: Any) -> Chapter:
    return Chapter(
        "Do tasks share neurons?",
        paragraphs=[
            "The neurons that the smallest sets of two tasks have in common. Colour: their share of the smaller set. "
            "Large sets overlap for being large; chance is what random sets of these sizes would share."
        ],
        figures=[
            Figure(
                overlap_heatmap(view),
                caption="Point at a cell for what chance gives, and for p (hypergeometric).",
                name="probe-overlap",
                square=420,
            )
        ],
        switches=_model_switch(view),
        tables=[Table(result.find_table("overlap"), folded=SAME)],
    )
