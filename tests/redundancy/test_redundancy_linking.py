"""Trees: against scipy's, where distances are equal too; grown piece by piece, against the whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, is_monotonic, is_valid_linkage

import lmkin
from lmkin.analyses.redundancy import tiled_linkage as growing
from lmkin.analyses.redundancy.correlations import Matrix, Tiles
from lmkin.analyses.redundancy.linkage import Tree, link
from redundancy import naive_redundancy as naive

LINKAGES = ("average", "complete", "single")
seeds = st.integers(0, 2**32 - 1)


def assert_same_tree(D: Any, method: str) -> None:
    """The very partition of scipy at every height of its tree, just below it, and on a grid."""
    Z = naive.tree(D, method)
    tree = link(D.copy(), linkage=method)
    heights = np.unique(Z[:, 2])
    for t in [*heights, *np.nextafter(heights, -1), *naive.GRID]:
        assert np.array_equal(tree.labels(t), naive.partition(Z, t)), (method, t)


# -- one matrix -----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", LINKAGES)
@pytest.mark.parametrize("maker", naive.MAKERS)
@pytest.mark.parametrize("width", [2, 3, 40, 150])
def test_a_tree_is_that_of_scipy(maker: str, method: str, width: int) -> None:
    D = naive.distances(naive.MAKERS[maker](200, width, width))
    assert_same_tree(D, method)


@pytest.mark.parametrize("method", LINKAGES)
@pytest.mark.parametrize("decimals", [1, 2])
def test_equal_distances_are_decided_as_scipy_decides(method: str, decimals: int) -> None:
    for seed in range(12):
        assert_same_tree(naive.rounded(10 + 6 * seed, decimals, seed), method)


@settings(max_examples=40)
@given(seed=seeds, width=st.integers(2, 30), decimals=st.integers(0, 3))
def test_any_equal_distances(seed: int, width: int, decimals: int) -> None:
    D = naive.rounded(width, decimals, seed)
    for method in LINKAGES:
        assert_same_tree(D, method)


@pytest.mark.parametrize("method", LINKAGES)
def test_rounded_correlations_of_neurons(method: str) -> None:
    D = np.round(naive.distances(naive.real_shaped(60, 80, 3)), 2)
    assert (np.unique(D, return_counts=True)[1] > 2).any()
    assert_same_tree(D, method)


def test_all_distances_equal() -> None:
    for value in (0.0, 0.5, 1 / 3):
        D = np.full((9, 9), value)
        np.fill_diagonal(D, 0)
        assert_same_tree(D, "average")
        tree = link(D.copy())
        assert len(np.unique(tree.labels(np.nextafter(value, -1)))) == 9


@settings(max_examples=25)
@given(seed=seeds, method=st.sampled_from(LINKAGES))
def test_heights_never_fall_and_clusters_only_grow(seed: int, method: str) -> None:
    random = np.random.default_rng(seed)
    D = naive.rounded(int(random.integers(2, 40)), int(random.integers(1, 6)), seed)
    tree = link(D.copy(), linkage=method)
    assert len(tree.height) == len(D) - 1
    assert (np.diff(tree.height) >= 0).all()
    before = tree.labels(0)
    for t in np.sort(random.uniform(0, 1, 8)):
        labels = tree.labels(t)
        for cluster in range(before.max() + 1):  # none is ever torn apart
            assert len(set(labels[before == cluster])) == 1
        before = labels


def test_equal_distances_make_a_tree_by_the_definition() -> None:
    for seed in range(5):
        D = naive.rounded(14, 1, seed)
        tree = link(D.copy())
        pairs = list(zip(tree.first.tolist(), tree.second.tolist(), strict=True))
        naive.is_a_tree_of(D, pairs, tree.height.tolist())


def test_as_scipy_has_it() -> None:
    D = naive.distances(naive.blocks(100, 50, 0))
    Z = link(D.copy()).to_scipy()
    expected = naive.tree(D)
    assert is_valid_linkage(Z)
    assert is_monotonic(Z)
    assert np.allclose(Z[:, 2:], expected[:, 2:], atol=1e-14)
    assert np.array_equal(Z[:, :2], np.sort(expected[:, :2], axis=1))
    for t in naive.GRID:
        mine, theirs = (naive.in_order(fcluster(z, t, "distance").tolist()) for z in (Z, expected))
        assert np.array_equal(mine, theirs)


def test_one_thing_alone() -> None:
    tree = link(np.zeros((1, 1)))
    assert tree.labels(0.5).tolist() == [0]
    assert tree.to_scipy().shape == (0, 4)


@pytest.mark.parametrize("method", LINKAGES)
def test_rows_that_stand_for_many(method: str) -> None:
    """Copies in one row, with their number, make the tree that they make one by one."""
    random = np.random.default_rng(4)
    sizes = random.integers(1, 6, 20)
    D = naive.distances(naive.blocks(80, 20, 4))
    copies = np.repeat(np.arange(20), sizes)
    Z = naive.tree(D[np.ix_(copies, copies)], method)
    tree = link(D.copy(), sizes, linkage=method)
    for t in naive.cuts(Z):
        assert np.array_equal(tree.labels(t)[copies], naive.partition(Z, t))


@pytest.mark.parametrize("method", LINKAGES)
@pytest.mark.parametrize("limit", [0.0, 0.2, 0.55, 0.8])
def test_a_tree_up_to_a_limit(method: str, limit: float) -> None:
    D = naive.distances(naive.real_shaped(150, 90, 1))
    Z = naive.tree(D, method)
    tree = link(D.copy(), limit=limit, linkage=method)
    assert (tree.height <= limit).all()
    for t in naive.cuts(Z, limit):
        assert np.array_equal(tree.labels(t), naive.partition(Z, t))
    with pytest.raises(lmkin.MeasureError, match="known up to the threshold"):
        tree.labels(limit + 0.01)
    if Z[-1, 2] > limit:
        with pytest.raises(lmkin.MeasureError, match="no whole dendrogram"):
            tree.to_scipy()


def test_distances_that_are_none() -> None:
    for wrong in (np.zeros((3, 4)), np.zeros(3)):
        with pytest.raises(lmkin.MeasureError, match="square"):
            link(wrong)


# -- piece by piece -------------------------------------------------------------------------------


def units(X: Any) -> Any:
    """Neurons × rows of length 1."""
    Z = np.asarray(X, np.float64).T
    Z = Z - Z.mean(1, keepdims=True)
    return Z / np.linalg.norm(Z, axis=1, keepdims=True)


def sources(X: Any) -> dict[str, Any]:
    Z = units(X)
    return {
        "matrix": Matrix(1 - naive.distances(X)),
        "tiles": Tiles(Z),
        "float32 tiles": Tiles(Z.astype(np.float32)),
    }


@pytest.fixture
def small_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growing, "TILE", 7)


@pytest.mark.usefixtures("small_tiles")
@pytest.mark.parametrize("method", LINKAGES)
@pytest.mark.parametrize("maker", naive.MAKERS)
@pytest.mark.parametrize("kind", ["matrix", "tiles", "float32 tiles"])
def test_component_by_component_equals_the_whole(maker: str, method: str, kind: str) -> None:
    X = naive.MAKERS[maker](120, 90, 5)
    Z = naive.tree(naive.distances(X), method)
    apart = 1e-5 if "32" in kind else 1e-7
    correlations = sources(X)[kind]
    for limit in (0.0, 0.3, 0.6, 0.97):
        tree = growing.grow(correlations, limit, most=10_000, linkage=method)
        assert tree.limit == limit
        for t in naive.cuts(Z, limit, apart):
            assert np.array_equal(tree.labels(t), naive.partition(Z, t)), (limit, t)


@pytest.mark.usefixtures("small_tiles")
@pytest.mark.parametrize("method", LINKAGES)
@pytest.mark.parametrize("kind", ["matrix", "tiles", "float32 tiles"])
@pytest.mark.parametrize("most", [14, 25, 50])
def test_in_stages_equals_the_whole(
    method: str, kind: str, most: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Where all hang together, lower thresholds come first; what was reached is exact, and the rest is refused."""
    X = naive.blocks(120, 90, 6)
    Z = naive.tree(naive.distances(X), method)
    apart = 1e-5 if "32" in kind else 1e-7
    caplog.set_level("INFO", "lmkin")
    tree = growing.grow(sources(X)[kind], 0.8, most=most, linkage=method)
    assert caplog.messages, "no stage was needed: the test shows nothing"
    assert 0.2 < tree.limit <= 0.8
    checked = naive.cuts(Z, tree.limit, apart)
    assert len({len(np.unique(tree.labels(t))) for t in checked}) > 20
    for t in checked:
        assert np.array_equal(tree.labels(t), naive.partition(Z, t)), t
    if tree.limit < 0.8:
        with pytest.raises(lmkin.MeasureError, match="known up to"):
            tree.labels(0.8)


@settings(max_examples=15)
@given(
    seed=seeds,
    tile=st.integers(1, 40),
    most=st.integers(2, 60),
    limit=st.floats(0, 0.99),
    method=st.sampled_from(LINKAGES),
    maker=st.sampled_from(list(naive.MAKERS)),
)
def test_any_tile_and_any_memory(
    seed: int, tile: int, most: int, limit: float, method: str, maker: str
) -> None:
    X = naive.MAKERS[maker](60, 45, seed)
    Z = naive.tree(naive.distances(X), method)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(growing, "TILE", tile)
        tree = growing.grow(sources(X)["tiles"], limit, most=most, linkage=method)
    assert tree.limit <= limit
    assert (tree.height <= max(tree.limit, 0) + 1e-12).all()
    assert (np.diff(tree.height) >= 0).all()
    for t in naive.cuts(Z, tree.limit):
        assert np.array_equal(tree.labels(t), naive.partition(Z, t))


@pytest.mark.usefixtures("small_tiles")
@pytest.mark.parametrize("most", [4, 12])
def test_groups_that_merge_early_leave_room_for_the_rest(
    most: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Copies of few neurons hang together at once, yet few clusters of them are left to be connected."""
    random = np.random.default_rng(0)
    owner = np.repeat(np.arange(4), 20)
    X = random.standard_normal((300, 4))[:, owner] + 0.3 * random.standard_normal((300, 80))
    X += 0.8 * random.standard_normal((300, 1))
    Z = naive.tree(naive.distances(X))
    caplog.set_level("INFO", "lmkin")
    tree = growing.grow(sources(X)["tiles"], 0.9, most=20 + most)
    assert caplog.messages
    assert tree.limit == 0.9
    for t in naive.cuts(Z, 0.9):
        assert np.array_equal(tree.labels(t), naive.partition(Z, t))


@pytest.mark.usefixtures("small_tiles")
def test_equal_distances_in_pieces_make_a_tree_by_the_definition() -> None:
    """Of equal distances any may be first: what comes out is average linkage all the same."""
    for seed in range(4):
        D = naive.rounded(20, 1, seed)
        for most in (8, 100):
            tree = growing.grow(Matrix(1 - D), 0.6, most=most)
            pairs = list(zip(tree.first.tolist(), tree.second.tolist(), strict=True))
            naive.is_a_tree_of(D, pairs, tree.height.tolist())
            labels = tree.labels(max(tree.limit, 0))
            for a in range(labels.max() + 1):
                for b in range(a):
                    assert D[labels == a][:, labels == b].mean() > tree.limit - 1e-12


@pytest.mark.usefixtures("small_tiles")
def test_too_many_that_hang_together_end_it(caplog: pytest.LogCaptureFixture) -> None:
    D = np.full((30, 30), 0.1)
    np.fill_diagonal(D, 0)
    caplog.set_level("INFO", "lmkin")
    tree = growing.grow(Matrix(1 - D), 0.5, most=10)
    assert 0 <= tree.limit < 0.1
    assert any("30 clusters hang together" in line for line in caplog.messages)
    assert len(np.unique(tree.labels(tree.limit))) == 30


def test_every_pair_is_scanned_once() -> None:
    """What the progress bar is told of is all pairs of neurons, each stage."""
    done: list[int] = []
    X = naive.independent(50, 30, 0)
    growing.grow(sources(X)["matrix"], 0.1, most=100, advance=done.append)
    assert 30 * 31 // 2 <= sum(done) <= 30 * 30


def test_matrices_of_pieces_are_symmetric(monkeypatch: pytest.MonkeyPatch) -> None:
    """The chain of nearest neighbours never ends on others: a nearest to b, b to c, c to a by a last digit.

    Means over two clusters, rows first or columns first, differ in that digit.
    """
    checked = [0]

    def checking(D: Any, *arguments: Any) -> Tree:
        off = ~np.eye(len(D), dtype=bool)
        assert np.array_equal(D[off], D.T[off]), "not symmetric: this may never end"
        checked[0] += 1
        return link(D, *arguments)

    monkeypatch.setattr(growing, "link", checking)
    random = np.random.default_rng(0)
    for _ in range(20):
        # Three clusters with the same distances between them, in another order.
        values = random.uniform(0.1, 0.5, 9)
        R = np.full((9, 9), 0.9)
        for a in range(3):
            for b in range(a):
                block = random.permutation(values).reshape(3, 3)
                R[3 * a : 3 * a + 3, 3 * b : 3 * b + 3] = block
                R[3 * b : 3 * b + 3, 3 * a : 3 * a + 3] = block.T
        np.fill_diagonal(R, 1)
        tree = growing.grow(Matrix(R), 0.95, most=4)
        assert len(np.unique(tree.labels(0.2))) == 3
        assert len(np.unique(tree.labels(0.95))) == 1
    assert checked[0] > 20


def test_distances_that_are_not_symmetric_are_refused() -> None:
    """Each is nearest to the next, round and round: a chain would never end."""
    D = np.array([[0.0, 1.0, 3.0], [3.0, 0.0, 1.0], [1.0, 3.0, 0.0]])
    with pytest.raises(lmkin.MeasureError, match="symmetric"):
        link(D)


@pytest.mark.usefixtures("small_tiles")
@pytest.mark.parametrize("method", ["average", "complete", "single"])
def test_a_cluster_larger_than_a_tile_is_looked_at_in_strips(method: str) -> None:
    """Forty copies are one cluster at once: no block is ever larger than a tile, whatever merges."""
    random = np.random.default_rng(5)
    owner = np.concatenate([np.zeros(40, int), np.repeat([1, 2], 25), np.arange(3, 33)])
    X = random.standard_normal((80, 33))[:, owner] + 0.1 * random.standard_normal((80, 120))
    X += 0.7 * random.standard_normal((80, 1))
    source = sources(X)["tiles"]
    seen: list[int] = []

    class Watched:
        n = source.n

        def block(self, rows: Any, columns: Any) -> Any:
            seen.append(max(len(rows), len(columns)))
            return source.block(rows, columns)

        def signs(self, first: Any, second: Any) -> Any:
            return source.signs(first, second)

    tree = growing.grow(Watched(), 0.8, most=70, linkage=method)
    assert max(seen) <= growing.TILE
    Z = naive.tree(naive.distances(X), method)
    assert tree.limit > 0.1
    for t in naive.cuts(Z, tree.limit):
        assert np.array_equal(tree.labels(t), naive.partition(Z, t))


def test_thresholds_that_were_asked_for_are_tried() -> None:
    """Nothing above 0.2 fits, and 0.2 itself does: bisection alone would miss it."""
    random = np.random.default_rng(0)
    X = random.standard_normal((200, 40)) + 1.75 * random.standard_normal((200, 1))
    source = sources(X)["tiles"]
    least = float(naive.tree(naive.distances(X))[0, 2])
    stops = (least * 0.999, 0.9)
    assert growing.grow(source, 0.9, most=2, stops=stops).limit >= stops[0]
