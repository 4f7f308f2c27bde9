"""`Plan`: what a run would take, said before it begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .memory import human_bytes


@dataclass(frozen=True)
class Step:
    """A step of a run: what it is called, and about what it takes."""

    name: str
    seconds: float | None = None
    memory: int | None = None
    """Bytes, beyond what is there before the run."""
    disk: int | None = None
    note: str = ""

    def __str__(self) -> str:
        takes = [
            None if self.seconds is None else f"about {format_seconds(self.seconds)}",
            None if self.memory is None else f"{human_bytes(self.memory)} of memory",
            None if self.disk is None else f"{human_bytes(self.disk)} on disk",
        ]
        text = ", ".join(t for t in takes if t)
        return f"{self.name}: {text}{'; ' if text and self.note else ''}{self.note}".rstrip(": ")


@dataclass(frozen=True)
class Plan:
    """The steps of a run, what they are of, and the budget that they must stay within."""

    title: str
    steps: Sequence[Step] = ()
    budget: int | None = None
    """Bytes of memory that the whole process may take; None: what is free."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """Plain data for machines."""

    @property
    def memory(self) -> int:
        """The most that a step takes."""
        return max((s.memory or 0 for s in self.steps), default=0)

    @property
    def seconds(self) -> float:
        """Of all steps together."""
        return sum(s.seconds or 0.0 for s in self.steps)

    def lines(self) -> list[str]:
        """Sentences for people."""
        budget = "" if self.budget is None else f" Budget: {human_bytes(self.budget)} of memory."
        return [f"{self.title}.{budget}", *map(str, self.steps)]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for machines."""
        steps = [
            {
                "name": s.name,
                "seconds": s.seconds,
                "bytes_memory": s.memory,
                "bytes_disk": s.disk,
                "note": s.note,
            }
            for s in self.steps
        ]
        return {"title": self.title, "budget": self.budget, "steps": steps, **self.details}


def format_seconds(seconds: float) -> str:
    """A time as people read it.

    >>> format_seconds(3.21), format_seconds(75), format_seconds(7300)
    ('3.2 s', '1 min 15 s', '2 h 1 min')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"
