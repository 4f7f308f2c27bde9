"""Compiled loops."""

import numba
import numpy as np
import pytest

from lmkin.core import jit as compiling
from lmkin.core.jit import compiled


def test_a_loop_is_compiled_at_its_first_call_only(monkeypatch):
    calls = []
    real = compiling.machine_code
    monkeypatch.setattr(compiling, "machine_code", lambda f: calls.append(f) or real(f))

    @compiled
    def total(values):
        """Sum."""
        found = 0.0
        for value in values:
            found += value
        return found

    assert not calls
    assert total(np.arange(5.0)) == total(np.arange(5.0)) == 10
    assert len(calls) == 1
    assert (total.__name__, total.__doc__) == ("total", "Sum.")


def test_without_a_place_for_a_cache_it_is_compiled_each_time(monkeypatch):
    real = numba.njit

    def njit(**options):
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return real(**options)

    monkeypatch.setattr(numba, "njit", njit)

    @compiled
    def twice(x):
        return 2 * x

    assert twice(3) == 6


def test_an_error_inside_is_the_same_as_in_python():
    @compiled
    def nothing(x):
        if x > 0:
            raise ValueError("positive")
        return x

    with pytest.raises(ValueError, match="positive"):
        nothing(1)
