"""Fewer rows than neurons, which nearly repeat each other: as sentence embeddings are."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import lmkin
from lmkin.estimators import make_penalty


def rows(kind: type, n: int = 120, d: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """Neurons of a steep spectrum, and a score that a few directions tell, with noise."""
    rng = np.random.default_rng(5)
    spectrum = 1 / np.arange(1, d + 1) ** 0.7
    X = (rng.normal(size=(n, d)) * spectrum) @ rng.normal(size=(d, d))
    y = X[:, :3].sum(1) + rng.normal(size=n)
    return X.astype(kind), y


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("l1", [0.003, 0.03])
def test_scores_are_certified_and_no_worse_than_elastic_net(kind: type, l1: float) -> None:
    from sklearn.linear_model import ElasticNet
    from sklearn.preprocessing import StandardScaler

    X, y = rows(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        probe = lmkin.Probe("regression", l1=l1, l2=l1).fit(X, y)
    assert probe.residual_ <= probe.tolerance
    Z = StandardScaler().fit_transform(X.astype(np.float64))
    net = ElasticNet(alpha=3 * l1, l1_ratio=1 / 3, max_iter=100_000, tol=1e-8).fit(Z, y)
    errors = y - net.predict(Z)
    least = (
        errors @ errors / (2 * len(y)) + l1 * np.abs(net.coef_).sum() + l1 * net.coef_ @ net.coef_
    )
    assert probe.objective_ == pytest.approx(least, rel=1e-4)


@pytest.mark.parametrize("penalty", ["elementwise", "row"])
def test_classes_are_certified(penalty: str) -> None:
    X, y = rows(np.float32)
    labels = np.digitize(y, np.quantile(y, [0.3, 0.6]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        probe = lmkin.Probe(penalty=penalty, l1=0.002).fit(X, labels)
    assert probe.residual_ <= probe.tolerance


@pytest.mark.parametrize("penalty", ["elementwise", "row"])
@pytest.mark.parametrize("rare", [3, 10])
def test_the_certificate_is_true_after_many_iterations_in_float32(penalty: Any, rare: int) -> None:
    """Scores that are carried on from step to step drift; a rare class makes many steps."""
    random = np.random.default_rng(rare)
    X = random.normal(size=(3000, 20)) @ random.normal(size=(20, 100)) + random.normal(
        size=(3000, 100)
    )
    y = (X[:, 0] + 3 * random.normal(size=3000) > 0).astype(int)
    y[random.choice(3000, rare, replace=False)] = 2
    X = X.astype(np.float32)
    probe = lmkin.Probe(penalty=penalty, l1=3e-4).fit(X, y)
    assert probe.n_iter_ > 20
    Z = (X.astype(np.float64) - X.mean(0, dtype=np.float64)) / probe.scale_
    scores = X.astype(np.float64) @ probe.coef_.T + probe.intercept_
    P = np.exp(scores - scores.max(1, keepdims=True))
    P /= P.sum(1, keepdims=True)
    R = P - np.eye(3)[y]
    W = (probe.coef_ * probe.scale_).T
    G = Z.T @ R / 3000 + 2 * probe.l2_ * W
    kkt = max(make_penalty(penalty, 3e-4, 0.0).violations(W, G).max(), abs(R.mean(0)).max())
    first = Z.T @ (np.bincount(y) / 3000 - np.eye(3)[y]) / 3000
    largest = make_penalty(penalty, 0.0, 0.0).sizes(first).max()
    relative = kkt / max(3e-4, 0.01 * largest)
    assert relative <= 0.0105
    assert relative == pytest.approx(probe.residual_, rel=0.05, abs=5e-4)
    loss = -np.log(P[np.arange(3000), y]).mean()
    assert probe.objective_ == pytest.approx(
        loss + make_penalty(penalty, 3e-4, probe.l2_).value(W), rel=1e-6
    )
