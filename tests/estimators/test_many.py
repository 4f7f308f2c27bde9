"""Many fits at once equal one by one; rows from disk in little room; data that make a solver stumble."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lmkin
from lmkin import Probe
from lmkin.activations import JoinedLayers, LayerView
from lmkin.estimators import (
    CrossEntropy,
    Design,
    HalfSquaredError,
    Penalized,
    coordinates,
    fit_many,
    make_penalty,
)

PENALTIES = ("elementwise", "row")


def layers(n: int = 400, width: int = 16, count: int = 3, seed: int = 0) -> tuple[Any, Any, Any]:
    """Layers side by side that share most of what they hold, labels, and labels that mean nothing."""
    random = np.random.default_rng(seed)
    layer, blocks = random.normal(size=(n, width)), []
    for _ in range(count):
        blocks.append(layer)
        layer = 0.9 * layer + 0.4 * random.normal(size=(n, width))
    X = np.concatenate(blocks, axis=1) * random.uniform(0.1, 5, width * count) + 3
    y = (layer @ random.normal(size=(width, 4)) + 2 * random.gumbel(size=(n, 4))).argmax(1)
    return X, y, random.integers(0, 4, n)


# -- many at once -----------------------------------------------------------------------------------


@pytest.mark.parametrize("penalty", PENALTIES)
def test_many_at_once_are_what_they_are_one_by_one(penalty: Any) -> None:
    X, y, control = layers()
    spans = [slice(0, 48), slice(0, 16), slice(16, 32), slice(32, 48), slice(0, 32)]
    what = Penalized(penalty, tolerance=1e-6)
    design = Design(X)
    together = fit_many(
        [design.part(s) for s in spans], [CrossEntropy(v, 4) for v in (y, control)], what, 0.02
    )
    for span, fits in zip(spans, together, strict=True):
        for labels, fit in zip((y, control), fits, strict=True):
            alone = what.fit_at(Design(X[:, span].copy()), CrossEntropy(labels, 4), 0.02)
            assert np.allclose(fit.W, alone.W, atol=1e-6)
            assert np.allclose(fit.b, alone.b, atol=1e-6)
            assert fit.relative <= 1e-6
    assert any((fit.W == 0).any() for fits in together for fit in fits)


def test_second_moments_are_taken_once_for_all_who_need_them() -> None:
    X, _, _ = layers()
    read: list[Any] = []

    class Counted:
        shape, dtype = X.shape, X.dtype

        def __getitem__(self, key: Any) -> Any:
            read.append(key)
            return X[key]

    design = Design(Counted())
    part = design.part(slice(16, 32), X[:, 16:32])
    G = part.second_moments(slice(0, 16))
    before = len(read)
    assert design.second_moments(slice(16, 32)) is G
    assert len(read) == before
    Z = (X - X.mean(0)) / X.std(0)
    assert np.allclose(G, Z[:, 16:32].T @ Z[:, 16:32] / len(Z))


@pytest.mark.parametrize("count", [5, 40])
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("stored", [False, True])
def test_a_part_of_any_columns_is_a_design_of_these(
    count: int, penalty: Any, stored: bool, tmp_path: Path
) -> None:
    """Few that are copied, and many whose products are those of all; also a part of a part, in any order."""
    X, y, _ = layers()
    whole: Any = X
    if stored:
        np.save(tmp_path / "rows.npy", X)
        kept = np.load(tmp_path / "rows.npy", mmap_mode="r")
        whole = JoinedLayers([LayerView([kept[:, :20]]), LayerView([kept[:, 20:]])])
    first = np.random.default_rng(1).permutation(48)[: count + 3]
    second = np.random.default_rng(2).permutation(count + 3)[:count]
    design = Design(whole, room=0 if stored else None)
    design.take_moments()
    part = design.part(first).part(second)
    alone = Design(X[:, first[second]])
    what, loss = Penalized(penalty, tolerance=1e-6), CrossEntropy(y, 4)
    fit, expected = what.fit_at(part, loss, 0.02), what.fit_at(alone, loss, 0.02)
    assert (part.n, part.d) == (400, count)
    assert np.allclose(fit.W, expected.W, atol=1e-5)
    assert fit.relative <= 1e-6
    for mine, theirs in zip(part.unscaled(fit.W, fit.b), alone.unscaled(fit.W, fit.b), strict=True):
        assert np.allclose(mine, theirs, atol=1e-9)
    rows, few = part.sample(100)
    assert np.allclose(few.scores(fit.W, fit.b), part.scores(fit.W, fit.b)[rows])
    assert np.allclose(part.some_rows(np.arange(9)), alone.some_rows(np.arange(9)))
    assert np.allclose(part.block(np.array([3, 1])).Z, alone.block(np.array([3, 1])).Z)
    assert np.allclose(part.second_moments(slice(1, 4)), alone.second_moments(slice(1, 4)))


def test_moments_of_all_columns_serve_every_part() -> None:
    X, _, _ = layers()
    Z = (X - X.mean(0)) / X.std(0)
    design = Design(X)
    assert design.part(np.array([7, 2])).known_moments(np.arange(2)) is None
    design.take_moments()
    some = np.array([40, 2, 17])
    G = design.part(some).known_moments(np.arange(3))
    assert G is not None
    assert np.allclose(G, Z[:, some].T @ Z[:, some] / len(Z))
    assert design.part(slice(3, 9)).known_moments(np.arange(6)) is not None


# -- the model that steps minimize --------------------------------------------------------------------


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("drawn", [0, 4])
@pytest.mark.parametrize("edges", [(0, 6), (0, 4, 6)])
@settings(max_examples=8)
@given(seed=st.integers(0, 999), l1=st.floats(0.0, 0.5), l2=st.floats(0.0, 0.5))
def test_a_step_minimizes_the_quadratic_model(
    penalty: str, drawn: int, edges: tuple[int, ...], seed: int, l1: float, l2: float
) -> None:
    """By the model's own optimality conditions, with curvatures that differ by output, in size and in shape."""
    random = np.random.default_rng(seed)
    Z = random.normal(size=(30, 6))
    G, a = Z.T @ Z / 30, random.uniform(0.01, 1, 3)
    A = random.normal(size=(3, 6, drawn))
    g, W = random.normal(size=(3, 6)), random.normal(size=(3, 6)) * (random.random((3, 6)) < 0.5)
    spans = [slice(low, high) for low, high in pairwise(edges)]
    model = coordinates.Curvature.of_blocks([(s, G[s, s]) for s in spans], 0.5, A)
    V = coordinates.minimize_model(model, a, g, W, penalty, l1, l2, sweeps=5000, tolerance=1e-10)
    block = np.digitize(np.arange(6), edges[1:-1])
    of = [0.5 * G * (block[:, None] == block) + A[c] @ A[c].T for c in range(3)]
    pulled = np.array([of[c] @ (V - W)[c] for c in range(3)])
    assert np.allclose(model.times((V - W).T).T, pulled)
    smooth = g + a[:, None] * pulled + 2 * l2 * V
    assert make_penalty(penalty, l1, l2).violations(V.T, smooth.T).max() < 1e-6


# -- rows that are not in memory ------------------------------------------------------------------------


@pytest.mark.parametrize("room", [0, 40_000])
@pytest.mark.parametrize("penalty", PENALTIES)
def test_rows_on_disk_in_little_room(tmp_path: Path, room: int, penalty: Any) -> None:
    """The rows are 150 kB. With no room for any copy of them, the fit is the same."""
    X, y, _ = layers(800)
    X = X.astype(np.float32)
    np.save(tmp_path / "rows.npy", X)
    stored = np.load(tmp_path / "rows.npy", mmap_mode="r")
    joined = JoinedLayers([LayerView([stored[:, k : k + 16]]) for k in (0, 16, 32)])
    what, loss = Penalized(penalty, tolerance=1e-3), CrossEntropy(y, 4)
    memory = what.fit_at(Design(X), loss, 0.01)
    disk = what.fit_at(Design(joined, room=room), loss, 0.01)
    assert disk.relative <= 1e-3
    assert disk.objective == pytest.approx(memory.objective, rel=1e-5)
    assert np.allclose(disk.W, memory.W, atol=0.01 * np.abs(memory.W).max())


# -- data that make solvers stumble -----------------------------------------------------------------------


@pytest.mark.parametrize("penalty", PENALTIES)
def test_fewer_rows_than_neurons(penalty: Any) -> None:
    X, y, _ = layers(30, 40)
    probe = Probe(penalty=penalty, l1=0.03, tolerance=1e-5).fit(X, y)
    assert probe.residual_ <= 1e-5
    assert 0 < len(probe.neurons_) < 120


@pytest.mark.parametrize("penalty", PENALTIES)
def test_duplicated_neurons_share_the_weight_of_one(penalty: Any) -> None:
    """λ₂ makes the minimum unique, so copies have the same weights, and predictions hardly change."""
    X, y, _ = layers(count=1)
    doubled = Probe(penalty=penalty, l1=0.02, l2=0.01, tolerance=1e-7).fit(np.hstack([X, X]), y)
    assert doubled.residual_ <= 1e-7
    assert np.allclose(doubled.coef_[:, :16], doubled.coef_[:, 16:], atol=1e-6)
    single = Probe(penalty=penalty, l1=0.02, l2=0.005, tolerance=1e-7).fit(X, y)
    if penalty == "elementwise":  # two halves cost λ₁ as one does, and half of λ₂
        assert np.allclose(2 * doubled.coef_[:, :16], single.coef_, atol=1e-5)


def test_classes_that_can_be_separated_without_a_penalty_end_and_say_so() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 5))
    y = np.where(X[:, 0] > 0, "a", "b")
    with pytest.warns(match="KKT residual"):
        probe = Probe(l1=0.0, l2=0.0, tolerance=1e-12, iterations=6).fit(X, y)
    assert np.isfinite(probe.coef_).all()
    assert probe.score(X, y) == 1


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_huge_neuron_changes_nothing(penalty: Any, dtype: Any) -> None:
    """A neuron a million times larger than others, and far from 0, is one neuron of many."""
    X, y, _ = layers()
    rogue = X.copy()
    rogue[:, 5] = (X[:, 5] - 3) * 1e6 + 3e7
    plain = Probe(penalty=penalty, l1=0.01, tolerance=1e-3).fit(X.astype(dtype), y)
    probe = Probe(penalty=penalty, l1=0.01, tolerance=1e-3).fit(rogue.astype(dtype), y)
    assert probe.residual_ <= 1e-3
    assert probe.objective_ == pytest.approx(plain.objective_, rel=1e-4)
    assert (probe.predict(rogue) == plain.predict(X)).mean() > 0.995


@pytest.mark.parametrize("size", [1e-25, 1e-18, 1e18])
def test_neurons_of_any_size_are_neurons(size: float) -> None:
    """Their squares are beyond single precision; nothing is taken for constant, or refused."""
    X, y, _ = layers()
    usual = Probe(l1=0.02, tolerance=1e-3).fit(X.astype(np.float32), y)
    probe = Probe(l1=0.02, tolerance=1e-3).fit((X * size).astype(np.float32), y)
    assert probe.objective_ == pytest.approx(usual.objective_, rel=1e-4)
    assert set(probe.neurons_) == set(usual.neurons_)


@settings(max_examples=10)
@given(seed=st.integers(0, 999), penalty=st.sampled_from(PENALTIES))
def test_order_of_classes_and_rows_repeated_change_nothing(seed: int, penalty: Any) -> None:
    X, y, _ = layers(60, 5, 2, seed)
    y[:4] = range(4)
    what = Penalized(penalty, tolerance=1e-7)
    fit = what.fit_at(Design(X), CrossEntropy(y, 4), 0.03)
    order = np.random.default_rng(seed).permutation(4)
    renamed = what.fit_at(Design(X), CrossEntropy(order[y], 4), 0.03)
    assert np.allclose(renamed.W[:, order], fit.W, atol=1e-5)
    twice = what.fit_at(Design(np.repeat(X, 2, axis=0)), CrossEntropy(np.repeat(y, 2), 4), 0.03)
    assert np.allclose(twice.W, fit.W, atol=1e-5)
    assert twice.objective == pytest.approx(fit.objective, rel=1e-8)


def test_scores_of_many_outputs_equal_one_by_one_without_λ1_of_rows() -> None:
    """Outputs of a regression with a penalty on single weights do not know of each other."""
    X, y, _ = layers()
    Y = np.stack([X[:, 0] + y, X[:, 7] - y], 1)
    what = Penalized("elementwise", 0.1, tolerance=1e-7)
    both = what.fit_at(Design(X), HalfSquaredError(Y), 0.1)
    for k in range(2):
        one = what.fit_at(Design(X), HalfSquaredError(Y[:, [k]]), 0.1)
        assert np.allclose(both.W[:, k], one.W[:, 0], atol=1e-5)


def test_tensors_are_taken_to_numpy_and_fitted_alike() -> None:
    torch = pytest.importorskip("torch")
    X, y, _ = layers()
    X = X.astype(np.float32)
    probe = Probe(l1=0.02).fit(torch.tensor(X), torch.tensor(y))
    assert np.array_equal(probe.coef_, Probe(l1=0.02).fit(X, y).coef_)
    assert (probe.predict(torch.tensor(X)) == probe.predict(X)).all()
    assert lmkin.Probe(solver="adam").fit(torch.tensor(X), y).n_iter_ == 10 * 4
