"""Options of a comparison that are not a measure's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..corpus import Corpus
from ..errors import MeasureError
from ..moments.parts import PARTS
from ..moments.sample import ROWS


@dataclass(frozen=True)
class Settings:
    """What `similarities` takes beside the source, the measures and their options."""

    corpus: Corpus | str | Path | None = None
    intervals: bool = True
    level: float = 0.95
    parts: int | Sequence[Any] = PARTS
    standardize: bool | str = False
    held_out: bool = False
    null: int = 0
    memory: int | str | None = None
    route: str | None = None
    precision: str | None = None
    rows: int = ROWS
    seed: int = 0
    checkpoint: str | Path | None = None
    progress: bool | None = None
    say: Any = None
    layers: Any = "all"
    units: str = "word"
    pooling: str | None = None
    batch_tokens: int | None = None
    first_token: str = "drop"
    special_tokens: str | None = None
    long: str = "window"
    overlap: int | None = None
    max_length: int | None = None

    @property
    def scalings(self) -> list[bool]:
        """Raw, standardized, or both."""
        if self.standardize == "both":
            return [False, True]
        if not isinstance(self.standardize, bool | np.bool_):
            raise MeasureError(f"standardize is True, False or 'both'; got {self.standardize!r}.")
        return [bool(self.standardize)]

    def rule(self) -> dict[str, Any]:
        """What says how models are run."""
        names = (
            "layers", "units", "pooling", "batch_tokens", "first_token", "special_tokens",
            "long", "overlap", "max_length",
        )  # fmt: skip
        return {name: getattr(self, name) for name in names}
