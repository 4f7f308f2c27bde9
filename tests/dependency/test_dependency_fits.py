"""Means, weights, predictions; chance and length as common causes; alerts; tables on disk."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score

import lmkin
from dependency import naive_dependency as naive
from dependency.naive_dependency import NOTHING, Rule

FIELDS = ("r2_group", "r2_pair", "rho_pair", "rho_group")
quiet = {"progress": False}
plain = {"progress": False, "intervals": False, "permutation_baseline": False}


@pytest.fixture(scope="module")
def arrays() -> dict[str, Any]:
    return naive.related_models(600)


@pytest.fixture(scope="module")
def rows() -> dict[str, Any]:
    return naive.three_splits(600)


def options_of(rule: Rule) -> dict[str, Any]:
    return {"ridge": rule.value, "ridge_rule": rule.name}


# -- the definitions of ρ, weights and predictions ------------------------------------------------


def test_rho_is_a_mean(arrays: Any, rows: Any) -> None:
    found = lmkin.decompose(arrays, split=rows, **plain)
    for split in naive.SPLITS:
        pair = found.r2_pair.sel(split=split)
        for u in arrays:
            for v in arrays:
                both = float(pair.sel(basis=u, target=v)) + float(pair.sel(basis=v, target=u))
                rho = found.rho_pair.sel(split=split, basis=u, target=v)
                assert float(rho) == pytest.approx(both / 2, abs=1e-12)
            assert float(pair.sel(basis=u, target=u)) == 1
        mean = float(found.r2_group.sel(split=split).mean())
        assert float(found.rho_group.sel(split=split)) == pytest.approx(mean, abs=1e-12)


@pytest.mark.parametrize("basis", [None, "b", ["d", "b"]])
@pytest.mark.parametrize("rule", [Rule(), Rule("absolute", 1.5), Rule("floor", 0.5), NOTHING])
def test_weights_and_predictions(arrays: Any, rows: Any, basis: Any, rule: Rule) -> None:
    found = lmkin.decompose(arrays, split=rows, **options_of(rule), **plain)
    names = ["b", "c", "d"] if basis is None else [basis] if isinstance(basis, str) else basis
    train = [arrays[m][rows["train"]] for m in names]
    expected_W, expected_b = naive.fitted(train, arrays["a"][rows["train"]], rule)
    W, b = found.weights("a", basis)
    assert list(W) == names
    for name, expected in zip(names, expected_W, strict=True):
        assert W[name].shape == (4, arrays[name].shape[1])
        assert W[name] == pytest.approx(expected, rel=1e-6, abs=1e-9)
    assert b == pytest.approx(expected_b, rel=1e-6, abs=1e-8)
    new = {m: arrays[m][rows["test"]] for m in arrays}
    by_hand = naive.predicted(expected_W, expected_b, [new[m] for m in names])
    assert found.predict(new, "a", basis) == pytest.approx(by_hand, rel=1e-6, abs=1e-8)
    if basis is None:
        score = r2_score(new["a"], found.predict(new, "a", basis), multioutput="variance_weighted")
        assert score == pytest.approx(float(found.r2_group.sel(split="test", model="a")), abs=1e-9)


def test_predictions_of_least_squares_are_those_of_scikit_learn(arrays: Any, rows: Any) -> None:
    found = lmkin.decompose(arrays, split=rows, ridge=0, **plain)
    train, test = rows["train"], rows["test"]
    model = LinearRegression().fit(arrays["d"][train], arrays["c"][train])
    expected = model.predict(arrays["d"][test])
    mine = found.predict({"d": torch.from_numpy(arrays["d"][test])}, "c", "d")
    assert mine == pytest.approx(expected, rel=1e-8, abs=1e-8)


# -- common causes and chance ---------------------------------------------------------------------


def test_shuffled_rows_explain_nothing(arrays: Any, rows: Any) -> None:
    found = lmkin.decompose(arrays, split=rows, **quiet)
    assert found.r2_group.sel(split="test").min() > 0.3
    assert found.r2_group_null.sel(split="test").max() < 0.05
    off = ~np.eye(4, dtype=bool)
    assert found.r2_pair_null.sel(split="test").values[off].max() < 0.05
    again = lmkin.decompose(arrays, split=rows, **quiet)
    other = lmkin.decompose(arrays, split=rows, seed=1, **quiet)
    assert (again.r2_group_null.values == found.r2_group_null.values).all()
    assert (other.r2_group_null.values != found.r2_group_null.values).all()
    without = lmkin.decompose(arrays, split=rows, permutation_baseline=False, **quiet)
    assert "r2_group_null" not in without.dataset


def of_length(n: int = 3000) -> tuple[dict[str, Any], Any]:
    """Models that have nothing in common but how long a text is."""
    random = np.random.default_rng(4)
    lengths = random.integers(3, 200, n)
    F = np.stack([lengths / 60, np.log(lengths), 10 / lengths], axis=1)
    arrays = {
        m: F @ random.normal(size=(3, 4)) + 0.2 * random.normal(size=(n, 4)) for m in ("x", "y")
    }
    return arrays, lengths


def test_length_as_the_only_common_cause() -> None:
    arrays, lengths = of_length()
    found = lmkin.decompose(arrays, row_lengths=lengths, **quiet)
    test = found.dataset.sel(split="test")
    assert test.r2_group.min() > 0.8
    assert test.r2_length.min() > 0.8
    assert np.abs(test.r2_group_beyond_length).max() < 0.03
    assert abs(float(test.rho_group_beyond_length)) < 0.03
    assert "length" in [a.kind for a in found.alerts]


def test_beyond_length_equals_a_decomposition_of_what_is_left() -> None:
    arrays, rows = naive.related_models(500), naive.three_splits(500)
    lengths = np.random.default_rng(2).integers(5, 90, 500)
    arrays["a"] = arrays["a"] + np.log(lengths)[:, None] * arrays["a"].std()
    arrays["c"] = arrays["c"] + lengths[:, None] / 30 * arrays["c"].std()
    found = lmkin.decompose(arrays, split=rows, row_lengths=lengths, ridge=0, **quiet)
    left = naive.regressed_out(arrays, lengths, rows["train"])
    for split in naive.SPLITS:
        expected = naive.tables(left, rows["train"], rows[split], NOTHING)
        for field in ("r2_group", "r2_pair", "rho_group"):
            mine = found.dataset[f"{field}_beyond_length"].sel(split=split).values
            assert mine == pytest.approx(expected[field], abs=1e-7), (split, field)
        for m, X in arrays.items():
            explained = naive.scored((X - left[m])[rows[split]], X[rows[split]])
            mine = float(found.r2_length.sel(split=split, model=m))
            assert mine == pytest.approx(explained, abs=1e-8)


# -- alerts and storing ---------------------------------------------------------------------------


def test_alerts() -> None:
    random = np.random.default_rng(0)
    arrays = {m: random.normal(size=(100, 20)) for m in "abc"}
    found = lmkin.decompose(arrays, **quiet)
    assert "train and test apart" in [a.kind for a in found.alerts]
    assert "few rows" in [a.kind for a in found.alerts]
    alone = lmkin.decompose(arrays, split={"train": 1.0}, **quiet)
    assert "in-sample" in [a.kind for a in alone.alerts]
    assert "rows without sentences" not in [a.kind for a in alone.alerts]
    enough = lmkin.decompose(naive.related_models(4000), **quiet)
    assert [a.kind for a in enough.alerts] == ["rows without sentences"]
    given = lmkin.decompose(
        naive.related_models(4000), split={"train": slice(3000), "test": slice(3000, None)}, **quiet
    )
    assert given.alerts == []


def test_tables_come_back_from_disk(arrays: Any, tmp_path: Any) -> None:
    found = lmkin.decompose(arrays, **quiet)
    with pytest.warns(lmkin.LmkinWarning, match="main table alone"):
        found.save(tmp_path / "found.nc")
    back = lmkin.Dependency.load(tmp_path / "found.nc")
    for name in found.dataset.data_vars:
        assert back.dataset[name].values == pytest.approx(found.dataset[name].values, nan_ok=True)
    assert back.models == found.models
    assert back.alerts == found.alerts
    with pytest.raises(lmkin.MeasureError, match="again"):
        back.weights("a")
