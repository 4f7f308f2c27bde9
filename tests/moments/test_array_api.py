"""Any library of the array API standard, the strictest included."""

from __future__ import annotations

import numpy as np
import pytest

import lmkin
from lmkin.measures import measure_function, measure_names
from lmkin.moments import Moments
from measures.layer_pairs import correlated

strict = pytest.importorskip("array_api_strict", reason="pip install array-api-strict")


@pytest.mark.parametrize("name", measure_names())
@pytest.mark.parametrize("neurons", ["raw", "standardized"])
def test_every_measure(name: str, neurons: str) -> None:
    X, Y = correlated(np.random.default_rng(0), 100, 5, 7)
    X[:, 2] = 0.3
    A, B = strict.asarray(X), strict.asarray(Y)
    expected = measure_function(name, neurons=neurons)(X, Y)
    assert measure_function(name, neurons=neurons)(A, B) == pytest.approx(expected)
    moments = Moments().update({"x": A[:40, :], "y": B[:40, :]}, part=0)
    moments.update({"x": A[40:, :], "y": B[40:, :]}, part=1)
    for source in (moments, {"x": A, "y": B}):
        table = lmkin.similarity(source, measures=name, neurons=neurons).matrix()
        assert table.values[0, 1] == pytest.approx(expected, abs=1e-8)
        assert np.isfinite(table.se.values).all()
