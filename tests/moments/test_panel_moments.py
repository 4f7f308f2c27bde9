"""Rows that stay in memory give the same moments, and measures, as sums of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lmkin
from lmkin.core import LayerId
from lmkin.moments import PanelMoments, plan_moments
from lmkin.rows import row_source

WIDTHS = {"a/0": 3, "a/1": 5, "b/0": 2, "b/1": 4, "c/0": 1}
CLOSE = {"float64": 1e-10, "float32": 2e-5}


def make_rows(n: int = 400, seed: int = 0, offset: float = 5.0) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    shared = random.normal(size=(n, 3))
    return {
        g: offset + (random.normal(size=(n, w)) + shared @ random.normal(size=(3, w))) * 3**k
        for k, (g, w) in enumerate(WIDTHS.items())
    }


def check(
    snapshot: Any, rows: dict[str, np.ndarray], layout: Any, tolerance: float, panels: Any
) -> None:
    """Everything that a snapshot tells, against plain numpy."""
    arrays = list(rows.values())
    loaded = None
    for i, X in enumerate(arrays):
        assert np.abs(snapshot.mean(i) - X.mean(0)).max() < 1e-6 * X.std()
        assert snapshot.std(i) == pytest.approx(X.std(0, ddof=1), rel=tolerance)
        for j, Y in enumerate(arrays):
            number = layout.place(min(i, j), max(i, j))[0]
            if number != loaded:
                panels.load(number)
                loaded = number
            together = np.corrcoef(X.T, Y.T).reshape(X.shape[1] + Y.shape[1], -1)
            np.testing.assert_allclose(
                snapshot.corr(i, j), together[: X.shape[1], X.shape[1] :], atol=tolerance
            )
            for standardized in (False, True) if len(X) >= 300 else (False,):
                x, y = (a - a.mean(0) for a in (X, Y))
                if standardized:
                    x, y = x / x.std(0), y / y.std(0)
                norms = float((x**2).sum(1) @ (y**2).sum(1))
                found = snapshot.norm_products(i, j, standardized=standardized)
                # Without a part, standardized norms follow the change of unit to first order.
                close = 0.02 if standardized and len(X) < 400 else 10 * tolerance
                assert found == pytest.approx(norms, rel=close)


@pytest.mark.parametrize("panel", [1, 4, 9, 1000])
@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("scattered", [False, True])
def test_the_same_as_numpy(
    panel: int, precision: str, scattered: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lmkin.core.layer_ids.PANEL", panel)
    monkeypatch.setattr("lmkin.moments.resident.CHUNK", 64)  # a part is made of two pieces
    rows = make_rows()
    part = np.arange(400) % 4 if scattered else np.repeat(np.arange(4), 100)
    moments = PanelMoments(row_source(rows, parts=part), precision=precision)
    assert moments.part_sizes == dict.fromkeys(range(4), 100)
    assert moments.n == 400
    for which, keep in (
        ({}, np.ones(400, bool)),
        ({"without": 2}, part != 2),
        ({"only": 1}, part == 1),
    ):
        some = {g: a[keep] for g, a in rows.items()}
        snapshot = moments.snapshot(**which)
        assert snapshot.n == keep.sum()
        check(snapshot, some, moments.layout, CLOSE[precision], moments)


@pytest.mark.parametrize("n", [3, 511, 513, 9001])
def test_without_parts(n: int) -> None:
    rows = make_rows(n)
    moments = PanelMoments(row_source(rows, parts=1), keep_parts=False, precision="float64")
    assert moments.part_sizes == {}
    assert moments.n == n
    for number in range(len(moments.layout.panels)):
        moments.load(number)
    expected = np.cov(rows["a/1"].T, rows["b/1"].T)[:5, 5:]
    assert moments.snapshot().cov(1, 3) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    with pytest.raises(lmkin.MomentsError, match="none kept"):
        moments.snapshot(without=0)


def test_products_that_are_not_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lmkin.core.layer_ids.PANEL", 1)
    moments = PanelMoments(row_source(make_rows(), parts=2))
    moments.load(3)
    with pytest.raises(lmkin.MomentsError, match="not loaded"):
        moments.snapshot().cov(0, 1)


@settings(max_examples=25, deadline=None)
@given(
    n=st.integers(30, 120),
    seed=st.integers(0, 99),
    offset=st.sampled_from([0.0, 3.0, 1e4]),
    parts=st.integers(2, 6),
)
def test_any_rows_give_what_sums_of_them_give(n: int, seed: int, offset: float, parts: int) -> None:
    rows = make_rows(n, seed, offset)
    measures = ["neuronsim", "ckasim", "mixedsim"]
    tables = [
        lmkin.similarity(rows, measures=measures, neurons="raw", parts=parts, route=route)
        for route in ("joint", "panels")
    ]
    for name in measures:
        for what in ("", "_se", "_without"):
            np.testing.assert_allclose(
                tables[0][f"{name}{what}"].values, tables[1][f"{name}{what}"].values, atol=1e-7
            )


@pytest.mark.parametrize("options", [{}, {"held_out": True}, {"neurons": "both"}])
@pytest.mark.slow
def test_all_measures_with_intervals(options: dict[str, Any]) -> None:
    rows = make_rows(600)
    one, other = (
        lmkin.similarity(
            rows,
            measures="all",
            sample_rows=600,
            parts=5,
            route=route,
            **{"neurons": "raw", **options},
        )
        for route in ("joint", "panels")
    )
    assert set(one) == set(other)
    for name in one:
        if one[name].dtype.kind != "f":
            assert (one[name].values == other[name].values).all(), name
            continue
        # Standardized norms without a part follow the change of unit to first order, from either reference.
        close = 1e-4 if "neurons" in options and name.startswith("ckasim") else 1e-6
        np.testing.assert_allclose(one[name].values, other[name].values, atol=close, err_msg=name)
    assert one.alerts == other.alerts
    assert other.provenance["route"] == "panels"


def test_float32_rows_keep_their_digits() -> None:
    rows = {g: a.astype(np.float32) for g, a in make_rows(5000, offset=100).items()}
    exact = {g: a.astype(np.float64) for g, a in rows.items()}
    measures = ["neuronsim", "ckasim", "svsim"]
    found = lmkin.similarity(
        rows, measures=measures, neurons="raw", route="panels", precision="float32"
    )
    expected = lmkin.similarity(
        exact, measures=measures, neurons="raw", route="joint", precision="float64"
    )
    for name in measures:
        np.testing.assert_allclose(found[name].values, expected[name].values, atol=2e-6)
        se, known = found[f"{name}_se"].values, expected[f"{name}_se"].values
        np.testing.assert_allclose(se, known, rtol=1e-3, atol=1e-6)


def test_a_constant_neuron() -> None:
    rows = make_rows()
    rows["a/1"][:, 2] = 7.25
    rows["b/0"] = rows["b/0"].astype(np.float32)
    moments = PanelMoments(row_source(rows, parts=4), precision="float32")
    for which in ({}, {"without": 1}, {"only": 1}):
        assert (moments.snapshot(**which).std(1) == 0).tolist() == [
            False,
            False,
            True,
            False,
            False,
        ]


def test_whose_rows_may_stay_in_memory(caplog: pytest.LogCaptureFixture) -> None:
    torch = pytest.importorskip("torch")
    rows = make_rows()
    assert row_source(rows).resident
    tensors = {g: torch.tensor(a) for g, a in rows.items()}
    assert not row_source(tensors).resident
    caplog.set_level("INFO", "lmkin")
    lmkin.similarity(tensors, measures="ckasim", neurons="raw")
    assert "joint" in caplog.messages[0]
    assert "panels" not in caplog.messages[0]
    with pytest.raises(lmkin.MomentsError, match="'panels' is not possible here"):
        lmkin.similarity(tensors, measures="ckasim", neurons="raw", route="panels").matrix()


@pytest.mark.usefixtures("bare_process")
def test_the_plan_counts_rows_and_products() -> None:
    widths = {LayerId(f"m{m}", k): 768 for m in range(4) for k in range(13)}
    neurons = 4 * 13 * 768
    plan = plan_moments(widths, 50_000, parts=10, resident=True, spectra=False, memory="14GB")
    assert plan.route == "panels"
    own = 52 * 768**2 * (8 + 10 * 4)
    panel = 768 * neurons * 4 * 10
    assert 50_000 * neurons * 4 + own + panel < plan.needs["panels"] < 14e9
    assert plan.needs["panels"] < plan.needs["pairs"]
    more = plan_moments(widths, 50_000, parts=10, resident=True, memory="1TB").needs["panels"]
    assert more - plan.needs["panels"] == 52 * 768**2 * 12 * 2 * 11  # principal components
    assert "panels" not in plan_moments(widths, 50_000, memory="1TB").needs
    few = plan_moments(widths, 50_000, parts=10, resident=True, memory=plan.needs["pairs"] // 2 * 2)
    assert few.route == "pairs"


def related(dtype: Any = np.float64) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    shared = random.normal(size=(500, 20))
    X, Y = (shared @ random.normal(size=(20, d)) + random.normal(size=(500, d)) for d in (30, 40))
    return X.astype(dtype), Y.astype(dtype)


def test_a_part_that_holds_outliers_can_be_left_out() -> None:
    """What is left is a millionth of the whole: a difference of float32 sums would have no digits of it."""
    X, Y = related(np.float32)
    X[:20] *= 1000
    measures = ["ckasim", "neuronsim", "svsim", "procrustes"]
    found = lmkin.similarity(
        {"x": X, "y": Y}, measures=measures, neurons="raw", precision="float32", route="panels"
    )
    rows = {"x": X.astype(float), "y": Y.astype(float)}
    exact = lmkin.similarity(
        rows, measures=measures, neurons="raw", precision="float64", route="joint"
    )
    for name in measures:
        without = f"{name}_without"
        np.testing.assert_allclose(found[without].values, exact[without].values, atol=2e-5)
    part = {key: a[50:] for key, a in rows.items()}  # the first part is rows 0 to 49
    direct = lmkin.similarity(part, measures="ckasim", neurons="raw", intervals=False).matrix()
    assert found["ckasim_without"].values[0].ravel() == pytest.approx(
        direct.values.ravel(), abs=2e-5
    )


def test_sums_say_where_they_cannot_leave_out_outliers() -> None:
    X, Y = related(np.float32)
    quiet = {"precision": "float32", "route": "joint"}
    assert not lmkin.similarity({"x": X, "y": Y}, measures="ckasim", neurons="raw", **quiet).alerts
    X[:20] *= 1000
    rows = {"x": X, "y": Y}
    said = lmkin.similarity(rows, measures="ckasim", neurons="raw", **quiet).alerts
    assert any(str(a).startswith("outliers in one part: Part 0 ") for a in said)
    for exact in ({"precision": "float64", "route": "joint"}, {**quiet, "route": "panels"}):
        said = lmkin.similarity(rows, measures="ckasim", neurons="raw", **exact).alerts
        assert "outliers in one part" not in [a.kind for a in said]


@pytest.mark.parametrize("route", ["panels", "joint"])
def test_mixedsim_does_not_see_the_size_of_neurons(route: str) -> None:
    X, Y = related()
    expected = (
        lmkin.similarity({"x": X, "y": Y}, measures="mixedsim", neurons="raw", route=route)
        .matrix()
        .values
    )
    for columns, factor in ((slice(3, 4), 1e6), (slice(0, 15), 1e-6)):
        sized = X.copy()
        sized[:, columns] *= factor
        found = (
            lmkin.similarity({"x": sized, "y": Y}, measures="mixedsim", neurons="raw", route=route)
            .matrix()
            .values
        )
        assert found == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("size", [1e-30, 1e-23, 1e19, 1e25])
def test_ckasim_of_very_small_and_large_numbers(size: float) -> None:
    X, Y = related()
    expected = lmkin.similarity({"x": X, "y": Y}, measures="ckasim", neurons="raw").matrix()
    rows = {"x": (X * size).astype(np.float32), "y": (Y * size).astype(np.float32)}
    found = lmkin.similarity(rows, measures="ckasim", neurons="raw", precision="float32").matrix()
    assert found.values == pytest.approx(expected.values, abs=1e-6)
    assert found.se.values == pytest.approx(expected.se.values, abs=1e-6)


def test_parts_come_in_the_same_order_on_all_routes() -> None:
    X, Y = related()
    parts = np.repeat(["c", "a", "b"], [100, 250, 150])
    tables = [
        lmkin.similarity(
            {"x": X, "y": Y}, measures="ckasim", neurons="raw", parts=parts, route=route
        ).matrix()
        for route in ("panels", "joint")
    ]
    assert tables[0].attrs["part_sizes"] == tables[1].attrs["part_sizes"]
    np.testing.assert_allclose(tables[0].attrs["without"], tables[1].attrs["without"], atol=1e-9)
