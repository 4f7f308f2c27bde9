"""What every registered measure promises, and what none may do: a new one is tested here by being registered."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ortho_group

import lmkin
from lmkin.measures import Measure, measure_function, measure_info, measure_names
from lmkin.measures.registry import INVARIANCES
from lmkin.moments import Moments
from measures.layer_pairs import Matrix, correlated, keywords

MEASURES = [measure_info(name) for name in measure_names()]
every = pytest.mark.parametrize("measure", MEASURES, ids=lambda m: m.name)
few = settings(max_examples=15, deadline=None)
seeds = st.integers(0, 2**31)


def layers(seed: int, n: int = 120, d: int = 6, e: int = 9) -> tuple[Matrix, Matrix]:
    return correlated(np.random.default_rng(seed), n, d, e)


def moved(X: Matrix, how: str, rng: np.random.Generator) -> Matrix:
    """X after a random map of the kind."""
    d = X.shape[1]
    if how == "shift":
        return X + rng.normal(size=d) * 50
    if how == "scale":
        return X * 10 ** rng.uniform(-3, 3)
    if how == "neuron-scale":
        return X * 10 ** rng.uniform(-1, 1, size=d)
    if how == "sign":
        return X * rng.choice([-1.0, 1.0], size=d)
    if how == "permutation":
        return X[:, rng.permutation(d)]
    if how == "rotation":
        return X @ ortho_group.rvs(d, random_state=rng)
    assert how == "linear"
    return X @ (rng.normal(size=(d, d)) + 2 * np.eye(d))


def value(measure: Measure, X: Any, Y: Any, **options: Any) -> float:
    return measure_function(measure.name, **keywords(options))(X, Y)


def through_moments(measure: Measure, X: Any, Y: Any, **options: Any) -> float:
    table = lmkin.similarity(
        {"x": X, "y": Y}, measures=measure.name, intervals=False, **keywords(options)
    ).matrix()
    return float(table.values[0, 1])


# -- promises ----------------------------------------------------------------------------------------


@every
def test_declares_itself(measure: Measure) -> None:
    assert measure.title
    assert measure.summary.endswith(".")
    assert measure.reference
    assert measure.cost
    assert measure.range[0] < measure.range[1]
    assert measure.invariances <= set(INVARIANCES)


@every
@given(seed=seeds)
@few
def test_a_layer_is_one_with_itself(measure: Measure, seed: int) -> None:
    X, _ = layers(seed)
    assert value(measure, X, X) == pytest.approx(1, abs=1e-9)
    assert through_moments(measure, X, X.copy()) == pytest.approx(1, abs=1e-9)


@every
@given(seed=seeds)
@few
def test_symmetric_as_declared(measure: Measure, seed: int) -> None:
    X, Y = layers(seed)
    there, back = value(measure, X, Y), value(measure, Y, X)
    assert (there == pytest.approx(back, abs=1e-9)) == measure.symmetric


@every
@pytest.mark.parametrize("how", INVARIANCES)
def test_invariant_as_declared_and_to_nothing_else(measure: Measure, how: str) -> None:
    changes = {"x": [], "y": []}
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X, Y = layers(seed)
        X[:, 0] *= 4  # one neuron larger than the others, so that directions differ in size
        before = value(measure, X, Y)
        changes["x"].append(abs(value(measure, moved(X, how, rng), Y) - before))
        changes["y"].append(abs(value(measure, X, moved(Y, how, rng)) - before))
    largest = {side: max(found) for side, found in changes.items()}
    if how in measure.invariances:
        assert max(largest.values()) < 1e-8
    else:
        assert max(largest.values()) > 1e-3


@every
@given(seed=seeds, data=st.data())
@few
def test_declared_invariances_hold_together(measure: Measure, seed: int, data: Any) -> None:
    """Of both sides at once, in any order, also through moments."""
    chosen = data.draw(st.permutations(sorted(measure.invariances)))
    rng = np.random.default_rng(seed)
    X, Y = layers(seed)
    before = value(measure, X, Y)
    for how in chosen:
        X, Y = moved(X, how, rng), moved(Y, how, rng)
    # The maps multiply up to a condition of 1e4, and an offset of 50 stays under a scale of 1e-3.
    assert value(measure, X, Y) == pytest.approx(before, abs=1e-6)
    assert through_moments(measure, X, Y) == pytest.approx(before, abs=1e-6)


@every
def test_unrelated_layers(measure: Measure) -> None:
    """0 on average for the unbiased ones, and not for the others: then the declaration says something."""
    rng = np.random.default_rng(0)
    null = [value(measure, rng.normal(size=(60, 30)), rng.normal(size=(60, 25))) for _ in range(40)]
    error = np.std(null, ddof=1) / np.sqrt(len(null))
    if measure.unbiased:
        assert abs(np.mean(null)) < 3.5 * error
        assert min(null) < 0  # not clamped
    else:
        assert np.mean(null) > 0.1
        assert np.mean(null) > 20 * error


@every
@given(seed=seeds, n=st.integers(8, 60), d=st.integers(1, 30), e=st.integers(1, 30))
@settings(max_examples=30, deadline=None)
def test_finite_and_in_range(measure: Measure, seed: int, n: int, d: int, e: int) -> None:
    X, Y = layers(seed, n, d, e)
    low, high = measure.range
    for found in (value(measure, X, Y), through_moments(measure, X, Y)):
        assert low - 1e-9 <= found <= high + 1e-9  # NaN fails both


@every
def test_more_shared_means_more_alike(measure: Measure) -> None:
    rng = np.random.default_rng(5)
    X, noise = rng.normal(size=(400, 8)), rng.normal(size=(400, 8))
    found = [value(measure, X, X + size * noise) for size in (0, 0.3, 1, 3)]
    assert found == sorted(found, reverse=True)
    assert found[0] - found[-1] > 0.3


# -- the same by all ways ----------------------------------------------------------------------------


@every
@given(seed=seeds, cuts=st.lists(st.integers(0, 120), max_size=6))
@few
def test_streaming_equals_direct(measure: Measure, seed: int, cuts: list[int]) -> None:
    X, Y = layers(seed)
    moments = Moments()
    edges = [0, *sorted(cuts), 120]
    for start, stop in pairwise(edges):
        moments.update({"x": X[start:stop], "y": Y[start:stop]})
    table = lmkin.similarity(
        moments, measures=measure.name, neurons="raw", intervals=False
    ).matrix()
    assert float(table.values[0, 1]) == pytest.approx(value(measure, X, Y), abs=1e-9)
    assert float(table.values[1, 0]) == pytest.approx(value(measure, Y, X), abs=1e-9)


@every
@pytest.mark.parametrize("standardize", [False, True])
def test_merge_order_does_not_matter(measure: Measure, standardize: bool) -> None:
    X, Y = layers(3, n=300)
    pieces = [slice(0, 2), slice(2, 90), slice(90, 91), slice(91, 300)]
    parts = []
    for number, piece in enumerate(pieces):
        part = Moments(seed=number).update({"x": X[piece], "y": Y[piece]}, part=number)
        if number in (1, 3):
            part.cov("x", "x")  # what waits in a buffer merges otherwise than what is summed up
        parts.append(part)
    expected = value(measure, X, Y, standardize=standardize)
    # Standardized row norms follow a change of unit to first order only, and 88 rows know the unit to 8 %.
    close = 1e-3 if standardize and measure.name == "ckasim" else 1e-9
    for order in ([0, 1, 2, 3], [3, 2, 1, 0], [1, 0, 3, 2]):
        merged = Moments(sample_rows=300)
        for number in order:
            merged = merged.merge(parts[number])
        table = lmkin.similarity(
            merged,
            measures=measure.name,
            neurons="standardized" if standardize else "raw",
            intervals=False,
        ).matrix()
        assert float(table.values[0, 1]) == pytest.approx(expected, abs=close), order


@every
@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "int8"])
def test_narrow_and_whole_numbers(measure: Measure, dtype: str) -> None:
    X, Y = ((20 * M).round().astype(dtype) for M in layers(8))
    expected = value(measure, X.astype(np.float64), Y.astype(np.float64))
    assert value(measure, X, Y) == pytest.approx(expected, abs=1e-9)
    assert through_moments(measure, X, Y) == pytest.approx(expected, abs=1e-9)


@every
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_torch_tensors(measure: Measure, dtype: str) -> None:
    torch = pytest.importorskip("torch")
    X, Y = (torch.tensor(M).to(getattr(torch, dtype)) for M in layers(8))
    expected = value(measure, X.double().numpy(), Y.double().numpy())
    assert value(measure, X, Y) == pytest.approx(expected, abs=1e-9)
    assert through_moments(measure, X, Y) == pytest.approx(expected, abs=1e-9)
    assert through_moments(measure, X, Y.double().numpy()) == pytest.approx(expected, abs=1e-9)
    wanted = X.clone().requires_grad_(True)
    assert value(measure, wanted, Y) == pytest.approx(expected, abs=1e-9)
    moments = Moments().update({"x": wanted, "y": Y})
    assert not moments.cov("x", "y").requires_grad  # else a graph of all blocks would be kept
    table = lmkin.similarity(
        moments, measures=measure.name, neurons="raw", intervals=False
    ).matrix()
    assert float(table.values[0, 1]) == pytest.approx(expected, abs=1e-9)
    with pytest.raises(lmkin.LmkinError, match="one kind"):
        value(measure, X, Y.double().numpy())


@every
def test_lists_and_rows_in_any_memory_order(measure: Measure) -> None:
    X, Y = layers(8)
    expected = value(measure, X, Y)
    assert value(measure, X.tolist(), Y.tolist()) == pytest.approx(expected, abs=1e-9)
    assert value(measure, np.asfortranarray(X), Y[::-1][::-1]) == pytest.approx(expected, abs=1e-9)
    assert through_moments(measure, np.asfortranarray(X), Y.tolist()) == pytest.approx(
        expected, abs=1e-9
    )


@every
def test_the_order_of_units_does_not_matter(measure: Measure) -> None:
    X, Y = layers(8)
    order = np.random.default_rng(0).permutation(len(X))
    assert value(measure, X[order], Y[order]) == pytest.approx(value(measure, X, Y), abs=1e-9)


# -- what real layers hold ---------------------------------------------------------------------------


@every
def test_constant_neurons_take_no_part(measure: Measure) -> None:
    X, Y = layers(4)
    more = np.insert(X, [0, 3], [0.1, 1e6], axis=1)
    expected = value(measure, X, Y)
    for standardize in (False, True):
        expected = value(measure, X, Y, standardize=standardize)
        for A, B, turned in ((more, Y, False), (Y, more, True)):
            right = value(measure, Y, X, standardize=standardize) if turned else expected
            assert value(measure, A, B, standardize=standardize) == pytest.approx(right, abs=1e-8)
            found = through_moments(measure, A, B, standardize=standardize)
            assert found == pytest.approx(right, abs=1e-8)


@every
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_a_neuron_that_is_constant_without_a_part(measure: Measure, precision: str) -> None:
    """Leaving the part out must leave nothing of the neuron: not what rounding makes of it."""
    X, Y = layers(6, n=300)
    X[:, 2] = 0.3
    X[:40, 2] += np.random.default_rng(0).normal(size=40) * 3
    parts = np.repeat([0, 1, 2], [40, 60, 200])
    for standardize in (False, True):
        table = lmkin.similarity(
            {"x": X, "y": Y},
            measures=measure.name,
            parts=parts,
            precision=precision,
            neurons="standardized" if standardize else "raw",
        ).matrix()
        expected = value(measure, X[40:], Y[40:], standardize=standardize)
        # Units of the whole are not those of the rest: standardized norms follow to first order.
        close = 1e-3 if standardize and measure.name == "ckasim" else 2e-6
        assert table.attrs["without"][0, 0, 1] == pytest.approx(expected, abs=close)


@every
def test_fewer_units_than_neurons(measure: Measure) -> None:
    X, Y = layers(4, n=30, d=50, e=40)
    low, high = measure.range
    tables = [
        lmkin.similarity(
            {"x": X, "y": Y}, measures=measure.name, neurons="raw", intervals=False, route=route
        )
        .matrix()
        .values
        for route in ("joint", "dual", "panels")
    ]
    assert np.diag(tables[0]) == pytest.approx(1, abs=1e-9)
    assert low - 1e-9 <= tables[0].min() <= tables[0].max() <= high + 1e-9
    # Tied canonical correlations leave pwsim's weights open.
    close = 2e-3 if measure.name == "pwsim" else 1e-9
    assert tables[1] == pytest.approx(tables[0], abs=close)
    assert tables[2] == pytest.approx(tables[0], abs=close)


@every
def test_one_neuron(measure: Measure) -> None:
    X, Y = layers(4, d=1, e=1)
    found = value(measure, X, Y)
    assert 0 < found < 1
    if measure.name in ("neuronsim", "mixedsim", "svsim", "pwsim", "procrustes"):
        assert found == pytest.approx(abs(np.corrcoef(X.T, Y.T)[0, 1]), abs=1e-12)


# -- clear errors ------------------------------------------------------------------------------------


@every
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_not_a_number(measure: Measure, bad: float) -> None:
    X, Y = layers(4)
    X[17, 2] = bad
    for call in (value, through_moments):
        with pytest.raises(lmkin.LmkinError, match="NaN or infinite"):
            call(measure, X, Y)
        with pytest.raises(lmkin.LmkinError, match="NaN or infinite"):
            call(measure, Y, X)


@every
def test_a_layer_without_life(measure: Measure) -> None:
    X, Y = layers(4)
    dead = np.full_like(X, 0.1)
    for call in (value, through_moments):
        for pair in ((dead, Y), (Y, dead)):
            with pytest.raises(lmkin.LmkinError, match=r"neurons of .* are constant"):
                call(measure, *pair)


@every
def test_rows_that_do_not_fit(measure: Measure) -> None:
    X, Y = layers(4)
    with pytest.raises(lmkin.LmkinError, match=r"120.* 119"):
        value(measure, X, Y[1:])
    with pytest.raises(lmkin.LmkinError, match=r"120.* 119"):
        through_moments(measure, X, Y[1:])


@every
@pytest.mark.parametrize(
    ("bad", "says"),
    [
        (np.ones(120), "shape"),
        (np.ones((120, 0)), "no neurons"),
        (np.array([["a", "b"]] * 120), "numbers expected"),
        (np.ones((120, 2)) + 1j, "real numbers"),
        ([[1.0], [1.0, 2.0]], "differ in length"),
    ],
)
def test_what_is_no_layer(measure: Measure, bad: Any, says: str) -> None:
    _, Y = layers(4)
    for call in (value, through_moments):
        with pytest.raises(lmkin.LmkinError, match=says):
            call(measure, bad, Y)


@every
def test_hardly_any_units(measure: Measure) -> None:
    X, Y = layers(4)
    for n in (0, 1, 2):
        for call in (value, through_moments):
            try:
                found = call(measure, X[:n], Y[:n])
            except lmkin.LmkinError:
                continue
            assert n == 2
            assert np.isfinite(found)


@every
def test_options_are_checked(measure: Measure) -> None:
    X, Y = layers(4)
    with pytest.raises(lmkin.LmkinError, match="No option 'varianse'"):
        value(measure, X, Y, varianse=0.5)
    with pytest.raises(lmkin.LmkinError, match=r"no option 'held_oud'.*Did you mean 'held_out'"):
        lmkin.similarity({"x": X, "y": Y}, measures=measure.name, held_oud=True)
    with pytest.raises(lmkin.LmkinError, match="No option 'varianse'"):
        through_moments(measure, X, Y, varianse=0.5)
    wrong = {
        "top_k": 0,
        "variance": 1.5,
        "ridge": -1,
        "estimator": "unbias",
        "bandwidth": 0,
        "tolerance": -1.0,
    }
    for option, bad in wrong.items():
        if option in measure.options:
            with pytest.raises(lmkin.LmkinError, match=f"(?i){option}"):
                value(measure, X, Y, **{option: bad})


# -- the battery that any function may be put through ------------------------------------------------


@every
def test_conformance(measure: Measure) -> None:
    found = lmkin.check_measure(measure.name, quick=True, show=False)
    wrong = [(row.name, row.note) for row in found.rows if row.verdict in ("fail", "error")]
    assert found.passed, wrong
