"""The solver against scikit-learn, against coordinate descent from the definition, and its certificate."""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import linear_model
from slow_reference import coordinate_descent, cross_entropy, half_squares, objective

import lmkin
from lmkin.estimators import (
    CrossEntropy,
    Design,
    Fit,
    HalfSquaredError,
    empty_fit,
    fit_path,
    make_penalty,
    penalties_of_path,
    row_blocks,
    solve,
)

PENALTIES = ("elementwise", "row")


def classes(n: int, d: int, outputs: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) @ random.normal(size=(d, d)) / np.sqrt(d)
    W = random.normal(size=(d, outputs)) * (random.random((d, 1)) < 0.4)
    return X, (X @ W + random.gumbel(size=(n, outputs))).argmax(1)


def fitted(
    X: Any, loss: Any, penalty: str, l1: float, l2: float, **options: Any
) -> tuple[Design, Fit]:
    design = Design(X, standardize=options.pop("standardize", True))
    start = empty_fit(design, loss, make_penalty(penalty, 0, 0))
    options = {"tolerance": 1e-7, "iterations": 50_000, **options}
    return design, solve(design, loss, make_penalty(penalty, l1, l2), start, **options)


# -- against others ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("l1", "l2"), [(0.05, 0.02), (0.01, 0.001), (0.002, 0.01), (0.0, 0.01)])
@pytest.mark.parametrize("outputs", [3, 5])
def test_classes_agree_with_saga(l1: float, l2: float, outputs: int) -> None:
    X, y = classes(300, 12, outputs)
    design, fit = fitted(X, CrossEntropy(y, outputs), "elementwise", l1, l2, standardize=False)
    strength = l1 + 2 * l2
    theirs = linear_model.LogisticRegression(
        solver="saga",
        l1_ratio=l1 / strength,
        C=1 / (strength * len(y)),
        tol=1e-10,
        max_iter=100_000,
    )
    theirs.fit(X, y)
    V, b = design.unscaled(fit.W, fit.b)
    assert np.allclose(theirs.coef_.T, V, atol=1e-6)
    assert np.allclose(theirs.intercept_ - theirs.intercept_.mean(), b - b.mean(), atol=1e-6)
    assert ((theirs.coef_.T != 0) == (V != 0)).all()


@pytest.mark.parametrize(("l1", "l2"), [(0.1, 0.05), (0.01, 0.001), (0.3, 0.0)])
@pytest.mark.parametrize(("outputs", "penalty"), [(1, "elementwise"), (1, "row"), (3, "row")])
def test_scores_agree_with_elastic_nets(l1: float, l2: float, outputs: int, penalty: str) -> None:
    X, _ = classes(200, 10, 3)
    random = np.random.default_rng(1)
    Y = X @ random.normal(size=(10, outputs)) + random.normal(size=(200, outputs)) + 5
    design, fit = fitted(X, HalfSquaredError(Y), penalty, l1, l2, standardize=False)
    model = linear_model.MultiTaskElasticNet if outputs > 1 else linear_model.ElasticNet
    strength = l1 + 2 * l2
    theirs = model(alpha=strength, l1_ratio=l1 / strength, tol=1e-12, max_iter=100_000)
    theirs.fit(X, Y if outputs > 1 else Y[:, 0])
    V, b = design.unscaled(fit.W, fit.b)
    assert np.allclose(np.atleast_2d(theirs.coef_).T, V, rtol=1e-4, atol=1e-7)
    assert np.allclose(theirs.intercept_, b, rtol=1e-6)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("task", ["classes", "scores"])
def test_agrees_with_coordinate_descent(penalty: str, task: str) -> None:
    X, y = classes(40, 3, 3, seed=3)
    Z = (X - X.mean(0)) / X.std(0)
    if task == "classes":
        loss, written, true = CrossEntropy(y, 3), cross_entropy, y
    else:
        true = np.stack([X[:, 0] + y, X[:, 1] * 2 - y], 1)
        loss, written = HalfSquaredError(true), half_squares
    outputs = loss.outputs
    _, fit = fitted(X, loss, penalty, 0.05, 0.01)
    W, b = coordinate_descent(written, Z, true, outputs, 0.05, 0.01, penalty)
    slow = objective(written, Z, true, W, b, 0.05, 0.01, penalty)
    assert fit.objective == pytest.approx(
        objective(written, Z, true, fit.W, fit.b, 0.05, 0.01, penalty), rel=1e-9
    )
    assert slow - 1e-5 < fit.objective <= slow + 1e-9
    assert np.allclose(fit.W, W, atol=5e-3)


# -- the certificate --------------------------------------------------------------------------------


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("share", [0.5, 0.1, 0.01])
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-7), (np.float32, 1e-2)])
def test_the_residual_is_below_what_is_promised_and_is_that_of_the_definition(
    penalty: str, share: float, dtype: Any, tolerance: float
) -> None:
    X, y = classes(400, 200, 4)
    X, loss = X.astype(dtype), CrossEntropy(y, 4)
    largest = empty_fit(Design(X), loss, make_penalty(penalty, 0, 0)).largest
    l1 = share * largest
    _, fit = fitted(X, loss, penalty, l1, 0.5 * l1, tolerance=tolerance)
    assert fit.residual <= tolerance * max(l1, 0.01 * largest)
    # By finite differences of the objective, in every direction that a weight can go.
    Z = (X.astype(np.float64) - X.mean(0, dtype=np.float64)) / X.std(0, dtype=np.float64)
    P = np.exp(Z @ fit.W + fit.b)
    P /= P.sum(1, keepdims=True)
    P[np.arange(len(y)), y] -= 1
    G = Z.T @ P / len(y) + l1 * fit.W
    slack = 2 * tolerance * max(l1, 0.01 * largest) + (1e-6 if dtype == np.float32 else 1e-12)
    if penalty == "elementwise":
        assert (np.abs(G[fit.W == 0]) <= l1 + slack).all()
        here = fit.W != 0
        assert np.allclose(G[here], -l1 * np.sign(fit.W[here]), atol=slack)
    else:
        norms = np.linalg.norm(fit.W, axis=1)
        assert (np.linalg.norm(G[norms == 0], axis=1) <= l1 + slack).all()
        here = norms > 0
        assert np.allclose(G[here], -l1 * fit.W[here] / norms[here, None], atol=slack)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_nothing_is_in_at_the_largest_penalty_and_something_below_it(penalty: str) -> None:
    X, y = classes(200, 30, 3)
    loss = CrossEntropy(y, 3)
    start = empty_fit(Design(X), loss, make_penalty(penalty, 0, 0))
    _, at = fitted(X, loss, penalty, start.largest * 1.0001, 0.0)
    _, below = fitted(X, loss, penalty, start.largest * 0.98, 0.0)
    assert len(at.neurons) == 0
    assert len(below.neurons) >= 1
    shares = np.bincount(y) / len(y)
    p = np.exp(at.b) / np.exp(at.b).sum()
    assert np.allclose(p, shares)


def test_a_row_penalty_takes_neurons_whole() -> None:
    X, y = classes(300, 40, 5)
    loss = CrossEntropy(y, 5)
    largest = empty_fit(Design(X), loss, make_penalty("row", 0, 0)).largest
    _, fit = fitted(X, loss, "row", 0.3 * largest, 0.0)
    assert 0 < len(fit.neurons) < 40
    assert (fit.W[fit.neurons] != 0).all()


# -- properties -------------------------------------------------------------------------------------


@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), penalty=st.sampled_from(PENALTIES), share=st.floats(0.02, 0.9))
def test_shift_scale_and_order_of_neurons_change_nothing(
    seed: int, penalty: str, share: float
) -> None:
    random = np.random.default_rng(seed)
    X, y = classes(80, 9, 3, seed)
    y[:3] = [0, 1, 2]
    loss = CrossEntropy(y, 3)
    l1 = share * empty_fit(Design(X), loss, make_penalty(penalty, 0, 0)).largest
    _, fit = fitted(X, loss, penalty, l1, l1)
    order = random.permutation(9)
    moved = (
        X * random.uniform(0.01, 100, 9) * random.choice([-1, 1], 9) + random.normal(size=9) * 30
    )[:, order]
    _, other = fitted(moved, loss, penalty, l1, l1)
    assert other.objective == pytest.approx(fit.objective, rel=1e-7)
    assert np.allclose(np.abs(other.W), np.abs(fit.W[order]), atol=1e-4)


@pytest.mark.parametrize("rows", [7, 64, 1000])
def test_rows_in_chunks_give_the_same(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = classes(500, 60, 4)
    _, whole = fitted(X, CrossEntropy(y, 4), "row", 0.02, 0.0)
    monkeypatch.setattr(row_blocks, "CHUNK", rows)
    _, pieces = fitted(X, CrossEntropy(y, 4), "row", 0.02, 0.0)
    assert np.allclose(whole.W, pieces.W, atol=1e-8)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_a_path_gives_what_single_fits_give_in_fewer_iterations(penalty: str) -> None:
    X, y = classes(400, 80, 4)
    design, loss = Design(X), CrossEntropy(y, 4)
    start = empty_fit(design, loss, make_penalty(penalty, 0, 0))
    options = {"tolerance": 0.01, "iterations": 9999}
    path = list(fit_path(design, loss, penalty=penalty, l2=0.0, steps=12, **options))
    cold = [solve(design, loss, make_penalty(penalty, f.l1, 0.0), start, **options) for f in path]
    assert [f.l1 for f in path] == penalties_of_path(start.largest, 12).tolist()
    assert all(f.relative <= 0.01 for f in path)
    assert [f.objective for f in path] == pytest.approx([f.objective for f in cold], rel=1e-4)
    assert sum(f.iterations for f in path) < sum(f.iterations for f in cold)
    assert len(path[0].neurons) == 0 < len(path[-1].neurons)


def test_a_path_ends_where_it_is_told() -> None:
    X, y = classes(200, 30, 3)
    path = list(fit_path(Design(X), CrossEntropy(y, 3), stop=lambda f: len(f.neurons) >= 5))
    assert len(path[-1].neurons) >= 5 > len(path[-2].neurons)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"l1": [0.1, 0.2]}, "falling order"),
        ({"steps": 1}, "two steps"),
        ({"least": 2.0}, "share of the largest"),
    ],
)
def test_paths_that_cannot_be_meant(options: dict[str, Any], words: str) -> None:
    X, y = classes(50, 5, 3)
    with pytest.raises(lmkin.MeasureError, match=words):
        list(fit_path(Design(X), CrossEntropy(y, 3), **options))


def test_a_row_path_takes_planted_neurons_first() -> None:
    """On independent neurons the sets are nested: what carries most comes in first, and stays."""
    random = np.random.default_rng(0)
    X = random.normal(size=(4000, 60)).astype(np.float32)
    planted = [50, 7, 23, 31]
    W = np.zeros((60, 3))
    for j, size in zip(planted, (3.0, 2.0, 1.2, 0.7), strict=True):
        W[j] = size * np.array([1, -1, 0.5])
    y = (X @ W + random.gumbel(size=(4000, 3))).argmax(1)
    sets = [
        f.neurons.tolist()
        for f in fit_path(Design(X), CrossEntropy(y, 3), penalty="row", steps=25, least=0.1)
    ]
    assert all(set(a) <= set(b) for a, b in pairwise(sets))
    order = list(dict.fromkeys(j for some in sets for j in some))
    assert order == planted


def test_constant_neurons_have_no_weight() -> None:
    X, y = classes(200, 10, 3)
    X[:, 3], X[:, 7] = 5.0, 1e-32 * X[:, 7]
    design, fit = fitted(X, CrossEntropy(y, 3), "elementwise", 0.001, 0.0)
    assert not fit.W[[3, 7]].any()
    assert np.isfinite(design.unscaled(fit.W, fit.b)[0]).all()


def test_planted_neurons_are_found() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(3000, 100)).astype(np.float32)
    planted = [3, 41, 77]
    W = np.zeros((100, 4))
    W[planted] = random.normal(size=(3, 4)) * 2
    y = (X @ W + random.gumbel(size=(3000, 4))).argmax(1)
    loss = CrossEntropy(y, 4)
    largest = empty_fit(Design(X), loss, make_penalty("row", 0, 0)).largest
    _, fit = fitted(X, loss, "row", 0.3 * largest, 0.0, tolerance=0.01)
    assert fit.neurons.tolist() == planted


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_refused_with_its_column(bad: float) -> None:
    X, _ = classes(50, 5, 3)
    X[17, 2] = bad
    with pytest.raises(lmkin.MeasureError, match="Column 2 holds NaN"):
        Design(X)


@pytest.mark.parametrize(("name", "l1"), [("lasso", 0.1), ("row", -1.0), ("row", np.nan)])
def test_penalties_that_cannot_be_meant(name: str, l1: float) -> None:
    with pytest.raises(lmkin.MeasureError, match=r"Unknown penalty|0 or more"):
        make_penalty(name, l1, 0.0)


def test_a_row_that_is_nearly_0_is_shrunk_without_a_warning() -> None:
    """By an infinite share of its length."""
    W = np.array([[1e-310, 0.0], [3.0, 4.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shrunk = make_penalty("row", 1.0, 0.0).shrink(W, 1.0)
    np.testing.assert_allclose(shrunk, [[0, 0], [2.4, 3.2]])
