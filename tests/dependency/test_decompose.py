"""R² of every model by the others, against scikit-learn on raw rows and against what is known of Gaussians."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Ridge
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


# -- known answers --------------------------------------------------------------------------------


def test_a_linear_map_is_recovered() -> None:
    random = np.random.default_rng(1)
    X, Y = random.normal(size=(400, 5)) + 2, 1e3 * random.normal(size=(400, 3))
    A, B, shift = random.normal(size=(4, 5)), random.normal(size=(4, 3)), random.normal(size=4)
    U = X @ A.T + Y @ B.T + shift
    found = lmkin.decompose({"u": U, "x": X, "y": Y}, ridge=0, **plain)
    assert found.r2_group.sel(model="u").values == pytest.approx([1, 1, 1], abs=1e-10)
    W, b = found.weights("u")
    assert list(W) == ["x", "y"]
    assert W["x"] == pytest.approx(A, rel=1e-7, abs=1e-7)
    assert W["y"] == pytest.approx(B, rel=1e-7, abs=1e-7)
    assert b == pytest.approx(shift, abs=1e-6)


@pytest.mark.parametrize("seed", [0, 1])
def test_gaussians_of_known_covariance(seed: int) -> None:
    widths = {"a": 3, "b": 5, "c": 2}
    S = naive.random_covariance(10, seed)
    arrays = naive.gaussian(S, widths, 60_000, seed, mean=np.arange(10))
    found = lmkin.decompose(arrays, ridge=0, **plain)
    for split in ("train", "test"):
        for u in widths:
            expected = naive.true_r2(S, widths, u, naive.others(arrays, u))
            assert float(found.r2_group.sel(split=split, model=u)) == pytest.approx(
                expected, abs=0.02
            )
            for v in naive.others(arrays, u):
                expected = naive.true_r2(S, widths, u, [v])
                pair = found.r2_pair.sel(split=split, basis=v, target=u)
                assert float(pair) == pytest.approx(expected, abs=0.02)


def test_a_copy_is_explained_in_full() -> None:
    X = naive.related_models(300)
    X["twin"] = X["b"].copy()
    rows = naive.three_splits(300)
    found = lmkin.decompose(X, split=rows, **quiet)
    for one, other in (("b", "twin"), ("twin", "b")):
        assert found.r2_pair.sel(basis=one, target=other).values == pytest.approx(
            [1, 1, 1], abs=1e-5
        )
        assert found.r2_group.sel(model=one).values == pytest.approx([1, 1, 1], abs=1e-5)
    exact = lmkin.decompose(X, split=rows, ridge=0, **plain)
    assert exact.r2_group.sel(model=["b", "twin"]).values == pytest.approx(1, abs=1e-10)
    del X["twin"]
    expected = naive.group_table(X, rows["train"], rows["test"], NOTHING)
    assert exact.r2_group.sel(split="test", model=["a", "c", "d"]).values == pytest.approx(
        expected[[0, 2, 3]], abs=1e-7
    )


def test_independent_models_explain_nothing_of_each_other() -> None:
    random = np.random.default_rng(3)
    arrays = {m: random.normal(size=(8000, 10)) for m in "abcd"}
    found = lmkin.decompose(arrays, **quiet)
    test = found.dataset.sel(split="test")
    off = ~np.eye(4, dtype=bool)
    assert np.abs(test.r2_group.values).max() < 0.02
    assert np.abs(test.r2_pair.values[off]).max() < 0.02
    assert np.abs(test.r2_group_null.values).max() < 0.02
    # 30 neurons of chance in 6,400 rows
    assert found.r2_group.sel(split="train").values == pytest.approx(30 / 6400, abs=0.003)
    assert found.r2_group_null.sel(split="train").values == pytest.approx(30 / 6400, abs=0.003)


# -- scikit-learn on raw rows ---------------------------------------------------------------------

RULES = [
    Rule("relative", 1e-6),
    Rule("relative", 0.1),
    Rule("absolute", 1e-6),
    Rule("absolute", 2.0),
    Rule("floor", 1e-6),
    Rule("floor", 0.5),
    NOTHING,
    Rule("relative", 0.0),
]


@pytest.mark.parametrize("rule", RULES, ids=lambda r: f"{r.name} {r.value}")
def test_equals_scikit_learn(arrays: Any, rows: Any, rule: Rule) -> None:
    found = lmkin.decompose(arrays, split=rows, **options_of(rule), **plain)
    assert found.models == list(arrays)
    assert found.n.values.tolist() == [420, 60, 120]
    assert found.width.values.tolist() == [4, 6, 3, 5]
    expected_rule = NOTHING if rule.value == 0 else rule
    for split in naive.SPLITS:
        expected = naive.tables(arrays, rows["train"], rows[split], expected_rule)
        for field in FIELDS:
            mine = found.dataset[field].sel(split=split).values
            assert mine == pytest.approx(expected[field], abs=1e-8), (split, field)


def test_the_penalty_of_scikit_learn_is_lambda_times_rows_less_one(arrays: Any, rows: Any) -> None:
    """Once without the helper module: one target, one basis, λ = 0.7 in the models' own units."""
    found = lmkin.decompose(arrays, split=rows, ridge=0.7, ridge_rule="absolute", **plain)
    Z, U = arrays["b"], arrays["a"]
    n = len(rows["train"])
    model = Ridge(alpha=0.7 * (n - 1)).fit(Z[rows["train"]], U[rows["train"]])
    expected = r2_score(
        U[rows["test"]], model.predict(Z[rows["test"]]), multioutput="variance_weighted"
    )
    mine = float(found.r2_pair.sel(split="test", basis="b", target="a"))
    assert mine == pytest.approx(expected, abs=1e-9)


def test_released_is_a_small_absolute_lambda_and_not_scale_free() -> None:
    """The example of the definition: the same data times 1e-4 loses nearly everything."""
    random = np.random.default_rng(0)
    X = random.normal(size=(2000, 8))
    U = X @ random.normal(size=(8, 8)) + 0.4 * random.normal(size=(2000, 8))
    rows = naive.three_splits(2000)
    values = {}
    for size in (1.0, 1e-4):
        arrays = {"x": size * X, "u": size * U}
        found = lmkin.decompose(arrays, split=rows, convention="released", **plain)
        by_hand = naive.r2(arrays, "u", ["x"], rows["train"], rows["test"], Rule("absolute", 1e-6))
        values[size] = float(found.r2_pair.sel(split="test", basis="x", target="u"))
        assert values[size] == pytest.approx(by_hand, abs=1e-9)
        assert found.ridge_group.values.tolist() == [1e-6, 1e-6]
        default = lmkin.decompose(arrays, split=rows, **plain)
        assert float(default.r2_group.sel(split="test", model="u")) > 0.95
    assert values[1.0] > 0.95
    assert values[1e-4] < 0.1


def test_the_floor_is_where_the_smallest_eigenvalue_ends(arrays: Any, rows: Any) -> None:
    found = lmkin.decompose(arrays, split=rows, ridge=0.9, ridge_rule="floor", **plain)
    for u in arrays:
        Z = np.hstack([arrays[m][rows["train"]] for m in naive.others(arrays, u)])
        added = float(found.ridge_group.sel(model=u))
        smallest = np.linalg.eigvalsh(naive.covariance(Z) + added * np.eye(Z.shape[1]))[0]
        assert added > 0
        assert smallest == pytest.approx(0.9, rel=1e-6)
    high = lmkin.decompose(arrays, split=rows, ridge=1e-9, ridge_rule="floor", **plain)
    assert high.ridge_group.values.tolist() == [0, 0, 0, 0]


def test_validation_finds_the_best_share_of_each_fit() -> None:
    arrays = naive.related_models(90, seed=5, widths={"a": 12, "b": 10, "c": 8})
    rows = {"train": np.arange(45), "validation": np.arange(45, 70), "test": np.arange(70, 90)}
    found = lmkin.decompose(arrays, split=rows, ridge="validation", **plain)

    def best(target: str, basis: list[str]) -> tuple[float, float]:
        by_share = {
            share: naive.r2(
                arrays, target, basis, rows["train"], rows["validation"], Rule("relative", share)
            )
            for share in 10.0 ** np.arange(-8, 1)
        }
        share = max(by_share, key=by_share.__getitem__)
        rule = Rule("relative", share)
        return share, naive.r2(arrays, target, basis, rows["train"], rows["test"], rule)

    shares = set()
    for u in arrays:
        share, expected = best(u, naive.others(arrays, u))
        shares.add(share)
        assert float(found.ridge_group.sel(model=u)) == pytest.approx(share)
        assert float(found.r2_group.sel(split="test", model=u)) == pytest.approx(expected, abs=1e-7)
        for v in naive.others(arrays, u):
            share, expected = best(u, [v])
            shares.add(share)
            assert float(found.ridge_pair.sel(basis=v, target=u)) == pytest.approx(share)
            mine = found.r2_pair.sel(split="test", basis=v, target=u)
            assert float(mine) == pytest.approx(expected, abs=1e-7)
    assert len(shares) > 1  # else nothing was chosen
    W, b = found.weights("a")
    share = float(found.ridge_group.sel(model="a"))
    train = {m: x[rows["train"]] for m, x in arrays.items()}
    expected_W, expected_b = naive.fitted(
        [train["b"], train["c"]], train["a"], Rule("relative", share)
    )
    assert W["b"] == pytest.approx(expected_W[0], abs=1e-8)
    assert b == pytest.approx(expected_b, abs=1e-7)


def test_leaving_one_out_by_one_factorisation_equals_separate_fits() -> None:
    from lmkin.analyses.dependency.regression import leave_one_out

    S = naive.random_covariance(24, 4)
    blocks = [np.arange(0, 7), np.arange(7, 9), np.arange(9, 20), np.arange(20, 24)]
    ridge = np.repeat([1e-6, 0.1, 1e-3, 2.0], [7, 2, 11, 4])
    whole = leave_one_out(S, blocks, ridge)
    for block in blocks:
        rows = whole[block]
        rest = np.setdiff1d(np.arange(24), block)
        W = S[np.ix_(block, rest)] @ np.linalg.inv(S[np.ix_(rest, rest)] + np.diag(ridge[rest]))
        assert rows[:, rest] == pytest.approx(-W, abs=1e-8)
        assert rows[:, block] == pytest.approx(np.eye(len(block)), abs=1e-12)


# -- nothing added: the solution of least norm ----------------------------------------------------


def singular(n: int = 300) -> dict[str, Any]:
    """The basis has a neuron twice, one that is a sum, one that never moves, and the scale of its models differs."""
    random = np.random.default_rng(8)
    X = random.normal(size=(n, 4))
    Y = 100 * np.column_stack([X[:, 0] + X[:, 1], random.normal(size=(n, 2))])
    X = np.column_stack([X, X[:, 2], np.full(n, 5.0)])
    U = X[:, :3] + Y[:, 1:2] / 100 + 0.5 * random.normal(size=(n, 3))
    return {"u": U, "x": X, "y": Y}


@pytest.mark.parametrize("rule", ["relative", "absolute"])
def test_a_singular_basis(rule: str) -> None:
    arrays, rows = singular(), naive.three_splits(300)
    found = lmkin.decompose(arrays, split=rows, ridge=0, ridge_rule=rule, **plain)
    for split in naive.SPLITS:
        expected = naive.tables(arrays, rows["train"], rows[split], NOTHING)
        for field in FIELDS:
            mine = found.dataset[field].sel(split=split).values
            assert mine == pytest.approx(expected[field], abs=1e-8), (split, field)


def test_weights_of_least_norm_within_a_model() -> None:
    arrays, rows = singular(), naive.three_splits(300)
    found = lmkin.decompose(arrays, split=rows, ridge=0, **plain)
    W, b = found.weights("u", "x")
    train = {m: x[rows["train"]] for m, x in arrays.items()}
    both = np.cov(np.hstack([train["u"], train["x"]]), rowvar=False)
    expected = both[:3, 3:] @ np.linalg.pinv(both[3:, 3:], rcond=1e-10, hermitian=True)
    assert W["x"] == pytest.approx(expected, abs=1e-9)
    assert W["x"][:, 2] == pytest.approx(W["x"][:, 4], abs=1e-9)
    assert W["x"][:, 5] == pytest.approx(0, abs=1e-9)
    assert b == pytest.approx(train["u"].mean(0) - expected @ train["x"].mean(0), abs=1e-8)


def test_weights_of_least_norm_across_models_in_their_own_units() -> None:
    """λ = 0, absolute: cov(u, z) cov(z, z)⁺ with the Moore-Penrose inverse of the covariance itself."""
    arrays, rows = singular(), naive.three_splits(300)
    found = lmkin.decompose(arrays, split=rows, ridge=0, ridge_rule="absolute", **plain)
    W, _ = found.weights("u")
    train = {m: x[rows["train"]] for m, x in arrays.items()}
    both = np.cov(np.hstack([train["u"], train["x"], train["y"]]), rowvar=False)
    expected = both[:3, 3:] @ np.linalg.pinv(both[3:, 3:], rcond=1e-12, hermitian=True)
    assert np.hstack([W["x"], W["y"]]) == pytest.approx(expected, abs=1e-8)
