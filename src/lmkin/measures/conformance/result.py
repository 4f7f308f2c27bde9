"""What the battery found: one check a row, and the three ways to show it."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any, Literal

Verdict = Literal["pass", "fail", "invariant", "not invariant", "info", "error"]
VERDICTS: tuple[Verdict, ...] = ("pass", "fail", "error", "invariant", "not invariant", "info")


@dataclass(frozen=True)
class Check:
    """One row: what was measured, the verdict on it, and a sentence on what it means."""

    name: str
    group: str
    finding: float | None
    """The measured number; ``None`` where there is none (an exception, NaN)."""
    verdict: Verdict
    note: str


@dataclass(frozen=True)
class Conformance:
    """All rows of one function; prints as a table."""

    name: str
    rows: list[Check]
    seed: int = 0
    quick: bool = False

    @property
    def failures(self) -> list[Check]:
        """The rows that failed or ended in an exception."""
        return [row for row in self.rows if row.verdict in ("fail", "error")]

    @property
    def passed(self) -> bool:
        """Whether no row failed and none ended in an exception."""
        return not self.failures

    @property
    def summary(self) -> str:
        """How often each verdict was given: ``20 pass, 1 fail, 7 info``."""
        counts = Counter(row.verdict for row in self.rows)
        return ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])

    def to_dict(self) -> dict[str, Any]:
        """Plain values that JSON can hold."""
        return {
            "name": self.name,
            "seed": self.seed,
            "quick": self.quick,
            "passed": self.passed,
            "rows": [asdict(row) for row in self.rows],
        }

    def markdown(self) -> str:
        """The table as a page of documentation holds it."""
        from .table import as_markdown

        return as_markdown(self)

    def __str__(self) -> str:
        from .table import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from .table import as_html

        return as_html(self)
