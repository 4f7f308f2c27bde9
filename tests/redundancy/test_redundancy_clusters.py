"""`cluster_neurons` of arrays: against numpy and scipy; what must not matter, and what must."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster

import lmkin
from lmkin.analyses.redundancy import memory_plan as planning
from lmkin.analyses.redundancy import tiled_linkage as growing
from redundancy import naive_redundancy as naive

LINKAGES = ("average", "complete", "single")
WIDTHS = (20, 25, 15)
seeds = st.integers(0, 2**32 - 1)
makers = st.sampled_from(list(naive.MAKERS))


def clustered(arrays: Any, thresholds: Any = naive.GRID, **options: Any) -> lmkin.Clustering:
    return lmkin.cluster_neurons(arrays, thresholds=thresholds, progress=False, **options)


def model(maker: str, seed: int, n: int = 150, widths: Any = WIDTHS) -> dict[str, Any]:
    return naive.layered(naive.MAKERS[maker](n, sum(widths), seed), widths)


# -- against scipy --------------------------------------------------------------------------------


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("maker", naive.MAKERS)
def test_clusters_are_those_of_scipy(maker: str, linkage: str) -> None:
    arrays = model(maker, 1)
    Z = naive.tree(naive.distances(naive.side_by_side(arrays)), linkage)
    found = clustered(arrays, linkage=linkage)
    where = naive.places(arrays)
    for t in naive.cuts(Z):
        expected = naive.partition(Z, t)
        assert np.array_equal(found.labels(t), expected), t
        assert found.members(t) == naive.members(expected, where)
        assert found.sizes(t).tolist() == [len(m) for m in naive.members(expected, where)]
    assert found.thresholds == tuple(naive.GRID)
    assert found.limit >= 1


@pytest.mark.parametrize("maker", naive.MAKERS)
def test_float32_and_float64_are_the_same_where_rounding_does_not_decide(maker: str) -> None:
    arrays = model(maker, 2)
    small = {k: v.astype(np.float32) for k, v in arrays.items()}
    Z = naive.tree(naive.distances(naive.side_by_side(arrays)))
    for source in (arrays, small):
        for precision in ("float32", "float64", None):
            found = clustered(source, precision=precision)
            for t in naive.cuts(Z, apart=1e-5):
                if t > 0:
                    assert np.array_equal(found.labels(t), naive.partition(Z, t)), (precision, t)


def test_the_tree_for_scipy() -> None:
    arrays = model("real-shaped", 3)
    arrays["m/1"] = arrays["m/1"].copy()
    arrays["m/1"][:, 4] = 7.0
    found = clustered(arrays)
    Z = found.linkage_matrix()
    moves = found.labels(0) >= 0
    assert len(Z) == moves.sum() - 1
    for t in naive.cuts(Z):
        mine = naive.in_order(fcluster(Z, t, "distance").tolist())
        assert np.array_equal(found.labels(t)[moves], mine)
    heights = naive.tree(naive.distances(naive.side_by_side(arrays)[:, moves]))[:, 2]
    assert Z[:, 2] == pytest.approx(heights, abs=1e-10)


@pytest.mark.parametrize("linkage", LINKAGES)
def test_heights_never_fall(linkage: str) -> None:
    Z = clustered(model("real-shaped", 4), linkage=linkage).linkage_matrix()
    assert (np.diff(Z[:, 2]) >= 0).all()


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_a_planted_structure_is_recovered(precision: str) -> None:
    sizes = [1, 2, 3, 5, 8, 13, 1, 30]
    X, owner = naive.planted(4000, sizes, 0.4, 5)  # |r| is 0.86 within, 0.06 at most between
    found = clustered(naive.layered(X, [30, 33]), [0.2, 0.3, 0.5, 0.8], precision=precision)
    for t in found.thresholds:
        assert np.array_equal(found.labels(t), naive.in_order(owner.tolist()))
    assert found.tables().left.values.tolist() == [[len(sizes)] * 4]


def test_copies_are_one_at_threshold_0() -> None:
    """Copies, turned round, scaled and shifted; a neuron that differs in a single row is none."""
    random = np.random.default_rng(0)
    X = random.standard_normal((300, 6))
    near = X.copy()
    near[7] += 0.1
    for number in (np.float32, np.float64):
        arrays = {
            "m/0": X.astype(number),
            "m/1": -X.astype(number),
            "m/2": (-3 * X + 10).astype(number),
            "m/3": near.astype(number),
        }
        for precision in ("float32", "float64"):
            found = clustered(arrays, 0, precision=precision)
            expected = [*range(6), *range(6), *range(6), *range(6, 12)]
            if number is np.float32 and precision == "float64":
                # -3 x + 10 was rounded: by float64's own measure it is no copy.
                found = clustered({k: a for k, a in arrays.items() if k != "m/2"}, 0)
                expected = [*range(6), *range(6), *range(6, 12)]
            assert found.labels(0).tolist() == expected, (number, precision)


@pytest.mark.parametrize("rows", [300, 30_000])
def test_copies_over_many_rows(rows: int, tiles: Any) -> None:
    X = np.random.default_rng(1).standard_normal((rows, 20)).astype(np.float32)
    arrays = {"m/0": X, "m/1": X, "m/2": -X}
    expected = [*range(20)] * 3
    assert clustered(arrays, 0, precision="float32").labels(0).tolist() == expected
    found = tiles(arrays, [0.0, 0.1], precision="float32")
    assert found.labels(0).tolist() == expected


# -- what must not matter -------------------------------------------------------------------------


@settings(max_examples=20)
@given(seed=seeds, maker=makers, linkage=st.sampled_from(LINKAGES))
def test_permuting_neurons_permutes_labels(seed: int, maker: str, linkage: str) -> None:
    X = naive.MAKERS[maker](80, 40, seed)
    order = np.random.default_rng(seed).permutation(40)
    Z = naive.tree(naive.distances(X), linkage)
    first = clustered({"m/0": X}, linkage=linkage)
    second = clustered({"m/0": X[:, order]}, linkage=linkage)
    for t in naive.cuts(Z, most=10):
        expected = naive.in_order(first.labels(t)[order].tolist())
        assert np.array_equal(second.labels(t), expected)


@settings(max_examples=20)
@given(seed=seeds, maker=makers, precision=st.sampled_from(["float32", "float64"]))
def test_affine_maps_of_each_neuron_change_nothing(seed: int, maker: str, precision: str) -> None:
    """Scales over four orders of magnitude, positive and negative; offsets up to ten thousand."""
    X = naive.MAKERS[maker](80, 40, seed)
    random = np.random.default_rng(seed)
    X = (X - X.mean(0)) / X.std(0)
    # What moves by less than 16 units in the last place of its mean counts as constant.
    smallest = -1 if precision == "float32" else -2
    scale = 10 ** random.uniform(smallest, 2, 40) * random.choice([-1, 1], 40)
    mapped = X * scale + random.uniform(-1e4, 1e4, 40)
    Z = naive.tree(naive.distances(X))
    first, second = (clustered({"m/0": A}, precision=precision) for A in (X, mapped))
    assert not [a for a in map(str, second.alerts) if a.startswith("constant")]
    for t in naive.cuts(Z, apart=1e-5, most=10):
        if t > 0:
            assert np.array_equal(first.labels(t), second.labels(t))


@settings(max_examples=15)
@given(seed=seeds, maker=makers)
def test_affine_maps_of_float32_rows(seed: int, maker: str) -> None:
    """An offset costs digits of float32 rows; those that are left decide alike."""
    X = naive.MAKERS[maker](80, 40, seed)
    random = np.random.default_rng(seed)
    X = (X - X.mean(0)) / X.std(0)
    mapped = (X * random.choice([-2.0, 2.0], 40) + random.uniform(-1e4, 1e4, 40)).astype(np.float32)
    Z = naive.tree(naive.distances(X))
    for precision in ("float32", "float64"):
        found = clustered({"m/0": mapped}, precision=precision)
        for t in naive.cuts(Z, apart=1e-4, most=10):
            if t > 0:
                assert np.array_equal(found.labels(t), naive.partition(Z, t))


@settings(max_examples=15)
@given(seed=seeds, maker=makers)
def test_the_order_of_rows_changes_nothing(seed: int, maker: str) -> None:
    X = naive.MAKERS[maker](80, 40, seed)
    order = np.random.default_rng(seed).permutation(80)
    Z = naive.tree(naive.distances(X))
    first, second = clustered({"m/0": X}), clustered({"m/0": X[order]})
    for t in naive.cuts(Z, most=10):
        assert np.array_equal(first.labels(t), second.labels(t))


@settings(max_examples=15)
@given(seed=seeds)
def test_where_layers_end_changes_nothing_but_names(seed: int) -> None:
    X = naive.real_shaped(80, 40, seed)
    random = np.random.default_rng(seed)
    edge = int(random.integers(1, 40))
    one, two = clustered({"m/0": X}), clustered(naive.layered(X, [edge, 40 - edge]))
    for t in naive.cuts(naive.tree(naive.distances(X)), most=10):
        assert np.array_equal(one.labels(t), two.labels(t))
        flat = [n if layer == 0 else edge + n for layer, n in two.representatives(t)]
        assert flat == [n for _, n in one.representatives(t)]


def test_several_models_are_each_clustered_as_alone() -> None:
    """Of different depth and width, one with a constant neuron; also by moments."""
    a = model("blocks", 1)
    b = {f"other/{k}": v for k, v in enumerate(model("real-shaped", 2, widths=(9, 30)).values())}
    b["other/1"] = b["other/1"].copy()
    b["other/1"][:, 3] = 5
    for options in ({}, {"representative": "medoid"}, {"linkage": "complete", "seed": 3}):
        both = clustered(a | b, **options)
        assert both.models == ["m", "other"]
        alone = {"m": clustered(a, **options), "other": clustered(b, **options)}
        summed = clustered(lmkin.compute_moments(a | b, progress=False), **options)
        for name, own in alone.items():
            for found in (both, summed):
                for t in (0.0, 0.3, 0.7, 1.0):
                    assert np.array_equal(found.labels(t, name), own.labels(t))
                    assert found.representatives(t, name) == own.representatives(t)
                    assert found.keep(t, name).hash == own.keep(t).hash
        with pytest.raises(lmkin.MeasureError, match="several models: name one of m, other"):
            both.labels(0.3)
        with pytest.raises(lmkin.MeasureError, match=r"no model 'othr'.*Did you mean 'other'"):
            both.labels(0.3, "othr")
        joined = both.tables()
        for name, own in alone.items():
            layers = own.tables().layer.values
            for field in ("left", "largest", "share", "clusters", "neurons_in"):
                assert np.array_equal(joined[field].sel(model=name), own.tables()[field][0])
            mine = joined.left_by_layer.sel(model=name, layer=layers)
            assert np.array_equal(mine, own.tables().left_by_layer[0])


# -- representatives ------------------------------------------------------------------------------


@settings(max_examples=20)
@given(seed=seeds, maker=makers, how=st.sampled_from(["random", "medoid"]))
def test_representatives_belong_to_their_clusters(seed: int, maker: str, how: str) -> None:
    arrays = naive.layered(naive.MAKERS[maker](60, 30, seed), [10, 12, 8])
    found = clustered(arrays, [0, 0.2, 0.5, 0.8, 1], representative=how, seed=seed % 1000)
    for t in found.thresholds:
        members, chosen = found.members(t), found.representatives(t)
        assert len(chosen) == len(members)
        assert all(place in group for place, group in zip(chosen, members, strict=True))


@settings(max_examples=20)
@given(seed=seeds, maker=makers)
def test_random_ones_are_nested_over_thresholds(seed: int, maker: str) -> None:
    """A neuron that is kept at a threshold is kept at every lower one."""
    found = clustered(naive.layered(naive.MAKERS[maker](60, 30, seed), [10, 20]), seed=seed % 99)
    kept = [set(found.representatives(t)) for t in naive.GRID]
    for low, high in pairwise(kept):
        assert high <= low
    assert len(kept[-1]) == 1


def test_random_ones_change_with_the_seed_only() -> None:
    arrays = model("blocks", 7)
    first = clustered(arrays, seed=4)
    assert clustered(arrays, seed=4).representatives(0.5) == first.representatives(0.5)
    assert clustered(arrays, [0.5], seed=4).representatives(0.5) == first.representatives(0.5)
    assert np.array_equal(clustered(arrays, seed=5).labels(0.5), first.labels(0.5))
    chosen = {tuple(clustered(arrays, 0.5, seed=s).representatives(0.5)) for s in range(6)}
    assert len(chosen) == 6


def test_random_ones_are_drawn_evenly() -> None:
    """Of a cluster of four, each is drawn in about a quarter of 400 seeds."""
    random = np.random.default_rng(0)
    X = random.standard_normal((50, 1)) * [1, -2, 3, 4]
    drawn = [clustered({"m/0": X}, 0, seed=s).representatives(0)[0][1] for s in range(400)]
    assert np.bincount(drawn, minlength=4).min() > 65  # 4 standard deviations below 100


@pytest.mark.parametrize("kind", ["rows", "moments", "tiles"])
@pytest.mark.parametrize("linkage", LINKAGES)
def test_a_medoid_is_the_member_nearest_to_all_others(kind: str, linkage: str, tiles: Any) -> None:
    arrays = model("blocks", 8)
    make = {
        "rows": clustered,
        "moments": lambda a, t, **o: clustered(lmkin.compute_moments(a, progress=False), t, **o),
        "tiles": tiles,
    }[kind]
    found = make(arrays, [0.2, 0.5, 0.8], representative="medoid", linkage=linkage)
    R = np.abs(np.corrcoef(naive.side_by_side(arrays), rowvar=False))
    where = naive.places(arrays)
    several = 0
    for t in found.thresholds:
        for place, group in zip(found.representatives(t), found.members(t), strict=True):
            if len(group) == 1:
                assert place == group[0]
                continue
            numbers = [where.index(m) for m in group]
            mean = {
                m: np.mean([R[i, j] for j in numbers if j != i])
                for m, i in zip(group, numbers, strict=True)
            }
            assert mean[place] > max(mean.values()) - 1e-6
            several += len(group) > 2
            if len(group) == 2:
                assert place == group[0]
    assert several > 5


def test_medoids_are_known_where_they_were_asked_for() -> None:
    found = clustered(model("blocks", 8), [0.2, 0.5], representative="medoid")
    with pytest.raises(lmkin.MeasureError, match=r"Medoids were found at the thresholds 0.2, 0.5"):
        found.representatives(0.3)
    with pytest.raises(lmkin.MeasureError, match="Medoids"):
        found.keep(0.3)
    assert found.labels(0.3).max() >= found.labels(0.5).max()


def test_thresholds_that_were_not_asked_for() -> None:
    arrays = model("blocks", 9)
    few, many = clustered(arrays, 0.5), clustered(arrays, naive.GRID)
    assert few.thresholds == (0.5,)
    for t in naive.GRID:
        assert np.array_equal(few.labels(t), many.labels(t))
        assert few.representatives(t) == many.representatives(t)


def test_thresholds_are_ordered_and_taken_once() -> None:
    found = clustered(model("blocks", 9), [0.7, 0.1, 0.7, 0.3])
    assert found.thresholds == (0.1, 0.3, 0.7)
    assert found.tables().threshold.values.tolist() == [0.1, 0.3, 0.7]


def test_a_threshold_may_differ_in_its_last_digit(tiles: Any) -> None:
    """0.1 + 0.2 is a little more than 0.3."""
    for make in (clustered, tiles):
        found = make(model("blocks", 9), [0.1, 0.3])
        assert found.keep(0.1 + 0.2).hash == found.keep(0.3).hash
        assert np.array_equal(found.labels(0.1 + 0.2), found.labels(0.3))


# -- constant neurons -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["rows", "moments", "tiles"])
@pytest.mark.parametrize("value", [0.0, -3.25, 1e-30, 12345.678, 0.1])
def test_constant_neurons_belong_nowhere(kind: str, value: float, tiles: Any) -> None:
    arrays = {k: v.copy() for k, v in model("blocks", 10).items()}
    arrays["m/0"][:, [0, 7]] = value
    arrays["m/2"][:, 14] = value
    make = {
        "rows": clustered,
        "moments": lambda a, t, **o: clustered(lmkin.compute_moments(a, progress=False), t, **o),
        "tiles": tiles,
    }[kind]
    dead = [0, 7, 59]
    rest = np.setdiff1d(np.arange(60), dead)
    X = naive.side_by_side(arrays)
    Z = naive.tree(naive.distances(X[:, rest]))
    for how in ("random", "medoid"):
        found = make(arrays, [0.0, 0.3, 0.9], representative=how)
        for t in found.thresholds:
            labels = found.labels(t)
            assert (labels[dead] == -1).all()
            assert np.array_equal(labels[rest], naive.partition(Z, t))
            listed = {place for group in found.members(t) for place in group}
            assert listed == {naive.places(arrays)[i] for i in rest}
            assert set(found.representatives(t)) <= listed
            assert set(found.keep(t).neurons) == set(found.representatives(t))
            assert found.sizes(t).sum() == 57
        assert int(found.tables().constant[0]) == 3
        assert int(found.tables().neurons[0]) == 60
        assert any(a.startswith("constant neurons") and "m: 3" in a for a in map(str, found.alerts))


def test_without_constant_neurons_there_is_no_alert() -> None:
    found = clustered(model("blocks", 10, n=2000))
    assert found.alerts == []
    assert int(found.tables().constant[0]) == 0


@pytest.mark.parametrize(
    ("number", "precision", "deviation"),
    [
        (np.float64, "float64", 1e-6),
        (np.float64, "float32", 0.05),
        (np.float32, "float64", 0.05),
        (np.float32, "float32", 0.05),
    ],
)
def test_a_small_movement_far_from_0_is_one(number: Any, precision: str, deviation: float) -> None:
    X = naive.blocks(400, 30, 0)
    X = ((X - X.mean(0)) / X.std(0) * deviation + 1e4).astype(number)
    Z = naive.tree(naive.distances(X))
    sums = lmkin.compute_moments({"m/0": X}, precision=precision, progress=False)
    for found in (clustered({"m/0": X}, precision=precision), clustered(sums)):
        assert int(found.tables().constant[0]) == 0
        for t in naive.cuts(Z, apart=1e-4):
            if t > 0:
                assert np.array_equal(found.labels(t), naive.partition(Z, t))


# -- sizes ----------------------------------------------------------------------------------------


def test_one_neuron() -> None:
    X = np.random.default_rng(0).standard_normal((20, 1))
    for how in ("random", "medoid"):
        found = clustered({"m/4": X}, [0, 0.5, 1], representative=how)
        assert found.labels(1).tolist() == [0]
        assert found.representatives(0.5) == [(4, 0)]
        assert found.members(0.5) == [[(4, 0)]]
        assert found.tables().left.values.tolist() == [[1, 1, 1]]
        assert found.linkage_matrix().shape == (0, 4)


def test_one_neuron_that_moves_among_constant_ones() -> None:
    X = np.ones((20, 4))
    X[:, 2] = np.arange(20)
    found = clustered({"m/0": X}, 0.5)
    assert found.labels(0.5).tolist() == [-1, -1, 0, -1]
    assert found.representatives(0.5) == [(0, 2)]


def test_three_rows() -> None:
    X = np.random.default_rng(3).standard_normal((3, 8))
    Z = naive.tree(naive.distances(X))
    found = clustered({"m/0": X})
    for t in naive.cuts(Z):
        assert np.array_equal(found.labels(t), naive.partition(Z, t))
    assert any(a.startswith("few rows") for a in map(str, found.alerts))


def test_few_rows_are_an_alert_and_many_are_none() -> None:
    assert any("few rows" in a for a in map(str, clustered(model("independent", 0, n=200)).alerts))
    assert not any(
        "few rows" in a for a in map(str, clustered(model("independent", 0, n=3000)).alerts)
    )


def test_more_rows_than_are_read_at_a_time() -> None:
    X = naive.real_shaped(9000, 40, 0)
    Z = naive.tree(naive.distances(X))
    found = clustered({"m/0": X.astype(np.float32)}, precision="float32")
    for t in naive.cuts(Z, apart=1e-5):
        if t > 0:
            assert np.array_equal(found.labels(t), naive.partition(Z, t))


def test_more_neurons_than_are_finished_at_a_time() -> None:
    """Blocks of 512: 1,100 neurons have three of them."""
    X = naive.real_shaped(120, 1100, 0)
    D = naive.distances(X)
    Z = naive.tree(D)
    arrays = naive.layered(X, [500, 600])
    for source in (arrays, lmkin.compute_moments(arrays, progress=False)):
        found = clustered(source)
        assert found.linkage_matrix()[:, 2] == pytest.approx(Z[:, 2], abs=1e-9)
        for t in naive.cuts(Z, apart=1e-9, most=20):
            assert np.array_equal(found.labels(t), naive.partition(Z, t))


# -- memory ---------------------------------------------------------------------------------------


@pytest.fixture
def tiles(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> Any:
    """Clusters by a budget into which the matrix of all does not fit."""
    caplog.set_level("INFO", "lmkin")

    def make(arrays: Any, thresholds: Any, most: int = 10_000, **options: Any) -> lmkin.Clustering:
        monkeypatch.setattr(growing, "TILE", 8)
        monkeypatch.setattr(planning, "TILE", 8)
        plan = planning.plan_clustering

        def planned(*given: Any, **more: Any) -> Any:
            found = plan(*given, **more)
            return planning.ClusterRoute("tiles", found.memory, most)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("lmkin.analyses.redundancy.clusters.plan_clustering", planned)
            caplog.clear()
            found = clustered(arrays, thresholds, **options)
        assert any("tiles" in r.getMessage() for r in caplog.records)
        return found

    return make


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch, bare_process: None) -> None:
    monkeypatch.setattr(growing, "TILE", 8)
    monkeypatch.setattr(planning, "TILE", 8)


def test_little_memory_gives_the_same_from_tiles(
    narrow: None, caplog: pytest.LogCaptureFixture
) -> None:
    X = naive.real_shaped(40, 400, 3)
    arrays = naive.layered(X, [150, 250])
    thresholds = [0.0, 0.05, 0.1, 0.2]
    caplog.set_level("INFO", "lmkin")
    whole = clustered(arrays, thresholds, representative="medoid")
    assert "one matrix" in caplog.messages[-1]
    small = clustered(arrays, thresholds, memory=1_500_000, representative="medoid")
    assert any("tiles" in line for line in caplog.messages)
    assert small.limit == 0.2
    assert small.thresholds == whole.thresholds
    for t in thresholds:
        assert np.array_equal(small.labels(t), whole.labels(t))
        assert small.representatives(t) == whole.representatives(t)
        assert small.keep(t).hash == whole.keep(t).hash
    assert small.tables().equals(whole.tables())
    for t in (0.21, 0.9):
        with pytest.raises(lmkin.MeasureError, match=r"known up to the threshold 0\.2; 0"):
            small.labels(t)
    with pytest.raises(lmkin.MeasureError, match="no whole dendrogram"):
        small.linkage_matrix()


def all_alike() -> Any:
    """150 neurons, any two of which have |r| = 0.5, but for 20 that have a partner with 0.9."""
    random = np.random.default_rng(0)
    Q = np.linalg.qr(np.column_stack([np.ones(160), random.standard_normal((160, 151))]))[0][:, 1:]
    X = np.sqrt(0.5) * (Q[:, :1] + Q[:, 1:])
    X[:, 130:] = 0.9 * X[:, :20] + np.sqrt(1 - 0.9**2) * Q[:, 131:]
    return X


def test_a_threshold_that_cannot_be_reached_is_left_out(narrow: None) -> None:
    """Nearly all hang together at 0.5, and there is room for a matrix of 45; what is below is exact."""
    X = all_alike()
    thresholds = [0.0, 0.05, 0.2, 0.4, 0.6]
    found = clustered({"m/0": X}, thresholds, memory=420_000)
    assert 0.4 < found.limit < 0.5
    assert found.thresholds == (0.0, 0.05, 0.2, 0.4)
    assert found.tables().left.values.tolist() == [[150, 150, 130, 130]]
    (alert,) = [a for a in map(str, found.alerts) if a.startswith("thresholds left out")]
    assert "At 0.6 " in alert
    Z = naive.tree(naive.distances(X))
    for t in naive.cuts(Z, found.limit):
        assert np.array_equal(found.labels(t), naive.partition(Z, t))
    for ask in (found.labels, found.members, found.sizes, found.keep, found.representatives):
        with pytest.raises(lmkin.MeasureError, match="known up to"):
            ask(0.6)
    assert found.tables().threshold.values.tolist() == list(found.thresholds)
    assert repr(found) == "<Clustering of neurons at 0.2: m 150 → 130>"


def test_of_two_models_the_one_that_reaches_less_decides(narrow: None) -> None:
    random = np.random.default_rng(1)
    arrays = {"easy/0": random.standard_normal((160, 30)), "hard/0": all_alike()}
    for how in ("random", "medoid"):
        found = clustered(arrays, [0.2, 0.6], memory=420_000, representative=how)
        assert found.thresholds == (0.2,)
        assert found.tables().left.sel(threshold=0.2).values.tolist() == [30, 130]


def test_not_even_the_lowest(narrow: None) -> None:
    with pytest.raises(lmkin.MeasureError, match="not even at the lowest threshold"):
        clustered({"m/0": all_alike()}, [0.6, 0.7], memory=420_000)


def test_tiles_cannot_be_cut_at_1(narrow: None) -> None:
    X = np.random.default_rng(0).standard_normal((40, 300))
    with pytest.raises(lmkin.MeasureError, match="Below a threshold of 1"):
        clustered({"m/0": X}, [0.1, 1.0], memory=500_000)


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_tiles_of_every_linkage(tiles: Any, linkage: str, precision: str) -> None:
    arrays = model("blocks", 11)
    Z = naive.tree(naive.distances(naive.side_by_side(arrays)), linkage)
    found = tiles(arrays, [0.2, 0.85], most=25, linkage=linkage, precision=precision)
    for t in naive.cuts(Z, found.limit, apart=1e-5):
        if t > 0:
            assert np.array_equal(found.labels(t), naive.partition(Z, t))


def test_what_is_told(capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "lmkin")
    clustered(model("blocks", 1))
    said = caplog.messages
    assert said == [line for line in said if line.startswith("m: 60 neurons, 150 rows.")]
    assert len(said) == 1
    assert capsys.readouterr() == ("", "")


def test_a_name_for_it() -> None:
    found = clustered(model("blocks", 1), [0.25, 0.9])
    left = len(found.representatives(0.25))
    assert repr(found) == f"<Clustering of neurons at 0.25: m 60 → {left}>"
