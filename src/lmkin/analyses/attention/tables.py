"""Tables of a comparison of attention: by pairs of models, and single heads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from ...results import Column, ResultTable, save_frame
from ..similarity import pairs_table

_OF_HEADS = (
    "nearest",
    "nearest_js",
    "elsewhere",
    "elsewhere_js",
    "group",
    "stays",
    "sink_share",
)


def layers_table(dataset: xr.Dataset) -> ResultTable:
    """For every pair of models and every measure: the mean over layers, and the two layers that are most alike."""
    return pairs_table(dataset)


def heads_table(heads: xr.Dataset) -> ResultTable:
    """For every model: how many heads repeat others, and the pair of heads that are most alike across models."""
    return ResultTable(
        "heads",
        [
            Column("model"),
            Column("heads", kind="count"),
            Column(
                "groups", kind="count", help="Of heads that differ by no more than the threshold."
            ),
            Column("could_go", "could go", kind="count"),
            Column("pair", "most alike elsewhere", template="{pair}"),
            Column("head", shown=False),
            Column("elsewhere", shown=False),
            Column("js", kind="number"),
        ],
        [
            {**row, "pair": f"{row['head']} and {row['elsewhere']}" if row["elsewhere"] else "–"}
            for row in head_rows(heads)
        ],
        title="Heads",
        caption=f"could go: beside others of the same model that differ by at most {heads.attrs['threshold']:g} bits. "
        f"A head is layer/number.",
    )


def head_rows(heads: xr.Dataset) -> list[dict[str, Any]]:
    """The same as data, a row a model."""
    rows = []
    for model in dict.fromkeys(heads["model"].values.tolist()):
        mine = heads.isel(head=np.flatnonzero(heads["model"].values == model))
        best = None
        if np.isfinite(mine["elsewhere_js"].values).any():
            best = int(np.nanargmax(mine["elsewhere_js"].values))
        head = "" if best is None else str(mine["head"].values[best]).removeprefix(f"{model}/")
        rows.append(
            {
                "model": str(model),
                "heads": int(mine.sizes["head"]),
                "groups": len(np.unique(mine["group"].values)),
                "could_go": int((~mine["stays"].values.astype(bool)).sum()),
                "head": head,
                "elsewhere": "" if best is None else str(mine["elsewhere"].values[best]),
                "js": None if best is None else float(mine["elsewhere_js"].values[best]),
            }
        )
    return rows


def save_heads(heads: xr.Dataset, path: Path) -> None:
    """Write what `lmkin.attention_heads` gives as CSV: one line a head."""
    columns = {
        "model": heads["model"],
        "layer": heads["layer"],
        "head": heads["number"],
        **{name: heads[name] for name in _OF_HEADS},
        "map_x": heads["map"].isel(axis=0),
        "map_y": heads["map"].isel(axis=1),
    }
    flat = xr.Dataset({name: ("line", column.values) for name, column in columns.items()})
    save_frame(flat.to_dataframe(), path)
