"""`Probe` by scikit-learn's own checks, and what lmkin promises beyond them."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

import lmkin
from lmkin import Probe
from lmkin.estimators.selection import held_out_rows

PROBES = [
    Probe(),
    Probe("regression"),
    Probe(penalty="row", l1=0.01),
    Probe("regression", penalty="row", l1=0.01),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
@parametrize_with_checks(PROBES)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    """All of them; scikit-learn itself skips one, of array libraries."""
    check(estimator)


def words(n: int = 600, d: int = 40, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows of which neurons 3 and 17 tell three labels."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) * random.uniform(0.1, 10, d) + random.normal(size=d) * 5
    Z = (X - X.mean(0)) / X.std(0)
    scores = np.stack([2 * Z[:, 3], 2 * Z[:, 17], np.zeros(n)], 1) + random.gumbel(size=(n, 3)) / 2
    return X, np.array(["NOUN", "VERB", "X"])[scores.argmax(1)]


def test_weights_are_for_the_columns_as_they_are() -> None:
    X, y = words()
    probe = Probe(l1=0.01).fit(X, y)
    scores = X @ probe.coef_.T + probe.intercept_
    assert probe.coef_.shape == (3, 40)
    assert (probe.classes_[scores.argmax(1)] == probe.predict(X)).all()
    exp = np.exp(scores - scores.max(1, keepdims=True))
    assert np.allclose(probe.predict_proba(X), exp / exp.sum(1, keepdims=True))
    assert set(np.flatnonzero((probe.coef_ != 0).any(0))) == set(probe.neurons_)


@pytest.mark.parametrize("penalty", ["elementwise", "row"])
def test_the_penalty_is_chosen_where_other_rows_are_predicted_best(penalty: str) -> None:
    (X, y), (other, true) = words(), words(seed=1)
    probe = Probe(penalty=penalty, tolerance=1e-4).fit(X, y, dev=(other, true))
    assert probe.l1_ == min(probe.path_, key=lambda step: step.dev_loss).l1
    assert probe.path_[0].neurons == 0
    step = next(s for s in probe.path_ if s.l1 == probe.l1_)
    assert step.dev_score == pytest.approx(probe.score(other, true))
    P = probe.predict_proba(other)[np.arange(len(true)), np.searchsorted(probe.classes_, true)]
    assert step.dev_loss == pytest.approx(-np.log(P).mean())
    assert probe.residual_ <= probe.tolerance
    alone = Probe(penalty=penalty, l1=probe.l1_, tolerance=1e-4).fit(X, y)
    assert np.allclose(alone.coef_, probe.coef_, atol=1e-3 * np.abs(probe.coef_).max())


def test_without_rows_that_choose_some_are_held_out_in_whole_groups() -> None:
    X, y = words()
    doubled, twice = np.repeat(X, 2, axis=0), np.repeat(y, 2)
    groups = np.repeat(np.arange(len(y)), 2)
    one = Probe(seed=3).fit(doubled, twice, groups=groups)
    same = Probe(seed=3).fit(doubled, twice, groups=groups)
    other = Probe(seed=4).fit(doubled, twice, groups=groups)
    assert (one.coef_ == same.coef_).all()
    assert [s.dev_loss for s in one.path_] != [s.dev_loss for s in other.path_]
    # Every row stands there twice: rows that choose are never copies of rows that are fitted.
    rows, held = held_out_rows(len(twice), 0.1, groups, seed=3)
    assert not set(groups[rows]) & set(groups[held])
    assert len(held) == 120
    assert sorted([*rows, *held]) == list(range(len(twice)))
    with pytest.raises(lmkin.LmkinError, match="one group"):
        Probe().fit(X, y, groups=np.zeros(len(y)))


def test_labels_that_were_not_fitted_are_wrong_and_do_not_choose() -> None:
    (X, y), (other, true) = words(), words(seed=1)
    true = true.astype("<U8")
    true[:100] = "UNSEEN"
    probe = Probe().fit(X, y, dev=(other, true))
    assert "UNSEEN" not in probe.classes_
    assert max(s.dev_score for s in probe.path_) < 500 / 600
    with pytest.raises(lmkin.LmkinError, match="No label"):
        Probe().fit(X, y, dev=(other, np.full(len(true), "ELSE")))


def test_tensors_and_layers_on_disk_are_as_good_as_arrays(tmp_path, tiny, sample) -> None:
    acts = lmkin.extract(tiny, sample[:40], tmp_path / "tiny.acts", progress=False)
    layer, y = acts.layer(1), acts.units.tags("upos")
    X = np.asarray(layer)
    expected = Probe(l1=0.02).fit(X, y)
    for rows in (layer, torch.as_tensor(X)):
        probe = Probe(l1=0.02).fit(rows, y)
        assert np.allclose(probe.coef_, expected.coef_, atol=1e-6)
        assert (probe.predict(rows) == expected.predict(X)).all()
    chosen = Probe(steps=6).fit(layer, y, groups=acts.units.sentence)
    assert np.allclose(chosen.coef_, Probe(steps=6).fit(X, y, groups=acts.units.sentence).coef_)


def test_a_fit_that_did_not_end_says_so() -> None:
    X, y = words()
    with pytest.warns(ConvergenceWarning, match="KKT residual"):
        Probe(l1=1e-5, iterations=3, tolerance=1e-6).fit(X, y)


def test_without_a_penalty_it_is_maximum_likelihood() -> None:
    X, y = words(400, 20)
    probe = Probe(l1=0.0, l2=0.0, tolerance=1e-7, iterations=20_000).fit(X, y)
    P = probe.predict_proba(X)
    P[np.arange(len(y)), np.searchsorted(probe.classes_, y)] -= 1
    assert np.abs(X.T @ P / len(y)).max() < 1e-4 * np.abs(X).max()


def test_it_is_cloned_and_pickled() -> None:
    X, y = words(200)
    probe = Probe(penalty="row", l1=0.05).fit(X, y)
    assert clone(probe).get_params() == probe.get_params()
    assert (pickle.loads(pickle.dumps(probe)).predict(X) == probe.predict(X)).all()


@pytest.mark.parametrize(
    ("options", "words_of_error"),
    [
        ({"task": "ranking"}, "task is 'classification' or 'regression'"),
        ({"penalty": "lasso"}, "Unknown penalty"),
        ({"l1": -1.0}, "l1 is 0 or more"),
        ({"dev_share": 1.5}, "dev_share is a fraction"),
        ({"steps": 1}, "two steps"),
        ({"l1": "auto"}, "l1 is a number, 0 or more, or None .*'auto'"),
        ({"l2": "auto"}, "l2 is a number"),
        ({"l1": True}, "l1 is a number"),
        ({"tolerance": 0}, "tolerance is a share .* above 0"),
        ({"tolerance": -1.0}, "got -1.0"),
        ({"tolerance": float("nan")}, "tolerance is a share"),
        ({"iterations": 0}, "iterations is a whole number, 1 or more"),
        ({"iterations": 2.5}, "iterations is a whole number"),
    ],
)
def test_options_that_cannot_be_meant(options: dict[str, Any], words_of_error: str) -> None:
    X, y = words(60)
    with pytest.raises(lmkin.LmkinError, match=words_of_error):
        Probe(**options).fit(X, y)


@pytest.mark.parametrize(
    ("dev", "words_of_error"),
    [
        (lambda X, y: (np.where(X > 5, np.nan, X), y), "holds NaN"),
        (lambda X, y: (X[:, :3], y), "3 features, but Probe is expecting 40"),
        (lambda X, y: (X, y[:9]), "60 rows, and 9 labels"),
        (lambda X, y: X, "a pair of rows and labels"),
    ],
)
def test_rows_that_cannot_choose_are_refused(dev: Any, words_of_error: str) -> None:
    X, y = words(60)
    with pytest.raises((lmkin.LmkinError, ValueError), match=words_of_error):
        Probe().fit(X, y, dev=dev(X, y))
    assert Probe(l1=0.1).fit(X, y).predict(X).shape == (60,)
    Probe(steps=3, least=0.1).fit(X, y, dev=(X.tolist(), y.tolist()))


def test_another_layer_on_disk_is_refused(tmp_path, tiny, sample) -> None:
    acts = lmkin.extract(tiny, sample[:20], tmp_path / "tiny.acts", progress=False)
    probe = Probe(l1=0.1).fit(*words(60))
    with pytest.raises(lmkin.LmkinError, match="Is it another layer"):
        probe.predict(acts.layer(1))


def test_labels_and_groups_that_cannot_be_compared_are_refused() -> None:
    X, y = words(60)
    names = y.astype(object)
    with pytest.raises(lmkin.LmkinError, match=r"cannot be compared .* one is 0, another 'NOUN'"):
        Probe().fit(X, names, dev=(X, np.zeros(60, int)))
    groups = ["a"] * 30 + [None] * 30
    with pytest.raises(
        lmkin.LmkinError, match="groups cannot be told apart: they are NoneType and str"
    ):
        Probe().fit(X, y, groups=groups)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("penalty", ["elementwise", "row"])
@pytest.mark.parametrize("tolerance", [1e-6, 1e-9, 1e-14])
def test_a_tolerance_beyond_single_precision_ends(penalty: str, tolerance: float) -> None:
    """What rounding leaves is no step; the fit ends, and says how far it came."""
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 10))
    y = np.where(X[:, 0] + 0.3 * random.normal(size=300) > 0, "a", "b")
    exact = Probe(penalty=penalty, l1=0.05, tolerance=1e-6).fit(X, y)
    single = Probe(penalty=penalty, l1=0.05, tolerance=tolerance, iterations=200)
    single.fit(X.astype(np.float32), y)
    assert np.allclose(single.coef_, exact.coef_, atol=1e-4)
    assert single.residual_ < 1e-3


def test_a_label_of_rows_held_out_here_takes_no_part_in_the_choice_either() -> None:
    """As a label of rows that are given: the loss on held-out rows is of the others alone."""
    X, y = words(300)
    _, held = held_out_rows(300, 0.1, None, seed=0)
    y = y.astype("<U8")
    y[held[0]] = "ONLY"
    inside = Probe(steps=8).fit(X, y)
    rows = np.setdiff1d(np.arange(300), held)
    given = Probe(steps=8).fit(X[rows], y[rows], dev=(X[held], y[held]))
    assert "ONLY" in inside.classes_
    assert "ONLY" not in given.classes_
    for mine, theirs in zip(inside.path_[1:], given.path_[1:], strict=False):
        assert mine.dev_loss == pytest.approx(theirs.dev_loss, abs=0.02)


@settings(max_examples=8)
@given(factor=st.floats(1e-4, 1e6), seed=st.integers(0, 99), share=st.sampled_from([None, 0.1]))
@pytest.mark.parametrize("penalty", ["elementwise", "row"])
def test_the_unit_of_scores_does_not_matter(
    penalty: str, factor: float, seed: int, share: float | None
) -> None:
    """λ₁ goes with the unit of y, chosen or given; λ₂, where none is given, does not."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(120, 8))
    Y = X[:, :2] @ random.normal(size=(2, 2)) + 0.1 * random.normal(size=(120, 2)) + 3
    options = {"penalty": penalty, "tolerance": 1e-5, "steps": 8}
    probe = Probe("regression", l1=share, **options).fit(X, Y)
    scaled = Probe("regression", l1=share and share * factor, **options).fit(X, Y * factor)
    assert scaled.l1_ == pytest.approx(probe.l1_ * factor, rel=1e-6)
    assert scaled.l2_ == pytest.approx(probe.l2_, rel=1e-6)
    assert np.allclose(scaled.coef_, probe.coef_ * factor, atol=1e-4 * factor)
    assert scaled.score(X, Y * factor) == pytest.approx(probe.score(X, Y), abs=1e-4)
    assert probe.score(X, Y) > 0.8


def test_one_class_is_refused() -> None:
    X, y = words(60)
    with pytest.raises(ValueError, match="one class only, 'NOUN'"):
        Probe().fit(X, np.full(len(y), "NOUN"))
