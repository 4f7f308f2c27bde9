"""What can be asked of a comparison of attention heads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ...analysis import MEASURES, Intervals
from ...core import Convention, option
from .heads import THRESHOLD
from .measure_texts import ATTENTION

Sink = Literal["dropped", "kept"]


@dataclass(frozen=True)
class AttentionOptions(Intervals):
    """Measures, the sink, which heads count as alike, and the sentence that heads are drawn on."""

    measures: str | Sequence[str] = option(
        "all",
        "Names with commas, or all: js, pearson and norm compare heads; svsim, pwsim and ckasim layers.",
        MEASURES,
        flags=("--measures", "-m"),
        complete=lambda: ["all", *ATTENTION],
    )
    sink: Sink | None = option(
        None,
        "What tables and the view of heads show: attention to special and first tokens dropped or kept. The report has "
        "both. Default: dropped (for maps of your own, kept).",
        MEASURES,
    )
    threshold: float = option(
        THRESHOLD, "Heads that differ by at most so many bits count as doing the same.", MEASURES
    )
    sentence: str | None = option(
        None,
        "The sentence that two heads are drawn on: a text, or its number in the corpus, from 1. Default: one of "
        "middling length.",
        MEASURES,
    )
    convention: Convention = option(
        "paper",
        "released: the conventions of the authors' code (natural logarithms, 1 − distance).",
        MEASURES,
    )
    measure_options: Mapping[str, Any] = option(
        {},
        "An option of svsim, pwsim or ckasim, e.g. variance=0.95. May be repeated.",
        MEASURES,
        flags=("--set",),
    )
