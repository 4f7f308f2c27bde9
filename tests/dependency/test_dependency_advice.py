"""An order to switch off is advice only where intervals carry it: against a jackknife over raw rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import lmkin
from dependency import naive_dependency as naive
from dependency.naive_dependency import Rule
from lmkin.analyses.dependency.advice import Advice
from lmkin.analyses.dependency.findings import drop_order_sentence
from lmkin.analyses.dependency.portfolio import Subsets
from lmkin.report.kinds.dependency.portfolio import portfolio_chapters

quiet = {"progress": False, "permutation_baseline": False}
RULE = Rule()


def split_of(n: int) -> dict[str, Any]:
    return dict(
        zip(naive.SPLITS, np.split(np.arange(n), [int(0.6 * n), int(0.7 * n)]), strict=True)
    )


def graded(n: int = 1500, seed: int = 0) -> dict[str, Any]:
    """Each model is a function of those that are larger, with more and more of its own: the order is plain."""
    random = np.random.default_rng(seed)
    base = random.normal(size=(n, 6))
    return {
        "all": base + 0.05 * random.normal(size=(n, 6)),
        "most": base[:, :4] @ random.normal(size=(4, 4)) + 0.4 * random.normal(size=(n, 4)),
        "own": np.hstack([base[:, :1], random.normal(size=(n, 3))]),
    }


def criterion(arrays: Any, off: list[str], fit: Any, on: Any) -> float:
    left = [m for m in arrays if m not in off]
    return float(np.mean([naive.r2(arrays, m, left, fit, on, RULE) for m in off]))


def naive_interval(value: Any, rows: Any, parts: int, level: float = 0.95) -> tuple[float, ...]:
    """Of any function of (rows fitted on, rows scored), by pseudo-values; Welch and Satterthwaite."""
    from scipy import stats

    fit, on = rows["train"], rows["test"]
    whole = value(fit, on)
    variances = []
    for some, less in (
        (on, lambda part: value(fit, np.setdiff1d(on, part))),
        (fit, lambda part: value(np.setdiff1d(fit, part), on)),
    ):
        pieces = np.array_split(some, parts)
        without = [np.asarray(less(p)) for p in pieces]
        variances.append(
            float(naive.jackknife_variance(np.asarray(whole), without, [len(p) for p in pieces]))
        )
    total = sum(variances)
    freedom = total**2 / sum(v**2 / (parts - 1) for v in variances)
    width = stats.t.ppf(0.5 + level / 2, freedom) * np.sqrt(total)
    return whole, whole - width, whole + width


def test_intervals_of_r2_and_of_differences_equal_a_jackknife_over_rows() -> None:
    arrays, rows = graded(500), split_of(500)
    found = lmkin.decompose(arrays, split=rows, ridge=1e-6, parts=6, **quiet)
    advice = Advice(Subsets(*found._fitted()), 0.95)
    names = list(arrays)
    for gone in ([], ["own"]):
        left = [k for k, m in enumerate(names) if m not in gone]
        for one, other in ((0, 1), (1, 0)):
            value, apart = advice._difference(left, [names.index(m) for m in gone], one, other)

            both = [*gone, names[one]], [*gone, names[other]]

            def difference(fit: Any, on: Any, both: Any = both) -> float:
                first, second = (criterion(arrays, off, fit, on) for off in both)
                return first - second

            expected = naive_interval(difference, rows, 6)
            mine = (value, float(apart.low), float(apart.high))
            assert mine == pytest.approx(expected, abs=2e-6)
    table = found.drop_order(progress=False)
    first = str(table["model"].values[0])
    expected = naive_interval(
        lambda fit, on: naive.r2(arrays, first, naive.others(arrays, first), fit, on, RULE),
        rows,
        6,
    )
    mine = tuple(float(table[v][0]) for v in ("r2", "r2_low", "r2_high"))
    assert mine == pytest.approx(expected, abs=2e-6)
    # The first step is the fit by all others, whose interval the result has already.
    group = found.dataset.sel(split="test", model=first)
    assert mine[1] == pytest.approx(float(group.r2_group_low), abs=1e-9)


def test_an_order_that_is_plain_is_advice() -> None:
    found = lmkin.decompose(graded(), **quiet)
    table = found.drop_order(progress=False)
    assert table["model"].values.tolist() == ["most", "own"]
    assert table.attrs["stays"] == "all"
    assert table["carried"].values.tolist()[0]
    assert float(table["r2_low"][0]) > 0
    line = drop_order_sentence(table)
    assert line.startswith("Switch off in this order: most (")


def test_two_that_cannot_be_told_apart_have_no_order() -> None:
    """Equal mixtures of the same causes: each explains the other as well as it is explained."""
    random = np.random.default_rng(1)
    base = random.normal(size=(1500, 5))
    arrays = {m: base + random.normal(size=(1500, 5)) for m in ("left", "right")}
    table = lmkin.decompose(arrays, **quiet).drop_order(progress=False)
    assert not table["carried"].values.any()
    assert "left and right cannot be told apart" in table.attrs["no_order"].replace(
        "right and left", "left and right"
    )
    line = drop_order_sentence(table)
    assert line.startswith("No order to switch off: ")
    assert "Switch off in" not in line
    assert "stays" not in line
    (chapter,) = portfolio_chapters({"drop_order": table})
    assert chapter.title == "No order to switch off"
    assert chapter.paragraphs[0].startswith("No order: ")


def test_models_that_explain_nothing_have_no_order() -> None:
    random = np.random.default_rng(2)
    arrays = {m: random.normal(size=(400, 12)) for m in "abc"}
    for ridge in (1e-6, "auto"):
        found = lmkin.decompose(arrays, ridge=ridge, **quiet)
        table = found.drop_order(progress=False)
        assert not table["carried"].values.any()
        assert "not clearly above 0" in table.attrs["no_order"]
        assert float(table["r2_low"][0]) <= 0
        assert np.isnan(table["r2_low"].values[1:]).all()


def test_a_plain_first_step_and_a_tie_after_it() -> None:
    """A copy goes first; the two that are left over are equals."""
    random = np.random.default_rng(3)
    base = random.normal(size=(1500, 5))
    arrays = {m: base + random.normal(size=(1500, 5)) for m in ("left", "right")}
    arrays["both"] = (arrays["left"] + arrays["right"]) @ random.normal(size=(5, 5))
    table = lmkin.decompose(arrays, **quiet).drop_order(progress=False)
    assert str(table["model"].values[0]) == "both"
    assert table["carried"].values.tolist() == [True, False]
    assert "cannot be told apart" in table.attrs["no_order"]
    line = drop_order_sentence(table)
    assert "Switch off in this order: both (" in line
    assert "no order after that" in line
    (chapter,) = portfolio_chapters({"drop_order": table})
    assert chapter.title == "Switch off in this order, up to a point"
    assert "Switch off both. No order after that" in chapter.paragraphs[0]


def test_without_intervals_or_test_rows_nothing_is_advised() -> None:
    arrays = graded()
    for options, reason in (
        ({"intervals": False}, "no intervals"),
        ({"split": {"train": slice(0, 900)}}, "no test rows"),
    ):
        table = lmkin.decompose(arrays, **options, **quiet).drop_order(progress=False)
        assert reason in table.attrs["no_order"]
        assert not table["carried"].values.any()
        assert len(table["model"]) == 2  # the figures are there all the same


@pytest.mark.slow
def test_about_as_many_wrong_orders_as_the_level_allows() -> None:
    """Two equals: an order is given in about one of twenty samples, not in every one."""
    given = 0
    for seed in range(60):
        random = np.random.default_rng(seed)
        base = random.normal(size=(600, 3))
        arrays = {m: base + random.normal(size=(600, 3)) for m in "ab"}
        table = lmkin.decompose(arrays, **quiet).drop_order(progress=False)
        given += bool(table["carried"].values[0])
    assert given <= 8
