"""Which neurons are constant: one rule for everything that divides by a standard deviation.

A neuron is *constant* if what it varies by is rounding, or too little for its products to be numbers. With mean m and
standard deviation s over the rows, in numbers of precision ε (float32 or float64, as products are made):

1. ``s ≤ 16 ε |m|``: a few units in the last place of its mean, as a sum over equal rows leaves them.
2. ``s ≤ 1e-12 · median``, the median of the standard deviations of the layer's neurons that vary at all: a
   neuron that has died. Its values (1e-32 beside 1) are what arithmetic leaves, their squares vanish in float32, and
   once divided by s they would count as much as any other neuron.

The second rule compares with the neuron's own layer, so the unit of a layer does not matter, nor that of some of its
neurons within twelve orders of magnitude: a neuron times 1e-4 stays what it was.
"""

from __future__ import annotations

from typing import Any

ROUNDING = 16
"""In units of the last place of the mean."""
DEAD = 1e-12
"""Of the median standard deviation of the layer's neurons that vary."""


def varies(xp: Any, mean: Any, std: Any, eps: float) -> Any:
    """Which neurons of one layer are not constant, from their means and standard deviations; NaN is constant.

    ``xp`` is the array namespace of both, ``eps`` that of the numbers that products are made of.

    >>> import numpy as np
    >>> varies(np, np.array([0.0, 1e6, 0.0, 3.0]), np.array([1.0, 1e-12, 1e-32, 1e-4]), 2.2e-16)
    array([ True, False, False,  True])
    """
    beyond_rounding = std > ROUNDING * eps * xp.abs(mean)
    return beyond_rounding & (std > DEAD * _median(xp, std[std > 0]))


def _median(xp: Any, values: Any) -> float:
    """The lower median; 0 if there are none."""
    count = int(values.shape[0])
    return float(xp.sort(values)[(count - 1) // 2]) if count else 0.0
