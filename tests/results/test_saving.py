"""Results on disk and back, with names and layers of every kind."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import lmkin
from lmkin.results import average_similarity, load_result, save_result
from measures.layer_pairs import correlated

AXES = ("model_x", "layer_x", "model_y", "layer_y")
NASTY = [
    "quotes \" and ' and <script>alert(1)</script>",
    "comma, semicolon; newline \n tab \t end",
    "ünïcödé ✓ 模型 🙂",
    "org/model@main",
    " spaces ",
    "=1+1",
    "json:[1]",
    "nan",
]


@pytest.fixture(scope="module")
def result() -> xr.Dataset:
    rng = np.random.default_rng(0)
    X, Y = correlated(rng, 80, 6, 9)
    both = np.hstack([X, Y])
    layers = {
        (name, number): both[:, k : k + 3 + number]
        for k, name in enumerate(NASTY)
        for number in range(1 + k % 3)
    }
    found = lmkin.similarity(layers, measures=["neuronsim", "ckasim"], neurons="raw", parts=4)
    found.attrs["corpus"] = "json:a corpus \n with ✓"
    found.attrs["n"] = 5_000_000_000
    found.attrs["flag"] = True
    found.attrs["nothing"] = None
    found.attrs["empty"] = ""
    return found.dataset


def test_netcdf_gives_everything_back(result: xr.Dataset, tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "result.nc"
    save_result(result, path)
    again = load_result(path)
    assert set(again.variables) == set(result.variables)
    assert again.model_x.values.tolist() == NASTY
    assert again.layer_y.values.tolist() == [0, 1, 2]
    for name in result.data_vars:
        assert again[name].dims == result[name].dims
        np.testing.assert_array_equal(again[name].values, result[name].values)
        assert again[name].attrs == result[name].attrs
    assert again.attrs == result.attrs
    assert json.loads(again.attrs["widths"])[f"{NASTY[2]}/1"] == 4
    # What is computed from it is the same.
    xr.testing.assert_equal(average_similarity(again), average_similarity(result))
    save_result(again, path)  # the file is not held open
    xr.testing.assert_equal(load_result(path), again)


def test_both_scalings(tmp_path: Path) -> None:
    X, Y = correlated(np.random.default_rng(0), 80, 6, 9)
    both = lmkin.similarity({"a": X, "b": Y}, measures=["svsim", "neuronsim"]).dataset
    assert both.scaling.values.tolist() == ["raw", "standardized"]
    assert both.svsim.dims[0] == "scaling"
    for scaling, standardize in (("raw", False), ("standardized", True)):
        single = lmkin.similarity(
            {"a": X, "b": Y},
            measures=["svsim", "neuronsim"],
            neurons="standardized" if standardize else "raw",
        )
        for name in ("svsim", "neuronsim", "svsim_se", "neuronsim_se", "svsim_without"):
            np.testing.assert_allclose(
                both[name].sel(scaling=scaling).values, single[name].values, atol=1e-9
            )
    save_result(both, tmp_path / "both.nc")
    xr.testing.assert_equal(load_result(tmp_path / "both.nc"), both)
    save_result(both, tmp_path / "both.csv")
    frame = pd.read_csv(tmp_path / "both.csv")
    assert len(frame) == 8
    assert set(frame.scaling) == {"raw", "standardized"}


def test_csv_has_a_line_for_every_pair(result: xr.Dataset, tmp_path: Path) -> None:
    save_result(result, tmp_path / "result.csv")
    frame = pd.read_csv(tmp_path / "result.csv", keep_default_na=False)
    layers = sum(1 + k % 3 for k in range(len(NASTY)))
    assert len(frame) == layers**2  # none for layers that a model lacks
    assert set(frame.model_x) == {"'=1+1" if name == "=1+1" else name for name in NASTY}
    for axis in ("model_x", "model_y"):  # a spreadsheet shows the apostrophe of a text to nobody
        frame[axis] = frame[axis].str.removeprefix("'")
    assert not any(c.endswith(("_without", "_match", "_match_r")) for c in frame.columns)
    for row in frame.itertuples():
        place = {axis: getattr(row, axis) for axis in AXES}
        for column in ("neuronsim", "ckasim_se"):
            assert float(getattr(row, column)) == pytest.approx(result[column].sel(place).item())


def test_what_cannot_be_saved_or_loaded(result: xr.Dataset, tmp_path: Path) -> None:
    with pytest.raises(lmkin.LmkinError, match=r"\.nc or \.csv"):
        save_result(result, tmp_path / "result.xlsx")
    with pytest.raises(lmkin.LmkinError, match="no file"):
        load_result(tmp_path / "missing.nc")
    save_result(result, tmp_path / "result.nc")
    whole = (tmp_path / "result.nc").read_bytes()
    for damaged in (whole[: len(whole) // 3], b"", b"CDF\x01", b"not a result", whole[:40]):
        (tmp_path / "result.nc").write_bytes(damaged)
        with pytest.raises(lmkin.LmkinError, match=r"result\.nc"):
            load_result(tmp_path / "result.nc")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["result.nc"]  # nothing half-written


def test_a_ragged_result_is_nan_where_a_model_has_no_layer(result: xr.Dataset) -> None:
    has = {name: 1 + k % 3 for k, name in enumerate(NASTY)}
    for m, x in enumerate(NASTY):
        for layer in range(3):
            row = result.ckasim.values[m, layer]
            exists = np.array([[n < has[y] and layer < has[x] for n in range(3)] for y in NASTY])
            assert (np.isfinite(row) == exists).all()
            assert (result.neuronsim_match.values[m, layer][~exists] == -1).all()
            assert np.isnan(result.neuronsim_match_r.values[m, layer][~exists]).all()


def test_one_table_is_saved_with_its_errors(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    layers = {"a/0": random.normal(size=(90, 3)), "b/0": random.normal(size=(90, 4))}
    table = lmkin.similarity(layers, measures="neuronsim", neurons="raw", parts=6).matrix()
    save_result(table, tmp_path / "s.nc")
    back = load_result(tmp_path / "s.nc")
    np.testing.assert_array_equal(back["neuronsim"], table)
    np.testing.assert_array_equal(back["se"], table.se)
    np.testing.assert_array_equal(back["match"], table.attrs["match"])
    save_result(table, tmp_path / "s.csv")
    with pytest.raises(lmkin.LmkinError, match=r"load the \.nc file"):
        load_result(tmp_path / "s.csv")
