"""The penalty chosen by folds: against a loop that fits and scores every fold at every penalty."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lmkin
from lmkin import Probe
from lmkin.estimators import penalties_of_path
from lmkin.estimators.selection import fold_rows


def sentences(n: int = 240, d: int = 12, seed: int = 0) -> tuple[Any, Any, Any]:
    random = np.random.default_rng(seed)
    owner = np.sort(random.integers(0, n // 6, n))
    X = random.normal(size=(n, d)) + random.normal(size=(n // 6, d))[owner]
    scores = X @ (random.normal(size=(d, 3)) * (random.random((d, 1)) < 0.4))
    return X, np.array(["A", "B", "C"])[(scores + random.gumbel(size=(n, 3))).argmax(1)], owner


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_choice_is_that_of_a_naive_loop(task: str) -> None:
    X, y, owner = sentences()
    if task == "regression":
        y = X[:, 0] - X[:, 3] + np.random.default_rng(1).normal(size=len(X)) * 2
    exact = {"tolerance": 1e-4, "steps": 8, "least": 0.01, "seed": 2}
    probe = Probe(task, cv=4, **exact).fit(X, y, groups=owner)
    largest = probe.path_[0].l1
    losses = []
    for l1 in penalties_of_path(largest, 8, 0.01)[: len(probe.path_)]:
        total = 0.0
        for rows, held in fold_rows(len(y), 4, owner, 2):
            one = Probe(task, l1=l1, tolerance=0.01).fit(X[rows], y[rows])
            if task == "regression":
                total += ((one.predict(X[held]) - y[held]) ** 2).sum() / 2
            else:
                P = one.predict_proba(X[held])
                total -= np.log(
                    P[np.arange(len(held)), np.searchsorted(one.classes_, y[held])]
                ).sum()
        losses.append(total / len(y))
    assert [s.dev_loss for s in probe.path_] == pytest.approx(losses, rel=5e-3)
    assert probe.l1_ == probe.path_[int(np.argmin(losses))].l1
    alone = Probe(task, l1=probe.l1_, tolerance=1e-4).fit(X, y)
    assert np.allclose(alone.coef_, probe.coef_, atol=1e-3)


@settings(max_examples=40)
@given(seed=st.integers(0, 999), folds=st.integers(2, 6), n=st.integers(30, 90))
def test_folds_are_whole_groups_and_every_row_chooses_once(seed: int, folds: int, n: int) -> None:
    owner = np.random.default_rng(seed).integers(0, 12, n)
    parts = fold_rows(n, folds, owner, seed)
    assert len(parts) == folds
    assert sorted(np.concatenate([held for _, held in parts]).tolist()) == list(range(n))
    for rows, held in parts:
        assert not set(owner[rows]) & set(owner[held])
        assert sorted([*rows, *held]) == list(range(n))
    single = fold_rows(n, folds, None, seed)
    sizes = [len(held) for _, held in single]
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize(
    ("cv", "groups", "words"),
    [
        (1, None, "2 or more"),
        (2.5, None, "number of folds"),
        (5, "three", "5 groups at least; there are 3"),
        (5, "one large", "one of them holds 56 of 60"),
    ],
)
def test_folds_that_cannot_be_had(cv: Any, groups: Any, words: str) -> None:
    X, y, _ = sentences(60)
    owner = {None: None, "three": np.arange(60) % 3, "one large": np.maximum(np.arange(60) - 55, 0)}
    with pytest.raises(lmkin.LmkinError, match=words):
        Probe(cv=cv).fit(X, y, groups=owner[groups])


def test_folds_and_dev_together_are_refused() -> None:
    X, y, _ = sentences(60)
    with pytest.raises(lmkin.LmkinError, match="give one"):
        Probe(cv=3).fit(X, y, dev=(X, y))
