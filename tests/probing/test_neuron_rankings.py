"""Rankings of neurons: LCA from its definition, planted neurons, and that an order depends on nothing else."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

import lmkin
from lmkin.analyses.probing import neuron_overlap, ranking_method, ranking_names
from lmkin.analyses.probing.neurons.registry import _METHODS, Ranked


def lca_by_definition(weights: list[list[int]], steps: int) -> list[int]:
    """For a growing share of each class's mass the first neurons that reach it; the order of entry into the union.

    In whole numbers and fractions, threshold by threshold.
    """
    d = len(weights[0])
    share = [
        max(
            (Fraction(abs(row[j]), sum(map(abs, row))) for row in weights if any(row)),
            default=Fraction(0),
        )
        for j in range(d)
    ]
    order: list[int] = []
    for t in range(1, steps + 1):
        entered: set[int] = set()
        for row in weights:
            total = sum(map(abs, row))
            ranked = sorted(range(d), key=lambda j, row=row: (-abs(row[j]), j))
            reached = 0
            for j in ranked:
                if total == 0 or Fraction(reached, total) >= Fraction(t, steps):
                    break
                entered.add(j)
                reached += abs(row[j])
        order += sorted(entered - set(order), key=lambda j: (-share[j], j))
    return order + [j for j in range(d) if j not in order]


def test_lca_by_hand() -> None:
    """Class a: neuron 1 holds 3/4 of the mass, 2 the rest; class b: 0 holds 0.8, 1 the rest; 3 has none."""
    weights = np.array([[0.0, -3.0, 1.0, 0.0], [2.0, 0.5, 0.0, 0.0]])
    ranking = lmkin.rank_neurons(weights, steps=4)
    # Both first neurons enter at 1/4: 0 holds more of its class. 2 enters when 1 is not enough: at 4/4.
    assert ranking.order.tolist() == [0, 1, 2, 3]
    assert ranking.value[:3].tolist() == [1, 1, 4]
    assert np.isnan(ranking.value[3])
    assert ranking.informed == 3
    back = lmkin.rank_neurons(weights, steps=4, reverse=True)
    assert back.order.tolist() == [3, 2, 1, 0]


@given(
    st.integers(1, 4).flatmap(
        lambda c: st.integers(1, 9).flatmap(
            lambda d: st.lists(
                st.lists(st.integers(-6, 6), min_size=d, max_size=d), min_size=c, max_size=c
            )
        )
    ),
    st.sampled_from([1, 3, 10, 100]),
)
@settings(max_examples=150)
def test_lca_is_its_definition(weights: list[list[int]], steps: int) -> None:
    ranking = lmkin.rank_neurons(np.array(weights), steps=steps)
    assert ranking.order.tolist() == lca_by_definition(weights, steps)


@given(st.integers(0, 10**6))
@settings(max_examples=20)
def test_lca_knows_neither_signs_nor_the_order_of_classes_nor_their_scale(seed: int) -> None:
    random = np.random.default_rng(seed)
    weights = random.laplace(size=(4, 30)) * (random.random((4, 30)) < 0.5)
    order = lmkin.rank_neurons(weights).order
    signs = random.choice([-1.0, 1.0], weights.shape)
    scale = 2.0 ** random.integers(-3, 3, (4, 1))
    other = lmkin.rank_neurons((signs * weights * scale)[random.permutation(4)]).order
    assert np.array_equal(order, other)


PLANTED = [3, 17, 40, 55]


@pytest.fixture(scope="module")
def planted() -> dict[str, tuple[Any, Any]]:
    """Four neurons that are each of one class; one that is large and knows nothing; and noise."""
    random = np.random.default_rng(0)
    X = random.normal(size=(900, 60))
    y = np.array(list("abcd"))[(X[:, PLANTED] + 0.3 * random.normal(size=(900, 4))).argmax(1)]
    X[:, 3] /= 100
    cuts = {"train": slice(0, 600), "dev": slice(600, 750), "test": slice(750, 900)}
    return {name: (X[cut].astype(np.float32), y[cut]) for name, cut in cuts.items()}


def fitted(planted: dict[str, Any], **options: Any) -> lmkin.Probe:
    X, y = planted["train"]
    return lmkin.Probe(l1=0.01, **options).fit(X, y)


def rows_of(planted: dict[str, Any]) -> dict[str, Any]:
    X, y = planted["train"]
    return {"X": X, "y": y, "dev": planted["dev"], "test": planted["test"]}


@pytest.mark.parametrize("method", ["lca", "row-path", "probeless"])
def test_informed_rankings_find_planted_neurons(planted: dict[str, Any], method: str) -> None:
    """One of them has small activations: its weights are large for that alone, and its means are near each other."""
    more = {"standardize": True} if method == "probeless" else {}
    ranking = lmkin.rank_neurons(fitted(planted), method, **rows_of(planted), **more)
    assert set(ranking.order[:4].tolist()) == set(PLANTED)
    assert set(ranking.order.tolist()) == set(range(60))
    plain = lmkin.rank_neurons(fitted(planted), "random", seed=1)
    assert set(plain.order[:4].tolist()) != set(PLANTED)


def test_weights_are_those_of_standardized_neurons(planted: dict[str, Any]) -> None:
    """Neuron 3 is a hundred times smaller: as they are, its weights would count a hundred times as much."""
    probe, X = fitted(planted), planted["train"][0]
    ours = lmkin.rank_neurons(probe)
    by_hand = lmkin.rank_neurons(probe.coef_ * X.astype(np.float64).std(0))
    assert np.array_equal(ours.order, by_hand.order)
    as_they_are = lmkin.rank_neurons(probe.coef_)
    assert as_they_are.order[0] == 3
    assert not np.array_equal(ours.value, as_they_are.value, equal_nan=True)
    raw = fitted(planted, standardize=False)
    assert np.array_equal(lmkin.rank_neurons(raw).order, lmkin.rank_neurons(raw.coef_).order)


def test_probeless_is_the_sum_over_pairs(planted: dict[str, Any]) -> None:
    X, y = planted["train"]
    means = {c: X[y == c].astype(np.float64).mean(0) for c in "abcd"}
    pairs = sum(abs(means[a] - means[b]) for a, b in combinations("abcd", 2))
    ranking = lmkin.rank_neurons(fitted(planted), "probeless", **rows_of(planted))
    assert ranking.value == pytest.approx(pairs, rel=1e-5)
    assert ranking.order.tolist() == np.argsort(-pairs).tolist()
    scaled = lmkin.rank_neurons(fitted(planted), "probeless", standardize=True, **rows_of(planted))
    assert scaled.value == pytest.approx(pairs / X.astype(np.float64).std(0), rel=1e-5)


def test_the_row_path_is_that_of_the_probe(planted: dict[str, Any]) -> None:
    """A neuron's step is the first λ₁ at which `lmkin.Probe` takes it in; λ₁ falls from that of the empty model."""
    X, y = planted["train"]
    ranking = lmkin.rank_neurons(fitted(planted), "row-path", **rows_of(planted))
    Z = X.astype(np.float64)
    Z = (Z - Z.mean(0)) / Z.std(0)
    Y = (y[:, None] == np.array(list("abcd"))).astype(float)
    largest = np.linalg.norm(Z.T @ (Y - Y.mean(0)) / len(Z), axis=1).max()
    before: set[int] = set()
    for k in (1, 2, 3, 4, 6):
        l1 = largest * 1e-3 ** (k / 19)
        probe = lmkin.Probe(penalty="row", l1=l1, tolerance=1e-3).fit(X, y)
        here = set(probe.neurons_.tolist())
        assert here == set(np.flatnonzero(ranking.value <= k).tolist())
        assert before <= here
        before = here
    assert len(before) >= 4
    steps = ranking.value[ranking.order]
    assert (np.diff(steps[np.isfinite(steps)]) >= 0).all()


def test_halves_of_planted_data_agree(planted: dict[str, Any]) -> None:
    groups = np.repeat(np.arange(200), 3)
    ranking = lmkin.rank_neurons(fitted(planted), resamples=2, groups=groups, **rows_of(planted))
    assert ranking.stability is not None
    shared = ranking.stability["overlap"].sel(top=5).item()
    assert shared >= 0.6 > ranking.stability["chance"].sel(top=5).item()
    luck = lmkin.rank_neurons(
        fitted(planted), "random", resamples=4, groups=groups, **rows_of(planted)
    )
    assert luck.stability is not None
    assert luck.stability["overlap"].sel(top=30).item() == pytest.approx(0.5, abs=0.2)


def test_labels_of_weights_say_where_neurons_lie() -> None:
    weights = xr.DataArray(
        [[0.0, 1.0, 5.0, 0.0]], dims=("class", "neuron"),
        coords={"layer": ("neuron", [0, 0, 3, 3]), "number": ("neuron", [0, 1, 0, 1])},
    )  # fmt: skip
    ranking = lmkin.rank_neurons(weights)
    assert ranking.places[:2] == [(3, 0), (0, 1)]
    assert ranking.by_layer(2) == {0: 1, 3: 1}
    mask = ranking.top(1)
    assert {n: m.tolist() for n, m in mask.masks.items()} == {0: [False] * 2, 3: [True, False]}
    assert mask.threshold is None
    assert "layer" in str(ranking.table().to_records()[0])


def test_orders_do_not_depend_on_hashes() -> None:
    code = (
        "import numpy as np, lmkin\nfrom lmkin.analyses.probing import ranking_names\n"
        "r = np.random.default_rng(0); W = r.integers(-3, 4, (6, 50)).astype(float)\n"
        "X = r.normal(size=(120, 50)); y = np.array(list('abcdef'))[r.integers(0, 6, 120)]\n"
        "for m in ranking_names():\n"
        "    print(m, lmkin.rank_neurons(W, m, X=X, y=y, seed=3).order.tolist())\n"
    )
    other = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONHASHSEED": "77"},
    ).stdout  # fmt: skip
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(code, {})
    there = other.splitlines()
    assert len(there) >= 4
    # Here there may be more: examples of other tests register rankings of their own.
    assert [line for line in said.getvalue().splitlines() if line in there] == there


def test_a_ranking_of_your_own_is_a_function() -> None:
    @ranking_method("largest", summary="By the largest weight.", needs="weights", value="weight")
    def largest(evidence: Any, *, steps: int = 1) -> Ranked:
        size = np.abs(evidence.weights).max(0)
        return Ranked(np.argsort(-size, kind="stable"), size, len(size))

    try:
        assert lmkin.rank_neurons([[1, -4, 2]], "largest").order.tolist() == [1, 2, 0]
        assert "largest" in ranking_names()
    finally:
        del _METHODS["largest"]


W = np.eye(3)
ROWS = {"X": np.arange(12.0).reshape(4, 3), "y": ["a", "b", "a", "b"]}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((W, "lcca"), r"Unknown ranking 'lcca'.*Did you mean 'lca'"),
        ((W, "row-path"), "row-path needs rows with labels"),
        ((W, "probeless"), "probeless needs rows"),
        ((np.array([[1.0, np.nan, 0.0]]),), "weight of neuron 1 for class 0 is NaN"),
        ((np.ones(3),), r"classes × neurons.*shape \(3,\)"),
        (("MiniLM",), "got str"),
        ((lmkin.Probe(),), "not fitted"),
        ((W, "lca", {"steps": 0}), "steps is a number of steps"),
        ((W, "random", {"steps": 5}), "random has no option 'steps'"),
        ((W, "lca", {"layers": 3}), "layers names one of the probes"),
        ((W, "lca", {"resamples": 2}), "Stability over resamples needs rows"),
        ((W, "lca", {"resamples": -1}), "resamples is a number of draws"),
        ((W, "lca", {"X": np.ones((4, 2)), "y": [0, 1, 0, 1]}), "shape 4 × 2, and 3 neurons"),
        ((W, "lca", {"X": np.ones((4, 3))}), "with their labels"),
        ((W, "lca", {**ROWS, "y": ["a"] * 4}), "one class only"),
        ((W, "lca", {**ROWS, "y": ["a"] * 3}), r"4 rows and labels of the shape \(3,\)"),
        ((W, "lca", {**ROWS, "dev": ROWS["X"]}), "dev is a pair"),
        ((W, "lca", {**ROWS, "groups": [1]}), "1 groups for 4 rows"),
        ((W, "lca", {**ROWS, "X": np.full((4, 3), np.inf)}), "NaN or infinite"),
    ],
)  # fmt: skip
def test_mistakes_are_named(arguments: tuple[Any, ...], message: str) -> None:
    *given, options = arguments if isinstance(arguments[-1], dict) else (*arguments, {})
    with pytest.raises(lmkin.LmkinError, match=message):
        lmkin.rank_neurons(*given, **options)


def test_overlap_is_hypergeometric() -> None:
    """Against scipy's distribution, and against all draws of a small case."""
    from scipy.stats import hypergeom

    from lmkin.analyses.probing.neurons.overlap import log_chance

    for both, one, other, total in [
        (3, 5, 6, 20),
        (0, 5, 6, 20),
        (5, 5, 6, 20),
        (40, 90, 80, 4992),
    ]:
        expected = hypergeom.logsf(both - 1, total, one, other)
        assert log_chance(both, one, other, total) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    draws = [len({0, 1, 2} & set(some)) for some in combinations(range(7), 4)]
    by_hand = np.log(np.mean([n >= 2 for n in draws]))
    assert log_chance(2, 3, 4, 7) == pytest.approx(by_hand)
    first, second = lmkin.rank_neurons([[3.0, 2, 1, 0]]), lmkin.rank_neurons([[0.0, 2, 3, 1]])
    row = neuron_overlap({"a": first.top(2), "b": second.top(2)}).to_records()[0]
    assert (row["both"], row["expected"], row["jaccard"]) == (1, 1.0, pytest.approx(1 / 3))
    with pytest.raises(lmkin.LmkinError, match="two sets"):
        neuron_overlap({"a": first.top(2)})
