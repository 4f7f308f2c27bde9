"""Fewer rows than neurons, which nearly repeat each other: as sentence embeddings are."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import lmkin


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
