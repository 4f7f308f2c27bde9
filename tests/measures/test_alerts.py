"""Alerts: each where its trap is, and not where it is not."""

from __future__ import annotations

import numpy as np
import pytest

import lmkin


def kinds(layers: dict[str, np.ndarray], measure: str = "svsim", **options: object) -> list[str]:
    result = lmkin.similarity(layers, measures=measure, neurons="raw", intervals=False, **options)
    return [alert.kind for alert in result.alerts]


def plain(n: int = 600, d: int = 12, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d))


def test_nothing_to_say() -> None:
    assert kinds({"a/0": plain(), "b/0": plain(seed=1)}, "all") == []


def test_few_units_but_not_for_what_is_unbiased_or_held_out() -> None:
    layers = {"a/0": plain(100, 12), "b/0": plain(100, 12, 1)}
    assert kinds(layers) == ["few units"]
    assert kinds(layers, "ckasim") == []
    assert kinds(layers, held_out=True) == ["rows without sentences"]
    assert kinds(layers, held_out=True, parts=np.arange(100) // 10) == []
    assert kinds({g: np.tile(a, (2, 1))[:120] for g, a in layers.items()}) == ["repeated units"]


def test_a_rogue_neuron_and_one_component() -> None:
    layers = {
        "a/0": plain(d=60, n=700),
        "a/1": plain(d=60, n=700),
        "b/0": plain(d=60, n=700, seed=1),
    }
    layers["a/1"][:, 7] *= 4
    result = lmkin.similarity(layers, measures="ckasim", neurons="raw", intervals=False)
    (alert,) = map(str, result.alerts)
    share = layers["a/1"][:, 7].var() / layers["a/1"].var(axis=0).sum()
    assert alert.startswith("rogue dimension: in a, layer 1,")
    assert "neuron 7 in layer 1" in alert
    assert f"{share:.0%}" in alert
    layers["a/1"][:, 7] *= 100
    assert kinds(layers, "ckasim") == ["rogue dimension", "one component"]


def test_constant_neurons_are_counted() -> None:
    X = plain()
    X[:, :9] = 3.3
    result = lmkin.similarity(
        {"a/0": X, "a/1": X, "b/0": plain(seed=1)}, measures="ckasim", neurons="raw"
    )
    (alert,) = map(str, result.alerts)
    assert alert.startswith("constant neurons: in a, layers 0 and 1, 18 neurons")


@pytest.mark.parametrize("copies", [3, 60])
def test_repeated_rows(copies: int) -> None:
    """Copies in all layers, and more than one in a hundred."""
    X, Y = plain(d=20), plain(seed=1)
    for layer in (X, Y):
        layer[-copies:] = layer[:copies]
    assert kinds({"a/0": X, "b/0": Y}) == (["repeated units"] if copies == 60 else [])
    assert kinds({"a/0": X, "b/0": plain(seed=2)}) == []


def test_rows_that_differ_in_late_neurons_only_are_no_copies() -> None:
    X = plain(d=20)
    X[:, :10] = X[:, :10] > 2  # nearly all 0
    assert kinds({"a/0": X, "b/0": X}, "ckasim") == []


def drifting(factor: float) -> tuple[np.ndarray, np.ndarray]:
    """Two layers, in one of which a neuron changes its size half way."""
    X = plain(9000)
    Y = X @ plain(12, 12, 1) + plain(9000, 12, 2)
    X[4500:, 0] *= factor
    return X, Y


def test_a_scale_that_moves_after_the_first_rows() -> None:
    """One pass is made in the scale of its first rows; where that does not hold, the result says so."""
    for factor, expected in ((100.0, ["scale moved"]), (1.0, [])):
        X, Y = drifting(factor)
        moments = lmkin.Moments()
        for start in range(0, 9000, 500):
            rows = slice(start, start + 500)
            moments.update({"a/0": X[rows], "b/0": Y[rows]}, part=start)
        found = lmkin.similarity(moments, measures="ckasim", neurons="standardized")
        assert [a.kind for a in found.alerts if a.kind.startswith("scale")] == expected
        # Rows that can be read twice are exact, and raw values always are.
        exact = lmkin.linear_cka(X, Y, neurons="standardized")
        arrays = lmkin.similarity({"a/0": X, "b/0": Y}, measures="ckasim", neurons="standardized")
        assert float(arrays.matrix()[0, 1]) == pytest.approx(exact, abs=1e-9)
        assert "scale moved" not in [a.kind for a in arrays.alerts]
        raw = lmkin.similarity(moments, measures="ckasim", neurons="raw", intervals=False).matrix()
        assert float(raw[0, 1]) == pytest.approx(lmkin.linear_cka(X, Y), abs=1e-9)


def test_values_too_large_to_square_are_refused() -> None:
    layers = {"a/0": plain() * 1e160, "b/0": plain(seed=1)}
    for call in (
        lambda: lmkin.similarity(layers, measures="ckasim", neurons="raw").matrix(),
        lambda: lmkin.measure_function("svsim")(*layers.values()),
    ):
        with pytest.raises(lmkin.LmkinError, match="Divide the rows by a constant"):
            call()


def test_few_parts_and_none() -> None:
    layers = {"a/0": plain(), "b/0": plain(seed=1)}
    said = lmkin.similarity(layers, measures="ckasim", neurons="raw", parts=3).alerts
    assert [a.kind for a in said] == ["few parts"]
    said = lmkin.similarity(lmkin.Moments().update(layers), measures="ckasim", neurons="raw").alerts
    assert [a.kind for a in said] == ["no parts"]
    assert lmkin.similarity(layers, measures="ckasim", neurons="raw", parts=5).alerts == []
