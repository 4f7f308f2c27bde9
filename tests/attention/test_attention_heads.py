"""Single heads: their nearest kin, their place on a map, the group that they repeat."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lmkin
from attention.naive_attention import SINKS, head_table, of_arrays
from attention.random_maps import random_layer
from lmkin.analyses.attention.heads import classical_scaling, groups_of_heads

MAPS: dict[str, Any] = {
    "a/1": random_layer(1, 3),
    "a/2": random_layer(2, 2),
    "b/1": random_layer(3, 4),
    "c/1": random_layer(4, 1, causal=True),
}
few = settings(max_examples=60, deadline=None)
seeds = st.integers(0, 2**31)


def compared(maps: Any = MAPS, **options: Any) -> Any:
    return lmkin.attention_similarity(maps, measures="js", intervals=False, **options)


def names_of(maps: Any) -> list[str]:
    return [f"{name}/{k}" for name, listed in maps.items() for k in range(len(listed[0]))]


@pytest.mark.parametrize("sink", SINKS)
def test_nearest_heads(sink: str) -> None:
    found = lmkin.attention_heads(compared(), sink=sink)
    similarity = head_table("js", of_arrays(MAPS), sink=sink)
    names = names_of(MAPS)
    assert found["head"].values.tolist() == names
    for i, name in enumerate(names):
        others = [j for j in range(len(names)) if j != i]
        nearest = max(others, key=lambda j: similarity[i, j])
        elsewhere = max(
            (j for j in others if names[j][0] != name[0]), key=lambda j: similarity[i, j]
        )
        assert found.nearest.values[i] == names[nearest]
        assert found.nearest_js.values[i] == pytest.approx(similarity[i, nearest])
        assert found.elsewhere.values[i] == names[elsewhere]
        assert found.elsewhere_js.values[i] == pytest.approx(similarity[i, elsewhere])
        model, layer, number = name.split("/")
        assert found.model.values[i] == model
        assert found.layer.values[i] == int(layer)
        assert found.number.values[i] == int(number)


def test_one_model_has_no_elsewhere_and_one_head_no_nearest() -> None:
    one = lmkin.attention_heads(compared({"a/1": MAPS["a/1"]}))
    assert one.elsewhere.values.tolist() == ["", "", ""]
    assert np.isnan(one.elsewhere_js.values).all()
    assert all(one.nearest.values)
    alone = lmkin.attention_heads(compared({"c/1": MAPS["c/1"]}))
    assert alone.nearest.values.tolist() == [""]
    assert np.isnan(alone.nearest_js.values).all()
    assert alone.group.values.tolist() == [0]
    assert alone.stays.values.tolist() == [True]
    assert alone["map"].values.tolist() == [[0, 0]]


# -- the map -----------------------------------------------------------------------------------------


def squared_distances(points: Any) -> Any:
    return np.array([[sum((p - q) ** 2) for q in points] for p in points])


@few
@given(seeds, st.integers(2, 9))
def test_points_of_a_plane_are_found_again(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    flat = rng.normal(size=(count, 2)) * [3, 1]
    squares = squared_distances(flat @ np.linalg.qr(rng.normal(size=(5, 5)))[0][:2])
    places, shares = classical_scaling(squares)
    assert squared_distances(places) == pytest.approx(squares, abs=1e-8)
    assert places.mean(0) == pytest.approx(np.zeros(2), abs=1e-9)
    assert shares.sum() == pytest.approx(1)
    assert shares[0] >= shares[1]
    # As large a share as the axis has of the squared distances.
    spread = squared_distances(places[:, :1]).sum() / squares.sum()
    assert shares[0] == pytest.approx(spread)
    for axis in places.T:
        assert axis[np.abs(axis).argmax()] >= 0


def test_points_that_are_not_flat_are_shown_from_their_widest_side() -> None:
    points = np.random.default_rng(0).normal(size=(40, 4)) * [5, 3, 0.5, 0.2]
    places, shares = classical_scaling(squared_distances(points))
    centred = points - points.mean(0)
    variances = np.linalg.svd(centred, compute_uv=False) ** 2
    assert shares == pytest.approx(variances[:2] / variances.sum())
    assert (squared_distances(places) <= squared_distances(points) + 1e-9).all()


def test_heads_that_are_all_the_same_lie_in_one_place() -> None:
    places, shares = classical_scaling(np.zeros((4, 4)))
    assert (places == 0).all()
    assert (shares == 0).all()


@pytest.mark.parametrize("sink", SINKS)
def test_three_heads_lie_as_far_apart_as_they_differ(sink: str) -> None:
    """Three points are always flat; the root of the divergence is a distance."""
    maps = {"a/1": MAPS["a/1"]}
    divergence = 1 - head_table("js", of_arrays(maps), sink=sink)
    for options in ({}, {"convention": "released"}):
        found = lmkin.attention_heads(compared(maps, **options), sink=sink)
        assert squared_distances(found["map"].values) == pytest.approx(divergence, abs=1e-9)
        assert found.map_share.values.sum() == pytest.approx(1)


# -- groups ------------------------------------------------------------------------------------------


@few
@given(seeds, st.lists(st.integers(1, 8), min_size=1, max_size=3), st.floats(0, 1))
def test_members_of_a_group_are_alike(seed: int, sizes: list[int], threshold: float) -> None:
    rng = np.random.default_rng(seed)
    count = sum(sizes)
    models = np.repeat(np.array([f"m{k}" for k in range(len(sizes))], dtype=object), sizes)
    points = rng.uniform(size=(count, 3)) * 0.8
    points[rng.integers(count)] = points[0]  # a head that repeats another
    divergence = squared_distances(points)
    group, stays = groups_of_heads(divergence, models, threshold)
    for model in set(models):
        mine = [i for i in range(count) if models[i] == model]
        groups = [[i for i in mine if group[i] == g] for g in range(len({*group[mine]}))]
        assert sorted(i for some in groups for i in some) == mine
        counts = [len(some) for some in groups]
        assert counts == sorted(counts, reverse=True)
        for some in groups:
            for i, j in combinations(some, 2):
                assert divergence[i, j] <= threshold + 1e-9
            (kept,) = [i for i in some if stays[i]]
            total = {i: sum(divergence[i, j] for j in some) for i in some}
            assert total[kept] == pytest.approx(min(total.values()), abs=1e-12)


def test_heads_that_repeat_another_could_go() -> None:
    X, Y = MAPS["a/1"], MAPS["b/1"]
    maps = {
        "a/1": [np.concatenate([x, x[:1]]) for x in X],
        "a/2": [x[:1] for x in X],
        "b/1": [np.concatenate([x[:1], y[:1]]) for x, y in zip(X, Y, strict=True)],
    }
    found = lmkin.attention_heads(compared(maps), threshold=0)
    group = dict(zip(found["head"].values.tolist(), found.group.values.tolist(), strict=True))
    assert group["a/1/0"] == group["a/1/3"] == group["a/2/0"] == 0
    assert len({group[name] for name in ("a/1/0", "a/1/1", "a/1/2")}) == 3
    stays = found["head"].values[found.stays.values].tolist()
    assert len([name for name in ("a/1/0", "a/1/3", "a/2/0") if name in stays]) == 1
    assert {"a/1/1", "a/1/2", "b/1/0", "b/1/1"} <= set(stays)  # models are looked at one by one
    everything = lmkin.attention_heads(compared(maps), threshold=1)
    assert set(everything.group.values.tolist()) == {0}
    assert everything.stays.values.sum() == 2


def test_the_authors_units_give_the_same_groups_and_kin() -> None:
    ours = lmkin.attention_heads(compared(), threshold=0.2)
    theirs = lmkin.attention_heads(compared(convention="released"), threshold=0.2)
    assert len(set(ours.group.values.tolist())) > 1
    for name in ("group", "stays", "nearest", "elsewhere"):
        assert (ours[name].values == theirs[name].values).all()


def test_what_the_table_carries() -> None:
    result = compared()
    found = lmkin.attention_heads(result, sink="kept", threshold=0.05)
    assert (found.sink_share.values == result.sink_share.values).all()
    assert found.attrs["sink"] == "kept"
    assert found.attrs["threshold"] == 0.05
    assert found.attrs["models"] == ["a", "b", "c"]
