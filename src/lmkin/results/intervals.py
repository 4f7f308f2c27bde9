"""Standard errors and intervals from values without each part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..core import LmkinError

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    """Standard errors, and intervals of Student's t around the values."""

    se: FloatArray
    low: FloatArray
    high: FloatArray

    def within(self, least: FloatArray, most: FloatArray) -> Interval:
        """Cut at the ends of what the values can be; it holds the true value as often, for that is never beyond."""
        return Interval(self.se, np.clip(self.low, least, most), np.clip(self.high, least, most))


def jackknife(
    value: FloatArray, without: FloatArray, sizes: Sequence[float], level: float = 0.95
) -> Interval:
    r"""Delete-a-part jackknife (Tukey 1958; Busing, Meijer & van der Leeden 1999 for parts of unequal size).

    With :math:`\theta_{-j}` the value without part j of :math:`m_j` of n rows and :math:`h_j = n / m_j`,

    .. math:: \tilde\theta_j = h_j \theta - (h_j - 1) \theta_{-j}, \quad
              \bar\theta = g \theta - \sum_j (1 - m_j/n) \, \theta_{-j}, \quad
              \mathrm{se}^2 = \frac{1}{g} \sum_j \frac{(\tilde\theta_j - \bar\theta)^2}{h_j - 1}

    which for g equal parts is :math:`\frac{g-1}{g} \sum_j (\theta_{-j} - \mathrm{mean}_j \theta_{-j})^2`. The
    interval is value ± t · se, with Student's t of g − 1 degrees of freedom. A part of no rows (of a sample) counts for
    nothing.
    """
    m = np.asarray(sizes, np.float64)
    m, without = m[m > 0], without[m > 0]
    g, n = len(m), m.sum()
    if g < 2:
        raise LmkinError(f"A jackknife needs two parts at least; there are {g}.")
    shape = (g,) + (1,) * value.ndim
    h = (n / m).reshape(shape)
    pseudo = h * value - (h - 1) * without
    centre = g * value - ((1 - 1 / h) * without).sum(0)
    se = np.sqrt(((pseudo - centre) ** 2 / (h - 1)).mean(0))
    return around(value, se, g, level)


def spread_of_folds(
    value: FloatArray, folds: FloatArray, sizes: Sequence[int], level: float = 0.95
) -> Interval:
    """For held-out values: the spread of the scores on single parts, weighted by their size.

    The fits of different folds share most of their rows, so this is a little too narrow.
    """
    weights = np.asarray(sizes, np.float64)
    weights /= weights.sum()
    g = len(weights)
    w = weights.reshape((g,) + (1,) * value.ndim)
    variance = (w * (folds - value) ** 2).sum(0) / (g - 1)
    return around(value, np.sqrt(variance), g, level)


def around(value: FloatArray, se: FloatArray, parts: int, level: float) -> Interval:
    """Value ± t · se."""
    from scipy.special import stdtrit  # scipy.stats takes half a second to load

    if not 0 < level < 1:
        raise LmkinError(f"level is a fraction between 0 and 1, such as 0.95; got {level}.")
    width = float(stdtrit(parts - 1, 0.5 + level / 2)) * se
    return Interval(se, value - width, value + width)
