"""Results that are opened again: nothing that is on disk is missed, and what is missing is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import lmkin
from results.example_results import EXAMPLES

MORE = ("attention", "dependency", "redundancy")
"""Kinds with more than one table that is read back."""


def rows(seed: int = 0) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    shared = random.normal(size=(400, 6))
    return {name: shared + 0.5 * random.normal(size=(400, 6)) for name in "abc"}


def decomposed(folder: Path) -> tuple[lmkin.Dependency, lmkin.Dependency]:
    made = lmkin.decompose(rows(), progress=False)
    made.save(folder)
    return made, lmkin.load(folder)


@pytest.mark.parametrize("name", ["drop_order", "best_subsets", "unique", "unexplained"])
def test_which_models_to_keep_comes_back(name: str, tmp_path: Path) -> None:
    made, back = decomposed(tmp_path / "dep")
    assert not back.fitted
    table = getattr(back, name)()
    assert isinstance(table, xr.Dataset)
    expected = made.portfolio[name]
    for variable in expected.data_vars:
        if expected[variable].dtype.kind == "f":
            np.testing.assert_allclose(table[variable], expected[variable], err_msg=str(variable))


@pytest.mark.parametrize("kind", MORE)
def test_the_main_file_of_a_folder_gives_all_of_it(kind: str, tmp_path: Path) -> None:
    EXAMPLES[kind]().save(tmp_path / "r")
    whole, file = lmkin.load(tmp_path / "r"), lmkin.load(tmp_path / "r" / f"{kind}.nc")
    assert list(file.files()) == list(whole.files())
    assert file.findings() == whole.findings()


@pytest.mark.parametrize("kind", MORE)
def test_a_file_alone_says_what_it_lacks(kind: str, tmp_path: Path) -> None:
    with pytest.warns(lmkin.LmkinWarning, match="holds the main table alone"):
        EXAMPLES[kind]().save(tmp_path / "r.nc")


def test_similarity_is_one_file(tmp_path: Path) -> None:
    EXAMPLES["similarity"]().save(tmp_path / "r.nc")  # a warning would be an error
    assert lmkin.load(tmp_path / "r.nc").kind == "similarity"


def test_one_table_of_a_result_names_the_folder(tmp_path: Path) -> None:
    decomposed(tmp_path / "dep")
    with pytest.raises(lmkin.LmkinError, match=r"one table of a result.*by its folder, .*dep"):
        lmkin.load(tmp_path / "dep" / "drop_order.nc")


def test_the_same_result_is_written_twice_and_another_is_refused(tmp_path: Path) -> None:
    first, second = (
        lmkin.similarity(rows(seed), measures="ckasim", progress=False) for seed in (0, 1)
    )
    for _ in range(2):
        lmkin.write_result(first, tmp_path / "r", charts=False)
    with pytest.raises(lmkin.LmkinError, match="another run"):
        lmkin.write_result(second, tmp_path / "r", charts=False)
    lmkin.write_result(second, tmp_path / "r", charts=False, overwrite=True)


def test_a_clustering_is_shown_like_a_result(tmp_path: Path) -> None:
    groups = lmkin.cluster_neurons(
        {f"m/{k}": a for k, a in enumerate(rows().values())}, progress=False
    )
    assert groups.to_result().kind == "redundancy"
    assert "<table" in groups._repr_html_()
    assert groups.plot() is not None
    path = lmkin.write_report(groups, out=tmp_path / "groups.html")
    assert path.stat().st_size > 10_000


def test_localization_says_what_it_needs() -> None:
    result = lmkin.similarity(rows(), measures="ckasim,neuronsim", progress=False)
    with pytest.raises(lmkin.MeasureError, match=r"neuronsim − svsim.*measures='neuronsim,svsim'"):
        result.localization()
