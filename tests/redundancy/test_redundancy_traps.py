"""Traps: masks of arrays, few words, layers in any order, dead neurons, thresholds that are none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import lmkin


def related(n: int, width: int = 30, seed: int = 0) -> dict[str, Any]:
    """Four layers, each partly a linear map of the one before."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, width))
    found = {}
    for layer, noise in enumerate((0.0, 0.2, 1.0, 0.5)):
        mix = random.standard_normal((width, width)) / np.sqrt(width)
        X = X @ mix + noise * random.standard_normal((n, width))
        found[f"m/{layer}"] = X
    return found


def test_a_mask_of_arrays_is_not_for_the_activations_of_another_model(
    acts: lmkin.Activations,
) -> None:
    random = np.random.default_rng(0)
    shapes = {n: acts.layer(n).shape for n in acts.layers}
    for name, fits in (("some-other", False), (acts.name, True)):
        arrays = {f"{name}/{n}": random.normal(size=shape) for n, shape in shapes.items()}
        found = lmkin.cluster_neurons(arrays, thresholds=0.3, progress=False)
        if fits:
            assert found.reduce(acts, 0.3).shape == (len(acts), len(found.keep(0.3)))
        else:
            with pytest.raises(lmkin.MeasureError, match="another model"):
                found.reduce(acts, 0.3)


def test_few_rows_choose_their_ridge() -> None:
    """With as many rows as neurons a map learns them by heart, and R² would be far below 0."""
    many, few = related(4000), related(60)
    assert (
        lmkin.layer_redundancy(many, intervals=False, progress=False)["drop_rank"].values[0, 1] == 1
    )
    found = lmkin.layer_redundancy(few, intervals=False, progress=False)
    fixed = lmkin.layer_redundancy(few, intervals=False, ridge=1e-6, progress=False)
    assert (found["r2"] > fixed["r2"] + 0.1).values[0, 1:].any()
    assert float(found["r2"].min()) > -0.5
    chosen = lmkin.layer_redundancy(few, intervals=False, ridge="validation", progress=False)
    np.testing.assert_array_equal(found["r2"], chosen["r2"])
    auto = lmkin.layer_redundancy(many, intervals=False, ridge=1e-6, progress=False)
    np.testing.assert_array_equal(
        lmkin.layer_redundancy(many, intervals=False, progress=False)["r2"], auto["r2"]
    )


def test_layers_are_in_order_however_they_are_given() -> None:
    arrays = related(300)
    expected = lmkin.layer_redundancy(arrays, intervals=False, progress=False)
    turned = {name: arrays[name] for name in ("m/2", "m/0", "m/3", "m/1")}
    found = lmkin.layer_redundancy(turned, intervals=False, progress=False)
    assert found["layer"].values.tolist() == [0, 1, 2, 3]
    np.testing.assert_allclose(found["r2"], expected["r2"], atol=1e-12)
    np.testing.assert_allclose(found["cka_all"], expected["cka_all"], atol=1e-9)


def test_too_few_rows_for_maps_say_what_to_do() -> None:
    with pytest.raises(lmkin.MeasureError, match=r"leave them out \(layer_regressions=False"):
        lmkin.layer_redundancy({k: X[:4] for k, X in related(60).items()}, progress=False)


@pytest.mark.parametrize("source", ["arrays", "moments"])
def test_a_neuron_that_moves_by_next_to_nothing_is_dead(source: str) -> None:
    arrays = related(200)
    arrays["m/1"][:, 3] *= 1e-31
    arrays["m/2"][:, 5] *= 1e-6
    given: Any = lmkin.compute_moments(arrays) if source == "moments" else arrays
    found = lmkin.cluster_neurons(given, thresholds=0.3, progress=False)
    assert found.tables().constant.values.tolist() == [1]
    assert found.labels(0.3)[30 + 3] == -1
    assert found.labels(0.3)[60 + 5] >= 0


@pytest.mark.parametrize("threshold", [-3, 30, np.inf, True, 1.0001])
def test_thresholds_beyond_all_distances(threshold: Any) -> None:
    found = lmkin.cluster_neurons(related(100), thresholds=0.3, progress=False)
    for ask in (found.labels, found.keep, found.members, found.sizes, found.representatives):
        with pytest.raises(lmkin.MeasureError, match="from 0 to 1"):
            ask(threshold)


def test_dead_neurons_are_told_once() -> None:
    """Clusters and layers both meet them."""
    arrays = related(200)
    arrays["m/1"][:, 3] *= 1e-31
    result = lmkin.redundancy(arrays, thresholds=0.3, progress=False)
    alike = [a for a in result.alerts if a.kind == "constant neurons"]
    assert len(alike) == 1
    assert "belong to no cluster" in alike[0].text
