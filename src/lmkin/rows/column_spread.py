"""How large the neurons are, before products are made of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core import varies


class Spread:
    """Mean and population standard deviation of every neuron of a layer, row by row, as float64."""

    def __init__(self, width: int):
        self.n = 0
        self.shift: Any = None
        self.first, self.second = np.zeros(width), np.zeros(width)

    def add(self, block: NDArray[Any], few: int = 512) -> None:
        """Add rows, a few at a time: they stay in the cache."""
        if self.shift is None:
            self.shift = np.asarray(block[:few], np.float64).mean(0)
        for start in range(0, len(block), few):
            rows = block[start : start + few].astype(np.float64)
            rows -= self.shift
            self.first += rows.sum(0)
            self.second += np.einsum("ij,ij->j", rows, rows)
        self.n += len(block)

    def result(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Both; 0 for a neuron that is constant, NaN where there was NaN."""
        mean = self.first / self.n
        spread = np.sqrt(np.maximum(self.second / self.n - mean**2, 0))
        mean = self.shift + mean
        alive = varies(np, mean, spread, float(np.finfo(np.float64).eps))
        return mean, np.where(alive | np.isnan(spread), spread, 0.0)
