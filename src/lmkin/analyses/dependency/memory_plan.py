"""How much memory a decomposition takes, before it begins; and how many parts fit."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from ...core import MeasureError, human_bytes, worker_count
from ...core import budget as budget_of
from ...moments import choose_precision

_log = logging.getLogger("lmkin")
_MATRICES = {True: 11, False: 8}
"""Matrices of all neurons × all neurons in float64 that are there at the same time while fits are made and scored: with
intervals and without; measured, with a little to spare."""
_CHOOSING = 2
"""More of them while the ridge is found: the best fits so far."""
_REFIT = 5
"""More for each worker beyond the first: rows without a part, their covariance, its inverse, and two of fits."""
_SCORING = 2
"""The same without intervals, where workers score one fit: products of the fit with the sums, and their squares."""
SIDE_BY_SIDE = 2048
"""Up to so many neurons, fits are made side by side, each on one core; above, memory is better spent on one at a
time."""
_WIDER = 4
"""A fit is of as many digits as its rows have: float64 products are for few neurons only."""


def fit_precision(asked: str | None, *, double: bool, width: int) -> str:
    """The type that products are made in."""
    return choose_precision(asked, double=double, width=_WIDER * width)


@dataclass(frozen=True)
class FitMemory:
    """What is planned: parts of every split, the memory of sums and fits in bytes, and how many fits at a time."""

    parts: int
    sums: int
    fits: int
    workers: int = 1

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
    forward: int = 0,
    weights: int = 0,
    in_shards: bool = False,
) -> FitMemory:
    """As many parts as fit into the budget, at most those asked for. Raise if not even sums without parts do.

    Fewer workers only take longer, so they are given up before parts are.
    ``choosing``: the ridge is to be found on validation rows; ``memory`` bounds the whole process; ``forward``: bytes
    of a forward pass of the models that give the rows; ``weights``: of what they are loaded with; ``in_shards``:
    sums of a shard of the corpus are there beside those of all.
    """
    budget = budget_of(memory, models=weights)
    few = [p for p in (5, 3, 1) if p < parts]
    for count in (parts, *few):
        # A shard has the rows of about two parts of each split.
        shard = _plan(width, min(count, 2), splits, precision, null, choosing, 1).sums
        for workers in range(_most_workers(width, count, splits), 0, -1):
            plan = _plan(width, count, splits, precision, null, choosing, workers)
            need = plan.sums + max(plan.fits, forward + (shard if in_shards else 0))
            if budget.fits(need):
                break
        if budget.fits(need):
            if count < parts:
                _log.info(
                    "%s parts of each split would take more than %s: there are %s, so %s.",
                    parts,
                    human_bytes(budget.memory),
                    count,
                    "intervals are rougher" if count > 1 else "there are no intervals",
                )
            return plan
    raise MeasureError(
        f"{budget.refusal(need, f'sums of {width:,} neurons and fits, even without parts,')} Take fewer models or "
        f"layers, leave out the null, or give more memory."
    )


def _most_workers(width: int, parts: int, splits: int) -> int:
    """How many workers have something to do: fits without each part, or without parts the scores of every split."""
    return min(worker_count(), parts if parts > 1 else splits) if width <= SIDE_BY_SIDE else 1


def _plan(
    width: int,
    parts: int,
    splits: int,
    precision: str,
    null: bool,
    choosing: bool,
    workers: int,
) -> FitMemory:
    entries = width * (width + 768) // 2  # panels: one half, and the corners of the diagonal
    size = 4 if precision == "float32" else 8
    sums = (splits * parts * size + 8) * entries * (2 if null else 1)
    intervals = parts > 1
    extra = _CHOOSING if choosing else 0
    matrices = _MATRICES[intervals] + extra
    matrices += (workers - 1) * (_REFIT + extra if intervals else _SCORING)
    return FitMemory(parts, sums, matrices * 8 * width * width, workers)
