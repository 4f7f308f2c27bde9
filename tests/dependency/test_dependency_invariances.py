"""What must not matter to a decomposition: units, rotations, order, types of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

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


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), which=st.sampled_from("abc"))
def test_an_affine_map_of_a_basis_changes_nothing_without_a_ridge(seed: int, which: str) -> None:
    arrays = naive.related_models(200, seed=seed % 7, widths={"a": 3, "b": 4, "c": 2})
    random = np.random.default_rng(seed)
    width = arrays[which].shape[1]
    Q, _ = np.linalg.qr(random.normal(size=(width, width)))
    A = Q @ np.diag(random.uniform(0.2, 5, width)) + 0.1 * random.normal(size=(width, width))
    if np.linalg.cond(A) > 1e3:
        return
    changed = {**arrays, which: arrays[which] @ A + 50 * random.normal(size=width)}
    before, after = (lmkin.decompose(x, ridge=0, **plain) for x in (arrays, changed))
    for u in naive.others(arrays, which):
        assert after.r2_group.sel(model=u).values == pytest.approx(
            before.r2_group.sel(model=u).values, abs=1e-8
        )
        assert after.r2_pair.sel(basis=which, target=u).values == pytest.approx(
            before.r2_pair.sel(basis=which, target=u).values, abs=1e-8
        )


@settings(max_examples=15, deadline=None)
@given(
    powers=st.lists(st.integers(-6, 6), min_size=3, max_size=3),
    seed=st.integers(0, 10**6),
    share=st.sampled_from([1e-6, 1e-2, 1.0]),
)
def test_no_unit_matters_to_a_relative_ridge(powers: Any, seed: int, share: float) -> None:
    """Every model in a unit of its own, rotated and shifted."""
    arrays = naive.related_models(200, seed=seed % 7, widths={"a": 3, "b": 4, "c": 2})
    random = np.random.default_rng(seed)
    changed = {}
    for (name, X), power in zip(arrays.items(), powers, strict=True):
        Q, _ = np.linalg.qr(random.normal(size=(X.shape[1],) * 2))
        changed[name] = 10.0**power * (X @ Q + X.std() * random.normal(size=X.shape[1]))
    before, after = (lmkin.decompose(x, ridge=share, **plain) for x in (arrays, changed))
    for field in FIELDS:
        assert after.dataset[field].values == pytest.approx(before.dataset[field].values, abs=1e-7)


@settings(max_examples=10, deadline=None)
@given(order=st.permutations("abcd"), ridge=st.sampled_from([0, 1e-6, 0.3, "validation"]))
def test_models_in_another_order(order: list[str], ridge: Any) -> None:
    arrays = naive.related_models(150)
    first = lmkin.decompose(arrays, ridge=ridge, **plain)
    other = lmkin.decompose({m: arrays[m] for m in order}, ridge=ridge, **plain)
    assert other.models == list(order)
    names = {"model": list(arrays), "basis": list(arrays), "target": list(arrays)}
    found = other.dataset.sel(names)
    for field in (*FIELDS, "ridge_group", "ridge_pair"):
        assert found[field].values == pytest.approx(first.dataset[field].values, abs=1e-8)


def test_float32_arrays_and_torch_tensors(arrays: Any, rows: Any) -> None:
    expected = lmkin.decompose(arrays, split=rows, **plain)
    narrow = {m: x.astype(np.float32) for m, x in arrays.items()}
    tensors = {m: torch.from_numpy(x) for m, x in arrays.items()}
    of_half = {m: torch.from_numpy(x) for m, x in narrow.items()}
    for given_, near in ((narrow, 1e-5), (tensors, 1e-10), (of_half, 1e-5)):
        found = lmkin.decompose(given_, split=rows, **plain)
        for field in FIELDS:
            assert found.dataset[field].values == pytest.approx(
                expected.dataset[field].values, abs=near
            )
    whole = lmkin.decompose(tensors, split=rows, **quiet)
    assert whole.r2_group_null.sel(split="test").max() < 0.05
    coarse = lmkin.decompose(narrow, split=rows, precision="float32", **plain)
    assert coarse.r2_group.values == pytest.approx(expected.r2_group.values, abs=1e-4)


def test_products_in_float32_are_good_enough_for_steep_spectra() -> None:
    """Variances over eight orders of magnitude, one neuron with a large mean, and neurons that are there twice."""
    random = np.random.default_rng(0)
    shared, sizes = random.normal(size=(1500, 20)), np.logspace(0, -4, 20)
    arrays = {}
    for m in "abc":
        Q, _ = np.linalg.qr(random.normal(size=(20, 20)))
        X = (0.8 * shared + 0.6 * random.normal(size=(1500, 20))) * sizes @ Q
        X[:, 3] += 20 * X.std()
        arrays[m] = np.hstack([X, X[:, :4]]).astype(np.float32)
    rows = naive.three_splits(1500)
    double = {m: x.astype(np.float64) for m, x in arrays.items()}
    for precision, near in (("float64", 1e-6), ("float32", 0.02)):
        for share in (1e-6, 0.0):
            found = lmkin.decompose(arrays, split=rows, precision=precision, ridge=share, **plain)
            rule = Rule("relative", share) if share else NOTHING
            expected = naive.group_table(double, rows["train"], rows["test"], rule)
            mine = found.r2_group.sel(split="test").values
            assert mine == pytest.approx(expected, abs=near), (precision, share)


def test_a_large_mean_costs_no_digits(arrays: Any, rows: Any) -> None:
    expected = lmkin.decompose(arrays, split=rows, **plain)
    moved = {m: x + 1e5 * x.std() for m, x in arrays.items()}
    found = lmkin.decompose(moved, split=rows, **plain)
    assert found.r2_group.values == pytest.approx(expected.r2_group.values, abs=1e-7)
