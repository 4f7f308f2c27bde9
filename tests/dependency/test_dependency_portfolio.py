"""Which models to keep, what each alone knows, and what none explains: against brute force over raw rows."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

import lmkin
from dependency import naive_dependency as naive
from dependency.naive_dependency import Rule

plain = {"progress": False, "intervals": False, "permutation_baseline": False}
WIDTHS = {"a": 4, "b": 6, "c": 3, "d": 5, "e": 2}


@pytest.fixture(scope="module")
def arrays() -> dict[str, Any]:
    return naive.related_models(500, seed=6, widths=WIDTHS)


@pytest.fixture(scope="module")
def rows() -> dict[str, Any]:
    return naive.three_splits(500)


@pytest.fixture(scope="module")
def found(arrays: Any, rows: Any) -> Any:
    return lmkin.decompose(arrays, split=rows, ridge=1e-6, **plain)


def mean_of_rest(arrays: Any, rows: Any, kept: Any, on: str) -> float:
    rest = [m for m in arrays if m not in kept]
    return float(
        np.mean([naive.r2(arrays, m, sorted(kept), rows["train"], rows[on], Rule()) for m in rest])
    )


# -- subsets --------------------------------------------------------------------------------------


def test_best_subsets_equal_brute_force(found: Any, arrays: Any, rows: Any) -> None:
    table = found.best_subsets(progress=False)
    assert table["size"].values.tolist() == [1, 2, 3, 4]
    assert table.attrs["method"] == "exhaustive"
    assert (table.attrs["chosen_on"], table.attrs["reported_on"]) == ("validation", "test")
    for size in table["size"].values.tolist():
        best = max(
            combinations(arrays, size), key=lambda k: mean_of_rest(arrays, rows, k, "validation")
        )
        one = table.sel(size=size)
        assert one["model"].values[one.kept.values].tolist() == sorted(best)
        assert float(one.r2_rest_chosen) == pytest.approx(
            mean_of_rest(arrays, rows, best, "validation"), abs=1e-7
        )
        assert float(one.r2_rest) == pytest.approx(
            mean_of_rest(arrays, rows, best, "test"), abs=1e-7
        )
        for m in arrays:
            value = float(one.r2.sel(model=m))
            if m in best:
                assert np.isnan(value)
            else:
                expected = naive.r2(arrays, m, best, rows["train"], rows["test"], Rule())
                assert value == pytest.approx(expected, abs=1e-7)


def test_greedy_adds_one_at_a_time(found: Any, arrays: Any, rows: Any) -> None:
    table = found.best_subsets(exhaustive=False, progress=False)
    assert table.attrs["method"] == "greedy"
    kept: list[str] = []
    for size in (1, 2, 3, 4):
        left = [m for m in arrays if m not in kept]
        kept.append(max(left, key=lambda m: mean_of_rest(arrays, rows, [*kept, m], "validation")))
        one = table.sel(size=size)
        assert set(one["model"].values[one.kept.values]) == set(kept)
        assert float(one.r2_rest) == pytest.approx(
            mean_of_rest(arrays, rows, kept, "test"), abs=1e-7
        )


def test_greedy_is_not_always_best() -> None:
    """One model is a little of everything; two others together are everything."""
    random = np.random.default_rng(0)
    P, Q = random.normal(size=(2, 1500, 3))
    arrays = {
        "mixed": np.hstack([P, Q]) @ random.normal(size=(6, 4)),
        "p": P,
        "q": Q,
    }
    arrays |= {f"pq{k}": np.hstack([P, Q])[:, [k, k + 1]] for k in range(5)}
    found = lmkin.decompose(arrays, **plain)
    best = found.best_subsets(2, progress=False)
    greedy = found.best_subsets(2, exhaustive=False, progress=False)
    assert set(best["model"].values[best.kept.values[0]]) == {"p", "q"}
    assert float(best.r2_rest[0]) == pytest.approx(1, abs=1e-4)
    assert "mixed" in greedy["model"].values[greedy.kept.values[0]]
    assert float(greedy.r2_rest_chosen[0]) < float(best.r2_rest_chosen[0])


def test_some_sizes_only(found: Any) -> None:
    every = found.best_subsets(progress=False)
    some = found.best_subsets([3, 1], progress=False)
    assert some["size"].values.tolist() == [3, 1]
    assert (some.kept.values == every.kept.sel(size=[3, 1]).values).all()
    one = found.best_subsets(2, exhaustive=False, progress=False)
    assert one["size"].values.tolist() == [2]


def test_chosen_on_test_rows_where_there_are_no_others(arrays: Any, rows: Any) -> None:
    split = {k: rows[k] for k in ("train", "test")}
    table = lmkin.decompose(arrays, split=split, **plain).best_subsets(2, progress=False)
    best = max(combinations(arrays, 2), key=lambda k: mean_of_rest(arrays, rows, k, "test"))
    assert table.attrs["chosen_on"] == "test"
    assert table["model"].values[table.kept.values[0]].tolist() == sorted(best)


def test_a_single_basis_has_the_r2_of_the_pair_when_the_ridge_is_found() -> None:
    """Every fit has its own ridge, whether it is asked for as a pair or as a subset of one."""
    arrays = naive.related_models(90, seed=10, widths={"a": 12, "b": 10, "c": 8})
    split = {"train": slice(0, 45), "validation": slice(45, 70), "test": slice(70, 90)}
    found = lmkin.decompose(arrays, split=split, ridge="validation", **plain)
    assert len(np.unique(found.ridge_pair.values)) > 1
    table = found.best_subsets(1, progress=False).isel(size=0)
    (kept,) = table["model"].values[table.kept.values]
    for m in naive.others(arrays, kept):
        expected = float(found.r2_pair.sel(split="test", basis=kept, target=m))
        assert float(table.r2.sel(model=m)) == pytest.approx(expected, abs=1e-9)


# -- switching off --------------------------------------------------------------------------------


def test_drop_order(found: Any, arrays: Any, rows: Any) -> None:
    table = found.drop_order(progress=False)
    left, dropped = list(arrays), []
    for step in range(1, len(arrays)):
        best = max(
            left,
            key=lambda m: mean_of_rest(arrays, rows, set(left) - {m}, "validation"),
        )
        left.remove(best)
        dropped.append(best)
        r2 = [naive.r2(arrays, m, left, rows["train"], rows["test"], Rule()) for m in dropped]
        one = table.sel(step=step)
        assert str(one["model"].values) == best
        assert float(one.r2) == pytest.approx(r2[-1], abs=1e-7)
        assert float(one.r2_dropped) == pytest.approx(np.mean(r2), abs=1e-7)
        assert float(one.r2_least) == pytest.approx(min(r2), abs=1e-7)
    assert table.attrs["stays"] == left[0]


def test_a_copy_is_switched_off_first(arrays: Any) -> None:
    found = lmkin.decompose({**arrays, "twin": 3 * arrays["d"] + 1}, **plain)
    table = found.drop_order(progress=False)
    assert str(table["model"].values[0]) in ("d", "twin")
    assert float(table.r2[0]) == pytest.approx(1, abs=1e-4)


# -- what each alone knows ------------------------------------------------------------------------


def test_unique_shares(found: Any, arrays: Any, rows: Any) -> None:
    table = found.unique()
    for u in arrays:
        rest = naive.others(arrays, u)
        whole = naive.r2(arrays, u, rest, rows["train"], rows["test"], Rule())
        alone = {}
        for v in rest:
            without = [m for m in rest if m != v]
            less = naive.r2(arrays, u, without, rows["train"], rows["test"], Rule())
            alone[v] = whole - less
            assert float(table.unique.sel(basis=v, target=u)) == pytest.approx(alone[v], abs=1e-7)
        assert np.isnan(float(table.unique.sel(basis=u, target=u)))
        assert float(table.unexplained.sel(target=u)) == pytest.approx(1 - whole, abs=1e-7)
        shared = whole - sum(alone.values())
        assert float(table.shared.sel(target=u)) == pytest.approx(shared, abs=1e-7)


def test_unique_of_two_models() -> None:
    """Without the only other model nothing is left to explain with."""
    arrays = naive.related_models(300, widths={"a": 3, "b": 4})
    found = lmkin.decompose(arrays, **plain)
    table = found.unique()
    r2 = found.r2_group.sel(split="test")
    assert float(table.unique.sel(basis="b", target="a")) == pytest.approx(float(r2[0]), abs=1e-10)
    assert table.shared.values == pytest.approx(0, abs=1e-10)


def test_commonality_sums_to_r2_and_equals_inclusion_and_exclusion(
    found: Any, arrays: Any, rows: Any
) -> None:
    groups = {"one": ["b"], "two": ["c", "d"], "three": ["e"]}

    def r2(*names: str) -> float:
        basis = [m for g in names for m in groups[g]]
        return naive.r2(arrays, "a", basis, rows["train"], rows["test"], Rule())

    shares = found.commonality("a", groups)
    assert len(shares) == 7
    assert sum(shares.values()) == pytest.approx(r2("one", "two", "three"), abs=1e-7)
    by_set = {frozenset(k.split(" + ")): v for k, v in shares.items()}
    for some in [*combinations(groups, 1), *combinations(groups, 2)]:
        # R² of some groups is all the shares in which one of them has a part.
        mine = sum(v for k, v in by_set.items() if k & set(some))
        assert mine == pytest.approx(r2(*some), abs=1e-7)
    two = found.commonality("a", {"b": "b", "c": ["c"]})
    assert sum(two.values()) == pytest.approx(
        naive.r2(arrays, "a", ["b", "c"], rows["train"], rows["test"], Rule()), abs=1e-7
    )
    assert found.commonality("a", {"b": "b"}) == {
        "b": pytest.approx(float(found.r2_pair.sel(split="test", basis="b", target="a")), abs=1e-9)
    }


def test_commonality_of_a_known_construct() -> None:
    """u holds p and q in equal measure; x knows p, y knows p and q."""
    random = np.random.default_rng(0)
    p, q = random.normal(size=(2, 20_000, 1))
    arrays = {"u": np.hstack([p, q]), "x": 2 * p, "y": np.hstack([p + q, p - q])}
    shares = lmkin.decompose(arrays, **plain).commonality("u", {"x": "x", "y": "y"})
    assert shares["x"] == pytest.approx(0, abs=1e-4)
    assert shares["y"] == pytest.approx(0.5, abs=0.02)
    assert shares["x + y"] == pytest.approx(0.5, abs=0.02)


# -- what none explains ---------------------------------------------------------------------------


def left_over(arrays: Any, rows: Any, target: str, basis: list[str], rule: Rule) -> Any:
    fit, on = rows["train"], rows["test"]
    W, b = naive.fitted([arrays[m][fit] for m in basis], arrays[target][fit], rule)
    return arrays[target][on] - naive.predicted(W, b, [arrays[m][on] for m in basis])


@pytest.mark.parametrize("basis", [None, ["d", "a"]])
def test_unexplained_directions_and_inputs(found: Any, arrays: Any, rows: Any, basis: Any) -> None:
    table = found.unexplained("b", basis, directions=4, inputs=7)
    E = left_over(arrays, rows, "b", basis or ["a", "c", "d", "e"], Rule())
    values, vectors = np.linalg.eigh(E.T @ E / len(E))
    values, vectors = values[::-1], vectors[:, ::-1]
    U = arrays["b"][rows["test"]]
    there = ((U - U.mean(0)) ** 2).sum(1).mean()
    assert table.share.values == pytest.approx(values[:4] / values.sum(), abs=1e-7)
    assert table.share_of_model.values == pytest.approx(values[:4] / there, abs=1e-7)
    assert table.attrs["rows_looked_at"] == 100
    for k in range(4):
        direction = table.neurons.values[:, k]
        assert abs(direction @ vectors[:, k]) == pytest.approx(1, abs=1e-6)
        along = E @ direction
        order = np.argsort(-np.abs(along))[:7]
        assert table.input.values[:, k].tolist() == rows["test"][order].tolist()
        assert table.weight.values[:, k] == pytest.approx(along[order], rel=1e-4, abs=1e-4)


def test_shares_of_all_directions_sum_to_what_is_unexplained(found: Any) -> None:
    table = found.unexplained("b", directions=99, inputs=3)
    assert table.sizes["direction"] == 6
    assert float(table.share.sum()) == pytest.approx(1, abs=1e-10)
    expected = 1 - float(found.r2_group.sel(split="test", model="b"))
    assert float(table.share_of_model.sum()) == pytest.approx(expected, abs=1e-9)


def test_unexplained_of_every_model_is_that_of_each() -> None:
    """Models of 3 to 8 neurons: what a narrower one lacks is missing, and the rest is as it is alone."""
    arrays = naive.related_models(300, widths={"a": 3, "b": 8, "c": 5})
    found = lmkin.decompose(arrays, **plain)
    whole = found.unexplained(directions=4, inputs=5)
    assert whole["model"].values.tolist() == found.models
    assert whole.neurons.sizes["neuron"] == 8
    for name in found.models:
        mine, alone = whole.sel(model=name), found.unexplained(name, directions=4, inputs=5)
        there = {"direction": alone["direction"], "neuron": alone["neuron"]}
        for field in alone:
            places = {k: v for k, v in there.items() if k in alone[field].dims}
            assert mine[field].sel(places).values.tolist() == alone[field].values.tolist()
        assert np.isnan(mine.neurons.values).sum() == 8 * 4 - alone.neurons.size
        assert (mine.input.values == -1).sum() == 5 * (4 - alone.sizes["direction"])
    with pytest.raises(lmkin.MeasureError, match="basis"):
        found.unexplained(basis="a")


def test_an_odd_row_weighs_most() -> None:
    arrays, rows = naive.related_models(400), naive.three_splits(400)
    odd = int(rows["test"][17])
    arrays["c"][odd] += 30 * arrays["c"].std()
    found = lmkin.decompose(arrays, split=rows, **plain)
    assert int(found.unexplained("c", directions=1, inputs=1).input[0, 0]) == odd
