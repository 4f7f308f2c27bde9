"""What several measures need of a matrix of products, in one pass over it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core import compiled

Array = NDArray[Any]


@dataclass(frozen=True)
class Weights:
    """What the neurons of a layer are multiplied with, in the type of the products."""

    norm: Array
    """a of (a S b)², at most 1."""
    size: float
    """What ``norm`` was divided by, so that float32 can hold the squares."""
    form: Array
    """u of uᵀSv."""
    match: Array
    """r of |r S s|."""

    @classmethod
    def of(cls, norm: Array, form: Array, match: Array, dtype: Any) -> Weights:
        """From numbers of any type."""
        size = float(np.abs(norm).max()) or 1.0
        a, u, r = (np.ascontiguousarray(w, dtype) for w in (norm / size, form, match))
        return cls(a, size, u, r)


class Summary(NamedTuple):
    """Of the products S between the neurons of x and those of y."""

    squared_norm: float
    """Σ (a_k S_km b_m)²."""
    inner: float
    """uᵀ S v."""
    best: Array
    """The largest |r_k S_km s_m| of every neuron of x."""
    best_back: Array
    """The same of every neuron of y."""

    @property
    def T(self) -> Summary:  # noqa: N802 (as for a matrix)
        """With x and y exchanged."""
        return Summary(self.squared_norm, self.inner, self.best_back, self.best)


def summarize(S: Array, x: Weights, y: Weights) -> Summary:
    """Sums and maxima of S."""
    S = np.ascontiguousarray(S)
    best, best_back, row = np.zeros(len(S), S.dtype), *np.zeros((2, S.shape[1]), S.dtype)
    bits = row.view(np.int32 if S.dtype == np.float32 else np.int64)
    squares, inner = _pass(
        S, x.norm, y.norm, x.form, y.form, x.match, y.match, best, best_back, row, bits
    )
    return Summary(squares * (x.size * y.size) ** 2, inner, best, best_back)


@compiled
def _pass(
    S: Array, a: Array, b: Array, u: Array, v: Array, r: Array, s: Array,
    best: Array, best_back: Array, row: Array, bits: Array,
) -> tuple[float, float]:  # fmt: skip
    """Rows in the precision of S, sums of rows in float64."""
    zero = S.dtype.type(0)
    squares, inner = 0.0, 0.0
    for k in range(S.shape[0]):
        total, dot = zero, zero
        for m in range(S.shape[1]):
            scaled = S[k, m] * b[m]
            total += scaled * scaled
            dot += S[k, m] * v[m]
        squares += np.float64(a[k]) * np.float64(a[k]) * np.float64(total)
        inner += np.float64(u[k]) * np.float64(dot)
        for m in range(S.shape[1]):
            size = abs(S[k, m])
            row[m] = size * s[m]
            there = size * r[k]
            best_back[m] = there if there > best_back[m] else best_back[m]
        # Positive numbers are ordered as their bits are, and whole numbers have a maximum that processors know.
        largest = bits[0]
        for m in range(S.shape[1]):
            largest = max(largest, bits[m])
        bits[0] = largest
        best[k] = row[0] * r[k]
    for m in range(S.shape[1]):
        best_back[m] *= s[m]
    return squares, inner
