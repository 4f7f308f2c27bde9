"""Options of a comparison that are not a measure's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from ..corpus import Corpus
from ..errors import MeasureError
from ..moments.parts import PARTS
from ..moments.sample import ROWS
from .registry import Measure


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


def check_settings(settings: Settings, measures: Sequence[Measure]) -> None:
    """An error for settings that make no sense, before anything is computed."""
    level = settings.level
    if not isinstance(level, Real) or not 0 < float(level) < 1:
        raise MeasureError(f"level is a share between 0 and 1, such as 0.95; got {level!r}.")
    for name in ("rows", "seed", "null"):
        value = getattr(settings, name)
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
            raise MeasureError(f"{name} is a whole number, 0 or more; got {value!r}.")
    for name in ("intervals", "held_out"):
        if not isinstance(getattr(settings, name), bool | np.bool_):
            raise MeasureError(f"{name} is True or False; got {getattr(settings, name)!r}.")
    if isinstance(settings.parts, int | np.integer) and settings.parts < 0:
        raise MeasureError(f"parts is a number of parts, such as 10; got {settings.parts}.")
    if settings.held_out and not any(m.fitted for m in measures):
        names = ", ".join(m.name for m in measures)
        raise MeasureError(
            f"held_out is for measures that fit something: mixedsim, svsim, pwsim. Nothing is fitted in {names}."
        )


def refuse(options: Mapping[str, Any], names: Sequence[str], why: str) -> None:
    """An error for options that would have no effect."""
    unused = [name for name in names if options.get(name) is not None]
    if unused:
        raise MeasureError(f"{', '.join(unused)} would have no effect: {why}.")
