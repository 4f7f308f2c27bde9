"""Chapters of results by pairs of layers: the heatmap, pairs of models; and what the measures are."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence

import altair as alt
import numpy as np
import xarray as xr

from ....results import ResultTable
from ...charts.text import key_of
from ...charts.values import ERRORS
from ...names import FloatArray, counted, one_line
from ...page import Chapter, Figure, Option, Switch, Table
from ...tables import table_of
from .heatmap import FITTED, WHOLE, fitted_range, heatmap_size
from .view import LayerPairs, Measure, Scaling


def heatmap_chapter(view: LayerPairs, chart: alt.LayerChart) -> Chapter:
    """All layers × all layers, with switches between measures and scalings."""
    tables = [view.table(m, s) for m in view.measures for s in view.scalings]
    caption = "Rows and columns are layers, model by model; the darker the blue, the more alike."
    if any(view.has_errors(measure) for measure in view.measures):
        caption += f" Point at a cell for its value ± standard error and {view.level} interval."
    else:
        caption += " Point at a cell for its value. No intervals were computed."
    if any(table is not None and np.isnan(table).any() for table in tables):
        caption += " Grey: not defined."
    made = switches(view.measures, view.scalings, place="heatmap")
    if _fitted(view):
        span = "Colours span the values of different layers, as the bar says, where these lie close together."
        options = [Option(FITTED, "fitted to the values", span), Option(WHOLE, "from 0 to 1")]
        made.append(Switch("colours", "Colours:", options))
    return Chapter(
        "All layers against all layers",
        switches=made,
        figures=[
            Figure(
                chart,
                caption=caption,
                name="heatmap",
                square=heatmap_size(view),
                key=key_of(view.models),
            )
        ],
    )


def _fitted(view: LayerPairs) -> bool:
    """Whether the colours of any measure span less than its range."""
    for m in view.measures:
        tables = [t for t in (view.table(m, s) for s in view.scalings) if t is not None]
        if fitted_range(m, np.stack(tables)):
            return True
    return False


def pairs_chapter(view: LayerPairs) -> Chapter:
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
    made = []
    if measures:
        options = [Option(m.key, m.title, explained(m, place)) for m in measures]
        made.append(Switch("measure", "Measure:", options))
    if len(scalings) > 1:
        # Said once is enough.
        options = [Option(s.key, s.title, s.text * (place == "heatmap")) for s in scalings]
        made.append(Switch("scaling", scalings[0].label, options))
    return made


def explained(measure: Measure, place: str) -> str:
    """What a measure says, in a sentence."""
    summary = one_line(measure.summary) or "no description"
    if summary[-1] not in ".!?":
        summary += "."
    text = f"{one_line(measure.name)}: {summary}"
    return text if measure.symmetric else text + _ASYMMETRIC[place]


def facts(view: LayerPairs, heads: Sequence[int] = ()) -> list[tuple[str, str]]:
    """Models with their layers (and ``heads``), corpus, units and intervals."""
    attrs = view.dataset.attrs
    sizes = []
    for m, name in enumerate(view.models):
        layers = counted(sum(layer.model == m for layer in view.layers), "layer")
        sizes.append(f"{name} ({layers}{', ' + counted(heads[m], 'head') if heads else ''})")
    lines = [("Model" if len(sizes) == 1 else "Models", "; ".join(sizes))]
    if attrs.get("corpus"):
        lines.append(("Corpus", str(attrs["corpus"])))
    if "n" in attrs:
        units = counted(int(attrs["n"]), str(attrs.get("units", "unit")))
        if "sentences" in attrs:
            units += f" of {counted(int(attrs['sentences']), 'sentence')}"
        lines.append(("Units", units))
    parts = int(attrs.get("parts", 0))
    lines.append(("Intervals", f"{view.level}, from {parts} parts" if parts else "none"))
    return lines


def only(dataset: xr.Dataset, measure: Measure | None, scaling: Scaling) -> xr.Dataset:
    """What a chart of one scaling, and of one measure if one is given, needs."""
    if measure is not None:
        names = [measure.name + suffix for suffix in ("", *ERRORS)]
        dataset = dataset[[name for name in names if name in dataset]]
    if scaling.dimension not in dataset.dims:
        return dataset
    # A list keeps the dimension, and with it the scaling's name in the picture's title.
    return dataset.sel({scaling.dimension: [scaling.name]})


def pair_table(view: LayerPairs, measure: Measure, scaling: Scaling) -> ResultTable:
    """For each pair of models: the mean over their layers, and the two layers that are most alike.

    A model is paired with itself too; its layers are then compared with its other layers only. Both directions of a
    pair have a row, unless the measure is symmetric. With a permutation baseline: what chance gives for the two.
    """
    values, errors = view.table(measure, scaling), view.table(measure, scaling, "_se")
    assert values is not None  # the measures are those that the Dataset has
    chance, p = (view.table(measure, scaling, suffix) for suffix in ("_null_mean", "_p_max"))
    columns = [
        ("first model", "text"),
        ("second model", "text"),
        ("mean", "number"),
        ("most alike", "text"),
        ("their similarity", "±"),
    ]
    baseline = chance is not None and p is not None
    if baseline:
        columns += [("permutation baseline", "number"), ("p, of the best of all pairs", "p")]
    lines: list[list[object]] = []
    for a, first in enumerate(view.models):
        for b, second in enumerate(view.models):
            if a > b and measure.symmetric:
                continue
            table = _block(view, values, a, b)
            best = best_pair(table)
            if best is None:
                lines.append([first, second, None, "–", *[None] * (len(columns) - 4)])
                continue
            i, j = (_own(view, model)[k] for model, k in zip((a, b), best, strict=True))
            error = None if errors is None else errors[i, j]
            layers = f"{view.layers[i].number} and {view.layers[j].number}"
            lines.append([first, second, np.nanmean(table), layers, (values[i, j], error)])
            if chance is not None and p is not None:
                lines[-1] += [chance[i, j], p[i, j]]
    return table_of("pairs", columns, lines)


def best_pair(table: FloatArray) -> tuple[int, int] | None:
    """Row and column of the largest value; the first of several; None where there is no value."""
    if not np.isfinite(table).any():
        return None
    i, j = np.unravel_index(int(np.nanargmax(table)), table.shape)
    return int(i), int(j)


def _own(view: LayerPairs, model: int) -> list[int]:
    return [i for i, layer in enumerate(view.layers) if layer.model == model]


def _block(view: LayerPairs, values: FloatArray, a: int, b: int) -> FloatArray:
    """The values of two models; NaN for a layer with itself, and for what is not finite."""
    table: FloatArray = values[np.ix_(_own(view, a), _own(view, b))]
    table[~np.isfinite(table)] = np.nan
    if a == b:
        np.fill_diagonal(table, np.nan)
    return table


def definitions(measures: Iterable[Measure]) -> ResultTable:
    """What each measure is: name, range, symmetry, options, reference."""
    names = ("measure", "name in lmkin", "range", "symmetric", "options", "reference")
    lines = []
    for m in measures:
        options = str(m.options)
        if isinstance(m.options, dict):
            values = ((k, json.dumps(v, ensure_ascii=False)) for k, v in m.options.items())
            options = ", ".join(f"{name}={value}" for name, value in values)
        ends = f"{_end(m.low)} to {_end(m.high)}"
        symmetric = "yes" if m.symmetric else "no"
        lines.append([m.title, m.name, ends, symmetric, options or "–", m.reference or "–"])
    return table_of("measures", [(name, "text") for name in names], lines)


def _end(value: float) -> str:
    return f"{value:g}".replace("-", "−") if math.isfinite(value) else ("∞" if value > 0 else "−∞")
