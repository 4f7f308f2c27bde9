"""Average similarity and localization against loops."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import lmkin
from lmkin.results import average_similarity, jackknife, localization
from measures.layer_pairs import correlated

WHERE = [("a", 0), ("a", 1), ("a", 2), ("b", 0), ("b", 5)]


@pytest.fixture(scope="module")
def result() -> xr.Dataset:
    """Two models with different layers: the table has holes."""
    rng = np.random.default_rng(0)
    X, Y = correlated(rng, 200, 6, 9)
    both = np.hstack([X, Y])
    layers = {where: both[:, rng.permutation(15)[: 3 + k]] for k, where in enumerate(WHERE)}
    return lmkin.similarity(layers, measures=["neuronsim", "svsim", "ckasim"], neurons="both")


def by_loops(table: xr.DataArray, others: str) -> dict[tuple[str, int], np.ndarray]:
    found = {}
    for model, layer in WHERE:
        values = [
            table.sel(model_x=model, layer_x=layer, model_y=m, layer_y=n).values
            for m, n in WHERE
            if ((m, n) != (model, layer) if others == "all" else m != model)
        ]
        found[model, layer] = np.mean(values, axis=0)
    return found


@pytest.mark.parametrize("others", ["all", "models"])
def test_average_similarity(result: xr.Dataset, others: str) -> None:
    curves = average_similarity(result, others=others)
    assert curves.ckasim.dims == ("scaling", "model", "layer")
    for name in ("neuronsim", "svsim", "ckasim"):
        value, without = (by_loops(result[name + s], others) for s in ("", "_without"))
        for (model, layer), expected in value.items():
            place = {"model": model, "layer": layer}
            assert curves[name].sel(place).values == pytest.approx(expected)
            found = jackknife(expected, without[model, layer], [20] * 10)
            for part in ("se", "low", "high"):
                assert curves[f"{name}_{part}"].sel(place).values == pytest.approx(
                    getattr(found, part)
                )
        assert np.isnan(curves[name].sel(model="b", layer=1)).all()


@pytest.mark.parametrize("others", ["all", "models"])
def test_localization(result: xr.Dataset, others: str) -> None:
    scores = localization(result, others=others)
    near, far = (by_loops(result[n], others) for n in ("neuronsim", "svsim"))
    parts = [by_loops(result[f"{n}_without"], others) for n in ("neuronsim", "svsim")]
    for where in WHERE:
        place = {"model": where[0], "layer": where[1]}
        expected = near[where] - far[where]
        assert scores.localization.sel(place).values == pytest.approx(expected)
        # Of the difference itself: both are computed from the same rows, and vary together.
        found = jackknife(expected, parts[0][where] - parts[1][where], [20] * 10)
        assert scores.localization_se.sel(place).values == pytest.approx(found.se)
        assert scores.localization_low.sel(place).values == pytest.approx(found.low)
    assert np.isnan(scores.localization.sel(model="a", layer=5)).all()
    assert set(scores.data_vars) == {
        "localization",
        "localization_se",
        "localization_low",
        "localization_high",
    }


def test_shuffled_neurons_are_not_localized() -> None:
    """The same space turned round: neurons no longer match, the layers still do."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(800, 20))
    Q = np.linalg.qr(rng.normal(size=(20, 20)))[0]
    same, turned = (
        localization(
            lmkin.similarity({"a": X, "b": Y}, measures=["neuronsim", "svsim"], neurons="raw")
        )
        for Y in (X[:, ::-1], X @ Q)
    )
    assert same.localization.values == pytest.approx(0, abs=1e-9)
    assert (turned.localization.values < -0.3).all()


def test_held_out_scores_have_no_jackknife(result: xr.Dataset) -> None:
    """What svsim has per part is its score there, what neuronsim has is the value without it: they do not mix."""
    X, Y = correlated(np.random.default_rng(2), 200, 6, 9)
    mixed = lmkin.similarity(
        {"a": X, "b": Y}, measures=["neuronsim", "svsim"], neurons="raw", held_out=True
    )
    scores = localization(mixed)
    assert "localization_se" not in scores
    expected = mixed.neuronsim.values[0, 0, 1, 0] - mixed.svsim.values[0, 0, 1, 0]
    assert scores.localization.sel(model="a").item() == pytest.approx(expected)
    curves = average_similarity(mixed)
    for name in ("neuronsim", "svsim"):
        assert curves[f"{name}_se"].sel(model="a").item() == pytest.approx(
            mixed[f"{name}_se"].values[0, 0, 1, 0]
        )


def test_what_cannot_be_drawn(result: xr.Dataset) -> None:
    with pytest.raises(lmkin.LmkinError, match="svsim is not in this result"):
        localization(result.dataset.drop_vars("svsim"))
    with pytest.raises(lmkin.LmkinError, match="all, models"):
        localization(result, others="layers")
    with pytest.raises(lmkin.LmkinError, match=r"takes what lmkin\.similarity gives"):
        average_similarity(result.ckasim)
    one = lmkin.similarity(
        {"a/0": np.eye(9)[:, :3], "a/1": np.eye(9)[:, 2:5]}, measures="neuronsim", neurons="raw"
    )
    with pytest.raises(lmkin.LmkinError, match="one model"):
        average_similarity(one, others="models")
