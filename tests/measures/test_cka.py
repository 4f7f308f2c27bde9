"""Linear CKA against Gram matrices written out, and the properties that it claims."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lmkin
from lmkin.measures import cka_matrix, linear_cka


def gram_hsic_biased(X: np.ndarray, Y: np.ndarray) -> float:
    n = len(X)
    H = np.eye(n) - 1 / n
    return float(np.trace(X @ X.T @ H @ Y @ Y.T @ H))


def gram_hsic_unbiased(X: np.ndarray, Y: np.ndarray) -> float:
    """Song et al. (2012), equation 5, on n × n matrices."""
    n = len(X)
    K, L = X @ X.T, Y @ Y.T
    np.fill_diagonal(K, 0)
    np.fill_diagonal(L, 0)
    one = np.ones(n)
    terms = np.trace(K @ L) + (one @ K @ one) * (one @ L @ one) / ((n - 1) * (n - 2))
    return float((terms - 2 / (n - 2) * (one @ K @ L @ one)) / (n * (n - 3)))


def naive_cka(X: np.ndarray, Y: np.ndarray, estimator: str) -> float:
    hsic = gram_hsic_unbiased if estimator == "unbiased" else gram_hsic_biased
    return hsic(X, Y) / np.sqrt(hsic(X, X) * hsic(Y, Y))


def pair(
    seed: int, n: int = 60, d: int = 5, e: int = 8, shared: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, shared * X @ rng.normal(size=(d, e)) + rng.normal(size=(n, e))


@pytest.mark.parametrize("estimator", ["biased", "unbiased"])
@given(st.integers(0, 10_000), st.integers(4, 80), st.integers(1, 30), st.integers(1, 30))
def test_equals_the_definition(estimator: str, seed: int, n: int, d: int, e: int) -> None:
    X, Y = pair(seed, n, d, e)
    hsic = gram_hsic_unbiased
    if estimator == "unbiased" and min(hsic(X, X), hsic(Y, Y)) <= 1e-6:
        return  # a self-similarity of nearly 0: the ratio is not defined
    # With few units the unbiased self-similarity can be tiny, and the ratio large.
    assert linear_cka(X, Y, estimator=estimator) == pytest.approx(
        naive_cka(X, Y, estimator), rel=1e-3, abs=1e-4
    )


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.floats(0.01, 100), st.floats(-1000, 1000))
def test_invariant_to_rotation_scale_and_shift(seed: int, scale: float, shift: float) -> None:
    X, Y = pair(seed)
    Q, _ = np.linalg.qr(np.random.default_rng(seed + 1).normal(size=(5, 5)))
    assert linear_cka(scale * X @ Q + shift, Y) == pytest.approx(linear_cka(X, Y), abs=1e-4)


def test_not_invariant_to_other_linear_maps() -> None:
    X, Y = pair(0)
    stretch = np.diag([100.0, 1, 1, 1, 1])
    assert abs(linear_cka(X @ stretch, Y) - linear_cka(X, Y)) > 0.05


def test_symmetric_and_one_with_itself() -> None:
    X, Y = pair(3)
    table = cka_matrix([X, Y, X + Y[:, :5]])
    np.testing.assert_allclose(table, table.T)
    np.testing.assert_allclose(np.diag(table), 1)


def test_null_is_zero_only_for_the_unbiased_one() -> None:
    rng = np.random.default_rng(0)
    pairs = [(rng.normal(size=(200, 100)), rng.normal(size=(200, 100))) for _ in range(20)]
    unbiased = [linear_cka(X, Y) for X, Y in pairs]
    biased = [linear_cka(X, Y, estimator="biased") for X, Y in pairs]
    assert abs(np.mean(unbiased)) < 3 * np.std(unbiased) / np.sqrt(len(pairs))
    assert np.mean(biased) > 0.25
    assert min(unbiased) < 0  # and is not clamped


def test_an_offset_in_a_few_dimensions_changes_nothing() -> None:
    """The trap: uncentred float32 sums turned 0.36 into 0.00 or 1.00."""
    X, Y = pair(1, n=500, d=50, e=50)
    offset = np.zeros(50)
    offset[:3] = 1e4
    shifted = (X + offset).astype(np.float32)
    assert linear_cka(shifted, Y) == pytest.approx(
        linear_cka(shifted.astype(np.float64) - offset, Y), abs=1e-4
    )


def test_a_rogue_dimension_decides_alone_until_standardized() -> None:
    rng = np.random.default_rng(2)
    X, Y = rng.normal(size=(2000, 50)), rng.normal(size=(2000, 50))
    rogue = rng.normal(size=2000) * 30
    X[:, 0] = rogue
    Y[:, 0] = rogue
    assert linear_cka(X, Y) > 0.9
    assert abs(linear_cka(X, Y, standardize=True)) < 0.1


def test_a_constant_neuron_is_harmless() -> None:
    X, Y = pair(4)
    with_constant = np.hstack([X, np.full((len(X), 1), 7.0)])
    for standardize in (False, True):
        assert linear_cka(with_constant, Y, standardize=standardize) == pytest.approx(
            linear_cka(X, Y, standardize=standardize), abs=1e-6
        )


@pytest.mark.parametrize(
    ("X", "says"),
    [
        (np.zeros((10, 3)), "all alike"),
        (np.full((10, 3), np.nan), "NaN"),
        (np.zeros(10), "shape"),
        (np.ones((3, 3)), "same rows"),
    ],
)
def test_what_has_no_cka(X: np.ndarray, says: str) -> None:
    with pytest.raises(lmkin.LmkinError, match=says):
        linear_cka(X, np.random.default_rng(0).normal(size=(10, 3)))


def test_too_few_units_and_unknown_estimators() -> None:
    with pytest.raises(lmkin.LmkinError, match="at least 4"):
        linear_cka(np.eye(3), np.eye(3))
    with pytest.raises(lmkin.LmkinError, match="Did you mean 'unbiased'"):
        linear_cka(np.eye(5), np.eye(5), estimator="unbias")


def test_layers_of_different_words_are_refused(tiny, sample) -> None:
    a, b = lmkin.extract(tiny, sample[:1]), lmkin.extract(tiny, sample[1:2])
    with pytest.raises(lmkin.LmkinError, match="different words"):
        linear_cka(a.layer(0), b.layer(0))
    with pytest.raises(lmkin.LmkinError, match=r"give acts\.layer\(0\)"):
        linear_cka(a, a)
    assert linear_cka(a.layer(1), lmkin.extract(tiny, sample[:1]).layer(1)) == pytest.approx(1)
