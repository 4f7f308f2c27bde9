"""The battery on functions whose properties are known."""

from __future__ import annotations

import numpy as np
import pytest
import similarity_functions as fns
from similarity_functions import run

import lmkin
from lmkin.measures import INVARIANCES, Check, check_measure
from lmkin.measures.conformance import battery, registry
from lmkin.measures.conformance.registry import CHECKS, Outcome, check
from lmkin.measures.conformance.subject import closure


@pytest.mark.parametrize("fn", fns.KNOWN, ids=lambda fn: fn.__name__)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_known_functions_pass_with_their_own_declaration(fn, seed: int) -> None:
    declared, symmetric, unbiased = fns.KNOWN[fn]
    result = check_measure(
        fn,
        declared=declared,
        symmetric=symmetric,
        unbiased=unbiased,
        range=(-1, 1),
        quick=True,
        show=False,
        seed=seed,
    )
    assert result.passed, str(result)


@pytest.mark.parametrize("fn", fns.KNOWN, ids=lambda fn: fn.__name__)
def test_without_a_declaration_invariances_are_measured(fn) -> None:
    rows = run(fn)
    found = {name for name in INVARIANCES if rows[name].verdict == "invariant"}
    assert found == closure(fns.KNOWN[fn][0])
    assert {rows[name].verdict for name in INVARIANCES} <= {"invariant", "not invariant"}
    assert rows["symmetry"].verdict == "info"


@pytest.mark.parametrize("name", INVARIANCES)
def test_a_wrong_declaration_fails_both_ways(name: str) -> None:
    nothing = run(lambda X, Y: float(np.exp(-np.abs(X[:, 0] - Y[:, 0]).mean())), declared={name})
    assert nothing[name].verdict == "fail"
    assert "but declared invariant" in nothing[name].note
    everything = run(fns.mean_cca, declared=())
    assert everything[name].verdict == "fail"
    assert "but declared not invariant" in everything[name].note


def test_symmetry_is_held_against_the_declaration() -> None:
    assert run(fns.neuronsim, symmetric=True)["symmetry"].verdict == "fail"
    assert run(fns.biased_cka, symmetric=False)["symmetry"].verdict == "fail"


def test_the_side_that_sees_a_change_is_named() -> None:
    assert "side of X only" in run(fns.regression)["linear"].note


def test_a_change_of_rounding_is_not_a_change_of_value() -> None:
    exact = run(lambda X, Y: fns.mean_cca(X.astype(np.float32), Y.astype(np.float32)))
    assert exact["linear"].verdict == "invariant"


def test_a_ridge_that_is_not_relative_to_the_data_shows() -> None:
    def ridge(X, Y):
        X, Y = fns.checked(X, Y)
        S = Y.T @ Y / len(Y) + 1e-6 * np.eye(Y.shape[1])
        return np.trace(X.T @ Y @ np.linalg.solve(S, Y.T @ X)) / len(X) / np.sum(X * X)

    assert run(ridge)["scale"].verdict == "not invariant"


# Null, rogue neuron: numbers that can be computed otherwise


def test_null_bias_of_cka_is_what_the_formula_says() -> None:
    result = check_measure(fns.biased_cka, show=False, unbiased=True)
    rows = {row.name: row for row in result.rows}
    for name, n, d in (("unrelated, n = 2 d", 512, 256), ("unrelated, n = 8 d", 2000, 256)):
        # E‖XᵀY‖² = n d², E‖XᵀX‖² = n² d + n d²: so CKA ≈ d / (n + d).
        assert rows[name].finding == pytest.approx(d / (n + d), rel=0.02)
        assert rows[name].verdict == "fail"
    # Both share variance v: CKA ≈ v² / (v² + d − 1), v = 0.12 · 767 / 0.88.
    v = 0.12 * 767 / 0.88
    unbiased = check_measure(lmkin.linear_cka, show=False)
    rogue = {row.name: row for row in unbiased.rows}["shared neuron of 12 % variance"]
    assert rogue.finding == pytest.approx(v**2 / (v**2 + 767), abs=0.01)
    assert rogue.verdict == "info"
    assert "12 % of the variance among 768 gives 0.9" in rogue.note


@pytest.mark.parametrize("seed", range(20))
def test_an_unbiased_function_is_not_called_biased_by_chance(seed: int) -> None:
    def chance(X, Y):  # the sum of one draw: mean 0, much spread
        return float(X[0, 0] * Y[0, 0])

    rows = run(chance, seed=seed, unbiased=True)
    assert all(rows[name].verdict == "pass" for name in rows if name.startswith("unrelated"))


def test_a_rogue_neuron_does_not_decide_a_mean_over_neurons() -> None:
    row = run(fns.neuronsim)["shared neuron of 90 % variance"]
    assert row.finding is not None
    assert row.finding < 0.3


def test_wrong_arguments_say_what_is_right() -> None:
    for wrong, match in (
        ({"declared": {"rotations"}}, "Did you mean 'rotation'"),
        ({"range": (1, 0)}, r"\(lowest, highest\)"),
        ({"range": 1}, r"\(lowest, highest\)"),
        ({"seed": -1}, "whole number from 0"),
        ({"tolerance": 0}, "between 0 and 0.01"),
        ({"measure_options": {"a": 1}}, "lambda X, Y"),
    ):
        with pytest.raises(lmkin.LmkinError, match=match):
            check_measure(fns.biased_cka, show=False, **wrong)
    with pytest.raises(lmkin.LmkinError, match="got int"):
        check_measure(3, show=False)


def test_what_follows_need_not_be_declared() -> None:
    assert closure({"linear"}) == set(INVARIANCES) - {"shift"}
    assert closure({"rotation"}) == {"rotation", "permutation", "sign"}
    assert closure("shift") == {"shift"}


def test_the_name_of_a_measure_brings_its_declaration(monkeypatch: pytest.MonkeyPatch) -> None:
    class Info:
        unbiased = False
        symmetric = False
        invariances = frozenset({"shift", "neuron-scale", "sign", "permutation"})
        range = (0.0, 1.0)

    asked = []

    def resolve(name, options):
        asked.append((name, dict(options)))
        return fns.neuronsim, Info()

    monkeypatch.setattr(battery, "registered_measure", resolve)
    result = check_measure("neuronsim", measure_options={"top_k": 3}, quick=True, show=False)
    assert asked == [("neuronsim", {"top_k": 3})]
    assert result.name == "neuronsim"
    assert result.passed, str(result)
    rows = {row.name: row for row in result.rows}
    assert rows["linear"].verdict == "pass"
    assert run("neuronsim", symmetric=True)["symmetry"].verdict == "fail"  # the caller's word wins


def test_seeds_repeat_and_differ() -> None:
    first, again, other = (
        check_measure(fns.biased_cka, quick=True, show=False, seed=s) for s in (0, 0, 1)
    )
    assert first == again
    assert first.rows != other.rows


def test_a_check_is_one_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "CHECKS", added := [*CHECKS])
    monkeypatch.setattr(battery, "CHECKS", added)

    @check("my own", "one")
    def mine(subject, name):
        return Outcome(subject.value(np.eye(4), np.eye(4)), "info", "An identity matrix.")

    row = check_measure(fns.biased_cka, quick=True, show=False).rows[-1]
    assert row == Check("one", "my own", pytest.approx(1), "info", "An identity matrix.")
