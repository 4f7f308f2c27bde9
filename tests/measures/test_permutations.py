"""What chance gives: the p-values of shuffled rows."""

from __future__ import annotations

import numpy as np
import pytest

import lmkin
from lmkin.measures import measure_function, measure_names
from measures.layer_pairs import correlated
from measures.naive import NAIVE

X, Y = correlated(np.random.default_rng(0), 80, 4, 5)


@pytest.mark.parametrize("name", measure_names())
def test_every_measure(name: str) -> None:
    layers = {"a/0": X, "a/1": X[:, :2], "b/0": Y}
    null = lmkin.permutation_baseline(layers, measure=name, permutations=39, seed=3, progress=False)
    for x, A in layers.items():
        for y, B in layers.items():
            expected = NAIVE[name](A, B)
            assert null.value.sel(x=x, y=y).item() == pytest.approx(expected, abs=1e-8)
    assert (null.p_max >= null.p).all()
    assert (null.p >= 1 / 40).all()
    assert null.p.sel(x="a/0", y="b/0").item() == 1 / 40
    again = lmkin.permutation_baseline(
        layers, measure=name, permutations=39, seed=3, progress=False
    )
    other = lmkin.permutation_baseline(
        layers, measure=name, permutations=39, seed=4, progress=False
    )
    assert (again.null_mean == null.null_mean).all()
    assert not np.allclose(
        other.null_mean.sel(x="a/0", y="b/0"), null.null_mean.sel(x="a/0", y="b/0")
    )
    if lmkin.measures.measure_info(name).unbiased:
        assert abs(null.null_mean.sel(x="a/0", y="b/0").item()) < 0.05


@pytest.mark.parametrize("name", ["ckasim", "svsim", "rbfcka"])
@pytest.mark.parametrize("neurons", ["raw", "standardized"])
def test_the_null_is_that_of_shuffled_rows(name: str, neurons: str) -> None:
    """Its mean and spread, against shuffles of our own."""
    rng = np.random.default_rng(1)
    measure = measure_function(name, neurons=neurons)
    own = [measure(X, Y[rng.permutation(80)]) for _ in range(300)]
    null = lmkin.permutation_baseline(
        {"a": X, "b": Y}, measure=name, permutations=300, neurons=neurons, x="a", y="b"
    )
    assert null.null_mean.shape == (1, 1)
    error = np.std(own) * np.sqrt(2 / 300)
    assert null.null_mean.item() == pytest.approx(np.mean(own), abs=4 * error)
    assert null.null_sd.item() == pytest.approx(np.std(own), rel=0.3)


def test_p_is_uniform_where_layers_are_unrelated() -> None:
    rng = np.random.default_rng(5)
    p = [
        lmkin.permutation_baseline(
            {"a": rng.normal(size=(30, 3)), "b": rng.normal(size=(30, 3))},
            permutations=19, seed=k, x="a", y="b", progress=False,
        ).p.item()
        for k in range(200)
    ]  # fmt: skip
    assert set(np.round(np.array(p) * 20)) <= set(range(1, 21))
    # Three standard errors of a uniform mean and of a share of 1/10.
    assert np.mean(p) == pytest.approx(0.525, abs=3 * 0.288 / np.sqrt(200))
    assert np.mean(np.array(p) <= 0.1) == pytest.approx(0.1, abs=3 * 0.3 / np.sqrt(200))


def test_the_best_of_many_pairs_is_not_taken_for_more_than_it_is() -> None:
    """Among unrelated layers the smallest p is often small; p_max of the same pair is not."""
    rng = np.random.default_rng(6)
    smallest, corrected = [], []
    for k in range(30):
        layers = {f"{m}/{n}": rng.normal(size=(40, 3)) for m in "ab" for n in range(4)}
        null = lmkin.permutation_baseline(
            layers, permutations=19, seed=k, x="a", y="b", progress=False
        )
        smallest.append(null.p.values.min())
        corrected.append(null.p_max.values.min())
    assert np.mean(np.array(smallest) <= 0.05) > 0.25
    assert np.mean(np.array(corrected) <= 0.05) < 0.25


@pytest.mark.parametrize("name", ["mixedsim", "svsim", "pwsim"])
def test_perfect_fits_of_shuffled_rows_are_no_finding(name: str) -> None:
    """Fewer rows than neurons: every order of the rows fits perfectly, whatever rounding says."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        layers = {"a": rng.normal(size=(30, 60)), "b": rng.normal(size=(30, 50))}
        options = {} if name == "mixedsim" else {"variance": 1.0}
        null = lmkin.permutation_baseline(
            layers, measure=name, permutations=19, x="a", y="b", measure_options=options
        )
        assert null.p.item() == 1
        assert null.p_max.item() == 1


def test_a_sample_of_many_rows() -> None:
    A, B = correlated(np.random.default_rng(7), 5000, 3, 3)
    null = lmkin.permutation_baseline({"a": A, "b": B}, sample_rows=200, permutations=9)
    assert null.attrs["n"] == 200
    assert null.value.sel(x="a/0", y="b/0").item() == pytest.approx(
        NAIVE["ckasim"](A[:800], B[:800]), abs=0.15
    )
    moments = lmkin.compute_moments({"a": A, "b": B}, sample_rows=150)
    assert lmkin.permutation_baseline(moments, permutations=9).attrs["n"] == 150


def test_offsets_do_not_matter() -> None:
    plain = lmkin.permutation_baseline({"a": X, "b": Y}, permutations=9)
    moved = lmkin.permutation_baseline({"a": X + 1e4, "b": Y - 1e4}, permutations=9)
    for name in ("value", "null_mean", "p"):
        assert moved[name].values == pytest.approx(plain[name].values, abs=1e-7)


def test_clear_errors() -> None:
    layers = {"a/0": X, "b/0": Y}
    for bad in (0, -1, True, 2.5):
        with pytest.raises(lmkin.LmkinError, match="permutations"):
            lmkin.permutation_baseline(layers, permutations=bad)
    with pytest.raises(lmkin.LmkinError, match="no model or layer 'c'"):
        lmkin.permutation_baseline(layers, x="c")
    with pytest.raises(lmkin.LmkinError, match="'raw' or 'standardized' here"):
        lmkin.permutation_baseline(layers, neurons="both")
    with pytest.raises(lmkin.LmkinError, match="are constant"):
        lmkin.permutation_baseline({"a/0": X, "b/0": np.ones_like(Y)})
    with pytest.raises(lmkin.LmkinError, match="keep none"):
        lmkin.permutation_baseline(lmkin.compute_moments(layers, sample_rows=0))
    with pytest.raises(lmkin.LmkinError, match="No option 'ridge'"):
        lmkin.permutation_baseline(layers, measure_options={"ridge": 1})
