"""What can be asked of the redundancy of a model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ...analysis import MEASURES, Intervals
from ...core import LmkinError, Ridge, option, option_fields, parse_ridge, quoted
from .clusters import THRESHOLDS

RUN = "Run"
Linkage = Literal["average", "complete", "single"]
Representative = Literal["random", "medoid"]
_MOST = 1000
"""Thresholds that may be asked for."""
_OF_LAYERS = ("ridge", "intervals", "parts", "level")
"""What is of no use where layers are not compared."""


def parse_thresholds(text: str) -> tuple[float, ...]:
    """Numbers with commas, and ``FROM:TO:STEP``, both ends included.

    >>> parse_thresholds("0:0.3:0.1,0.95")
    (0.0, 0.1, 0.2, 0.3, 0.95)
    """
    numbers: set[float] = set()
    try:
        for piece in text.split(","):
            low, *rest = (float(number) for number in piece.split(":"))
            if not rest:
                numbers.add(low)
                continue
            high, step = rest
            count = math.floor((high - low) / step + 1e-9) + 1 if step > 0 else 0
            if not 1 <= count <= _MOST:
                raise ValueError
            numbers |= {round(low + k * step, 10) for k in range(count)}
    except (ValueError, OverflowError):
        numbers = set()
    return check_thresholds(tuple(sorted(numbers)), text)


def check_thresholds(thresholds: Sequence[float], given: object = None) -> tuple[float, ...]:
    """Raise if a threshold is no number from 0 to 1."""
    try:
        # A text is a list of letters: it is not meant.
        numbers = () if isinstance(thresholds, str) else tuple(float(t) for t in thresholds)
    except (TypeError, ValueError):
        numbers = ()
    if not numbers or len(numbers) > _MOST or not all(0 <= t <= 1 for t in numbers):
        raise LmkinError(
            "Thresholds are numbers from 0 to 1 (in Python a list such as [0, 0.1, 0.3]; on the command line with "
            "commas, or as FROM:TO:STEP such as 0:0.9:0.1); "
            f"got {quoted(thresholds if given is None else given)}."
        )
    return numbers


@dataclass(frozen=True)
class RedundancyOptions(Intervals):
    """Clusters of neurons, what is kept of them, and what each layer adds to the one before."""

    thresholds: Sequence[float] = option(
        THRESHOLDS,
        "Where clusters are cut, from 0 (copies) to 1: numbers with commas, or FROM:TO:STEP. Default: 0:0.9:0.1,0.95.",
        MEASURES,
        parse=parse_thresholds,
    )
    linkage: Linkage = option("average", "Of the clusters.", MEASURES)
    representative: Representative = option(
        "random",
        "The neuron that stands for a cluster; medoid: the one most like all others of it.",
        MEASURES,
    )
    keep_at: Sequence[float] | None = option(
        None,
        "Thresholds at which members.csv and masks of the neurons that are kept are written. Default: 0.3, or the "
        "threshold nearest to it.",
        MEASURES,
        parse=parse_thresholds,
    )
    sentence: str | None = option(
        None,
        "Show what the largest clusters do over a sentence: a text, or its number in the corpus, from 1.",
        MEASURES,
    )
    strips_at: float | None = option(
        None,
        "The threshold of these clusters. Default: 0.3, or the threshold nearest to it.",
        MEASURES,
    )
    clusters: int = option(
        3,
        "How many clusters are shown over the sentence.",
        MEASURES,
        least=1,
    )
    layer_regressions: bool = option(
        True,
        "How much of every layer a linear regression on the one before explains, and CKA of all layers.",
        MEASURES,
    )
    ridge: str | float = option(
        "auto",
        "Of these regressions: auto (with few rows the best on validation rows, else 1e-6), validation, or a number.",
        MEASURES,
        parse=parse_ridge,
    )
    keep_activations: bool = option(
        False,
        "Leave the activations in DIR/NAME.acts. Default: they are removed at the end.",
        RUN,
        numbers=False,
    )
    store_dtype: Literal["float32", "float16"] = option(
        "float32", "Of the stored activations.", RUN
    )

    def check(self) -> None:
        """Raise if a threshold or the ridge cannot be meant, or if an option would do nothing."""
        self.check_intervals()
        check_thresholds(self.thresholds)
        check_thresholds(self.keep_at or (0.3,))
        check_thresholds((0.3 if self.strips_at is None else self.strips_at,))
        Ridge.make(self.ridge)
        if self.sentence is None and (self.strips_at is not None or self.clusters != 3):
            raise LmkinError(
                "strips_at and clusters go with a sentence: give one, or leave them out."
            )
        if self.sentence is not None and not self.sentence.strip():
            raise LmkinError("The sentence is empty: give a text of two words or more.")
        if not self.layer_regressions:
            unused = [
                f"{field.name} ({field.flags[0]})"
                for field in option_fields(RedundancyOptions)
                if field.name in _OF_LAYERS and getattr(self, field.name) != field.default
            ]
            if unused:
                raise LmkinError(
                    f"{', '.join(unused)} {'is' if len(unused) == 1 else 'are'} of regressions between layers: leave "
                    f"{'it' if len(unused) == 1 else 'them'} out, or let layers be compared."
                )
