"""Sums and maxima of products in one pass, against numpy in float64."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmkin.measures.block_sums import Weights, summarize

TYPES = {np.dtype(np.float32): 2e-6, np.dtype(np.float64): 1e-13}


def make(rows: int, columns: int, seed: int):
    random = np.random.default_rng(seed)
    S = random.standard_normal((rows, columns))
    return S, list(random.uniform(0, 3, (3, rows))), list(random.uniform(0, 3, (3, columns)))


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 10**6), st.sampled_from(list(TYPES)))
def test_summary_is_what_numpy_gives(rows, columns, seed, dtype):
    S, x, y = make(rows, columns, seed)
    found = summarize(S.astype(dtype), Weights.of(*x, dtype), Weights.of(*y, dtype))
    close = {"rtol": 0, "atol": TYPES[dtype] * 9 * 3 * rows * columns}
    scaled = x[0][:, None] * S * y[0]
    np.testing.assert_allclose(found.squared_norm, (scaled**2).sum(), **close)
    np.testing.assert_allclose(found.inner, x[1] @ S @ y[1], **close)
    sizes = np.abs(x[2][:, None] * S * y[2])
    np.testing.assert_allclose(found.best, sizes.max(1), rtol=TYPES[dtype])
    np.testing.assert_allclose(found.best_back, sizes.max(0), rtol=TYPES[dtype])


def test_exchanged_layers_exchange_the_matches():
    S, x, y = make(7, 5, 0)
    a, b = Weights.of(*x, np.float64), Weights.of(*y, np.float64)
    there, back = summarize(S, a, b), summarize(S.T, b, a)
    np.testing.assert_allclose(there.T.squared_norm, back.squared_norm)
    np.testing.assert_allclose(there.T.inner, back.inner)
    np.testing.assert_array_equal(there.T.best, back.best)
    np.testing.assert_array_equal(there.T.best_back, back.best_back)


@pytest.mark.parametrize("size", [1e-25, 1e25])
def test_squares_that_float32_cannot_hold(size):
    S, x, y = make(6, 9, 1)
    x[0], y[0] = x[0] * size, y[0] * size
    found = summarize(S.astype(np.float32), Weights.of(*x, np.float32), Weights.of(*y, np.float32))
    wanted = ((x[0][:, None] * S * y[0]) ** 2).sum()
    np.testing.assert_allclose(found.squared_norm, wanted, rtol=1e-5)


def test_constant_neurons_match_nothing():
    S, x, y = make(4, 3, 2)
    x[2][1] = y[2][2] = 0.0
    found = summarize(S, Weights.of(*x, np.float64), Weights.of(*y, np.float64))
    assert found.best[1] == 0
    assert found.best_back[2] == 0
    zero = np.zeros((4, 3))
    nothing = summarize(zero, Weights.of(*np.zeros((3, 4)), np.float64), Weights.of(*y, np.float64))
    assert nothing.squared_norm == nothing.inner == 0
