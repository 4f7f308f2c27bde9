"""Σ (a + b) log₂(a + b), against the definition number by number."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmkin.analyses.attention.entropy import entropies


def naive(values):
    """In Python's own floats."""
    heads = len(values)
    result = np.zeros((heads, heads))
    for k in range(heads):
        for m in range(heads):
            both = [float(a) + float(b) for a, b in zip(values[k], values[m], strict=True)]
            result[k, m] = sum(x * math.log2(x) for x in both if x > 0)
    return result


def rows(heads: int, words: int, sharpness: float, seed: int):
    random = np.random.default_rng(seed)
    weights = np.exp(sharpness * random.standard_normal((heads, words, words)))
    return (weights / weights.sum(-1, keepdims=True)).reshape(heads, -1)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 6), st.integers(1, 30), st.floats(0, 30), st.integers(0, 10**6))
def test_sums_are_those_of_the_definition(heads, words, sharpness, seed):
    values = rows(heads, words, sharpness, seed)
    wanted = naive(values)
    np.testing.assert_allclose(entropies(values), wanted, rtol=1e-12, atol=1e-12 * words)
    single = values.astype(np.float32)
    # A row has up to log2(30) bits.
    np.testing.assert_allclose(entropies(single), naive(single), rtol=0, atol=1.5e-6 * words)


def test_every_size_of_number_has_its_logarithm():
    sizes = np.concatenate([2.0 ** -np.arange(0, 60), 3.0 ** -np.arange(0, 40), [1 - 2**-24]])
    for size in sizes.astype(np.float32):
        one = np.array([[size], [size / 3]], np.float32)
        np.testing.assert_allclose(entropies(one), naive(one), rtol=4e-7, atol=1.5e-7 * size)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_zeros_say_nothing(dtype):
    values = np.array([[0.0, 1.0, 0.0, 0.0], [0.5, 0.0, 0.5, 0.0]], dtype)
    found = entropies(values)
    np.testing.assert_allclose(found, [[2.0, -1.0], [-1.0, 0.0]], atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_equal_heads_differ_by_nothing_at_all(dtype):
    values = rows(5, 33, 3.0, 0).astype(dtype)
    values[4] = values[1]
    found = entropies(values)
    assert found[1, 1] + found[4, 4] - 2 * found[1, 4] == 0
    np.testing.assert_array_equal(found, found.T)
