"""Similarity of layers: a heatmap, curves over the layers, pairs of models, neurons that are matched."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import altair as alt
import xarray as xr

from ....results import ResultTable, listed
from ...names import json_of
from ...page import Chapter, Figure, Table
from ...tables import SAME
from .. import Charts, ReportKind, report_kind
from ..layer_pairs import (
    LayerPairs,
    Measure,
    definitions,
    facts,
    heatmap_chapter,
    layers_heatmap,
    only,
    pairs_chapter,
    scalings_of,
    switches,
)
from .curves import curve_table, layer_curves
from .neurons import neurons_chapter

_LOCALIZATION = Measure(
    "localization", "localization", "localization score", "", True, -1.0, 1.0, "", {}
)


@report_kind
class SimilarityReport(ReportKind):
    """How alike the layers of models are."""

    kind = "similarity"

    def title(self, result: Any) -> str:
        """Which models' layers are compared."""
        return f"How alike are the layers of {listed(LayerPairs(result.dataset).models)}?"

    def facts(self, result: Any) -> list[tuple[str, str]]:
        """Models, corpus, units, intervals."""
        return facts(LayerPairs(result.dataset))

    def chapters(self, result: Any) -> list[Chapter]:
        """The heatmap, curves over the layers, pairs of models, matched neurons."""
        view = LayerPairs(result.dataset)
        chapters = [heatmap_chapter(view, layers_heatmap(view))]
        chapters += [_curve_chapter(view, *curves) for curves in _curves(view, result)]
        chapters.append(pairs_chapter(view))
        neurons = neurons_chapter(view)
        return chapters if neurons is None else [*chapters, neurons]

    def charts(self, result: Any) -> Charts:
        """``heatmap-ckasim-raw``, ``averages-ckasim-raw``, ``localization-raw`` …: one for each measure and scaling."""
        view = LayerPairs(result.dataset)
        charts: Charts = {}
        for scaling in view.scalings:
            for m in view.measures:
                one = LayerPairs(only(result.dataset, m, scaling))
                charts[_name("heatmap", m.key, scaling.key)] = partial(layers_heatmap, one)
            for name, dataset, measures, axis in _curves(view, result):
                for m in measures:
                    part = only(dataset, m, scaling)
                    key = "" if name == "localization" else m.key
                    charts[_name(name, key, scaling.key)] = partial(
                        layer_curves, view, part, [m], axis=axis, width=640
                    )
        return charts

    def definitions(self, result: Any) -> ResultTable:
        """What the measures are."""
        return definitions(LayerPairs(result.dataset).measures)

    def details(self, result: Any) -> list[tuple[str, Any]]:
        """The width of each layer."""
        return [("Neurons of each layer", json_of(result.attrs.get("widths", "{}")))]


def _name(*parts: str) -> str:
    return "-".join(part for part in parts if part)


def _curves(
    view: LayerPairs, result: Any
) -> Iterator[tuple[str, xr.Dataset, Sequence[Measure], str]]:
    """Name, values, measures and axis of the curves over the layers that there are."""
    if result.localizes:
        yield "localization", result.localization(), [_LOCALIZATION], "localization score"
    averages = result.averages()
    if averages is not None:
        measures = [m for m in view.measures if m.name in averages]
        yield "averages", averages, measures, "average similarity"


_TEXTS = {
    "localization": (
        "Localization of information",
        "How much of what a layer shares with other layers sits in single neurons: the mean of neuronsim over all "
        "other layers, minus the mean of svsim over the same. The higher, the more single neurons have a partner "
        "elsewhere; the lower, the more the layers share directions that are spread over many neurons.",
    ),
    "averages": (
        "Average similarity of each layer",
        "The mean similarity of a layer to all other layers, of all models. A high curve: the layer holds what "
        "others hold too; a low one: it stands alone.",
    ),
}


def _curve_chapter(
    view: LayerPairs, name: str, dataset: xr.Dataset, measures: Sequence[Measure], axis: str
) -> Chapter:
    chart: alt.LayerChart = layer_curves(view, dataset, measures, axis=axis)
    band = any(str(variable).endswith("_low") for variable in dataset.data_vars)
    colour = "A colour for each model" if len(view.models) > 1 else f"Model: {view.models[0]}"
    known = f"the band is the {view.level} interval." if band else "no intervals were computed."
    title, text = _TEXTS[name]
    several = measures if name == "averages" else []
    return Chapter(
        title,
        paragraphs=[text],
        switches=switches(several, scalings_of(dataset)),
        figures=[Figure(chart, caption=f"{colour}; {known}", name=name)],
        tables=[
            Table(
                curve_table(view, dataset, m, scaling),
                folded=SAME + " (value ± standard error)" * (f"{m.name}_se" in dataset),
                when={"measure": m.key, "scaling": scaling.key},
            )
            for m in measures
            for scaling in scalings_of(dataset)
        ],
    )
