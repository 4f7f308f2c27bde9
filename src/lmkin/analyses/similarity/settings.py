"""Options of a comparison that are not a measure's own."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...core import PARTS, MeasureError, check_choices, check_intervals, check_seed
from ...corpus import Corpus
from ...models import ReadingOptions
from ...rows import Workspace
from .options import SimilarityOptions

SCALINGS = {False: "raw", True: "standardized"}
"""Whether neurons are standardized, and what that is called."""


@dataclass(frozen=True)
class Settings(SimilarityOptions):
    """The options of a comparison, and what `similarity` takes beside them."""

    parts: Any = PARTS
    """A number, or one label a row."""
    corpus: Corpus | str | Path | None = None
    memory: float | str | None = None
    seed: int = 0
    workspace: str | Path | Workspace | None = None
    progress: bool | None = None
    reading: ReadingOptions = field(default_factory=ReadingOptions)

    def check_intervals(self) -> None:
        """Raise if a number cannot be meant; parts may be labels."""
        check_intervals(self.intervals, self.level, self.parts, labels=True)

    @property
    def scalings(self) -> list[bool]:
        """Whether neurons are standardized; both, in this order."""
        if self.neurons == "both":
            return list(SCALINGS)
        return [self.neurons == "standardized"]


def check_settings(settings: Settings) -> None:
    """Raise if settings make no sense, before anything is computed."""
    check_choices(settings, MeasureError)
    check_seed(settings.seed)
    settings.check()


def refuse_for_moments(settings: Settings) -> None:
    """Raise if options were given that are for rows: moments are sums of them."""
    names = ("corpus", "parts", "sample_rows", "precision", "route", "memory")
    usual = Settings()
    unused = [n for n in names if _differs(getattr(settings, n), getattr(usual, n))]
    unused += [n for n, given in settings.reading.items() if given is not None]
    if unused:
        raise MeasureError(
            f"{', '.join(unused)} would have no effect: these moments are made already."
        )


def _differs(given: Any, usual: Any) -> bool:
    return not (given is usual or (type(given) is type(usual) and bool(given == usual)))
