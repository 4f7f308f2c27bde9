"""Many fits of the same rows: of parts of their columns, of several sets of labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..core import workers
from .certificate import Fit
from .choice import Penalized
from .design import Design
from .losses import Loss

NARROW = 1024
"""Columns up to which one core is as good as several: such designs are worked on side by side."""


def for_each_design(
    designs: Sequence[Design], work: Callable[[int], None], *, threads: bool = True
) -> None:
    """Do something with each design, by its number: wide ones with all cores, then narrow ones side by side."""
    narrow = [k for k, design in enumerate(designs) if design.d <= NARROW]
    for k in sorted(set(range(len(designs))) - set(narrow)):
        work(k)
    with workers(threads and len(narrow) > 1) as run:
        run(work, narrow)


def fit_many(
    designs: Sequence[Design], losses: Sequence[Loss], what: Penalized, l1: float
) -> list[list[Fit]]:
    """For every design its fits, one for each loss: the same as one by one, for less.

    Means, deviations and second moments do not depend on labels: they are taken once for a design and its parts
    (`Design.part`), and serve every loss.
    """
    fits: list[list[Fit]] = [[] for _ in designs]

    def work(k: int) -> None:
        fits[k] = [what.fit_at(designs[k], loss, l1) for loss in losses]

    for_each_design(designs, work)
    return fits
