"""Chapters that reports of layers × layers share: the heatmap, pairs of models, and how to get the same again."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import altair as alt
import xarray as xr

from .. import __version__
from .charts import one_line
from .page import Chapter, Figure, Option, Switch, Table
from .summary import measure_table, pair_table
from .view import ERRORS, Measure, Scaling, View, json_of

_HEATMAP_SIZE = 760


def heatmap_chapter(view: View, chart: alt.LayerChart) -> Chapter:
    """All layers × all layers, with switches between measures and scalings."""
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
        switches=switches(view.measures, view.scalings, place="heatmap"),
        figures=[Figure(chart, caption=caption, name="heatmap", square=size)],
    )


def pairs_chapter(view: View) -> Chapter:
    """For each pair of models the mean, and the two layers that are most alike."""
    return Chapter(
        "Pairs of models",
        paragraphs=[
            "The mean over all layers of the first model × all layers of the second. Then the two layers, the first "
            "model's and the second's, that are most alike. A model by itself: its layers with its other layers."
        ],
        switches=switches(view.measures, view.scalings, place="table"),
        tables=[
            Table(pair_table(view, m, s), when={"measure": m.key, "scaling": s.key})
            for m in view.measures
            for s in view.scalings
        ],
    )


def reproduction_chapter(view: View, *details: tuple[str, Any]) -> Chapter:
    """What the measures are, where the numbers come from, and ``details``: more data by title, folded."""
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
            *details,
            ("Versions that wrote this page", _versions()),
        ],
    )


_ASYMMETRIC = {
    "heatmap": " Not symmetric: rows are the first layer, columns the second, so that a cell says how much of the "
    "row's layer is found in the column's layer.",
    "curves": " Not symmetric: the layer of the curve is the first, the others the second.",
    "table": " Not symmetric: the value says how much of the first model's layer is found in the second's.",
}


def switches(
    measures: Sequence[Measure], scalings: Sequence[Scaling], *, place: str = "curves"
) -> list[Switch]:
    """Between measures, and between scalings where there are several; ``place`` is where they stand."""
    found = []
    if measures:
        options = [Option(m.key, m.title, _explained(m, place)) for m in measures]
        found.append(Switch("measure", "Measure:", options))
    if len(scalings) > 1:
        # Said once is enough.
        options = [Option(s.key, s.title, s.text * (place == "heatmap")) for s in scalings]
        found.append(Switch("scaling", scalings[0].label, options))
    return found


def _explained(measure: Measure, place: str) -> str:
    summary = one_line(measure.summary) or "no description"
    if summary[-1] not in ".!?":
        summary += "."
    text = f"{one_line(measure.name)}: {summary}"
    return text if measure.symmetric else text + _ASYMMETRIC[place]


def facts(view: View, heads: Sequence[int] = ()) -> list[tuple[str, str]]:
    """Models with their layers (and ``heads``), corpus, units and intervals."""
    attrs = view.dataset.attrs
    sizes = []
    for m, name in enumerate(view.models):
        layers = counted(sum(layer.model == m for layer in view.layers), "layer")
        sizes.append(f"{name} ({layers}{', ' + counted(heads[m], 'head') if heads else ''})")
    found = [("Model" if len(sizes) == 1 else "Models", "; ".join(sizes))]
    if attrs.get("corpus"):
        found.append(("Corpus", str(attrs["corpus"])))
    if "n" in attrs:
        units = counted(int(attrs["n"]), str(attrs.get("units", "unit")))
        if "sentences" in attrs:
            units += f" of {counted(int(attrs['sentences']), 'sentence')}"
        found.append(("Units", units))
    parts = int(attrs.get("parts", 0))
    found.append(("Intervals", f"{view.level}, from {parts} parts" if parts else "none"))
    return found


def counted(n: int, noun: str) -> str:
    """A number of things."""
    return f"{n:,} {noun if n == 1 or noun.endswith('s') else noun + 's'}"


def only(dataset: xr.Dataset, measure: Measure, scaling: Scaling) -> xr.Dataset:
    """What a chart of one measure and scaling needs."""
    names = [measure.name + suffix for suffix in ("", *ERRORS)]
    return scaled(dataset[[name for name in names if name in dataset]], scaling)


def scaled(dataset: xr.Dataset, scaling: Scaling) -> xr.Dataset:
    """The part of one scaling."""
    if scaling.dimension not in dataset.dims:
        return dataset
    # A list keeps the dimension, and with it the scaling's name in the picture's title.
    return dataset.sel({scaling.dimension: [scaling.name]})


def texts(value: Any) -> list[str]:
    """A list of texts, also where a file format made one text of a list of one."""
    if isinstance(value, str):
        return [value] if value.strip() else []
    return [str(text) for text in value]


def listed(names: Sequence[str]) -> str:
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
