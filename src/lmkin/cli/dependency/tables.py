"""A decomposition as tables: in the terminal, as CSV, as data for machines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr
from rich.markup import escape
from rich.table import Table

_BESIDE = {"_null": "chance", "_beyond_length": "beyond length"}
_EXPLAINED = {
    "_null": "chance: the same with rows shuffled.",
    "_beyond_length": "beyond length: with what the length of the text explains taken out of all.",
}
_KINDS = ("", "_se", "_low", "_high", "_null", "_beyond_length")


def scored_split(result: xr.Dataset) -> str:
    """The split that counts: test rows, else the last there is."""
    names = [str(s) for s in result["split"].values]
    return "test" if "test" in names else names[-1]


def plural(unit: str) -> str:
    """What rows are called: a stretch of text is no sentence."""
    return "texts" if unit == "sentence" else f"{unit}s"


def by_length(result: xr.Dataset) -> dict[int | None, xr.Dataset]:
    """Length → its tables; None where texts are as they are."""
    if "length" not in result.dims:
        return {None: result}
    return {int(t): result.sel(length=t) for t in result["length"].values}


def dependency_table(result: xr.Dataset) -> Table:
    """A row a model, a column a length: R² by all others; with one column, chance and length beside it."""
    split = scored_split(result)
    columns = by_length(result)
    first = next(iter(columns.values())).sel(split=split)
    units = plural(result.attrs.get("units", "row"))
    rows = ", ".join(f"{int(d['n'].sel(split=split)):,}" for d in columns.values())
    table = Table(
        title=f"R² by all other models, on {rows} {units} ({split})",
        title_justify="left",
        box=None,
        pad_edge=False,
        caption=_caption(result),
        caption_justify="left",
    )
    table.add_column("model", overflow="fold")
    table.add_column("neurons", justify="right")
    for length in columns:
        table.add_column("R²" if length is None else f"{length} tokens", justify="right")
    beside = {k: v for k, v in _BESIDE.items() if f"r2_group{k}" in result}
    single = len(columns) == 1
    for name in beside.values() if single else ():
        table.add_column(name, justify="right")
    for i, model in enumerate(first["model"].values):
        cells = [_value(d.sel(split=split), "r2_group", i) for d in columns.values()]
        if single:
            cells += [f"{float(first[f'r2_group{k}'][i]):.3f}" for k in beside]
        table.add_row(escape(str(model)), f"{int(result['width'][i]):,}", *cells)
    means = [_value(d.sel(split=split), "rho_group") for d in columns.values()]
    if single:
        table.add_row("mean", "", *means, *(f"{_mean(first, k):.3f}" for k in beside))
        return table
    table.add_row("mean", "", *means)
    for kind, name in beside.items():
        table.add_row(
            name, "", *(f"{_mean(d.sel(split=split), kind):.3f}" for d in columns.values())
        )
    return table


def _caption(result: xr.Dataset) -> str:
    """What the table shows, and no more."""
    errors = result.get("r2_group_se")
    shown = errors is not None and bool(np.isfinite(errors.sel(split=scored_split(result))).any())
    lines = [
        "R² of each model by all others, linearly" + (", ± its standard error." if shown else ".")
    ]
    lines.append("mean: ρ of the group.")
    lines += [text for kind, text in _EXPLAINED.items() if f"r2_group{kind}" in result]
    return " ".join(lines)


def _mean(data: xr.Dataset, kind: str) -> float:
    """Of all models."""
    return float(np.mean(data[f"r2_group{kind}"].values))


def _value(data: xr.Dataset, name: str, i: int | None = None) -> str:
    place = () if i is None else (i,)
    text = f"{float(data[name].values[place]):.3f}"
    if f"{name}_se" in data and np.isfinite(data[f"{name}_se"].values[place]):
        text += f" ± {float(data[f'{name}_se'].values[place]):.3f}"
    return text


def drop_order_line(order: xr.Dataset) -> str:
    """In which order to switch off, and what is then still explained of all that are off."""
    names = [str(m) for m in order["model"].values]
    kept = [f"{float(v):.3f}" for v in order["r2_dropped"].values]
    steps = ", ".join(f"{name} ({value})" for name, value in zip(names, kept, strict=True))
    at = f" at {order.attrs['length']} tokens" if "length" in order.attrs else ""
    return (
        f"Switch off in this order{at}: {steps}; {order.attrs['stays']} stays. In brackets: mean R² of those that are "
        f"off by then, by those that are left."
    )


def published_table(rows: list[dict[str, Any]]) -> Table:
    """Ours beside the figures of the paper."""
    table = Table(
        title="\nBeside the paper (Zhang 2022)",
        title_justify="left",
        box=None,
        pad_edge=False,
        caption="There, twelve models were decomposed together, and padded tokens counted: not the same run.",
        caption_justify="left",
    )
    for name in ("model", "tokens", "here", "table 2", "table 3"):
        table.add_column(name, justify="left" if name == "model" else "right", overflow="fold")
    for row in rows:
        here = "–" if row["r2"] is None else f"{row['r2']:.3f}"
        numbers = [f"{row[f'table_{k}']:.3f}" for k in (2, 3)]
        table.add_row(escape(row["model"]), str(row["tokens"]), here, *numbers)
    return table


def dependency_data(result: xr.Dataset, portfolio: Mapping[str, xr.Dataset]) -> dict[str, Any]:
    """The same as data."""
    split = scored_split(result)
    rows = []
    for length, each in by_length(result).items():
        data = each.sel(split=split)
        mean = {"mean": float(data["rho_group"]), "mean_se": _number(data, "rho_group_se")}
        models = [
            {"model": str(name)}
            | {f"r2{k}": _number(data, f"r2_group{k}", i) for k in _KINDS}
            | {"neurons": int(result["width"][i])}
            for i, name in enumerate(data["model"].values)
        ]
        rows.append({"length": length, "n": int(data["n"]), **mean, "models": models})
    order = portfolio["drop_order"]
    return {
        "split": split,
        "units": result.attrs.get("units", "row"),
        "results": rows,
        "drop_order": [str(m) for m in order["model"].values],
        "stays": order.attrs["stays"],
    }


def _number(data: xr.Dataset, name: str, i: int | None = None) -> float | None:
    if name not in data:
        return None
    value = float(data[name].values[() if i is None else i])
    return value if np.isfinite(value) else None
