"""Tables of a decomposition: R² of every model by all others, and the figures of the paper beside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from ...results import Column, ResultTable, published

_BESIDE = {"_null": "baseline", "_beyond_length": "beyond length"}
_EXPLAINED = {
    "_null": "baseline: the permutation baseline, the same fit with rows shuffled.",
    "_beyond_length": "beyond length: with what the length of the text explains taken out of all.",
}
_KINDS = ("", "_se", "_low", "_high", "_null", "_beyond_length")
PAPER = ("zhang2022/table2", "zhang2022/table3")


def scored_split(dataset: xr.Dataset) -> str:
    """The split that counts: test rows, else the last there is."""
    names = [str(s) for s in dataset["split"].values]
    return "test" if "test" in names else names[-1]


def by_length(dataset: xr.Dataset) -> dict[int | None, xr.Dataset]:
    """Length → its tables; None where texts are as they are."""
    if "length" not in dataset.dims:
        return {None: dataset}
    return {int(t): dataset.sel(length=t) for t in dataset["length"].values}


def dependency_table(dataset: xr.Dataset) -> ResultTable:
    """A row a model, a column a length: R² by all others; with one column, baseline and length beside it."""
    split = scored_split(dataset)
    tables = {length: data.sel(split=split) for length, data in by_length(dataset).items()}
    single = len(tables) == 1
    beside = {k: v for k, v in _BESIDE.items() if f"r2_group{k}" in dataset}
    columns = [Column("model"), Column("neurons", kind="count")]
    for length in tables:
        key = _key(length)
        title = "R²" if length is None else f"{length} tokens"
        columns.append(Column(key, title, kind="number", error=f"{key}_se"))
    if single:
        columns += [Column(f"r2{k}", name, kind="number") for k, name in beside.items()]
    rows: list[dict[str, Any]] = []
    for i, model in enumerate(dataset["model"].values):
        row: dict[str, Any] = {"model": str(model), "neurons": int(dataset["width"][i])}
        for length, data in tables.items():
            row[_key(length)] = _number(data, "r2_group", i)
            row[f"{_key(length)}_se"] = _number(data, "r2_group_se", i)
            if single:
                row |= {f"r2{k}": _number(data, f"r2_group{k}", i) for k in beside}
        rows.append(row)
    mean: dict[str, Any] = {"model": "mean"}
    more: dict[str, dict[str, Any]] = {k: {"model": name} for k, name in beside.items()}
    for length, data in tables.items():
        mean[_key(length)] = _number(data, "rho_group")
        mean[f"{_key(length)}_se"] = _number(data, "rho_group_se")
        for k in beside:
            average = float(np.mean(data[f"r2_group{k}"].values))
            if single:
                mean[f"r2{k}"] = average
            else:
                more[k][_key(length)] = average
    rows += [mean, *(() if single else more.values())]
    counts = ", ".join(f"{int(data['n']):,}" for data in tables.values())
    unit = dataset.attrs.get("units", "row")
    units = "texts" if unit == "sentence" else f"{unit}s"  # cut texts are no sentences
    return ResultTable(
        "r2_group",
        columns,
        rows,
        title=f"R² by all other models, on {counts} {units} ({split})",
        caption=_caption(dataset, split),
        about={"split": split},
    )


def _key(length: int | None) -> str:
    return "r2" if length is None else f"r2_{length}"


def _caption(dataset: xr.Dataset, split: str) -> str:
    """What the table shows, and no more."""
    errors = dataset.get("r2_group_se")
    shown = errors is not None and bool(np.isfinite(errors.sel(split=split)).any())
    lines = [
        "R² of each model by all others, linearly" + (", ± its standard error." if shown else ".")
    ]
    lines.append("mean: ρ of the group.")
    if dataset.attrs.get("ridge_reason"):
        rule = dataset.attrs["rule"]
        rule_texts = {"validation": "chosen on the validation rows", "relative": "relative, 1e-6"}
        lines.append(f"Ridge: {rule_texts.get(rule, rule)} ({dataset.attrs['ridge_reason']}).")
    lines += [text for kind, text in _EXPLAINED.items() if f"r2_group{kind}" in dataset]
    return " ".join(lines)


def dependency_data(dataset: xr.Dataset, portfolio: Mapping[str, xr.Dataset]) -> dict[str, Any]:
    """R² by length and model, and the order to switch off, as plain data."""
    split = scored_split(dataset)
    results = []
    for length, of_length in by_length(dataset).items():
        data = of_length.sel(split=split)
        mean = {"mean": float(data["rho_group"]), "mean_se": _number(data, "rho_group_se")}
        models = [
            {"model": str(name)}
            | {f"r2{k}": _number(data, f"r2_group{k}", i) for k in _KINDS}
            | {"neurons": int(dataset["width"][i])}
            for i, name in enumerate(data["model"].values)
        ]
        results.append({"length": length, "n": int(data["n"]), **mean, "models": models})
    summary = {"split": split, "units": dataset.attrs.get("units", "row"), "results": results}
    if "drop_order" not in portfolio:
        return summary
    order = portfolio["drop_order"]
    reason = order.attrs["no_order"]
    return {
        **summary,
        "drop_order": [str(m) for m in order["model"].values[order["carried"].values.astype(bool)]],
        "no_order": reason or None,
        "stays": None if reason else order.attrs["stays"],
    }


def _number(data: xr.Dataset, name: str, i: int | None = None) -> float | None:
    if name not in data:
        return None
    value = float(data[name].values[() if i is None else i])
    return value if np.isfinite(value) else None


# -- beside the paper ---------------------------------------------------------------------------------


def published_rows(dataset: xr.Dataset, figures: xr.DataArray | None) -> list[dict[str, Any]]:
    """A line for each model and length that the paper has: ours, and both of its tables."""
    if figures is None:
        return []
    tables = {int(name[-1]): published(name) for name in PAPER}
    here, split = by_length(dataset), scored_split(dataset)
    rows = []
    for name, checkpoint in figures.attrs["checkpoints"].items():
        for length in map(int, figures["length"].values):
            if list(here) != [None] and length not in here:
                continue
            own = here.get(length)
            r2 = None if own is None else float(own["r2_group"].sel(split=split, model=name))
            paper = {
                f"table_{k}": float(t.sel(model=checkpoint, length=length))
                for k, t in tables.items()
            }
            rows.append(
                {"model": name, "checkpoint": checkpoint, "tokens": length, "r2": r2, **paper}
            )
    return rows


def published_table(rows: list[dict[str, Any]]) -> ResultTable:
    """Ours beside the figures of the paper."""
    return ResultTable(
        "published",
        [
            Column("model"),
            Column("checkpoint", shown=False),
            Column("tokens", kind="count"),
            Column("r2", "here", kind="number"),
            Column("table_2", "table 2", kind="number"),
            Column("table_3", "table 3", kind="number"),
        ],
        rows,
        title="Beside the paper (Zhang 2022)",
        caption="There, twelve models were decomposed together, and padded tokens counted: not the same run.",
    )
