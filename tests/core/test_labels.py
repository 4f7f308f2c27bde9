"""Labels of several types: told apart before numpy makes texts of all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import lmkin
from lmkin.core import as_labels

X = np.random.default_rng(0).normal(size=(40, 3))
MIXED: list[tuple[Any, str]] = [
    ([1, *["a", "b"] * 19, "a"], r"a number in row 0 \(1\), and text in row 1 \('a'\)"),
    ((*["a", "b"] * 19, "a", 2.5), r"text in row 0 \('a'\), and a number in row 39 \(2.5\)"),
    (np.array([*["a", "b"] * 19, "a", 3], object), r"a number in row 39 \(3\)"),
    (pd.Series([*["a", "b"] * 19, "a", 3]), r"a number in row 39 \(3\)"),
    ([True, *[1, 2] * 19, 2], r"True or False in row 0 \(True\), and a number in row 1 \(1\)"),
    ([*["a", "b"] * 19, "a", None], r"1 rows have no label \(None\), the first is row 39"),
    ([*["a", "b"] * 19, float("nan"), float("nan")], r"2 rows have no label \(nan\), the first is row 38"),
]  # fmt: skip
GOOD: list[Any] = [
    ["a", "b"] * 20, [0, 1] * 20, [0.0, 1] * 20, np.tile([3, 4], 20), pd.Series(["a", "b"] * 20),
    np.array(["a", "b"] * 20, object), [np.int64(1), 2] * 20, [True, False] * 20, [np.str_("a"), "b"] * 20,
]  # fmt: skip


@pytest.mark.parametrize(("y", "says"), MIXED)
def test_labels_of_several_types_are_refused_wherever_they_come_in(y: Any, says: str) -> None:
    good = ["a", "b"] * 20
    weights = [[1.0, 2.0, 3.0], [0.0, 1.0, 0.0]]
    with pytest.raises(lmkin.LmkinError, match=says):
        lmkin.Probe(l1=0.1).fit(X, y)
    with pytest.raises(lmkin.LmkinError, match=says):
        lmkin.Probe().fit(X, good, dev=(X, y))
    with pytest.raises(lmkin.LmkinError, match=says):
        lmkin.rank_neurons(weights, "probeless", X=X, y=y)
    with pytest.raises(lmkin.LmkinError, match=says):
        lmkin.rank_neurons(weights, "probeless", X=X, y=good, dev=(X, y))


@pytest.mark.parametrize("y", GOOD)
def test_labels_of_one_type_are_as_numpy_has_them(y: Any) -> None:
    np.testing.assert_array_equal(as_labels(y, "y"), np.asarray(y))
    assert len(lmkin.Probe(l1=0.1).fit(X, y).classes_) == 2


def test_labels_that_choose_are_of_the_same_type_as_those_that_are_fitted() -> None:
    with pytest.raises(lmkin.LmkinError, match=r"cannot be compared .* 1, another '1'"):
        lmkin.Probe().fit(X, ["1", "2"] * 20, dev=(X, [1, 2] * 20))
    with pytest.raises(
        lmkin.LmkinError, match=r"The classes are such as 'a', and the labels of dev such as 1"
    ):
        lmkin.rank_neurons([[1, 2, 3]], "probeless", X=X, y=["a", "b"] * 20, dev=(X, [1, 2] * 20))


def test_scores_are_numbers() -> None:
    for y in ([1.0, "2"] * 20, [1.0, None] * 20):
        with pytest.raises(lmkin.LmkinError, match="row 1"):
            lmkin.Probe("regression", l1=0.1).fit(X, y)
    with pytest.raises(
        lmkin.LmkinError, match=r"Scores are numbers, and y holds '1'.*task='classification'"
    ):
        lmkin.Probe("regression", l1=0.1).fit(X, ["1", "2"] * 20)
