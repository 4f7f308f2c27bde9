"""How much memory a decomposition takes, before it begins; and how many parts fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..errors import MeasureError
from ..moments import choose_precision
from ..moments.planning import parse_memory

_MATRICES = {True: 11, False: 8}
"""Matrices of all neurons × all neurons in float64 that are there at the same time while fits are made and scored: with
intervals and without; measured, with a little to spare."""
_CHOOSING = 2
"""More of them while the ridge is found: the best fits so far."""
_WIDER = 4
"""A fit is of as many digits as its rows have: float64 products are for few neurons only."""


def fit_precision(asked: str | None, *, double: bool, width: int) -> str:
    """The type that products are made in."""
    return choose_precision(asked, double=double, width=_WIDER * width)


@dataclass(frozen=True)
class Plan:
    """What is planned: parts of every split, and the memory of sums and fits in bytes."""

    parts: int
    sums: int
    fits: int

    def __str__(self) -> str:
        parts = f"{self.parts} parts a split" if self.parts > 1 else "no parts"
        return (
            f"Sums {self.sums / 1e9:.1f} GB ({parts}), fits {self.fits / 1e9:.1f} GB: "
            f"{(self.sums + self.fits) / 1e9:.1f} GB in all."
        )


def plan_decomposition(
    width: int,
    parts: int,
    splits: int,
    *,
    precision: str,
    null: bool,
    choosing: bool = False,
    memory: float | str | None = None,
    say: Callable[[str], None] | None = None,
) -> Plan:
    """As many parts as fit into the budget, at most those asked for; an error where not even sums without parts do.

    ``choosing``: the ridge is to be found on validation rows.
    """
    budget = parse_memory(memory)
    few = [p for p in (5, 3, 1) if p < parts]
    for count in (parts, *few):
        plan = _plan(width, count, splits, precision, null, choosing)
        if plan.sums + plan.fits <= budget:
            if count < parts and say is not None:
                say(
                    f"{parts} parts of each split would take more than {budget / 1e9:.1f} GB: there are {count}"
                    + (
                        ", so intervals are rougher."
                        if count > 1
                        else ", so there are no intervals."
                    )
                )
            return plan
    raise MeasureError(
        f"The sums of {width:,} neurons, and the fits, take {(plan.sums + plan.fits) / 1e9:.1f} GB even without parts; "
        f"the budget is {budget / 1e9:.1f} GB. Take fewer models or layers, leave out the null, or give more memory."
    )


def _plan(width: int, parts: int, splits: int, precision: str, null: bool, choosing: bool) -> Plan:
    each = width * (width + 768) // 2  # panels: one half, and the corners of the diagonal
    size = 4 if precision == "float32" else 8
    sums = (splits * parts * size + 8) * each * (2 if null else 1)
    matrices = _MATRICES[parts > 1] + (_CHOOSING if choosing else 0)
    return Plan(parts, sums, matrices * 8 * width * width)
