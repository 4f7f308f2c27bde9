"""The report of a Dataset of similarities, and its charts as pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import altair as alt
import xarray as xr

from .chapters import (
    facts,
    heatmap_chapter,
    listed,
    only,
    pairs_chapter,
    reproduction_chapter,
    scaled,
    switches,
    texts,
)
from .charts import save_picture
from .curves import curve_table, layer_curves
from .heatmap import layers_heatmap
from .page import Chapter, Figure, Report, Table
from .view import Measure, View, json_of, scalings_of

_LOCALIZATION = Measure(
    "localization", "localization", "localization score", "", True, -1.0, 1.0, "", {}
)


def similarity_charts(
    dataset: xr.Dataset,
    localization: xr.Dataset | None = None,
    averages: xr.Dataset | None = None,
    *,
    width: int | str = "container",
) -> dict[str, alt.LayerChart]:
    """The charts of the report by name: ``heatmap``, ``localization``, ``averages``, as far as there are data for them.

    What they show is chosen by their signals ``measure`` and ``scaling``; to begin with, the first of each.
    """
    view = View(dataset)
    charts = {"heatmap": layers_heatmap(view)}
    if localization is not None:
        charts["localization"] = layer_curves(
            view, localization, [_LOCALIZATION], axis="localization score", width=width
        )
    measures = _averaged(view, averages)
    if averages is not None and measures:
        charts["averages"] = layer_curves(
            view, averages, measures, axis="average similarity", width=width
        )
    return charts


def save_charts(
    dataset: xr.Dataset,
    localization: xr.Dataset | None,
    averages: xr.Dataset | None,
    folder: Path,
    *,
    advance: Callable[[int], None] | None = None,
) -> list[Path]:
    """Write every chart, for each measure and scaling, as PNG and SVG; no browser is needed.

    The files are called ``heatmap-ckasim-raw.png``, ``averages-ckasim-raw.svg``, ``localization-raw.png`` and so on.
    """
    view = View(dataset)
    written: list[Path] = []
    for scaling in view.scalings:
        for number, measure in enumerate(view.measures):
            charts = similarity_charts(
                only(dataset, measure, scaling),
                None if number or localization is None else scaled(localization, scaling),
                None if averages is None else only(averages, measure, scaling),
                width=640,
            )
            for name, chart in charts.items():
                parts = (name, "" if name == "localization" else measure.key, scaling.key)
                for ending in ("png", "svg"):
                    path = Path(folder) / f"{'-'.join(p for p in parts if p)}.{ending}"
                    save_picture(chart, path)
                    written.append(path)
            if advance is not None:
                advance(1)
    return written


def similarity_report(
    dataset: xr.Dataset,
    localization: xr.Dataset | None = None,
    averages: xr.Dataset | None = None,
    *,
    title: str | None = None,
) -> Report:
    """The report: alerts, the heatmap, curves over the layers, pairs of models, and how to get the same again."""
    view = View(dataset)
    charts = similarity_charts(dataset, localization, averages)
    chapters = [heatmap_chapter(view, charts["heatmap"])]
    if localization is not None:
        chapters.append(_localization_chapter(view, localization, charts["localization"]))
    if averages is not None and "averages" in charts:
        chapters.append(_averages_chapter(view, averages, charts["averages"]))
    widths = json_of(dataset.attrs.get("widths", "{}"))
    chapters += [pairs_chapter(view), reproduction_chapter(view, ("Neurons of each layer", widths))]
    return Report(
        title=title or f"How alike are the layers of {listed(view.models)}?",
        chapters=chapters,
        facts=facts(view),
        alerts=texts(dataset.attrs.get("alerts", [])),
    )


def _localization_chapter(view: View, dataset: xr.Dataset, chart: alt.LayerChart) -> Chapter:
    return Chapter(
        "Localization of information",
        paragraphs=[
            "How much of what a layer shares with other layers sits in single neurons: the mean of neuronsim over all "
            "other layers, minus the mean of svsim over the same. The higher, the more single neurons have a partner "
            "elsewhere; the lower, the more the layers share directions that are spread over many neurons."
        ],
        switches=switches([], scalings_of(dataset)),
        figures=[Figure(chart, caption=_curve_caption(view, dataset), name="localization")],
        tables=_curve_tables(view, dataset, [_LOCALIZATION]),
    )


def _averages_chapter(view: View, dataset: xr.Dataset, chart: alt.LayerChart) -> Chapter:
    measures = _averaged(view, dataset)
    return Chapter(
        "Average similarity of each layer",
        paragraphs=[
            "The mean similarity of a layer to all other layers, of all models. A high curve: the layer holds what "
            "others hold too; a low one: it stands alone."
        ],
        switches=switches(measures, scalings_of(dataset)),
        figures=[Figure(chart, caption=_curve_caption(view, dataset), name="averages")],
        tables=_curve_tables(view, dataset, measures),
    )


def _curve_caption(view: View, dataset: xr.Dataset) -> str:
    band = any(str(name).endswith("_low") for name in dataset.data_vars)
    colour = "A colour for each model" if len(view.models) > 1 else f"Model: {view.models[0]}"
    return f"{colour}; " + (
        f"the band is the {view.level} interval." if band else "no intervals were computed."
    )


def _curve_tables(view: View, dataset: xr.Dataset, measures: Sequence[Measure]) -> list[Table]:
    return [
        Table(
            curve_table(view, dataset, measure, scaling),
            folded="The same as a table"
            + (" (value ± standard error)" if f"{measure.name}_se" in dataset else ""),
            when={"measure": measure.key, "scaling": scaling.key},
        )
        for measure in measures
        for scaling in scalings_of(dataset)
    ]


def _averaged(view: View, averages: xr.Dataset | None) -> list[Measure]:
    return [] if averages is None else [m for m in view.measures if m.name in averages]
