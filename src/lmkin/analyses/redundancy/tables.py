"""Tables of redundancy: neurons left, layers that add least, members of clusters, strips."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from ...core import write_csv
from ...results import Column, ResultTable
from .cluster_tables import ranked_layers
from .clustering import Clustering

_WITH_SHARES = 3
"""Up to so many models have room for shares."""
_MEANING = {
    "average": "What was merged correlates by 1 − threshold or more, on average.",
    "complete": "All its members correlate by 1 − threshold or more.",
    "single": "Each member correlates with some other by 1 − threshold or more.",
}
_SHOWN = 12
"""Layers of a model that the terminal shows."""
_OF_LAYERS = ("r2", "cka", "average")
_ERRORS = ("", "_se", "_low", "_high")


def left_table(dataset: xr.Dataset) -> ResultTable:
    """A row a threshold, a column a model: how many neurons are left."""
    models = [str(m) for m in dataset["model"].values]
    shares = len(models) <= _WITH_SHARES
    caption = [f"Of every cluster one neuron is left. {_MEANING[dataset.attrs['linkage']]}"]
    if dataset["constant"].values.any():
        caption.append("Constant neurons are left out.")
    columns = [
        Column("said", "threshold", kind="number", template="{said}"),
        Column("threshold", shown=False),
    ]
    for i, name in enumerate(models):
        columns += [
            Column(f"shown_{i}", name, kind="count", template=f"{{shown_{i}}}"),
            Column(f"left: {name}", shown=False),
            Column(f"share: {name}", shown=False),
        ]
    whole = [int(n) for n in dataset["neurons"].values]
    first: dict[str, Any] = {"said": "all", "threshold": None}
    for i, name in enumerate(models):
        space = "       " if shares else ""  # where the others have a share
        first |= {f"shown_{i}": f"{whole[i]:,}{space}", f"left: {name}": whole[i], f"share: {name}": 1.0}  # fmt: skip
    rows = [first]
    for k, threshold in enumerate(dataset["threshold"].values):
        row: dict[str, Any] = {"said": f"{threshold:.12g}", "threshold": float(threshold)}
        for i, name in enumerate(models):
            left, share = int(dataset["left"][i, k]), float(dataset["share"][i, k])
            said = f"{left:,}" + (f" ({_percent(share)})" if shares else "")
            row |= {f"shown_{i}": said, f"left: {name}": left, f"share: {name}": share}
        rows.append(row)
    return ResultTable(
        "left",
        columns,
        rows,
        title=f"Neurons left, on {dataset.attrs['n']:,} {dataset.attrs['units']}s",
        caption=" ".join(caption),
    )


def _percent(share: float) -> str:
    return f"{share:4.0%}" if share == 0 or share >= 0.005 else " <1%"


def model_rows(dataset: xr.Dataset) -> list[dict[str, Any]]:
    """Neurons of every model, and those left by threshold, as plain data."""
    models = []
    for i, name in enumerate(dataset["model"].values):
        left = [
            {
                "threshold": float(t),
                "left": int(dataset["left"][i, k]),
                "share": float(dataset["share"][i, k]),
                "largest": int(dataset["largest"][i, k]),
            }
            for k, t in enumerate(dataset["threshold"].values)
        ]
        counts = {n: int(dataset[n][i]) for n in ("neurons", "constant")}
        models.append({"model": str(name), **counts, "thresholds": left})
    return models


def candidates_table(layers: xr.Dataset) -> ResultTable:
    """Layers that add least to the one before, model by model."""
    rows = ranked_rows(layers)
    errors = any(row["r2_se"] is not None for row in rows)
    caption = [
        "R²: how much of a layer a linear regression from the layer before explains, on held-out "
        f"{layers.attrs['units']}s. CKA: of the two."
    ]
    caption += ["± standard error."] if errors else []
    count = max(sum(row["model"] == m for row in rows) for m in {row["model"] for row in rows})
    caption += [f"The first {_SHOWN}; layers.csv has all."] if count > _SHOWN else []
    return ResultTable(
        "layers",
        [
            Column("model"),
            Column("rank", kind="count"),
            Column("layer", kind="count"),
            Column("before", "by layer", kind="count"),
            Column("r2", "R²", kind="number", error="r2_se"),
            Column("cka", "CKA", kind="number", error="cka_se"),
            *(
                Column(name + part, shown=False)
                for name in _OF_LAYERS
                for part in _ERRORS
                if (name, part) not in (("r2", ""), ("cka", ""))
            ),
        ],
        rows,
        title="Layers that add least: candidates to prune",
        caption=" ".join(caption),
        group="model",
        most=_SHOWN,
    )


def ranked_rows(layers: xr.Dataset) -> list[dict[str, Any]]:
    """The table of layers as plain data; None for what is not known."""
    rows: list[dict[str, Any]] = ranked_layers(layers).to_dict("records")
    return [
        {k: None if isinstance(v, float) and not np.isfinite(v) else v for k, v in row.items()}
        for row in rows
    ]


# -- files ------------------------------------------------------------------------------------------


def save_members(clustering: Clustering, thresholds: Sequence[float], path: Path) -> None:
    """Write a line for every neuron at every threshold; constant neurons have no cluster."""

    def lines() -> Iterable[list[Any]]:
        for name in clustering.models:
            for threshold in thresholds:
                labels = clustering.labels(threshold, name)
                masks = clustering.keep(threshold, name).masks
                kept = np.concatenate(list(masks.values()))
                place = [(layer, k) for layer, mask in masks.items() for k in range(len(mask))]
                for i in np.argsort(np.where(labels < 0, len(labels), labels), kind="stable"):
                    cluster = "" if labels[i] < 0 else int(labels[i])
                    yield [name, f"{threshold:.12g}", cluster, *place[i], int(kept[i])]

    _save_lines(["model", "threshold", "cluster", "layer", "neuron", "kept"], lines(), path)


def save_layers(layers: xr.Dataset, path: Path) -> None:
    """Write a line a layer, of each model the one that adds least first, its first layer last."""
    names = [name + part for name in _OF_LAYERS for part in _ERRORS if name + part in layers]
    numbers = [int(n) for n in layers["layer"].values]
    lines: list[list[Any]] = []
    for model in map(str, layers["model"].values):
        mine = layers.sel(model=model)
        rank = mine["drop_rank"].values
        there = np.isfinite(mine["cka_all"].values).any(1)
        for name in ("average", "r2", "drop_rank"):
            there |= np.isfinite(mine[name].values)
        for k in sorted(np.flatnonzero(there), key=lambda k: np.nan_to_num(rank[k], nan=np.inf)):
            place = "" if np.isnan(rank[k]) else int(rank[k])
            values = [float(mine[name].values[k]) for name in names]
            lines.append([model, numbers[k], place, *values])
    _save_lines(["model", "layer", "rank", *names], lines, path)


def save_strips(strips: Sequence[xr.Dataset], path: Path) -> None:
    """Write a line a neuron and word, all words of the sentence."""
    of_row = ("cluster", "size", "layer", "neuron", "sign")
    names = ["strip", "model", "threshold", *of_row, "word", "text", "activation"]
    lines = []
    for number, strip in enumerate(strips, start=1):
        first = [number, strip.attrs.get("model", ""), strip.attrs.get("threshold", "")]
        texts = [str(text) for text in strip["text"].values]
        rows = zip(*(strip[name].values.tolist() for name in of_row), strict=True)
        for row, values in zip(rows, strip["activation"].values.tolist(), strict=True):
            for word, (text, value) in enumerate(zip(texts, values, strict=True)):
                lines.append([*first, *row, word, text, value])
    _save_lines(names, lines, path)


def _save_lines(names: Sequence[str], lines: Iterable[Sequence[Any]], path: Path) -> None:
    """Write a table as CSV; nothing stands for NaN."""
    write_csv(
        path,
        names,
        ([None if isinstance(v, float) and np.isnan(v) else v for v in x] for x in lines),
    )
