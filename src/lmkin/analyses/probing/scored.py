"""`Scored`: scores with the same scores without each part of the rows, so that what is made of them has intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...results import Interval, jackknife

FloatArray = NDArray[np.float64]
RANGES = {
    "accuracy": (0.0, 1.0), "macro_f1": (0.0, 1.0), "f1": (0.0, 1.0), "matthews": (-1.0, 1.0), "pearson": (-1.0, 1.0),
    "spearman": (-1.0, 1.0), "r2": (-math.inf, 1.0),
}  # fmt: skip
"""The least and the most that a score can be."""


@dataclass(frozen=True)
class Scored:
    """Scores of some predictions, and without each part of the rows: parts × scores, or None without intervals."""

    value: FloatArray
    least: FloatArray
    most: FloatArray
    """What each score can be; for a difference of scores that of the difference."""
    without: FloatArray | None = None
    sizes: tuple[float, ...] = ()
    """Rows, or sentences, of each part."""
    level: float = 0.95
    counts: FloatArray | None = None
    """What `tally` counts of all rows (classes)."""

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        value: FloatArray,
        without: FloatArray | None = None,
        sizes: Sequence[float] = (),
        level: float = 0.95,
        counts: FloatArray | None = None,
    ) -> Scored:
        """Scores by their names, which say what they can be."""
        least, most = np.array([RANGES[name] for name in names]).T
        return cls(value, least, most, without, tuple(sizes), level, counts)

    @cached_property
    def interval(self) -> Interval | None:
        """Standard errors and intervals, cut at the ends of what scores can be; None without two parts of rows."""
        if self.without is None or sum(size > 0 for size in self.sizes) < 2:
            return None
        interval = jackknife(self.value, self.without, self.sizes, self.level)
        return interval.within(self.least, self.most)

    def only(self, k: int) -> Scored:
        """One of the scores."""
        here = slice(k, k + 1)
        without = None if self.without is None else self.without[:, here]
        return replace(
            self, value=self.value[here], least=self.least[here], most=self.most[here], without=without
        )  # fmt: skip

    def __sub__(self, other: Scored) -> Scored:
        """Differences of the same scores on the same rows, paired: intervals are those of the differences."""
        without = None
        if self.without is not None and other.without is not None:
            without = self.without - other.without
        return Scored(
            self.value - other.value, self.least - other.most, self.most - other.least, without,
            self.sizes, self.level,
        )  # fmt: skip


def mean_of(some: Sequence[Scored]) -> Scored:
    """The mean of scores on the same parts of the text, each of the same weight; with intervals if all have them."""
    withouts = [one.without for one in some if one.without is not None]
    paired = len(withouts) == len(some) and len({len(one.sizes) for one in some}) == 1
    value, least, most = (
        np.mean([getattr(one, name) for one in some], axis=0) for name in ("value", "least", "most")
    )
    return Scored(
        value, least, most, np.mean(withouts, axis=0) if paired else None,
        tuple(np.mean([one.sizes for one in some], axis=0).tolist()) if paired else (), some[0].level,
    )  # fmt: skip
