"""Published figures: those of the papers, and one loader for all of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
import xarray as xr

import lmkin
from lmkin.analyses.dependency import compare_published
from lmkin.results import published_names

TABLES = ["zhang2022/table2", "zhang2022/table3"]


def test_names_are_those_of_the_files() -> None:
    assert [name for name in published_names() if name.startswith("zhang2022/")] == TABLES


@pytest.mark.parametrize("name", ["zhang2022", "zhang2022/table4"])
def test_an_unknown_table_lists_those_of_the_work(name: str) -> None:
    with pytest.raises(lmkin.LmkinError, match="zhang2022/table2, zhang2022/table3"):
        lmkin.published(name)


@pytest.mark.parametrize("name", [*range(4), "2", None, [2], {2}, "/etc/x"])
def test_an_unknown_work_lists_all_works(name: Any) -> None:
    with pytest.raises(lmkin.LmkinError, match=r"dalvi2020, .*zhang2022\. .*published_names"):
        lmkin.published(name)


@pytest.mark.parametrize("name", published_names())
def test_every_table_says_what_it_is(name: str) -> None:
    figures = lmkin.published(name)
    assert {"title", "reference", "note"} <= set(figures.attrs)
    json.dumps(figures.attrs)


@pytest.mark.parametrize("name", TABLES)
def test_tables_of_the_decomposition(name: str) -> None:
    found = lmkin.published(name)
    assert isinstance(found, xr.DataArray)
    assert found.name == "r2_group"
    assert found.dims == ("model", "length")
    assert found["length"].values.tolist() == [16, 32, 64, 128, 256, 512]
    assert len(set(found["model"].values.tolist())) == 13
    assert found["model"].values[-1] == "group"
    models = found.isel(model=slice(0, 12))
    assert ((models > 0.3) & (models < 1)).all()
    # The paper's own mean of its figures; it gives four digits.
    assert models.mean("model").values == pytest.approx(
        found.sel(model="group").values, abs=1.01e-4
    )


def test_figures_are_those_of_the_paper(shared: Any) -> None:
    text = shared("papers", "lmd-language-model-decomposition.txt").read_text("utf-8")
    for name in TABLES:
        figures = lmkin.published(name)
        for row in figures:
            numbers = " ".join(f"{x:.4f}" for x in row.values)
            assert numbers in text
        # The names of the paper stand in its table, in its order.
        assert figures.attrs["names"]["xlnet-base-cased"] == "XLNet"


def decomposed(models: list[str]) -> xr.Dataset:
    return xr.Dataset(
        {"r2_group": (("split", "model"), [[0.5] * len(models)])},
        coords={"split": ["test"], "model": models},
    )


def test_models_are_known_by_their_names_and_folders() -> None:
    specs = {"mine": "/some/folder/xlnet-base-cased/", "twin": "untrained:bert-base-uncased"}
    names = ["mine", "twin", "google/electra-base-discriminator", "other", "ALBERT-base-v2"]
    shown = compare_published(decomposed(names), specs)
    assert shown is not None
    assert shown.attrs["checkpoints"] == {
        "mine": "xlnet-base-cased",
        "google/electra-base-discriminator": "google/electra-base-discriminator",
        "ALBERT-base-v2": "albert-base-v2",
    }
    assert float(shown.sel(model="mine", length=16)) == 0.3412


def test_no_model_and_no_length_of_the_paper(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "lmkin")
    assert compare_published(decomposed(["a", "b"])) is None
    assert "among the twelve of the paper" in caplog.text
    by_length = decomposed(["albert-base-v2"]).expand_dims(length=[48, 100])
    assert compare_published(by_length) is None
    assert "none of these lengths" in caplog.text
