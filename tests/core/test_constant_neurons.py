"""One rule for constant neurons, on every way from rows to numbers."""

from __future__ import annotations

import numpy as np
import pytest

import lmkin
from lmkin.core.constant_neurons import varies
from lmkin.measures.from_rows import RowSide
from lmkin.moments import Moments
from lmkin.moments.panels import PanelMoments
from lmkin.rows import row_source

EPS = float(np.finfo(np.float64).eps)


def rows() -> np.ndarray:
    """Neurons: 0–5 as they are, 6 × 1e-4, 7 dead (1e-32), 8 always 0.1, 9 rounding of 3e4."""
    random = np.random.default_rng(0)
    X = random.standard_normal((500, 10))
    X[:, 6] *= 1e-4
    X[:, 7] *= 1e-32
    X[:, 8] = 0.1
    X[:, 9] = 3e4 * (1 + EPS * random.integers(-1, 2, 500))
    return X


ALIVE = [True] * 7 + [False] * 3


def test_the_rule() -> None:
    X = rows()
    assert varies(np, X.mean(0), X.std(0), EPS).tolist() == ALIVE


@pytest.mark.parametrize("unit", [1e-20, 1e-4, 1.0, 1e15])
def test_the_unit_of_a_layer_does_not_matter(unit: float) -> None:
    X = unit * rows()
    centred = X - X.mean(0)
    centred -= centred.mean(0)  # the first mean is itself rounded
    assert varies(np, X.mean(0), centred.std(0), EPS).tolist() == ALIVE


def test_the_same_on_every_route() -> None:
    X = rows()
    other = np.random.default_rng(1).standard_normal((500, 4))
    assert (np.asarray(RowSide(X, "a/0").std) > 0).tolist() == ALIVE
    moments = Moments(precision="float64")
    moments.update({"a/0": X, "b/0": other}, part=0)
    assert (np.asarray(moments.snapshot().std(0)) > 0).tolist() == ALIVE
    panels = PanelMoments(row_source({"a/0": X, "b/0": other}, parts=2), precision="float64")
    assert (np.asarray(panels.snapshot().std(0)) > 0).tolist() == ALIVE
    clusters = lmkin.cluster_neurons({"a/0": X}, thresholds=[0.3], progress=False)
    assert (clusters.labels(0.3) >= 0).tolist() == ALIVE


@pytest.mark.parametrize("route", ["panels", "joint", "dual"])
@pytest.mark.parametrize("measure", ["ckasim", "neuronsim", "mixedsim"])
def test_a_dead_neuron_is_as_if_it_were_constant(measure: str, route: str) -> None:
    """Similarity with a dead neuron is that with a neuron which is exactly 0."""
    n = 9 if route == "dual" else 500
    X, other = rows()[:n], np.random.default_rng(1).standard_normal((n, 10))
    zero = X.copy()
    zero[:, 7] = 0
    values = [
        lmkin.similarity(
            {"a/0": each, "b/0": other},
            measures=[measure],
            neurons="standardized",
            route=route,
            intervals=False,
            progress=False,
        )[measure].values
        for each in (X, zero)
    ]
    np.testing.assert_allclose(values[0], values[1], rtol=1e-10)


def test_both_alert_with_count_and_layer() -> None:
    X, other = rows(), np.random.default_rng(1).standard_normal((500, 4))
    result = lmkin.similarity(
        {"a/3": X, "b/0": other}, measures=["ckasim"], neurons="raw", progress=False
    )
    assert any(
        "onstant neurons" in a and "layer 3" in a and "3 neurons" in a
        for a in map(str, result.alerts)
    )
    clusters = lmkin.cluster_neurons({"a/3": X}, thresholds=[0.3], progress=False)
    assert any("onstant neurons" in str(a) and "a: 3 in layer 3" in str(a) for a in clusters.alerts)


@pytest.mark.parametrize("route", ["panels", "joint"])
def test_a_dead_neuron_is_no_outlier_of_every_part(route: str) -> None:
    """What rounding leaves of it says nothing of a part: other layers are what they are without it, to the bit."""
    random = np.random.default_rng(0)
    layers = {f"{k}/0": random.standard_normal((600, 8)).astype(np.float32) for k in "abc"}
    layers["a/0"][:, 3] = 0
    how = {"measures": "ckasim", "neurons": "raw", "route": route, "precision": "float32"}
    zero = lmkin.similarity(layers, progress=False, **how)
    dead = {**layers, "a/0": layers["a/0"].copy()}
    dead["a/0"][:, 3] = 1e-32 * random.standard_normal(600)
    result = lmkin.similarity(dead, progress=False, **how)
    names = ["ckasim", "ckasim_without", "ckasim_se"]
    for name in names:
        found, expected = (r.dataset[name].sel(model_x=["b", "c"]) for r in (result, zero))
        np.testing.assert_array_equal(
            found.sel(model_y=["b", "c"]), expected.sel(model_y=["b", "c"])
        )
    assert {a.kind for a in result.alerts} == {"constant neurons"}
    panels = PanelMoments(row_source(dead, parts=10), precision="float32", keep_parts=True)
    assert not any(panels.holds_outliers(k) for k in range(10))
