"""Redundancy as tables: in the terminal, and as data for machines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from rich.markup import escape
from rich.table import Table

_WITH_SHARES = 3
"""Up to so many models have room for shares."""
_MEANING = {
    "average": "What was merged correlates by 1 − threshold or more, on average.",
    "complete": "All its members correlate by 1 − threshold or more.",
    "single": "Each member correlates with some other by 1 − threshold or more.",
}
_SHOWN = 12
"""Layers of a model that the terminal shows."""


def left_table(tables: xr.Dataset) -> Table:
    """A row a threshold, a column a model: how many neurons are left."""
    models = [str(m) for m in tables["model"].values]
    shares = len(models) <= _WITH_SHARES
    caption = [f"Of every cluster one neuron is left. {_MEANING[tables.attrs['linkage']]}"]
    if tables["constant"].values.any():
        caption.append("Constant neurons are left out.")
    table = Table(
        title=f"Neurons left, on {tables.attrs['n']:,} {tables.attrs['units']}s",
        title_justify="left",
        box=None,
        pad_edge=False,
        caption=" ".join(caption),
        caption_justify="left",
    )
    table.add_column("threshold", justify="right")
    for name in models:
        table.add_column(escape(name), justify="right", overflow="fold")
    table.add_row("all", *(f"{int(n):,}" + "       " * shares for n in tables["neurons"].values))
    for k, threshold in enumerate(tables["threshold"].values):
        cells = []
        for i in range(len(models)):
            share = f" ({_percent(float(tables['share'][i, k]))})" if shares else ""
            cells.append(f"{int(tables['left'][i, k]):,}{share}")
        table.add_row(f"{threshold:.12g}", *cells)
    return table


def _percent(share: float) -> str:
    return f"{share:4.0%}" if share == 0 or share >= 0.005 else " <1%"


def candidates_table(layers: xr.Dataset) -> Table:
    """Layers that add least to the one before, model by model."""
    rows = layers_data(layers)
    errors = any(row["r2_se"] is not None for row in rows)
    caption = [
        "R²: how much of a layer a linear map of the layer before explains, on held-out "
        f"{layers.attrs['units']}s. CKA: of the two."
    ]
    caption += ["± standard error."] if errors else []
    count = max(sum(row["model"] == m for row in rows) for m in {row["model"] for row in rows})
    caption += [f"The first {_SHOWN}; layers.csv has all."] if count > _SHOWN else []
    table = Table(
        title="\nLayers that add least: candidates to drop",
        title_justify="left",
        box=None,
        pad_edge=False,
        caption=" ".join(caption),
        caption_justify="left",
    )
    for name in ("model", "rank", "layer", "by layer", "R²", "CKA"):
        table.add_column(name, justify="left" if name == "model" else "right", overflow="fold")
    last = None
    for row in rows:
        if row["rank"] > _SHOWN:
            continue
        name = "" if row["model"] == last else row["model"]
        last = row["model"]
        place = (str(row["rank"]), str(row["layer"]), str(row["before"]))
        table.add_row(escape(name), *place, _value(row, "r2"), _value(row, "cka"))
    return table


def _value(row: dict[str, Any], name: str) -> str:
    text = "–" if row[name] is None else f"{row[name]:.3f}"
    return text if row[f"{name}_se"] is None else f"{text} ± {row[f'{name}_se']:.3f}"


def layers_data(layers: xr.Dataset) -> list[dict[str, Any]]:
    """A row a model and layer but its first, by rank."""
    rows = []
    for model in layers["model"].values:
        mine = layers.sel(model=model)
        there = np.flatnonzero(np.isfinite(mine["cka_all"].values).any(1)).tolist()
        ranked = [i for i in there if np.isfinite(mine["rank"].values[i])]
        for i in sorted(ranked, key=lambda i: mine["rank"].values[i]):
            earlier = there[there.index(i) - 1]
            row = {
                "model": str(model),
                "rank": int(mine["rank"].values[i]),
                "layer": int(mine["layer"].values[i]),
                "before": int(mine["layer"].values[earlier]),
            }
            for name in ("r2", "cka", "average"):
                row |= {f"{name}{k}": _number(mine, f"{name}{k}", i) for k in ("", "_se", "_low", "_high")}  # fmt: skip
            rows.append(row)
    return rows


def redundancy_data(
    tables: xr.Dataset, layers: xr.Dataset | None, masks: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """Everything that the terminal shows, as data."""
    models = []
    for i, name in enumerate(tables["model"].values):
        left = [
            {
                "threshold": float(t),
                "left": int(tables["left"][i, k]),
                "share": float(tables["share"][i, k]),
                "largest": int(tables["largest"][i, k]),
            }
            for k, t in enumerate(tables["threshold"].values)
        ]
        counts = {n: int(tables[n][i]) for n in ("neurons", "constant")}
        models.append({"model": str(name), **counts, "thresholds": left})
    data = {"n": int(tables.attrs["n"]), "units": tables.attrs["units"], "models": models}
    data |= {} if layers is None else {"layers": layers_data(layers)}
    return {**data, "keep": list(masks)}


def _number(data: xr.Dataset, name: str, i: int) -> float | None:
    if name not in data:
        return None
    value = float(data[name].values[i])
    return value if np.isfinite(value) else None
