"""Curves over the layers, a colour a model, with the interval as a band."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import xarray as xr

from ....results import ResultTable
from ...charts.lines import layer_axis, line_chart
from ...charts.style import number_axis, widened
from ...charts.values import ERRORS, KEY, calculations, column, number_format, tooltips
from ...names import FloatArray, rounded
from ...tables import table_of
from ..layer_pairs import LayerPairs, Measure, Scaling, measure_title, scalings_of, select


def layer_curves(
    view: LayerPairs,
    dataset: xr.Dataset,
    measures: Sequence[Measure],
    *,
    axis: str,
    width: int | str = "container",
) -> alt.LayerChart:
    """Values over the layers, from a Dataset with the dimensions model and layer and a variable for each measure.

    The signals are those of the heatmap, ``measure`` and ``scaling``.
    """
    scalings = scalings_of(dataset)
    rows: list[dict[str, Any]] = [
        {"i": i, "model": model, "layer": int(layer)}
        for i, model in enumerate(view.models)
        for layer in dataset["layer"].values
    ]
    formats, ranges = {}, {}
    for measure in measures:
        for scaling in scalings:
            shown = [np.zeros(1)]
            for ending in ("", *ERRORS):
                table = layer_values(view, dataset, measure.name + ending, scaling)
                if table is None:
                    continue
                for row, value in zip(rows, table.ravel(), strict=True):
                    row[column(measure.key, scaling.key, ending)] = rounded(value)
                if ending != "_se":
                    shown.append(table[np.isfinite(table)])
                if not ending:
                    formats[measure.key] = number_format(table)
            every = np.concatenate(shown)
            ranges[f"{measure.key}|{scaling.key}"] = widened(every.min(), every.max())
    # Ends of the axis are computed here: a measure without any value would give Vega an endless one.
    ends = alt.Scale(domain=[alt.expr("range[0]"), alt.expr("range[1]")], nice=True)
    errors = any(f"{m.name}_low" in dataset for m in measures)
    return line_chart(
        rows,
        view.models,
        x=layer_axis([int(n) for n in dataset["layer"].values]),
        y={"title": axis, "scale": ends, "axis": number_axis()},
        tooltip=tooltips(view.level * errors, model="model", layer="layer", value="value"),
        title=measure_title(measures, scalings),
        calculate=calculations("formats[measure]"),
        params={
            "measure": measures[0].key,
            "scaling": scalings[0].key,
            "formats": formats,
            "ranges": ranges,
            "range": alt.expr(f"ranges[{KEY}]"),
        },
        zero=True,  # both differences and similarities are read from zero
        legend=len(view.models) > 1,
        width=width,
        height=320,
    )


def layer_values(
    view: LayerPairs, dataset: xr.Dataset, name: str, scaling: Scaling
) -> FloatArray | None:
    """A variable by model and layer, or None where it is not there."""
    if name not in dataset:
        return None
    values = select(dataset[name], scaling).transpose("model", "layer")
    return np.asarray(values.sel(model=view.raw_models).values, dtype=np.float64)


def curve_table(
    view: LayerPairs, dataset: xr.Dataset, measure: Measure, scaling: Scaling
) -> ResultTable:
    """The curves' numbers: a row for each layer, a column for each model."""
    value = layer_values(view, dataset, measure.name, scaling)
    error = layer_values(view, dataset, f"{measure.name}_se", scaling)
    assert value is not None
    return layers_table(view.models, [int(n) for n in dataset["layer"].values], value, error)


def layers_table(
    models: Sequence[str], layers: Sequence[int], value: FloatArray, error: FloatArray | None
) -> ResultTable:
    """A row for each layer that any model has, a column for each model."""
    lines = [
        [
            int(number),
            *((v[k], None if error is None else error[m, k]) for m, v in enumerate(value)),
        ]
        for k, number in enumerate(layers)
        if np.isfinite(value[:, k]).any()
    ]
    return table_of("layers", [("layer", "count"), *((name, "±") for name in models)], lines)
