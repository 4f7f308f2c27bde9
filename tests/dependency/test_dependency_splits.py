"""Which rows are fitted on and scored; standard errors and intervals; moments in place of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import lmkin
from dependency import naive_dependency as naive
from dependency.naive_dependency import NOTHING, Rule

FIELDS = ("r2_group", "r2_pair", "rho_pair", "rho_group")
WIDTHS = {"a": 3, "b": 4, "c": 2}
quiet = {"progress": False}
plain = {"progress": False, "intervals": False, "permutation_baseline": False}


@pytest.fixture(scope="module")
def arrays() -> dict[str, Any]:
    return naive.related_models(240, widths=WIDTHS)


@pytest.fixture(scope="module")
def rows() -> dict[str, Any]:
    return {
        "train": np.arange(0, 160),
        "validation": np.arange(160, 190),
        "test": np.arange(190, 240),
    }


def assert_same(found: Any, expected: Any, fields: Any = FIELDS, near: float = 1e-10) -> None:
    for field in fields:
        mine, theirs = found.dataset[field].values, expected.dataset[field].values
        assert mine == pytest.approx(theirs, abs=near, nan_ok=True), field


# -- splits ---------------------------------------------------------------------------------------


def test_row_numbers_masks_and_slices(arrays: Any, rows: Any) -> None:
    expected = lmkin.decompose(arrays, split=rows, **quiet)
    masks = {name: np.isin(np.arange(240), some) for name, some in rows.items()}
    slices = {"train": slice(160), "validation": slice(160, 190), "test": slice(190, None)}
    lists = {name: some.tolist() for name, some in rows.items()}
    ranges = {"train": range(160), "validation": range(160, 190), "test": range(190, 240)}
    negative = {**rows, "test": np.arange(-50, 0)}
    mixed = {"test": slice(-50, None), "train": masks["train"], "validation": lists["validation"]}
    for split in (masks, slices, lists, ranges, negative, mixed):
        found = lmkin.decompose(arrays, split=split, **quiet)
        assert found.dataset["split"].values.tolist() == ["train", "validation", "test"]
        assert_same(found, expected)
        assert_same(found, expected, [f"{f}_se" for f in FIELDS])


def test_rows_in_no_split_take_no_part(arrays: Any) -> None:
    spoiled = {m: x.copy() for m, x in arrays.items()}
    for x in spoiled.values():
        x[100:140] = 1e6
    split = {"train": slice(0, 100), "test": slice(140, 240)}
    assert_same(
        lmkin.decompose(spoiled, split=split, **quiet),
        lmkin.decompose(arrays, split=split, **quiet),
        near=1e-8,
    )


def test_without_validation_and_without_test(arrays: Any) -> None:
    train, test = np.arange(120), np.arange(120, 240)
    found = lmkin.decompose(arrays, split={"train": train, "test": test}, ridge=0, **plain)
    assert found.dataset["split"].values.tolist() == ["train", "test"]
    expected = naive.group_table(arrays, train, test, NOTHING)
    assert found.r2_group.sel(split="test").values == pytest.approx(expected, abs=1e-9)
    alone = lmkin.decompose(arrays, split={"train": train}, ridge=0, **plain)
    assert alone.dataset["split"].values.tolist() == ["train"]
    assert alone.r2_group.values[0] == pytest.approx(found.r2_group.values[0], abs=1e-12)


def test_the_mean_of_the_rows_scored_is_what_r2_is_about(arrays: Any) -> None:
    """Test rows that lie elsewhere: the fit's own mean counts for the residual, theirs for what there was."""
    moved = {m: x.copy() for m, x in arrays.items()}
    for k, x in enumerate(moved.values()):
        x[120:] += (k + 1) * x.std()
    rows = {"train": np.arange(120), "test": np.arange(120, 240)}
    found = lmkin.decompose(moved, split=rows, ridge=0, **plain)
    expected = naive.tables(moved, rows["train"], rows["test"], NOTHING)
    for field in FIELDS:
        assert found.dataset[field].sel(split="test").values == pytest.approx(
            expected[field], abs=1e-8
        )


def test_shares_are_drawn_with_a_seed() -> None:
    n = 1000
    arrays = naive.related_models(n, widths=WIDTHS)
    first = lmkin.decompose(arrays, **plain)
    assert first.n.values.tolist() == [800, 100, 100]
    assert_same(lmkin.decompose(arrays, **plain), first, near=0)
    other = lmkin.decompose(arrays, seed=1, **plain)
    assert other.n.values.tolist() == [800, 100, 100]
    assert (other.r2_group.values != first.r2_group.values).all()
    some = lmkin.decompose(arrays, split={"train": 0.5, "test": 0.25}, **plain)
    assert some.n.values.tolist() == [500, 250]


def test_shares_are_disjoint_and_cover_all_rows() -> None:
    from lmkin.core.splits import make_split

    for owner in (None, np.arange(500) // 5):
        made = make_split(500, {"test": 0.2, "train": 0.7, "validation": 0.1}, owner=owner, seed=3)
        pieces = {name: made.rows(name) for name in naive.SPLITS}
        every = np.sort(np.concatenate(list(pieces.values())))
        assert every.tolist() == list(range(500))
        assert [len(p) for p in pieces.values()] == pytest.approx([350, 50, 100], abs=6)
        if owner is not None:  # no block of five is torn apart
            for some in pieces.values():
                assert np.isin(some // 5, np.unique(some // 5)).sum() == 5 * len(
                    np.unique(some // 5)
                )
        else:  # drawn one by one, not in stretches
            assert np.diff(pieces["test"]).max() > 1


# -- standard errors ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "near"),
    [(NOTHING, 1e-7), (Rule("absolute", 0.3), 1e-7), (Rule("relative", 1e-6), 1e-4)],
)
@pytest.mark.parametrize("parts", [5, 7])
def test_standard_errors_equal_a_jackknife_with_refits(
    arrays: Any, rows: Any, rule: Rule, near: float, parts: int
) -> None:
    """Seven parts of 160, 30 and 50 rows are of unequal size."""
    found = lmkin.decompose(
        arrays, split=rows, ridge=rule.value, ridge_rule=rule.name, parts=parts, **quiet
    )
    for split in naive.SPLITS:
        expected = naive.standard_errors(arrays, rows, split, rule, parts)
        for field in FIELDS:
            mine = found.dataset[f"{field}_se"].sel(split=split).values
            assert mine == pytest.approx(expected[field], rel=near, abs=1e-9), (split, field)


def test_blocks_follow_the_order_in_which_rows_are_named(arrays: Any) -> None:
    order = np.random.default_rng(3).permutation(240)
    split = {"train": order[:160], "test": order[160:]}
    found = lmkin.decompose(arrays, split=split, ridge=0, parts=4, **quiet)
    expected = naive.standard_errors(arrays, split, "test", NOTHING, 4)
    mine = found.r2_group_se.sel(split="test").values
    assert mine == pytest.approx(expected["r2_group"], rel=1e-7)


def test_an_interval_is_around_its_value(arrays: Any, rows: Any) -> None:
    wide = lmkin.decompose(arrays, split=rows, level=0.99, **quiet)
    narrow = lmkin.decompose(arrays, split=rows, level=0.5, **quiet)
    for field in FIELDS:
        value, se = wide.dataset[field].values, wide.dataset[f"{field}_se"].values
        for found, level in ((wide, 0.99), (narrow, 0.5)):
            low, high = found.dataset[f"{field}_low"].values, found.dataset[f"{field}_high"].values
            assert (low + high) / 2 == pytest.approx(value, abs=1e-10)
            some = se > 1e-12
            width = ((high - low) / 2)[some] / se[some]
            # Student's t of at least the fewer of the two numbers of parts, and at most of both together
            assert (width <= stats.t.ppf(0.5 + level / 2, 9) + 1e-9).all()
            assert (width >= stats.t.ppf(0.5 + level / 2, 18) - 1e-9).all()
    assert wide.dataset.attrs["level"] == 0.99
    # On the rows fitted on there is one jackknife, of ten parts
    width = (wide.r2_group_high - wide.r2_group).sel(split="train") / wide.r2_group_se.sel(
        split="train"
    )
    assert width.values == pytest.approx(stats.t.ppf(0.995, 9), rel=1e-9)


def test_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    widths = {"a": 2, "b": 2, "c": 1}
    S = naive.random_covariance(5, 11)
    names = list(widths)
    truth = np.array([naive.true_r2(S, widths, m, [v for v in names if v != m]) for m in names])
    held = []
    for seed in range(50):
        arrays = naive.gaussian(S, widths, 600, seed)
        split = {"train": slice(0, 400), "test": slice(400, 600)}
        found = lmkin.decompose(
            arrays, split=split, permutation_baseline=False, **quiet
        ).dataset.sel(split="test")
        held.append((found.r2_group_low.values <= truth) & (truth <= found.r2_group_high.values))
    share = np.mean(held)
    assert 0.85 < share < 1


def test_without_intervals(arrays: Any) -> None:
    whole = lmkin.decompose(arrays, **quiet)
    without = lmkin.decompose(arrays, intervals=False, **quiet)
    assert_same(without, whole)
    assert not [v for v in without.dataset.data_vars if str(v).endswith(("_se", "_low", "_high"))]


# -- moments --------------------------------------------------------------------------------------


def moments_of(arrays: Any, rows: Any, parts: int) -> dict[str, lmkin.Moments]:
    return {
        name: lmkin.compute_moments(
            {m: x[some] for m, x in arrays.items()}, parts=parts, progress=False
        )
        for name, some in rows.items()
    }


def test_moments_by_split_give_what_arrays_give(arrays: Any, rows: Any) -> None:
    expected = lmkin.decompose(arrays, split=rows, parts=6, permutation_baseline=False, **quiet)
    found = lmkin.decompose(moments_of(arrays, rows, 6), **quiet)
    assert found.models == expected.models
    assert found.n.values.tolist() == [160, 30, 50]
    assert_same(found, expected, near=1e-9)
    assert_same(found, expected, [f"{f}_{s}" for f in FIELDS for s in ("se", "low")], near=1e-8)
    W, b = found.weights("a")
    expected_W, expected_b = expected.weights("a")
    assert W["c"] == pytest.approx(expected_W["c"], abs=1e-9)
    assert b == pytest.approx(expected_b, abs=1e-8)


def test_moments_in_another_order_and_from_disk(arrays: Any, rows: Any, tmp_path: Any) -> None:
    given = moments_of(arrays, rows, 6)
    expected = lmkin.decompose(given, **quiet)
    for name, each in given.items():
        each.save(tmp_path / f"{name}.moments")
    back = {
        name: lmkin.Moments.load(tmp_path / f"{name}.moments")
        for name in ("test", "validation", "train")
    }
    assert_same(lmkin.decompose(back, **quiet), expected, near=1e-12)


def test_one_set_of_moments_by_its_parts(arrays: Any) -> None:
    labels = np.repeat(np.arange(8), 30)
    one = lmkin.compute_moments(arrays, parts=labels, progress=False)
    found = lmkin.decompose(one, split={"train": [0, 2, 3, 5, 6], "test": [1, 4, 7]}, **quiet)
    rows = {
        "train": np.flatnonzero(np.isin(labels, [0, 2, 3, 5, 6])),
        "test": np.flatnonzero(np.isin(labels, [1, 4, 7])),
    }
    for split in rows:
        expected = naive.tables(arrays, rows["train"], rows[split], Rule())
        for field in FIELDS:
            assert found.dataset[field].sel(split=split).values == pytest.approx(
                expected[field], abs=1e-8
            )


def test_moments_without_parts(arrays: Any, rows: Any) -> None:
    found = lmkin.decompose(moments_of(arrays, rows, 0), **quiet)
    assert_same(found, lmkin.decompose(arrays, split=rows, **plain), near=1e-9)
    assert "r2_group_se" not in found.dataset


def test_portfolio_from_moments(arrays: Any, rows: Any) -> None:
    found = lmkin.decompose(moments_of(arrays, rows, 4), **quiet)
    expected = lmkin.decompose(arrays, split=rows, **plain)
    mine, theirs = found.best_subsets(progress=False), expected.best_subsets(progress=False)
    assert (mine.kept.values == theirs.kept.values).all()
    assert mine.r2_rest.values == pytest.approx(theirs.r2_rest.values, abs=1e-9)
    left, whole = found.unexplained("a"), expected.unexplained("a")
    assert left.share.values == pytest.approx(whole.share.values, abs=1e-9)
    assert "input" not in left  # moments hold no rows
