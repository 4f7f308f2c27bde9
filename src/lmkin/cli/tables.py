"""Results as tables in the terminal."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from rich.markup import escape
from rich.table import Table

_CAPTION = (
    "mean: over all layers of x and y; value: of the two most alike, ± its standard error. "
    "Measures that are not symmetric say how much of x is found in y."
)


def similarity_table(result: xr.Dataset) -> Table:
    """For every pair of models and every measure: the mean over layers, and the two layers that are most alike."""
    title = f"{result.attrs['n']:,} {result.attrs['units']}s"
    if "scaling" in result.dims:
        title += "; neurons as they are"
    if "sink" in result.dims:
        title += f"; attention to special and first tokens {result['sink'].values[0]}"
    table = Table(
        title=title,
        title_justify="left",
        box=None,
        pad_edge=False,
        caption=_CAPTION,
        caption_justify="left",
    )
    table.add_column("x", overflow="fold")
    table.add_column("y", overflow="fold")
    table.add_column("measure")
    table.add_column("mean", justify="right")
    table.add_column("most alike: layers", justify="right")
    table.add_column("value", justify="right")
    before: tuple[str, str] | None = None
    for row in similarity_data(result)["pairs"]:
        pair = (row["x"], row["y"])
        names = ("", "") if pair == before else pair
        before = pair
        value = f"{row['value']:.3f}"
        if row["se"] is not None:
            value += f" ± {row['se']:.3f}"
        table.add_row(
            escape(names[0]),
            escape(names[1]),
            row["measure"],
            f"{row['mean']:.3f}",
            f"{row['layer_x']} and {row['layer_y']}",
            value,
        )
    return table


def similarity_data(result: xr.Dataset) -> dict[str, Any]:
    """The same as data."""
    first = result.isel({axis: 0 for axis in ("scaling", "sink") if axis in result.dims})
    names = [str(n) for n, t in first.items() if "summary" in t.attrs]
    models = [str(m) for m in first["model_x"].values]
    rows: list[dict[str, Any]] = []
    for i, a in enumerate(models):
        for b in models[i:]:
            if a == b and _layers_of(first, names[0], a) < 2 and len(models) > 1:
                continue  # one layer with itself says nothing
            rows += [_pair(first, name, a, b) for name in names]
            if a != b:
                rows += [
                    _pair(first, name, b, a) for name in names if not first[name].attrs["symmetric"]
                ]
    return {"n": int(result.attrs["n"]), "units": result.attrs["units"], "pairs": rows}


def _layers_of(result: xr.Dataset, name: str, model: str) -> int:
    own = result[name].sel(model_x=model, model_y=model).transpose("layer_x", "layer_y").values
    return int(np.isfinite(np.diag(own)).sum())


def _pair(result: xr.Dataset, name: str, a: str, b: str) -> dict[str, Any]:
    values = result[name].sel(model_x=a, model_y=b).transpose("layer_x", "layer_y").values.copy()
    if a == b and values.size > 1:
        np.fill_diagonal(values, np.nan)
    if np.isnan(values).all():  # one layer alone
        values = result[name].sel(model_x=a, model_y=b).transpose("layer_x", "layer_y").values
    i, j = np.unravel_index(np.nanargmax(values), values.shape)
    error = result.get(f"{name}_se")
    se = None
    if error is not None:
        chosen = error.sel(model_x=a, model_y=b).transpose("layer_x", "layer_y")
        se = float(chosen.values[i, j])
    return {
        "x": a,
        "y": b,
        "measure": name,
        "mean": float(np.nanmean(values)),
        "layer_x": int(result["layer_x"].values[i]),
        "layer_y": int(result["layer_y"].values[j]),
        "value": float(values[i, j]),
        "se": se,
    }


def heads_table(heads: xr.Dataset) -> Table:
    """For every model: how many heads repeat others, and the pair of heads that are most alike across models."""
    table = Table(
        title="\nHeads",
        title_justify="left",
        box=None,
        pad_edge=False,
        caption=f"could go: beside others of the same model that differ by at most {heads.attrs['threshold']:g} bits. "
        f"A head is layer/number.",
        caption_justify="left",
    )
    for name in ("model", "heads", "groups", "could go", "most alike elsewhere", "js"):
        left = name in ("model", "most alike elsewhere")
        table.add_column(name, justify="left" if left else "right", overflow="fold")
    for row in heads_data(heads):
        pair = f"{row['head']} and {row['elsewhere']}" if row["elsewhere"] else "–"
        table.add_row(
            escape(row["model"]),
            str(row["heads"]),
            str(row["groups"]),
            str(row["could_go"]),
            escape(pair),
            f"{row['js']:.3f}" if row["elsewhere"] else "",
        )
    return table


def heads_data(heads: xr.Dataset) -> list[dict[str, Any]]:
    """The same as data, a row a model."""
    rows = []
    for model in dict.fromkeys(heads["model"].values.tolist()):
        mine = heads.isel(head=np.flatnonzero(heads["model"].values == model))
        best = None
        if np.isfinite(mine["elsewhere_js"].values).any():
            best = int(np.nanargmax(mine["elsewhere_js"].values))
        rows.append(
            {
                "model": str(model),
                "heads": int(mine.sizes["head"]),
                "groups": len(np.unique(mine["group"].values)),
                "could_go": int((~mine["stays"].values).sum()),
                "head": ""
                if best is None
                else str(mine["head"].values[best]).removeprefix(f"{model}/"),
                "elsewhere": "" if best is None else str(mine["elsewhere"].values[best]),
                "js": None if best is None else float(mine["elsewhere_js"].values[best]),
            }
        )
    return rows
