"""Regression of several outputs: the unit of each does not matter to itself nor to the others."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import ElasticNet
from sklearn.metrics import r2_score
from sklearn.preprocessing import StandardScaler

import lmkin
from lmkin.estimators import rate

SCALES = np.array([1e-3, 1.0, 1e4])


def rows(n: int = 400, d: int = 12) -> tuple[Any, Any]:
    """Three scores of very different scale, of two neurons each, and noise."""
    random = np.random.default_rng(0)
    X = random.normal(size=(n, d)) * random.uniform(0.5, 3, d) + 1
    W = np.zeros((d, 3))
    W[[0, 1, 2, 3, 4, 5], [0, 0, 1, 1, 2, 2]] = [1, -1, 2, 1, 1, 1]
    return X, (X @ W + random.normal(size=(n, 3))) * SCALES + 5 * SCALES


def test_each_output_is_the_elastic_net_of_scikit_learn_at_its_own_penalty() -> None:
    X, Y = rows()
    deviation = Y.std(0)
    share = deviation / np.sqrt((deviation**2).mean())
    l1, l2 = 0.1 * float(np.sqrt((deviation**2).mean())), 0.05
    probe = lmkin.Probe("regression", l1=l1, l2=l2, tolerance=1e-8, iterations=20_000).fit(X, Y)
    scaler = StandardScaler().fit(X)
    Z = scaler.transform(X)
    for c in range(3):
        own = l1 * share[c] + 2 * l2
        net = ElasticNet(alpha=own, l1_ratio=l1 * share[c] / own, tol=1e-12, max_iter=100_000)
        net.fit(Z, Y[:, c])
        coef = net.coef_ / scaler.scale_
        assert ((probe.coef_[c] != 0) == (coef != 0)).all()
        assert 2 <= (coef != 0).sum() < 12
        np.testing.assert_allclose(probe.coef_[c], coef, rtol=1e-4, atol=1e-6 * deviation[c])
        assert probe.intercept_[c] == pytest.approx(net.intercept_ - coef @ scaler.mean_, rel=1e-4)


@pytest.mark.parametrize("penalty", ["elementwise", "row"])
@pytest.mark.parametrize("l1", [None, 0.1])
def test_the_unit_of_one_output_changes_nothing_of_the_others(
    penalty: Any, l1: float | None
) -> None:
    X, Y = rows()
    options: dict[str, Any] = {"penalty": penalty, "tolerance": 1e-5, "steps": 8}
    same = Y / SCALES

    def fitted(scores: Any) -> lmkin.Probe:
        spread = float(np.sqrt(scores.var(0).mean()))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return lmkin.Probe("regression", l1=None if l1 is None else l1 * spread, **options).fit(
                X, scores
            )

    one, other = fitted(same), fitted(Y)
    np.testing.assert_allclose(other.coef_, one.coef_ * SCALES[:, None], rtol=1e-3, atol=1e-9)
    np.testing.assert_allclose(other.predict(X), one.predict(X) * SCALES, rtol=1e-3, atol=1e-6)
    assert [s.neurons for s in one.path_] == [s.neurons for s in other.path_]
    assert other.score(X, Y) > 0.7
    assert set(one.neurons_) >= set(range(6))


def test_a_constant_output_has_no_weights() -> None:
    X, Y = rows()
    probe = lmkin.Probe("regression", l1=0.1).fit(
        X, np.column_stack([Y[:, 1], np.full(len(Y), 7.0)])
    )
    assert (probe.coef_[1] == 0).all()
    assert probe.intercept_[1] == pytest.approx(7)
    assert (probe.coef_[0] != 0).any()


def test_one_output_is_as_it_was() -> None:
    """λ₁ is in the unit of the score."""
    X, Y = rows()
    flat = lmkin.Probe("regression", l1=0.2).fit(X, Y[:, 1])
    column = lmkin.Probe("regression", l1=0.2).fit(X, Y[:, 1:2])
    np.testing.assert_array_equal(flat.coef_, column.coef_[0])
    scaler = StandardScaler().fit(X)
    l2 = 0.2 / Y[:, 1].std()
    net = ElasticNet(alpha=0.2 + 2 * l2, l1_ratio=0.2 / (0.2 + 2 * l2), tol=1e-10).fit(
        scaler.transform(X), Y[:, 1]
    )
    np.testing.assert_allclose(flat.coef_, net.coef_ / scaler.scale_, atol=0.01)


def test_rows_that_choose_are_rated_as_scikit_learn_does() -> None:
    random = np.random.default_rng(0)
    true = random.normal(size=(30, 3))
    told = true + random.normal(size=(30, 3))
    assert rate(told, true) == pytest.approx(r2_score(true, told))
    assert rate(told[:, :1], true[:, 0]) == pytest.approx(r2_score(true[:, 0], told[:, 0]))
    for constant in (told, true):
        given = np.column_stack([true[:, :2], np.full(30, 2.0)])
        constant = np.column_stack([constant[:, :2], np.full(30, 2.0 if constant is true else 3.0)])
        assert rate(constant, given) == pytest.approx(r2_score(given, constant))
    assert np.isnan(rate(told[:1], true[:1]))
    assert rate(np.eye(3), np.array([0, 1, -1])) == pytest.approx(2 / 3)


@pytest.mark.parametrize(("outputs", "others"), [(2, 1), (1, 2)])
def test_rows_that_choose_have_as_many_outputs(outputs: int, others: int) -> None:
    X = np.random.default_rng(0).normal(size=(60, 4))
    y, dev = X[:, :outputs], X[:20, :others]
    with pytest.raises(
        lmkin.LmkinError, match=f"dev has scores of {others} outputs, and y of {outputs}"
    ):
        lmkin.Probe("regression").fit(X, y, dev=(X[:20], dev))
