"""`Standard`: what columns are standardized by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True)
class Standard:
    """Mean and scale of every column; ``alive``: it varies; ``far``: its mean is many deviations from 0."""

    mean: Array
    scale: Array
    alive: Array
    far: NDArray[np.bool_]

    @property
    def inverse(self) -> Array:
        """1 / scale; of a constant neuron 0."""
        return np.where(self.alive, 1 / self.scale, 0.0)

    def part(self, columns: Any) -> Standard:
        """The same of some columns."""
        return Standard(
            self.mean[columns], self.scale[columns], self.alive[columns], self.far[columns]
        )
