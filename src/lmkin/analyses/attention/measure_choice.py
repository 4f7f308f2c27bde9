"""Which measures of attention were asked for, and with which options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...core import MeasureError, did_you_mean, quoted
from ...measures import check_value, measure_info
from .measure_texts import ATTENTION
from .sums import HEAD_MEASURES


def check_measure_options(measures: Sequence[str], own: Mapping[str, Any]) -> None:
    """Raise if there is an option that none of the measures has, or a value that it cannot have."""
    distributed = [m for m in measures if m not in HEAD_MEASURES]
    allowed = sorted({o for m in distributed for o in measure_info(m).options} - {"convention"})
    for name, given in own.items():
        if name not in allowed:
            known = f" {did_you_mean(name, allowed)}" if allowed else ""
            raise MeasureError(f"No option {quoted(name)} of {', '.join(measures)}.{known}")
        check_value(name, given)


def choose_measures(measures: str | Iterable[str]) -> list[str]:
    """Names of measures of attention, from a text with commas or a list. Raise if one is unknown."""
    if isinstance(measures, str):
        measures = ATTENTION if measures == "all" else [m.strip() for m in measures.split(",")]
    if not isinstance(measures, Iterable):
        raise MeasureError(
            f"measures is 'all', a name, or a list of names; got {quoted(measures)}."
        )
    names = list(dict.fromkeys(measures))
    for name in names:
        if name not in ATTENTION:
            raise MeasureError(
                f"Unknown measure of attention {quoted(name)}. {did_you_mean(str(name), ATTENTION)}"
            )
    if not names:
        raise MeasureError(f"Name at least one measure: {', '.join(ATTENTION)}.")
    return names
