"""Measures of a user's own, and the helpers around the registry."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import lmkin
from lmkin.measures import Scored, forget, measure_info, measure_names
from lmkin.results import average_similarity
from measures.layer_pairs import correlated
from measures.naive import NAIVE

X, Y = correlated(np.random.default_rng(0), 90, 5, 7)


@pytest.fixture
def meansim() -> Iterator[str]:
    @lmkin.measure("meansim", symmetric=True, range=(-1, 1), invariances=["shift", "scale"])
    def meansim(A: np.ndarray, B: np.ndarray, *, power: int = 1) -> float:
        """Correlation of the mean activations."""
        return float(np.corrcoef(A.mean(1) ** power, B.mean(1) ** power)[0, 1])

    yield "meansim"
    if "meansim" in measure_names():
        forget("meansim")


def test_ours_come_first_and_in_the_order_of_the_paper() -> None:
    first = ["neuronsim", "mixedsim", "svsim", "pwsim", "ckasim", "procrustes", "rbfcka"]
    assert measure_names()[: len(first)] == first


def test_a_measure_of_ones_own_works_everywhere(meansim: str) -> None:
    expected = np.corrcoef(X.mean(1), Y.mean(1))[0, 1]
    assert measure_names()[-1] == meansim
    table = lmkin.similarity({"x": X, "y": Y}, measures=meansim, neurons="raw").matrix()
    assert table.values[0, 1] == pytest.approx(expected)
    assert table.values[1, 0] == pytest.approx(expected)
    assert table.attrs["summary"] == "Correlation of the mean activations."
    result = lmkin.similarity({"x": X, "y": Y}, measures="all", neurons="raw")
    assert set(measure_names()) <= set(result.dataset.data_vars)
    assert result.meansim.sel(model_x="x", model_y="y").item() == pytest.approx(expected)
    assert np.isfinite(result.meansim_se.values).all()
    assert lmkin.measure_function(meansim)(X, Y) == pytest.approx(expected)
    assert average_similarity(result).meansim.sel(model="x").item() == pytest.approx(expected)
    null = lmkin.permutation_baseline({"x": X, "y": Y}, measure=meansim, permutations=9)
    assert null.value.sel(x="x/0", y="y/0").item() == pytest.approx(expected)


def test_its_options_are_those_of_the_function(meansim: str) -> None:
    assert measure_info(meansim).options == ("power",)
    expected = np.corrcoef(X.mean(1) ** 2, Y.mean(1) ** 2)[0, 1]
    assert lmkin.similarity(
        {"x": X, "y": Y}, measures=meansim, neurons="raw", measure_options={"power": 2}
    ).matrix().values[0, 1] == pytest.approx(expected)
    # An option goes to the measures that have it.
    both = lmkin.similarity(
        {"x": X, "y": Y},
        measures=["meansim", "svsim"],
        neurons="raw",
        measure_options={"power": 2, "variance": 0.5},
    )
    assert both.meansim.values[0, 0, 1, 0] == pytest.approx(expected)
    assert both.svsim.values[0, 0, 1, 0] == pytest.approx(NAIVE["svsim"](X, Y, variance=0.5))
    with pytest.raises(lmkin.LmkinError, match=r"No option 'powr'.*Did you mean 'power'"):
        lmkin.similarity({"x": X, "y": Y}, measures=meansim, measure_options={"powr": 2})


def test_implied_invariances_are_added() -> None:
    lmkin.measure("anything", invariances=["linear"])(lambda A, B: 0.5)
    try:
        declared = measure_info("anything").invariances
    finally:
        forget("anything")
    assert declared == {"linear", "rotation", "permutation", "scale", "sign", "neuron-scale"}


def test_a_measure_of_moments_may_give_details() -> None:
    @lmkin.measure("firstcov", needs="moments", details=("which",))
    def firstcov(pair: lmkin.measures.Pair) -> Scored:
        """The largest covariance of every neuron."""
        S = np.abs(pair.cov)
        return Scored(S.max(), {"which": S.argmax(axis=1)})

    try:
        result = lmkin.similarity(
            {"x": X, "y": Y}, measures="firstcov", neurons="raw", intervals=False
        )
    finally:
        forget("firstcov")
    S = np.abs(np.cov(X.T, Y.T)[:5, 5:])
    assert result.firstcov.values[0, 0, 1, 0] == pytest.approx(S.max())
    assert result.firstcov_which.values[0, 0, 1, 0, :5].tolist() == S.argmax(axis=1).tolist()


def test_names_are_taken_once(meansim: str) -> None:
    for name in (meansim, "ckasim"):
        with pytest.raises(lmkin.LmkinError, match=f"measure '{name}' already"):
            lmkin.measure(name)(lambda A, B: 0.0)
    lmkin.measure(meansim, replace=True)(lambda A, B: 0.25)
    assert (
        lmkin.similarity({"x": X, "y": Y}, measures=meansim, neurons="raw").matrix().values[0, 1]
        == 0.25
    )
    forget(meansim)
    with pytest.raises(lmkin.LmkinError, match="Unknown measure 'meansim'"):
        forget(meansim)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"name": "two words"}, "letters, digits"),
        ({"name": "a", "needs": "rowz"}, "needs is one of"),
        ({"name": "a", "invariances": ["rotations"]}, "Did you mean 'rotation'"),
    ],
)
def test_what_cannot_be_registered(arguments: dict[str, object], says: str) -> None:
    with pytest.raises(lmkin.LmkinError, match=says):
        lmkin.measure(**arguments)(lambda A, B: 0.0)  # type: ignore[arg-type]
    assert "a" not in measure_names()


def test_an_unknown_name_gets_a_suggestion() -> None:
    layers, says = {"x": X, "y": Y}, r"Unknown measure 'ckasimm'. Did you mean 'ckasim'"
    with pytest.raises(lmkin.LmkinError, match=says):
        lmkin.similarity(layers, measures="ckasimm")
    with pytest.raises(lmkin.LmkinError, match=says):
        lmkin.permutation_baseline(layers, measure="ckasimm")


def test_a_measure_must_return_a_finite_number() -> None:
    for returned, says in ((np.nan, "gives nan"), ("much", "must return a number")):
        lmkin.measure("broken", replace=True)(lambda A, B, returned=returned: returned)
        with pytest.raises(lmkin.LmkinError, match=f"broken {says}"):
            lmkin.similarity({"x": X, "y": Y}, measures="broken", neurons="raw").matrix()
    forget("broken")


def test_names_with_commas_and_lists() -> None:
    for names in ("svsim, ckasim", ["svsim", "ckasim", "svsim"]):
        result = lmkin.similarity({"x": X}, measures=names, neurons="raw", intervals=False)
        assert list(result.dataset.data_vars) == ["svsim", "ckasim"]
    with pytest.raises(lmkin.LmkinError, match="No measure"):
        lmkin.similarity({"x": X}, measures=[], neurons="raw")


def test_linear_cka_is_ckasim() -> None:
    for estimator in ("unbiased", "biased"):
        for neurons in ("raw", "standardized"):
            expected = NAIVE["ckasim"](
                X, Y, estimator=estimator, standardize=neurons == "standardized"
            )
            cka = lmkin.linear_cka(X, Y, estimator=estimator, neurons=neurons)
            assert cka == pytest.approx(expected)


def test_layers_of_different_words_are_refused(tiny, sample) -> None:
    a, b = lmkin.extract(tiny, sample[:1]), lmkin.extract(tiny, sample[1:2])
    with pytest.raises(lmkin.LmkinError, match="different words"):
        lmkin.linear_cka(a.layer(0), b.layer(0))
    with pytest.raises(lmkin.LmkinError, match=r"different words|same rows"):
        lmkin.similarity(
            {"a": a.layer(0), "b": b.layer(0)}, measures="ckasim", neurons="raw"
        ).matrix()
    with pytest.raises(lmkin.LmkinError, match=r"give acts\.layer\(0\)"):
        lmkin.linear_cka(a, a)
    assert lmkin.linear_cka(a.layer(1), lmkin.extract(tiny, sample[:1]).layer(1)) == pytest.approx(
        1
    )


def test_a_measure_that_fails_is_named_with_its_layers() -> None:
    @lmkin.measure("failsim")
    def failsim(A: np.ndarray, B: np.ndarray) -> float:
        raise ValueError("my own mistake")

    says = r"failsim failed for a/0 and a/0: ValueError: my own mistake"
    try:
        with pytest.raises(lmkin.LmkinError, match=says):
            lmkin.similarity({"a/0": X, "b/0": Y}, measures="failsim", progress=False)
    finally:
        forget("failsim")
