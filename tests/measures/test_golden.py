"""Every measure, by every way to it, against its definition written naively on the raw rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import lmkin
from lmkin.measures import measure_function, measure_names
from lmkin.moments import Moments
from measures.layer_pairs import CASES, Case, Matrix, keywords
from measures.naive import NAIVE, held_out, neuron_matches

# float64 keeps 16 digits; squares (a covariance instead of the rows) and cancellation in unbiased CKA take up to half.
TIGHT = 1e-8
OPTIONS: dict[str, list[dict[str, Any]]] = {
    "neuronsim": [{}, {"top_k": 3}],
    "mixedsim": [{}, {"top_k": 3}, {"ridge": 0.1}, {"ridge": 1e-3, "standardize": True}],
    "svsim": [
        {},
        {"variance": 0.7},
        {"top_k": 2},
        {"standardize": True},
        {"convention": "released"},
    ],
    "pwsim": [
        {},
        {"variance": 0.7},
        {"top_k": 2},
        {"standardize": True},
        {"convention": "released"},
    ],
    "ckasim": [
        {},
        {"estimator": "biased"},
        {"standardize": True},
        {"estimator": "biased", "standardize": True},
    ],
    "procrustes": [{}, {"standardize": True}],
    "rbfcka": [{}, {"estimator": "biased", "bandwidth": 0.4}, {"standardize": True}],
}
TIED = ("fewer rows than neurons", "rows between the widths")
"""With so few rows some canonical correlations are exactly 1, and any rotation among their directions is as good."""
ALL = [
    pytest.param(case, name, options, id=f"{name}-{case.name}-{options}")
    for case in CASES
    for name in NAIVE
    for options in OPTIONS[name]
    if not (name == "rbfcka" and case.name == "n 2000, d 300 and 120")  # sampled, see below
    and not (
        name == "pwsim" and case.name in TIED and options != {"top_k": 2}
    )  # not unique, see below
]


def in_odd_blocks(layers: dict[str, Any], sizes: tuple[int, ...] = (7, 1, 61, 130)) -> Moments:
    """Moments of the rows, a few at a time."""
    moments = Moments(sample_rows=1000)
    start, n = 0, len(next(iter(layers.values())))
    for size in sizes * n:
        if start >= n:
            break
        moments.update({g: a[start : start + size] for g, a in layers.items()})
        start += size
    return moments


def test_every_measure_of_ours_has_a_naive_twin() -> None:
    assert set(measure_names()) == set(NAIVE) == set(OPTIONS)


@pytest.mark.parametrize(("case", "name", "options"), ALL)
def test_equals_the_definition(case: Case, name: str, options: dict[str, Any]) -> None:
    X, Y = case.pair()
    there, back = NAIVE[name](X, Y, **options), NAIVE[name](Y, X, **options)
    assert measure_function(name, **keywords(options))(X, Y) == pytest.approx(there, abs=TIGHT)
    layers = {"x": X, "y": Y}
    plain = {"intervals": False, "progress": False, **keywords(options)}
    found = {
        "dict": lmkin.similarity(layers, measures=name, route="joint", **plain).matrix(),
        "panels": lmkin.similarity(layers, measures=name, route="panels", **plain).matrix(),
        "blocks": lmkin.similarity(in_odd_blocks(layers), measures=name, **plain).matrix(),
        "pairs": lmkin.similarity(
            {**layers, "z": X[:, :2]}, measures=name, route="pairs", **plain
        ).matrix(),
    }
    if len(X) < max(X.shape[1], Y.shape[1]):
        found["dual"] = lmkin.similarity(layers, measures=name, route="dual", **plain).matrix()
    for way, table in found.items():
        values = table.sel(x=["x/0", "y/0"], y=["x/0", "y/0"]).values
        expected = [[1, there], [back, 1]] if not options.get("ridge") else None
        if expected is None:
            assert values[[0, 1], [1, 0]] == pytest.approx(np.array([there, back]), abs=TIGHT), way
        else:
            assert values == pytest.approx(np.array(expected), abs=TIGHT), way


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_released_regression(case: Case) -> None:
    """All singular vectors and no tolerance: that is the definition where every direction is real."""
    X, Y = case.pair()
    released = measure_function("mixedsim", measure_options={"convention": "released"})
    if not case.full_rank:  # the definition would take directions that are rounding alone
        value = released(X, Y)
        assert value == pytest.approx(NAIVE["mixedsim"](X, Y), abs=1e-6)
        return
    expected = NAIVE["mixedsim"](X, Y, convention="released")
    assert released(X, Y) == pytest.approx(expected, abs=TIGHT)
    table = lmkin.similarity(
        {"x": X, "y": Y},
        measures="mixedsim",
        neurons="raw",
        intervals=False,
        measure_options={"convention": "released"},
    ).matrix()
    assert table.values[0, 1] == pytest.approx(expected, abs=TIGHT)


HELD_OUT = [
    pytest.param(case, name, options, id=f"{name}-{case.name}-{options}")
    for case in CASES
    if case.name.startswith(("n 333", "fewer", "rank", "constant", "rogue", "offset"))
    for name, choices in {
        "mixedsim": [
            {}, {"ridge": 0.3}, {"ridge": 0.3, "standardize": True}, {"top_k": 4},
        ],
        "svsim": [{}, {"variance": 0.8}, {"standardize": True}, {"convention": "released"}, {"top_k": 3}],
        "pwsim": [{}, {"variance": 0.8}, {"standardize": True}, {"convention": "released"}, {"top_k": 3}],
    }.items()
    for options in choices
    # Where all fits are perfect, rounding says which directions come first.
    if case.name not in TIED or (name == "mixedsim" and "top_k" not in options)
]  # fmt: skip


@pytest.mark.parametrize(("case", "name", "options"), HELD_OUT)
def test_held_out_equals_the_definition(case: Case, name: str, options: dict[str, Any]) -> None:
    X, Y = case.pair()
    parts = np.sort(np.arange(len(X)) ** 2 % 5)  # of unequal size
    expected = [held_out(name, X, Y, parts, **options), held_out(name, Y, X, parts, **options)]
    few = len(X) < max(X.shape[1], Y.shape[1])
    for route in ("joint", "panels", *(["dual"] if few else [])):
        table = lmkin.similarity(
            {"x": X, "y": Y},
            measures=name,
            held_out=True,
            parts=parts,
            route=route,
            **keywords(options),
        ).matrix()
        assert table.values[[0, 1], [1, 0]] == pytest.approx(np.array(expected), abs=1e-7), route
        assert table.attrs["held_out"] == 1


@pytest.mark.parametrize("case", [c for c in CASES if c.name in TIED], ids=lambda c: c.name)
@pytest.mark.parametrize("options", OPTIONS["pwsim"], ids=str)
def test_pwsim_with_tied_correlations(case: Case, options: dict[str, Any]) -> None:
    """Tied directions may be rotated, which moves the weights a little, and the value by less than that."""
    X, Y = case.pair()
    expected = NAIVE["pwsim"](X, Y, **options)
    assert measure_function("pwsim", **keywords(options))(X, Y) == pytest.approx(expected, abs=2e-3)
    table = lmkin.similarity(
        {"x": X, "y": Y}, measures="pwsim", route="dual", intervals=False, **keywords(options)
    ).matrix()
    assert table.values[0, 1] == pytest.approx(expected, abs=2e-3)


def test_the_best_held_out_neurons_are_chosen_where_the_fit_was_made() -> None:
    """Chosen on the test rows, the best of many unrelated neurons would look good."""
    rng = np.random.default_rng(0)
    layers = {"x": rng.normal(size=(200, 80)), "y": rng.normal(size=(200, 5))}
    for name in ("mixedsim", "svsim"):
        table = lmkin.similarity(
            layers, measures=name, neurons="raw", held_out=True, measure_options={"top_k": 1}
        ).matrix()
        assert abs(table.values[0, 1]) < 0.15


def test_matches_of_neurons() -> None:
    X, Y = next(c for c in CASES if c.name.startswith("constant")).pair()
    result = lmkin.similarity(
        {"x": X, "y": Y}, measures="neuronsim", neurons="raw", intervals=False
    )
    found = result.neuronsim_match.sel(model_x="x", model_y="y").values.ravel()
    assert found[: X.shape[1]].tolist() == neuron_matches(X, Y)
    back = result.neuronsim_match.sel(model_x="y", model_y="x").values.ravel()
    assert back[: Y.shape[1]].tolist() == neuron_matches(Y, X)
    assert (back[Y.shape[1] :] == -1).all()


@pytest.mark.parametrize("route", ["joint", "panels", "pairs", "dual", "moments"])
def test_each_neurons_correlation_is_kept_on_every_route(route: str) -> None:
    """The largest |r| of each neuron of x; NaN for one that is constant, and where a layer has no such neuron."""
    random = np.random.default_rng(0)
    n = (
        11 if route == "dual" else 30
    )  # from rows × rows, where there are fewer of them than neurons
    X = random.normal(size=(n, 12))
    layers = {"x": X, "y": X[:, :7] @ random.normal(size=(7, 9)), "z": random.normal(size=(n, 14))}
    layers["x"][:, 3] = 2.5
    source: Any = layers
    options: dict[str, Any] = {"route": route}
    if route == "moments":
        source, options = Moments(precision="float64").update(layers), {}
    result = lmkin.similarity(source, measures="neuronsim", intervals=False, **options)
    assert result.neuronsim_match_r.dtype == np.float32
    for a, A in layers.items():
        for b, B in layers.items():
            with np.errstate(invalid="ignore"):
                r = np.abs(np.corrcoef(A.T, B.T)[: A.shape[1], A.shape[1] :])
            constant = A.std(0) == 0
            expected = np.where(
                constant, np.nan, np.nanmax(np.where(constant[:, None], 0, r), axis=1)
            )
            found = result.neuronsim_match_r.sel(model_x=a, model_y=b).values.ravel()
            np.testing.assert_allclose(found[: A.shape[1]], expected, atol=1e-6)
            assert np.isnan(found[A.shape[1] :]).all()
            mean = result.neuronsim.sel(model_x=a, model_y=b).values.ravel()[0]
            if route != "moments" or a != b:
                assert np.nanmean(expected) == pytest.approx(mean, abs=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("name", list(NAIVE))
@pytest.mark.parametrize(
    "case",
    [
        c
        for c in CASES
        if c.name in ("n 333, d 17 and 40", "values near 60,000", "offset of 10,000")
    ],
    ids=lambda c: c.name,
)
def test_narrow_input_loses_nothing(case: Case, name: str, dtype: Any) -> None:
    """The naive value of the same rounded numbers: products are made in float64 where there are few neurons."""
    X, Y = (M.astype(dtype) for M in case.pair())
    assert np.isfinite(X).all()
    expected = NAIVE[name](X.astype(np.float64), Y.astype(np.float64))
    assert measure_function(name)(X, Y) == pytest.approx(expected, abs=TIGHT)
    table = lmkin.similarity(
        {"x": X, "y": Y}, measures=name, neurons="raw", intervals=False
    ).matrix()
    assert table.values[0, 1] == pytest.approx(expected, abs=TIGHT)


@pytest.mark.parametrize("name", [n for n in NAIVE if n != "rbfcka"])
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_products_in_float32(case: Case, name: str) -> None:
    """As for wide models. 24 bits: 6e-8 an entry; small directions, by whose size fits divide, have fewer digits."""
    X, Y = (M.astype(np.float32) for M in case.pair())
    tolerance = (
        2e-3 if name == "pwsim" and case.name in TIED else 2e-5
    )  # see above on tied correlations
    for options in OPTIONS[name]:
        expected = NAIVE[name](X.astype(np.float64), Y.astype(np.float64), **options)
        table = lmkin.similarity(
            {"x": X, "y": Y},
            measures=name,
            precision="float32",
            route="joint",
            intervals=False,
            **keywords(options),
        ).matrix()
        assert table.values[0, 1] == pytest.approx(expected, abs=tolerance), options


@pytest.mark.parametrize("name", ["svsim", "pwsim"])
def test_float32_sees_behind_a_rogue_neuron(name: str) -> None:
    """What the alert advises: more of the variance, where one neuron holds nearly all of it."""
    X, Y = next(c for c in CASES if c.name == "rogue neuron, 99.99 %").pair()
    X[:, 3] *= 30
    Y[:, 11] *= 30
    expected = NAIVE[name](X, Y, variance=1 - 1e-8)
    for precision in ("float64", "float32"):
        table = lmkin.similarity(
            {"x": X, "y": Y},
            measures=name,
            neurons="raw",
            precision=precision,
            intervals=False,
            measure_options={"variance": 1 - 1e-8},
        ).matrix()
        assert table.values[0, 1] == pytest.approx(expected, abs=2e-5), precision


def test_float32_with_a_ridge_behind_a_rogue_neuron() -> None:
    rng = np.random.default_rng(1)
    Y = rng.normal(size=(500, 30))
    Y[:, 0] *= 3000
    X = Y[:, 1:11] + rng.normal(size=(500, 10))
    expected = NAIVE["mixedsim"](X, Y, ridge=1e-9)
    for precision in ("float64", "float32"):
        table = lmkin.similarity(
            {"x": X, "y": Y},
            measures="mixedsim",
            neurons="raw",
            precision=precision,
            intervals=False,
            measure_options={"ridge": 1e-9},
        ).matrix()
        assert table.values[0, 1] == pytest.approx(expected, abs=2e-5), precision


def test_rbf_cka_of_many_rows_is_that_of_a_random_sample() -> None:
    X, Y = next(c for c in CASES if c.name == "n 2000, d 300 and 120").pair()
    X, Y = X[:, :10], Y[:, :10]
    whole = NAIVE["rbfcka"](X, Y)
    assert measure_function("rbfcka")(X, Y) == pytest.approx(whole, abs=TIGHT)
    values = [
        lmkin.similarity(
            {"x": X, "y": Y}, measures="rbfcka", neurons="raw", intervals=False, seed=s
        )
        .matrix()
        .values[0, 1]
        for s in range(3)
    ]
    assert len(set(values)) == 3
    assert values == pytest.approx([whole] * 3, abs=0.05)
    again = lmkin.similarity(
        {"x": X, "y": Y}, measures="rbfcka", neurons="raw", intervals=False, seed=2
    ).matrix()
    assert again.values[0, 1] == values[2]


@pytest.mark.parametrize("name", list(NAIVE))
def test_layers_keep_the_order_given(name: str) -> None:
    X, Y = CASES[2].pair()
    layers: dict[str, Matrix] = {"b/1": Y, "a/7": X, "b/0": X[:, :4]}
    table = lmkin.similarity(layers, measures=name, neurons="raw", intervals=False).matrix()
    assert table.x.values.tolist() == table.y.values.tolist() == list(layers)
    for x, A in layers.items():
        for y, B in layers.items():
            expected = NAIVE[name](A, B)
            assert table.sel(x=x, y=y).item() == pytest.approx(expected, abs=TIGHT)
