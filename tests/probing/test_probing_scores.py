"""Scores and their errors against scikit-learn, scipy and the definition of the jackknife."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr, spearmanr
from scipy.stats import t as t_distribution
from sklearn.metrics import accuracy_score, f1_score, matthews_corrcoef, r2_score, recall_score

import lmkin
from lmkin.analyses.probing.scored import mean_of
from lmkin.analyses.probing.scores import (
    f1_by_class,
    recall_by_class,
    score_classes,
    score_numbers,
    tally,
)
from probing.naive_probing import jackknife_error

LABELS = st.integers(2, 5).flatmap(
    lambda c: st.tuples(
        st.just(c),
        st.lists(
            st.tuples(st.integers(-1, c - 1), st.integers(0, c - 1), st.integers(0, 3)),
            min_size=8,
            max_size=40,
        ),
    )
)


def arrays(rows: list[tuple[int, int, int]]) -> tuple[Any, Any, Any]:
    true, predicted, part = (np.array(column) for column in zip(*rows, strict=True))
    return true, predicted, np.unique(part, return_inverse=True)[1]


@given(LABELS)
def test_scores_of_classes_are_those_of_scikit_learn(case: Any) -> None:
    """A label that train has not (−1) is a class that is never predicted: wrong, and no class of the mean of F1."""
    classes, rows = case
    true, predicted, _ = arrays(rows)
    scored = score_classes(true, predicted, classes, None, 0.95)
    assert scored.interval is None
    present = sorted({*true[true >= 0].tolist(), *predicted.tolist()})
    assert scored.value[0] == pytest.approx(accuracy_score(true, predicted))
    assert scored.value[1] == pytest.approx(
        f1_score(true, predicted, labels=present, average="macro")
    )
    if len(set(true.tolist())) > 1 and len(set(predicted.tolist())) > 1:
        assert scored.value[2] == pytest.approx(matthews_corrcoef(true, predicted), abs=1e-12)
    else:
        assert np.isnan(scored.value[2])


@given(LABELS)
def test_f1_and_recall_of_each_class(case: Any) -> None:
    classes, rows = case
    true, predicted, _ = arrays(rows)
    counts = tally(true, predicted, classes, None)[0]
    every = range(classes)
    f1 = f1_score(true, predicted, labels=list(every), average=None, zero_division=np.nan)
    recall = recall_score(true, predicted, labels=list(every), average=None, zero_division=np.nan)
    np.testing.assert_allclose(f1_by_class(counts), f1)
    np.testing.assert_allclose(recall_by_class(counts), recall)


@given(LABELS)
def test_errors_of_classes_are_a_jackknife(case: Any) -> None:
    classes, rows = case
    true, predicted, part = arrays(rows)
    scored = score_classes(true, predicted, classes, part, 0.9)
    if part.max() == 0:
        assert scored.interval is None
        return
    assert scored.interval is not None
    error = jackknife_error(lambda kept: accuracy_score(true[kept], predicted[kept]), part)
    assert scored.interval.se[0] == pytest.approx(error, abs=1e-12)
    assert scored.sizes == tuple(np.bincount(part))


def test_scores_of_numbers_and_their_errors() -> None:
    random = np.random.default_rng(0)
    true = random.normal(size=90)
    predicted = np.round(0.7 * true + random.normal(size=90), 1)  # with ties
    part = np.repeat([0, 1, 2, 3, 4], [10, 20, 30, 12, 18])
    scored = score_numbers(true, predicted, part, 0.95)
    by_hand = [
        lambda k: pearsonr(true[k], predicted[k]).statistic,
        lambda k: spearmanr(true[k], predicted[k]).statistic,
        lambda k: r2_score(true[k], predicted[k]),
    ]
    assert scored.interval is not None
    for place, score in enumerate(by_hand):
        assert scored.value[place] == pytest.approx(score(np.ones(90, bool)))
        assert scored.interval.se[place] == pytest.approx(jackknife_error(score, part))
    constant = score_numbers(true, np.full(90, 2.0), None, 0.95)
    assert np.isnan(constant.value[:2]).all()
    assert constant.value[2] < 0


def test_intervals_do_not_leave_what_scores_can_be() -> None:
    """With two parts Student's t has one degree of freedom: value ± t · se leaves the range by far on both sides."""
    true, part = np.tile([0, 1], 20), np.repeat([0, 1], 20)
    guess = np.tile([1, 0, 0, 0], 10)
    first, second = np.where(part == 0, true, guess), np.where(part == 0, guess, true)
    one, other = (score_classes(true, told, 2, part, 0.95) for told in (first, second))
    scores = np.array([(0, 1), (0, 1), (-1, 1)])
    differences = np.array([(-1, 1), (-1, 1), (-2, 2)])
    for scored, bounds in (
        (one, scores), (one - other, differences), (mean_of([one, one]), scores),
        ((one - other).only(1), differences[1:2]),
    ):  # fmt: skip
        assert scored.interval is not None
        beyond = t_distribution.ppf(0.975, 1) * scored.interval.se
        low, high = (np.clip(scored.value + d, *bounds.T) for d in (-beyond, beyond))
        np.testing.assert_allclose(scored.interval.low, low)
        np.testing.assert_allclose(scored.interval.high, high)
    assert one.interval is not None
    assert (one.interval.low == [0, 0, -1]).all()
    assert (one.interval.high == 1).all()
    apart = (one - other).interval
    assert apart is not None
    assert (apart.low == [-1, -1, -2]).all()


def test_r2_has_no_least() -> None:
    true = np.arange(20.0)
    predicted = np.where(true < 10, true, 40 - 2 * true)
    scored = score_numbers(true, predicted, np.repeat([0, 1], 10), 0.95)
    assert scored.interval is not None
    assert (np.abs(scored.interval.low[:2]) <= 1).all()
    assert scored.interval.low[2] < -1
    assert (scored.interval.high <= 1).all()


@pytest.mark.parametrize("parts", [2, 3])
def test_no_interval_of_a_result_leaves_the_range(
    planted: dict[str, lmkin.Activations], parts: int
) -> None:
    result = lmkin.probe(
        planted, tag="upos", l1=0.01, fit="each", code_length=False, parts=parts, ranking="lca",
        thresholds=[0.5], progress=False,
    )  # fmt: skip
    signed = ("matthews", "selectivity", "behind", "minimal_behind")
    ends = [str(n) for n in result.dataset if str(n).endswith(("_low", "_high"))]
    assert {"accuracy_low", "selectivity_high", "minimal_test_low", "cluster_mean_high"} <= set(
        ends
    )
    for name in ends:
        values = result.dataset[name].values
        least = -1 if name.rpartition("_")[0] in signed else 0
        assert np.nanmin(values) >= least, name
        assert np.nanmax(values) <= 1, name


def test_no_rows_have_no_score() -> None:
    nothing = np.zeros(0, np.int64)
    assert np.isnan(score_classes(nothing, nothing, 3, None, 0.95).value).all()


def test_many_classes_take_little_memory() -> None:
    """Counts of hits, not of every pair of classes: CCG has a thousand categories."""
    true = np.arange(2000) % 1000
    counts = tally(true, true, 1000, np.arange(2000) % 50)
    assert counts.shape == (50, 3, 1001)
    assert counts[:, 0].sum() == 2000
