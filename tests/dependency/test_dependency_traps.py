"""Rows that would give nonsense, or something other than what was asked: refused, or said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import lmkin
from dependency import naive_dependency as naive
from lmkin.core.ridge import GRID

plain = {"progress": False, "intervals": False, "permutation_baseline": False}


@pytest.mark.parametrize("split", ["train", "validation", "test"])
def test_a_model_that_never_moves_in_a_split_is_refused(split: str) -> None:
    """Its R² would be a division by rounding."""
    arrays, rows = naive.related_models(400), naive.three_splits(400)
    arrays["b"][rows[split]] = 0.1
    with pytest.raises(lmkin.LmkinError, match="constant") as error:
        lmkin.decompose(arrays, split=rows, **plain)
    assert "b" in str(error.value)


def test_two_test_rows_give_numbers_without_a_warning() -> None:
    arrays = naive.related_models(100)
    rows = {"train": np.arange(98), "test": np.array([98, 99])}
    with np.errstate(all="raise"):
        found = lmkin.decompose(arrays, split=rows, permutation_baseline=False, progress=False)
    assert np.isfinite(found.r2_group.sel(split="test")).all()


def test_the_name_of_the_length_is_no_name_of_a_model() -> None:
    arrays = naive.related_models(100)
    arrays["(length of the text)"] = arrays.pop("c")
    with pytest.raises(lmkin.LmkinError, match="rename"):
        lmkin.decompose(arrays, **plain)
    arrays["length of the text"] = arrays.pop("(length of the text)")
    assert len(lmkin.decompose(arrays, **plain).models) == 4


def test_equal_lengths_are_nothing_to_regress_out() -> None:
    with pytest.raises(lmkin.LmkinError, match="nothing to regress out"):
        lmkin.decompose(naive.related_models(100), row_lengths=np.ones(100), **plain)


@pytest.mark.parametrize("intervals", [True, False])
@pytest.mark.parametrize("kind", ["numpy", "torch"])
def test_chance_is_over_the_whole_split_whatever_holds_the_rows(intervals: bool, kind: str) -> None:
    """Rows of one document are alike: shuffled inside a part, they would still tell each other."""
    random = np.random.default_rng(0)
    document = np.repeat(random.normal(size=(20, 6)), 60, axis=0)
    arrays: dict[str, Any] = {
        name: document @ random.normal(size=(6, 6)) + 0.3 * random.normal(size=(1200, 6))
        for name in "ab"
    }
    if kind == "torch":
        arrays = {name: torch.from_numpy(X) for name, X in arrays.items()}
    split = {"train": np.arange(600), "test": np.arange(600, 1200)}
    found = lmkin.decompose(arrays, split=split, intervals=intervals, progress=False)
    assert float(found.r2_group_null.sel(split="test").max()) < 0.02
    assert "permutation baseline" not in [a.kind for a in found.alerts]


def test_a_ridge_at_the_end_of_what_was_tried_is_said() -> None:
    random = np.random.default_rng(1)
    arrays = {name: random.normal(size=(60, 40)) for name in "ab"}
    found = lmkin.decompose(arrays, split=naive.three_splits(60), ridge="validation", **plain)
    assert float(found.ridge_group.max()) == GRID[-1]
    assert "ridge at its end" in [a.kind for a in found.alerts]
    assert not any("choose the ridge" in a.text for a in found.alerts)
    related = lmkin.decompose(naive.related_models(400), ridge="validation", **plain)
    assert "ridge at its end" not in [a.kind for a in related.alerts]


def test_a_large_mean_does_not_change_which_rows_weigh_most() -> None:
    arrays, rows = naive.related_models(400), naive.three_splits(400)
    expected = lmkin.decompose(arrays, split=rows, **plain).unexplained("a")
    moved = {name: X + 1e8 * (name in "ab") for name, X in arrays.items()}
    found = lmkin.decompose(moved, split=rows, **plain).unexplained("a")
    assert found.input.values[:5].tolist() == expected.input.values[:5].tolist()


def test_memory_of_unexplained_rows_is_of_the_rows_own_kind() -> None:
    arrays = {name: X.astype(np.float32) for name, X in naive.related_models(200).items()}
    found = lmkin.decompose(arrays, **plain)
    _, kept = found._kept.result()
    assert {X.dtype for X in kept.values()} == {np.dtype(np.float32)}


def test_constant_neurons_are_told_by_every_analysis_alike() -> None:
    """Two of twelve that never change, one at a large mean, where rounding leaves a deviation."""
    random = np.random.default_rng(0)
    layers = {f"{name}/0": random.normal(size=(400, 12)).astype(np.float32) for name in "ab"}
    layers["a/0"][:, 3], layers["a/0"][:, 7] = 0, 1e4 + 0.1
    results = [
        lmkin.decompose(layers, progress=False),
        lmkin.similarity(layers, measures="ckasim", progress=False),
    ]
    for result in results:
        told = [a.text for a in result.alerts if a.kind == "constant neurons"]
        assert len(told) == 1
        assert told[0].startswith("in a, layer 0, 2 neurons never change")
