"""What ``ridge="auto"`` means: chosen on validation rows where rows are few, and said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import lmkin
from dependency import naive_dependency as naive
from dependency.naive_dependency import Rule
from lmkin.core.ridge import AUTO, GRID, ROWS_A_NEURON, Ridge

plain = {"progress": False, "intervals": False, "permutation_baseline": False}
WIDTHS = {"a": 4, "b": 6, "c": 3}
"""The widest basis has ten neurons (a and b explain c)."""


def split_of(train: int) -> dict[str, Any]:
    return {
        "train": slice(0, train),
        "validation": slice(train, train + 60),
        "test": slice(train + 60, train + 160),
    }


@pytest.mark.parametrize(("train", "rule"), [(199, "validation"), (200, "relative")])
def test_twenty_train_rows_for_each_neuron_of_the_widest_basis(train: int, rule: str) -> None:
    arrays = naive.related_models(train + 160, widths=WIDTHS)
    found = lmkin.decompose(arrays, split=split_of(train), **plain)
    asked = lmkin.decompose(arrays, split=split_of(train), ridge=rule, **plain)
    assert found.dataset.attrs["rule"] == rule
    reason = found.dataset.attrs["ridge_reason"]
    assert f"{train} train rows" in reason
    assert "10 neurons" in reason
    assert asked.dataset.attrs["ridge_reason"] == ""
    for field in ("r2_group", "r2_pair", "ridge_group", "ridge_pair"):
        np.testing.assert_array_equal(found.dataset[field], asked.dataset[field])


def test_auto_chooses_as_scikit_learn_does_from_raw_rows() -> None:
    """Every fit its own ridge: the one of the grid with the highest R² on validation rows."""
    arrays = naive.related_models(260, seed=4, widths={"a": 20, "b": 16, "c": 12})
    rows = {k: np.arange(260)[s] for k, s in split_of(100).items()}
    found = lmkin.decompose(arrays, split=rows, **plain)
    for target in arrays:
        basis = naive.others(arrays, target)
        by_value = [
            naive.r2(arrays, target, basis, rows["train"], rows["validation"], Rule(value=v))
            for v in GRID
        ]
        best = GRID[int(np.argmax(by_value))]
        assert float(found.ridge_group.sel(model=target)) == best
        expected = naive.r2(arrays, target, basis, rows["train"], rows["test"], Rule(value=best))
        mine = float(found.r2_group.sel(split="test", model=target))
        assert mine == pytest.approx(expected, abs=1e-7)
        assert best > AUTO


def test_few_rows_and_none_to_choose_on() -> None:
    arrays = naive.related_models(160, widths=WIDTHS)
    found = lmkin.decompose(arrays, split={"train": slice(100), "test": slice(100, 160)}, **plain)
    assert (found.dataset.attrs["rule"], found.dataset.attrs["ridge"]) == ("relative", AUTO)
    assert "no validation rows" in found.dataset.attrs["ridge_reason"]


def test_auto_means_the_same_for_moments() -> None:
    arrays = naive.related_models(360, widths=WIDTHS)
    rows = split_of(150)
    sums = {
        name: lmkin.compute_moments(
            {m: x[some] for m, x in arrays.items()}, parts=0, progress=False
        )
        for name, some in rows.items()
    }
    found = lmkin.decompose(sums, **plain)
    expected = lmkin.decompose(arrays, split=rows, **plain)
    assert found.dataset.attrs["rule"] == "validation"
    assert found.dataset.attrs["ridge_reason"] == expected.dataset.attrs["ridge_reason"]
    np.testing.assert_allclose(found.r2_group, expected.r2_group, atol=1e-9)


def test_what_is_asked_for_is_done() -> None:
    for asked in (Ridge.make(0.1), Ridge.make("auto", "relative"), Ridge.make("floor")):
        assert asked.settled(10, 100, ("train", "validation")) == asked
    assert Ridge.make("auto") == Ridge.make("auto", "auto") == Ridge("auto", AUTO)
    assert Ridge.make(0.1, "auto") == Ridge("relative", 0.1)
    few = Ridge.make("auto").settled(ROWS_A_NEURON * 7 - 1, 7, ("train", "validation"))
    many = Ridge.make("auto").settled(ROWS_A_NEURON * 7, 7, ("train", "validation"))
    assert (few.rule, many.rule) == ("validation", "relative")
    assert ROWS_A_NEURON == 20


def test_layers_and_models_share_one_rule() -> None:
    """The fit of a layer by the one before is the fit of a model by another, at either side of the rule."""
    for n, rule in ((140, "validation"), (400, "relative")):
        pair = naive.related_models(n, widths={"m/0": 8, "m/1": 8})
        layers = lmkin.layer_redundancy(pair, intervals=False, progress=False)
        models = lmkin.decompose({"before": pair["m/0"], "after": pair["m/1"]}, ridge=rule, **plain)
        expected = models.r2_pair.sel(split="test", basis="before", target="after")
        assert float(layers["r2"][0, 1]) == pytest.approx(float(expected), abs=1e-12)


def test_lengths_that_differ_in_their_rule_say_so() -> None:
    from lmkin.analyses.dependency import join_lengths

    arrays = naive.related_models(500, widths=WIDTHS)
    by_length = {
        16: lmkin.decompose(arrays, **plain),
        64: lmkin.decompose({m: x[:150] for m, x in arrays.items()}, **plain),
    }
    assert [d.attrs["rule"] for d in by_length.values()] == ["relative", "validation"]
    joined = join_lengths(by_length, "some texts")
    assert joined.attrs["rule"] == "at 16 tokens relative; at 64 tokens validation"
    assert "at 64 tokens 120 train rows" in joined.attrs["ridge_reason"]
    same = join_lengths({16: by_length[16], 64: by_length[16]}, "some texts")
    assert same.attrs["rule"] == "relative"
