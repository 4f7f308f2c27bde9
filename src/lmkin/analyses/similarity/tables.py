"""The table of a comparison of layers: by pairs of models."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from ...results import Column, ResultTable

_CAPTION = (
    "mean: over all layers of x and y; value: of the two most alike, ± its standard error. "
    "Measures that are not symmetric say how much of x is found in y."
)
_WAYS = ("scaling", "sink")


def measure_names(dataset: xr.Dataset) -> list[str]:
    """The measures of a result."""
    return [str(name) for name, table in dataset.items() if "summary" in table.attrs]


def pairs_table(dataset: xr.Dataset) -> ResultTable:
    """For every pair of models and every measure: the mean over layers, and the two layers that are most alike."""
    title = f"{dataset.attrs['n']:,} {dataset.attrs['units']}s"
    if "scaling" in dataset.dims:
        title += "; neurons as they are"
    if "sink" in dataset.dims:
        title += f"; attention to special and first tokens {dataset['sink'].values[0]}"
    return ResultTable(
        "pairs",
        [
            Column("x"),
            Column("y"),
            Column("measure"),
            Column("mean", kind="number", help="Over all layers of x and y."),
            Column("layers", "most alike: layers", template="{layer_x} and {layer_y}"),
            Column("layer_x", kind="plain", shown=False),
            Column("layer_y", kind="plain", shown=False),
            Column("value", kind="number", error="se", help="Of the two layers most alike."),
        ],
        pair_rows(dataset),
        title=title,
        caption=_CAPTION,
        group=("x", "y"),
    )


def pair_rows(dataset: xr.Dataset) -> list[dict[str, Any]]:
    """The same as data: of raw neurons, where there are both; of the sink as it comes first."""
    first = dataset.isel({axis: 0 for axis in _WAYS if axis in dataset.dims})
    names = measure_names(first)
    models = [str(m) for m in first["model_x"].values]
    rows: list[dict[str, Any]] = []
    for i, a in enumerate(models):
        for b in models[i:]:
            if a == b and _count_layers(first, names[0], a) < 2 and len(models) > 1:
                continue  # one layer with itself says nothing
            rows += [_pair(first, name, a, b) for name in names]
            if a != b:
                rows += [
                    _pair(first, name, b, a) for name in names if not first[name].attrs["symmetric"]
                ]
    return rows


def _count_layers(dataset: xr.Dataset, name: str, model: str) -> int:
    own = dataset[name].sel(model_x=model, model_y=model).transpose("layer_x", "layer_y").values
    return int(np.isfinite(np.diag(own)).sum())


def _pair(dataset: xr.Dataset, name: str, a: str, b: str) -> dict[str, Any]:
    table = dataset[name].sel(model_x=a, model_y=b).transpose("layer_x", "layer_y").values
    values = table.copy()
    if a == b and values.size > 1:
        np.fill_diagonal(values, np.nan)
    if np.isnan(values).all():  # one layer alone
        values = table
    if np.isnan(values).all():  # nothing is left without the sink
        nothing = dict.fromkeys(("mean", "layer_x", "layer_y", "value", "se"))
        return {"x": a, "y": b, "measure": name, **nothing}
    i, j = np.unravel_index(np.nanargmax(values), values.shape)
    se = None
    if f"{name}_se" in dataset:
        errors = dataset[f"{name}_se"].sel(model_x=a, model_y=b).transpose("layer_x", "layer_y")
        se = float(errors.values[i, j])
    return {
        "x": a,
        "y": b,
        "measure": name,
        "mean": float(np.nanmean(values)),
        "layer_x": int(dataset["layer_x"].values[i]),
        "layer_y": int(dataset["layer_y"].values[j]),
        "value": float(values[i, j]),
        "se": se,
    }
