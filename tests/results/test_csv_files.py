"""The CSV files of a result say what its datasets say, a line for every place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import lmkin
from results.example_results import EXAMPLES

LAYERS = ("model_x", "layer_x", "model_y", "layer_y")
Dataset = Callable[[Any], xr.Dataset]
FILES: dict[str, dict[str, tuple[tuple[str, ...], Dataset]]] = {
    "similarity": {"similarity.csv": (("scaling", *LAYERS), lambda r: r.dataset)},
    "attention": {"attention.csv": (("sink", *LAYERS), lambda r: r.dataset)},
    "dependency": {
        "r2_group.csv": (("split", "model"), lambda r: r.dataset),
        "r2_pair.csv": (("split", "basis", "target"), lambda r: r.dataset),
        "drop_order.csv": (("step",), lambda r: r.drop_order(progress=False)),
        "best_subsets.csv": (("size", "model"), lambda r: r.best_subsets(progress=False)),
        "unique.csv": (("basis", "target"), lambda r: r.unique()),
        "unexplained.csv": (("model", "direction", "rank"), lambda r: r.unexplained()),
    },
    "redundancy": {
        "left.csv": (("model", "threshold"), lambda r: r.clustering.tables()),
        "left_by_layer.csv": (("model", "threshold", "layer"), lambda r: r.clustering.tables()),
        "spans.csv": (("model", "threshold", "span"), lambda r: r.clustering.tables()),
    },
}
"""By kind and file: what a line is of, and the numbers in Python."""


@pytest.mark.parametrize(("kind", "file"), [(k, f) for k, files in FILES.items() for f in files])
def test_a_line_for_every_place(kind: str, file: str, tmp_path: Path) -> None:
    result = EXAMPLES[kind]()
    result.save(tmp_path / kind)
    place, numbers = FILES[kind][file]
    dataset, table = numbers(result), pd.read_csv(tmp_path / kind / file)
    assert len(table) == np.prod([dataset.sizes[name] for name in place])
    assert not table.duplicated(list(place)).any()
    said = [c for c in table.columns if c not in place]
    assert said
    places = {name: xr.DataArray(table[name].values, dims="line") for name in place}
    for name in said:
        values = dataset[name].sel({k: v for k, v in places.items() if k in dataset[name].dims})
        np.testing.assert_array_equal(table[name].values, values.values, name)


def test_a_line_for_every_head(tmp_path: Path) -> None:
    result = EXAMPLES["attention"]()
    result.save(tmp_path / "a")
    heads = lmkin.attention_heads(result)
    table = pd.read_csv(tmp_path / "a" / "heads.csv")
    places = [f"{m}/{n}/{h}" for m, n, h in table[["model", "layer", "head"]].values]
    assert places == heads["head"].values.tolist()
    for name in ("nearest", "nearest_js", "elsewhere", "elsewhere_js", "group", "stays"):
        assert table[name].tolist() == heads[name].values.tolist(), name


def test_a_line_for_every_layer(tmp_path: Path) -> None:
    result = EXAMPLES["redundancy"]()
    result.save(tmp_path / "r")
    table = pd.read_csv(tmp_path / "r" / "layers.csv").rename(columns={"rank": "drop_rank"})
    layers = result.layers
    assert len(table) == layers.sizes["model"] * layers.sizes["layer"]
    for _, line in table.iterrows():
        here = layers.sel(model=line["model"], layer=line["layer"])
        for name in ("drop_rank", "r2", "r2_se", "r2_low", "cka", "cka_high", "average"):
            np.testing.assert_equal(line[name], here[name].item(), name)
