"""Redundancy: which neurons, and which layers, say the same thing."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ....results import ResultTable, listed
from ...names import counted, json_of
from ...page import Chapter
from .. import Charts, ReportKind, report_kind
from ..layer_pairs import definitions
from .cluster_chapters import (
    by_layer_chapter,
    left_chapter,
    span_chapter,
    strip_chapters,
    strip_keys,
)
from .drop_layers import cka_heatmap, drop_layers_chart, layer_lines, ranked
from .layer_chapters import cka_chapter, drop_chapter
from .neurons_left import AMOUNTS, layer_heatmap, left_chart
from .spans import KINDS, span_chart
from .strips import check_strips, farthest, strip_chart, words_of
from .view import LayersView, RedundancyView


@report_kind
class RedundancyReport(ReportKind):
    """Which neurons and layers of a model say the same thing."""

    kind = "redundancy"

    def title(self, result: Any) -> str:
        """Whose neurons were clustered."""
        return (
            f"Which neurons of {listed(RedundancyView(result.dataset).models)} say the same thing?"
        )

    def facts(self, result: Any) -> list[tuple[str, str]]:
        """Models, corpus, units, linkage, intervals."""
        return _facts(*_views(result))

    def chapters(self, result: Any) -> list[Chapter]:
        """Neurons left, where, how far apart clusters reach, layers to drop, strips."""
        view, layers = _views(result)
        chapters = [left_chapter(view), by_layer_chapter(view), span_chapter(view)]
        if layers is not None:
            chapters += [drop_chapter(layers), cka_chapter(layers)]
        return [*chapters, *strip_chapters(check_strips(result.strips or ()))]

    def charts(self, result: Any) -> Charts:
        """``redundancy-left-share``, ``redundancy-layers-MiniLM`` …: some for each model."""
        view, layers = _views(result)
        charts: Charts = {}
        for amount in AMOUNTS:
            charts[f"redundancy-left-{amount}"] = partial(left_chart, view, amount, width=640)
        for m, key in enumerate(view.keys):
            one = view.only(m)
            charts[f"redundancy-layers-{key}"] = partial(layer_heatmap, one, width=640)
            for kind in KINDS:
                charts[f"redundancy-spans-{kind}-{key}"] = partial(
                    span_chart, one, kind=kind, width=640
                )
        if len(view.models) > 1:
            for kind in KINDS:
                charts[f"redundancy-models-{kind}-{view.levels[view.usual]}"] = partial(
                    span_chart, view, "model", kind, width=640
                )
        if layers is not None:
            for m, key in enumerate(layers.keys):
                single = layers.only(m)
                if ranked(single, 0):
                    charts[f"redundancy-drop-{key}"] = partial(drop_layers_chart, single, width=640)
                charts[f"redundancy-cka-{key}"] = partial(cka_heatmap, single)
            for name in ("r2", "average"):
                charts[f"redundancy-{name}"] = partial(layer_lines, layers, name, width=640)
        strips = check_strips(result.strips or ())
        top = farthest(strips)
        for key, strip in zip(strip_keys(strips), strips, strict=True):
            wide = max(640, 200 + 14 * len(words_of(strip)[0]))
            charts[f"redundancy-strip-{key}"] = partial(strip_chart, strip, top=top, width=wide)
        return charts

    def definitions(self, result: Any) -> ResultTable:
        """The distance of neurons, and what layers are compared by."""
        view, layers = _views(result)
        return definitions([*view.measures, *(layers.measures if layers is not None else [])])

    def details(self, result: Any) -> list[tuple[str, Any]]:
        """How neurons were clustered, and where the numbers of layers come from."""
        view, layers = _views(result)
        details: list[tuple[str, Any]] = [("Clustering", _clustering(view))]
        if layers is not None:
            provenance = json_of(layers.dataset.attrs.get("provenance", "{}"))
            details.append(("Provenance of the layers", provenance))
        return details


def _views(result: Any) -> tuple[RedundancyView, LayersView | None]:
    view = RedundancyView(result.dataset)
    return view, None if result.layers is None else LayersView(result.layers, view.raw_models)


def _facts(view: RedundancyView, beside: LayersView | None) -> list[tuple[str, str]]:
    attrs, widths = view.dataset.attrs, view.numbers("width")
    models = [
        f"{name} ({counted(int(np.isfinite(widths[m]).sum()), 'layer')}, {counted(int(n), 'neuron')})"
        for m, (name, n) in enumerate(zip(view.models, view.numbers("neurons"), strict=True))
    ]
    lines = [("Model" if len(models) == 1 else "Models", "; ".join(models))]
    if attrs.get("corpus"):
        lines.append(("Corpus", str(attrs["corpus"])))
    if "n" in attrs:
        lines.append(("Units", counted(int(attrs["n"]), str(attrs.get("units", "unit")))))
    if attrs.get("linkage"):
        lines.append(("Linkage", str(attrs["linkage"])))
    if beside is not None:
        known = beside.has_intervals("r2") or beside.has_intervals("cka")
        lines.append(("Intervals", f"{beside.level}, of layers" if known else "none"))
    return lines


def _clustering(view: RedundancyView) -> dict[str, Any]:
    attrs = view.dataset.attrs
    about: dict[str, Any] = {
        name: attrs.get(name, "") for name in ("linkage", "representative", "seed")
    }
    about["thresholds"] = view.thresholds
    for name in ("neurons", "constant"):
        if name in view.dataset:
            about[name] = {
                m: int(n) for m, n in zip(view.raw_models, view.numbers(name), strict=True)
            }
    return about
