"""Σ (a + b) log₂(a + b) for all pairs of heads: what the Jensen-Shannon divergence is made of."""

from __future__ import annotations

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial
from numpy.typing import NDArray

from ...core import compiled
from .maps import FloatArray

_TINY = 1e-30
_BLOCK = 256
"""Numbers of a head that are compared at once: float32 sums of so few lose nothing, and they stay in the cache."""
_TERMS = 10
"""Of the polynomial for log₂(1 + t) / t: enough for an error of 8e-9, below what float32 holds."""
_ROOT = int(np.sqrt(np.float32(0.5)).view(np.int32))
_FRACTION = 0x7FFFFF
_EXPONENT = 23


def entropies(values: FloatArray) -> NDArray[np.float64]:
    """Σ (a + b) log₂(a + b) for all pairs of rows of ``values``."""
    heads = len(values)
    upper = np.zeros((heads, heads))
    values = np.maximum(values, _TINY)  # 0 log 0 is 0
    if values.dtype == np.float32:
        _add_single(values, _COEFFICIENTS, upper)
    else:
        _add_double(values, upper)
    return np.triu(upper) + np.triu(upper, 1).T


def _polynomial() -> NDArray[np.float32]:
    """Of log₂(1 + t) / t between √½ − 1 and √2 − 1, lowest power first."""

    def wanted(t: NDArray[np.float64]) -> NDArray[np.float64]:
        ratio: NDArray[np.float64] = np.log1p(t) / np.log(2) / t
        return ratio

    ends = [np.sqrt(0.5) - 1, np.sqrt(2) - 1]
    interpolant = Chebyshev.interpolate(wanted, _TERMS - 1, ends)
    return interpolant.convert(kind=Polynomial).coef.astype(np.float32)


_COEFFICIENTS = _polynomial()


@compiled
def _add_single(A: FloatArray, coefficients: FloatArray, upper: FloatArray) -> None:
    """Logarithms as the exponent of a number, plus a polynomial of its fraction between √½ and √2."""
    c0, c1, c2, c3, c4, c5, c6, c7, c8, c9 = (
        coefficients[0], coefficients[1], coefficients[2], coefficients[3], coefficients[4],
        coefficients[5], coefficients[6], coefficients[7], coefficients[8], coefficients[9],
    )  # fmt: skip
    root, fraction, exponent = np.int32(_ROOT), np.int32(_FRACTION), np.int32(_EXPONENT)
    heads, size = A.shape
    for start in range(0, size, _BLOCK):
        stop = min(start + _BLOCK, size)
        for k in range(heads):
            a = A[k, start:stop]
            for m in range(k, heads):
                b = A[m, start:stop]
                total = np.float32(0)
                for n in range(stop - start):
                    x = a[n] + b[n]
                    bits = np.int32(np.float32(x).view(np.int32) - root)
                    t = np.int32((bits & fraction) + root).view(np.float32) - np.float32(1)
                    p = ((((c9 * t + c8) * t + c7) * t + c6) * t + c5) * t + c4
                    p = (((p * t + c3) * t + c2) * t + c1) * t + c0
                    total += x * (np.float32(bits >> exponent) + t * p)
                upper[k, m] += total


@compiled
def _add_double(A: FloatArray, upper: FloatArray) -> None:
    heads, size = A.shape
    for k in range(heads):
        for m in range(k, heads):
            total = 0.0
            for n in range(size):
                x = A[k, n] + A[m, n]
                total += x * np.log2(x)
            upper[k, m] += total
