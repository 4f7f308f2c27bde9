"""The papers' own fit: Adam on mini-batches, against the same loop in torch."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import torch

import lmkin
from lmkin import Probe
from lmkin.estimators import CrossEntropy, Design, Epochs, HalfSquaredError, fit_by_adam
from lmkin.estimators import adam_penalty as penalty_of

D, OUTPUTS = 7, 3


def rows(n: int = 50, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, D)) * 3 + 1
    return X, (X @ random.normal(size=(D, OUTPUTS)) + random.gumbel(size=(n, OUTPUTS))).argmax(1)


def by_torch(
    X: Any, y: Any, *, l1: float, l2: float, epochs: int, batch: int, released: bool, seed: int = 3
):
    """The loop as it is written with autograd; the same draws from the same generator, in the documented order."""
    random = np.random.default_rng(seed)
    bound = 1 / np.sqrt(X.shape[1])
    regression = y.ndim == 2
    outputs = y.shape[1] if regression else OUTPUTS
    W = torch.tensor(random.uniform(-bound, bound, (X.shape[1], outputs)), requires_grad=True)
    b = torch.tensor(random.uniform(-bound, bound, outputs), requires_grad=True)
    adam = torch.optim.Adam([W, b], lr=1e-3)
    X, y = torch.tensor(X), torch.tensor(y)
    for _ in range(epochs):
        order = np.arange(len(X)) if released else random.permutation(len(X))
        for low in range(0, len(X), batch):
            some = order[low : low + batch]
            scores = X[some] @ W + b
            if regression:
                loss = ((scores - y[some]) ** 2).sum() / (2 * len(some))
            else:
                loss = torch.nn.functional.cross_entropy(scores, y[some])
            square = (W**2).sum()
            loss = loss + l1 * W.abs().sum() + l2 * (square.sqrt() if released else square)
            adam.zero_grad()
            loss.backward()
            adam.step()
    return W.detach().numpy(), b.detach().numpy()


@pytest.mark.parametrize("released", [False, True])
@pytest.mark.parametrize("regression", [False, True])
def test_it_is_the_loop_in_torch(released: bool, regression: bool) -> None:
    X, y = rows()
    loss: Any = CrossEntropy(y, OUTPUTS)
    if regression:
        y = np.stack([X[:, 0], X[:, 1] - y], 1)
        loss = HalfSquaredError(y)
    fit = fit_by_adam(
        Design(X, standardize=False, centre=False), loss,
        penalty_of("elementwise", 0.01, 0.02, "released" if released else "paper"),
        seed=3, epochs=Epochs(3, 16, shuffled=not released),
    )  # fmt: skip
    W, b = by_torch(X, y, l1=0.01, l2=0.02, epochs=3, batch=16, released=released)
    assert np.allclose(fit.W, W, atol=1e-9)
    assert np.allclose(fit.b, b, atol=1e-9)
    assert fit.iterations == 3 * 4  # the last batch of an epoch is a short one


def test_released_and_printed_differ_in_the_norm_and_in_the_order_of_rows() -> None:
    X, y = rows(300)
    fits = {
        c: Probe(solver="adam", convention=c, l1=0.01, l2=0.1).fit(X, y)
        for c in ("paper", "released")
    }
    assert not np.allclose(fits["paper"].coef_, fits["released"].coef_, atol=1e-3)
    for convention, probe in fits.items():
        Z = (X - X.mean(0)) / X.std(0)
        W = probe.coef_.T * X.std(0)[:, None]
        scores = Z @ W + probe.intercept_ + X.mean(0) @ probe.coef_.T
        loss = np.log(np.exp(scores).sum(1)).mean() - scores[np.arange(300), y].mean()
        square = (W**2).sum()
        ridge = 0.1 * (np.sqrt(square) if convention == "released" else square)
        assert probe.objective_ == pytest.approx(loss + 0.01 * np.abs(W).sum() + ridge, rel=1e-9)


def test_it_says_honestly_how_far_it_ended_and_the_exact_solver_comes_lower() -> None:
    X, y = rows(400)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it promises nothing, so it breaks nothing
        adam = Probe(solver="adam", l1=0.02).fit(X, y)
    exact = Probe(l1=0.02).fit(X, y)
    assert adam.residual_ > 0.01 >= exact.residual_
    assert adam.objective_ > exact.objective_
    W = adam.coef_.T * X.std(0)[:, None]
    P = adam.predict_proba(X)
    P[np.arange(400), y] -= 1
    G = ((X - X.mean(0)) / X.std(0)).T @ P / 400 + 2 * 0.02 * W
    worst = max(np.abs(G + 0.02 * np.sign(W)).max(), np.abs(P.mean(0)).max())
    assert adam.residual_ * 0.02 == pytest.approx(worst, rel=1e-6)
    assert (adam.coef_ != 0).all()


def test_the_papers_penalties_are_the_default_and_a_seed_decides_everything() -> None:
    X, y = rows(200)
    one, same, other = (Probe(solver="adam", seed=s).fit(X, y) for s in (5, 5, 6))
    assert (one.l1_, one.l2_) == (1e-5, 1e-5)
    assert np.array_equal(one.coef_, same.coef_)
    assert not np.allclose(one.coef_, other.coef_)
    assert one.path_ == []
    assert one.n_iter_ == 10 * 2


def test_rows_of_neurons_are_pulled_together() -> None:
    X, y = rows(300)
    X = np.concatenate([X, np.random.default_rng(1).normal(size=(300, 30))], axis=1)
    weak = Probe(solver="adam", penalty="row", l1=1e-5).fit(X, y)
    strong = Probe(solver="adam", penalty="row", l1=0.5).fit(X, y)
    lengths = [np.linalg.norm(p.coef_, axis=0)[D:].mean() for p in (weak, strong)]
    assert lengths[1] < lengths[0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"solver": "sgd"}, "Unknown solver"),
        ({"solver": "adam", "convention": "printed"}, "Unknown convention"),
        ({"convention": "released"}, "is of solver='adam'"),
    ],
)
def test_what_does_not_go_together_is_refused(options: dict[str, Any], words: str) -> None:
    X, y = rows()
    with pytest.raises(lmkin.LmkinError, match=words):
        Probe(l1=0.1, **options).fit(X, y)
