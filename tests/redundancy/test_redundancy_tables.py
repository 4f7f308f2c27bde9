"""Tables of a clustering, against a count neuron by neuron."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lmkin
from redundancy import naive_redundancy as naive


def counted(found: lmkin.Clustering, name: str, t: float, layers: list[int]) -> dict[str, Any]:
    """One neuron after another."""
    groups = found.members(t, name)
    kept = found.representatives(t, name)
    spans = [naive.span([n for n, _ in group], layers) for group in groups]
    return {
        "left": len(kept),
        "left_by_layer": {n: sum(1 for layer, _ in kept if layer == n) for n in layers},
        "largest": max(len(g) for g in groups),
        "clusters": {s: spans.count(s) for s in naive.SPANS},
        "neurons_in": {
            s: sum(len(g) for g, mine in zip(groups, spans, strict=True) if mine == s)
            for s in naive.SPANS
        },
    }


def assert_tables(found: lmkin.Clustering, arrays: dict[str, Any]) -> None:
    tables = found.tables()
    assert tables.span.values.tolist() == list(naive.SPANS)
    assert tables.model.values.tolist() == found.models
    for name in found.models:
        own = {k: a for k, a in arrays.items() if k.rpartition("/")[0] == name}
        widths = {int(k.rpartition("/")[2]): a.shape[1] for k, a in own.items()}
        still = sum(int((np.ptp(a, axis=0) == 0).sum()) for a in own.values())
        mine = tables.sel(model=name)
        total = sum(widths.values())
        assert int(mine.neurons) == total
        assert int(mine.constant) == still
        for layer in tables.layer.values.tolist():
            width = mine.width.sel(layer=layer).item()
            assert width == widths[layer] if layer in widths else np.isnan(width)
        for t in found.thresholds:
            row = mine.sel(threshold=t)
            expected = counted(found, name, t, list(widths))
            assert int(row.left) == expected["left"]
            assert float(row.share) == pytest.approx(expected["left"] / total)
            assert int(row.largest) == expected["largest"]
            for s in naive.SPANS:
                assert int(row.clusters.sel(span=s)) == expected["clusters"][s], (t, s)
                assert int(row.neurons_in.sel(span=s)) == expected["neurons_in"][s], (t, s)
            for layer in tables.layer.values.tolist():
                value = row.left_by_layer.sel(layer=layer).item()
                if layer in widths:
                    assert value == expected["left_by_layer"][layer]
                else:
                    assert np.isnan(value)
            assert int(row.clusters.sum()) == int(row.left)
            assert int(row.neurons_in.sum()) == total - still
            assert row.left_by_layer.sum().item() == int(row.left)


@pytest.mark.parametrize("how", ["random", "medoid"])
def test_tables_are_counts(how: str) -> None:
    """Five layers, so that all spans occur; clusters of one layer, of two neighbours, of three, of more."""
    random = np.random.default_rng(0)
    sources = random.standard_normal((500, 8))
    owners = [[0, 0, 1, 2, 3], [0, 1, 4], [4, 5, 5, 2], [6, 6, 6, 7], [2, 1, 7, 7, 4]]
    arrays = {
        f"m/{n}": sources[:, own] + 0.4 * random.standard_normal((500, len(own)))
        for n, own in enumerate(owners)
    }
    found = lmkin.cluster_neurons(
        arrays, thresholds=[0.0, 0.1, 0.3, 0.6, 1.0], representative=how, progress=False
    )
    assert_tables(found, arrays)
    at = found.tables().sel(model="m", threshold=0.3)
    # 0: layers 0–1, 1: 0–4, 2: 0–4, 3: alone, 4: 1–4, 5: layer 2, 6: layer 3, 7: layers 3–4.
    assert at.clusters.values.tolist() == [1, 2, 2, 0, 3]
    assert at.neurons_in.values.tolist() == [1, 5, 6, 0, 9]


def test_two_layers_apart() -> None:
    X = naive.independent(200, 3, 0)
    found = lmkin.cluster_neurons(
        {"m/0": X, "m/1": naive.independent(200, 2, 1), "m/2": X}, thresholds=0.0, progress=False
    )
    assert found.tables().clusters.values.tolist() == [[[2, 0, 0, 3, 0]]]


@settings(max_examples=15)
@given(seed=st.integers(0, 2**32 - 1), depth=st.integers(1, 6))
def test_any_model(seed: int, depth: int) -> None:
    random = np.random.default_rng(seed)
    widths = random.integers(1, 9, depth).tolist()
    arrays = naive.layered(naive.blocks(60, sum(widths), seed), widths)
    found = lmkin.cluster_neurons(arrays, thresholds=[0.0, 0.2, 0.5, 0.8], progress=False)
    assert_tables(found, arrays)


def test_models_of_different_depth_and_constant_neurons() -> None:
    a = naive.layered(naive.blocks(80, 30, 0), [10, 10, 10], "deep")
    b = naive.layered(naive.real_shaped(80, 12, 1), [5, 7], "org/flat")
    b["org/flat/1"] = b["org/flat/1"].copy()
    b["org/flat/1"][:, 2] = 3
    arrays = {**a, **b}
    found = lmkin.cluster_neurons(arrays, thresholds=[0.1, 0.4, 0.9], progress=False)
    assert found.models == ["deep", "org/flat"]
    assert_tables(found, arrays)


def test_layers_are_counted_as_they_were_chosen() -> None:
    """Of every second layer, neighbours are one step apart."""
    X = naive.independent(100, 4, 0)
    found = lmkin.cluster_neurons(
        {"m/2": X, "m/4": -X, "m/8": X[:, :2]}, thresholds=0.0, progress=False
    )
    assert found.tables().layer.values.tolist() == [2, 4, 8]
    assert found.tables().clusters.values.tolist() == [[[0, 0, 2, 2, 0]]]
    assert_tables(found, {"m/2": X, "m/4": -X, "m/8": X[:, :2]})


def test_a_constant_layer_lies_between_all_the_same() -> None:
    """It was chosen, so what lies on both sides of it is two steps apart."""
    X = naive.independent(100, 4, 0)
    arrays = {"m/0": X, "m/1": np.ones((100, 3)), "m/2": X}
    found = lmkin.cluster_neurons(arrays, thresholds=0.0, progress=False)
    assert found.tables().clusters.sel(span="±2").values.tolist() == [[4]]
    assert_tables(found, arrays)


def test_layers_in_any_order() -> None:
    X = naive.blocks(100, 30, 0)
    arrays = naive.layered(X, [10, 12, 8])
    turned = dict(reversed(arrays.items()))
    found = lmkin.cluster_neurons(turned, thresholds=[0.2, 0.6], progress=False)
    assert_tables(found, turned)
    straight = lmkin.cluster_neurons(arrays, thresholds=[0.2, 0.6], progress=False)
    for field in ("left", "largest", "clusters", "neurons_in", "width"):
        assert straight.tables()[field].equals(found.tables()[field])


def test_fewer_are_left_at_every_higher_threshold() -> None:
    found = lmkin.cluster_neurons(
        naive.layered(naive.real_shaped(200, 60, 2), [30, 30]), progress=False
    )
    left = found.tables().left.values[0]
    assert (np.diff(left) <= 0).all()
    assert (np.diff(found.tables().largest.values[0]) >= 0).all()
    assert left[0] < 60  # copies
