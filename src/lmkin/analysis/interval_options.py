"""Options that several analyses share."""

from __future__ import annotations

from dataclasses import dataclass

from ..core import check_intervals, option

MEASURES = "Measures"


@dataclass(frozen=True)
class Intervals:
    """Whether every number has an interval, and how."""

    intervals: bool = option(
        True, "Standard errors and intervals, by a jackknife over parts of the corpus.", MEASURES
    )
    parts: int = option(10, "Blocks of whole documents for the jackknife.", MEASURES)
    level: float = option(0.95, "Confidence level of the intervals.", MEASURES)

    def check_intervals(self) -> None:
        """Raise if a number cannot be meant."""
        check_intervals(self.intervals, self.level, self.parts)

    @property
    def blocks(self) -> int:
        """Parts that rows are kept in: 1 without intervals."""
        return self.parts if self.intervals else 1
