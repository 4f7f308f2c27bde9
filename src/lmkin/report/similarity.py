"""The report of a Dataset of similarities, and its charts as pictures."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import altair as alt
import xarray as xr

from .. import __version__
from .charts import one_line, save_picture
from .curves import curve_table, layer_curves
from .heatmap import layers_heatmap
from .page import Chapter, Figure, Option, Report, Switch, Table
from .summary import measure_table, pair_table
from .view import ERRORS, Measure, Scaling, View, json_of, scalings_of

_LOCALIZATION = Measure(
    "localization", "localization", "localization score", "", True, -1.0, 1.0, "", {}
)
_HEATMAP_SIZE = 760


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
                _only(dataset, measure, scaling),
                None if number or localization is None else _scaled(localization, scaling),
                None if averages is None else _only(averages, measure, scaling),
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
    chapters = [_heatmap_chapter(view, charts["heatmap"])]
    if localization is not None:
        chapters.append(_localization_chapter(view, localization, charts["localization"]))
    if averages is not None and "averages" in charts:
        chapters.append(_averages_chapter(view, averages, charts["averages"]))
    chapters += [_pairs_chapter(view), _reproduction_chapter(view)]
    return Report(
        title=title or f"How alike are the layers of {_listed(view.models)}?",
        chapters=chapters,
        facts=_facts(view),
        alerts=_texts(dataset.attrs.get("alerts", [])),
    )


def _heatmap_chapter(view: View, chart: alt.LayerChart) -> Chapter:
    undefined = any(
        bool(table is not None and not (table == table).all())
        for table in (view.table(m, s) for m in view.measures for s in view.scalings)
    )
    caption = "Rows and columns are layers, model by model; the darker the blue, the more alike."
    if any(view.has_errors(measure) for measure in view.measures):
        caption += f" Point at a cell for its value ± standard error and {view.level} interval."
    else:
        caption += " Point at a cell for its value. No intervals were computed."
    size = min(_HEATMAP_SIZE, 60 + 60 * len(view.layers))
    if undefined:
        caption += " Grey: not defined."
    return Chapter(
        "All layers against all layers",
        switches=_switches(view.measures, view.scalings, place="heatmap"),
        figures=[Figure(chart, caption=caption, name="heatmap", square=size)],
    )


def _localization_chapter(view: View, dataset: xr.Dataset, chart: alt.LayerChart) -> Chapter:
    return Chapter(
        "Localization of information",
        paragraphs=[
            "How much of what a layer shares with other layers sits in single neurons: the mean of neuronsim over all "
            "other layers, minus the mean of svsim over the same. The higher, the more single neurons have a partner "
            "elsewhere; the lower, the more the layers share directions that are spread over many neurons."
        ],
        switches=_switches([], scalings_of(dataset)),
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
        switches=_switches(measures, scalings_of(dataset)),
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


def _pairs_chapter(view: View) -> Chapter:
    return Chapter(
        "Pairs of models",
        paragraphs=[
            "The mean over all layers of the first model × all layers of the second. Then the two layers, the first "
            "model's and the second's, that are most alike. A model by itself: its layers with its other layers."
        ],
        switches=_switches(view.measures, view.scalings, place="table"),
        tables=[
            Table(pair_table(view, m, s), when={"measure": m.key, "scaling": s.key})
            for m in view.measures
            for s in view.scalings
        ],
    )


def _reproduction_chapter(view: View) -> Chapter:
    attrs = view.dataset.attrs
    return Chapter(
        "Reproduction",
        paragraphs=[
            *([str(attrs["command"])] if attrs.get("command") else []),
            "Everything that these numbers depend on.",
        ],
        tables=[Table(measure_table(view))],
        details=[
            ("Provenance", json_of(attrs.get("provenance", "{}"))),
            ("Neurons of each layer", json_of(attrs.get("widths", "{}"))),
            ("Versions that wrote this page", _versions()),
        ],
    )


_ASYMMETRIC = {
    "heatmap": " Not symmetric: rows are the first layer, columns the second, so that a cell says how much of the "
    "row's layer is found in the column's layer.",
    "curves": " Not symmetric: the layer of the curve is the first, the others the second.",
    "table": " Not symmetric: the value says how much of the first model's layer is found in the second's.",
}


def _switches(
    measures: Sequence[Measure], scalings: Sequence[Scaling], *, place: str = "curves"
) -> list[Switch]:
    switches = []
    if measures:
        options = [Option(m.key, m.title, _explained(m, place)) for m in measures]
        switches.append(Switch("measure", "Measure:", options))
    if len(scalings) > 1:
        # Said once is enough.
        options = [Option(s.key, s.title, s.text * (place == "heatmap")) for s in scalings]
        switches.append(Switch("scaling", "Neurons:", options))
    return switches


def _explained(measure: Measure, place: str) -> str:
    summary = one_line(measure.summary) or "no description"
    if summary[-1] not in ".!?":
        summary += "."
    text = f"{one_line(measure.name)}: {summary}"
    return text if measure.symmetric else text + _ASYMMETRIC[place]


def _facts(view: View) -> list[tuple[str, str]]:
    attrs = view.dataset.attrs
    counts = [sum(layer.model == m for layer in view.layers) for m in range(len(view.models))]
    models = "; ".join(
        f"{name} ({count} {'layer' if count == 1 else 'layers'})"
        for name, count in zip(view.models, counts, strict=True)
    )
    facts = [("Model" if len(counts) == 1 else "Models", models)]
    if attrs.get("corpus"):
        facts.append(("Corpus", str(attrs["corpus"])))
    if "n" in attrs:
        n, unit = int(attrs["n"]), str(attrs.get("units", "unit"))
        facts.append(("Units", f"{n:,} {unit if n == 1 or unit.endswith('s') else unit + 's'}"))
    parts = int(attrs.get("parts", 0))
    facts.append(("Intervals", f"{view.level}, from {parts} parts" if parts else "none"))
    return facts


def _averaged(view: View, averages: xr.Dataset | None) -> list[Measure]:
    return [] if averages is None else [m for m in view.measures if m.name in averages]


def _only(dataset: xr.Dataset, measure: Measure, scaling: Scaling) -> xr.Dataset:
    names = [measure.name + suffix for suffix in ("", *ERRORS)]
    return _scaled(dataset[[name for name in names if name in dataset]], scaling)


def _scaled(dataset: xr.Dataset, scaling: Scaling) -> xr.Dataset:
    # A list keeps the dimension, and with it the scaling's name in the picture's title.
    return dataset.sel(scaling=[scaling.name]) if "scaling" in dataset.dims else dataset


def _texts(value: Any) -> list[str]:
    """A list of texts, also where a file format made one text of a list of one."""
    if isinstance(value, str):
        return [value] if value.strip() else []
    return [str(text) for text in value]


def _listed(names: Sequence[str]) -> str:
    """The names, as far as a title has room for them."""
    if len(names) > 3:
        return f"{len(names)} models"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _versions() -> dict[str, str]:
    found = {"lmkin": __version__, "python": platform.python_version()}
    for name in (
        "numpy",
        "scipy",
        "xarray",
        "altair",
        "vl-convert-python",
        "torch",
        "transformers",
    ):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
