"""float32 neurons whose mean is many deviations from 0, as residual streams have some: products with them cancel."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import lmkin
from lmkin.analyses.probing import ProbeOptions, design_of, fit_probe
from lmkin.estimators import Design, scores_of

RATIO = 1e5


def rows(which: str, n: int = 1500, d: int = 30) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    Z = random.normal(size=(n, d)) * random.uniform(0.5, 2, d)
    y = np.where(Z[:, 0] + Z[:, 1] + random.normal(size=n) > 0, "a", "b")
    far = np.arange(d) < {"all": d, "one": 1}[which]
    return (Z + np.where(far, -RATIO, 0)).astype(np.float32), y


@pytest.mark.parametrize("which", ["all", "one"])
@pytest.mark.parametrize("penalty", ["elementwise", "row"])
def test_a_fit_ends_where_that_of_double_precision_does(which: str, penalty: str) -> None:
    X, y = rows(which)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        probe = lmkin.Probe(penalty=penalty, l1=0.003, tolerance=1e-3).fit(X, y)
    exact = lmkin.Probe(penalty=penalty, l1=0.003, tolerance=1e-6).fit(X.astype(np.float64), y)
    assert probe.residual_ <= 1e-3
    np.testing.assert_allclose(probe.coef_, exact.coef_, atol=1e-5)
    np.testing.assert_allclose(
        probe.decision_function(X), exact.decision_function(X.astype(np.float64)), atol=1e-3
    )


def test_products_are_those_of_double_precision() -> None:
    """Of all columns, of some, of a sample, and of a working set that is copied."""
    random = np.random.default_rng(1)
    X, _ = rows("all")
    columns = np.array([0, 3, 4, 20])
    design = Design(X)
    Z = X.astype(np.float64)
    Z = (Z - Z.mean(0)) / Z.std(0)
    W, b, R = random.normal(size=(30, 2)), random.normal(size=2), random.normal(size=(1500, 2))
    tolerance = {"rtol": 1e-4, "atol": 1e-4}
    for part, mine in ((design, slice(None)), (design.part(columns), columns)):
        np.testing.assert_allclose(part.scores(W[mine], b), Z[:, mine] @ W[mine] + b, **tolerance)
        gradient = part.gradient(R.astype(np.float32))
        np.testing.assert_allclose(gradient, Z[:, mine].T @ R / 1500, **tolerance)
    np.testing.assert_allclose(design.block(columns).Z, Z[:, columns], **tolerance)
    np.testing.assert_allclose(design.some_rows(np.arange(9)), Z[:9], **tolerance)
    chosen, few = design.sample(200)
    np.testing.assert_allclose(few.scores(W, b), Z[chosen] @ W + b, **tolerance)
    V = W / X.std(0, dtype=np.float64)[:, None]
    np.testing.assert_allclose(
        scores_of(X, V, b) - scores_of(X, V, b).mean(0), Z @ W - (Z @ W).mean(0), atol=1e-3
    )


def test_weights_that_are_kept_in_single_precision_say_the_same() -> None:
    X, y = rows("all")
    labels = (y == "b").astype(np.int64)
    options = ProbeOptions(l1=0.003, kkt=0.001)
    fitted = fit_probe(design_of(X, options), labels, (X, labels), 2, options)
    exact = lmkin.Probe(l1=0.003, tolerance=1e-6).fit(X.astype(np.float64), y)
    scores = fitted.scores(X)
    difference = scores[:, 1] - scores[:, 0]
    np.testing.assert_allclose(difference, exact.decision_function(X.astype(np.float64)), atol=1e-3)


def test_a_fit_that_float32_cannot_end_says_so() -> None:
    X, y = rows("all")
    with pytest.warns(ConvergenceWarning, match=r"rows in float64 \(float32 rounds\)"):
        lmkin.Probe(l1=0.003, tolerance=1e-9, iterations=30).fit(X, y)
    with pytest.warns(ConvergenceWarning, match=r"larger l1\.$"):
        lmkin.Probe(l1=0.003, tolerance=1e-9, iterations=2).fit(X.astype(np.float64), y)
