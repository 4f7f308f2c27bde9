"""R² of all fits on all splits, with jackknife intervals over the rows that were scored and those that were fitted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core import one_core, workers
from ...results import Interval, jackknife
from .joint import Block, Joint, joined
from .memory_plan import SIDE_BY_SIDE
from .scores import R2, Fits, r_squared, score
from .solver import Solver

FloatArray = NDArray[np.float64]
NARROW = 1024
"""Up to so many neurons in all a fit is faster on one core."""
FIELDS = ("r2_group", "r2_pair", "rho_pair", "rho_group")


@dataclass(frozen=True)
class Estimate:
    """A table, and how far it may be off."""

    value: FloatArray
    interval: Interval | None = None


def table_of(r2: R2, field: str) -> FloatArray:
    """One of the fields of a result."""
    tables = {
        "r2_group": r2.group,
        "r2_pair": r2.pair,
        "rho_pair": r2.rho_pair,
        "rho_group": r2.rho_group,
    }
    return np.asarray(tables[field], np.float64)


def estimate(
    joint: Joint,
    solver: Solver,
    *,
    change: Callable[[Block], Block] = lambda block: block,
    intervals: bool = True,
    level: float = 0.95,
    most_workers: int | None = None,
    advance: Callable[[int], None] = lambda _: None,
) -> dict[str, dict[str, Estimate]]:
    """Field → split → table. ``change`` is applied to all sums before anything else.

    ``most_workers``: so many fits at the same time as memory was planned for; by default as many as there are cores.
    """

    def parts(split: str) -> Any:
        return (change(joint.block(split, k)) for k in range(len(joint.parts[split])))

    splits = list(joint.parts)
    width = joint.layout.width
    with one_core(width <= NARROW):
        train = joined(parts("train"))
        totals = {s: joined(parts(s)) for s in splits if s != "train"}
        fits: list[Fits] = [solver.fit(train, totals.get("validation"))]
    advance(1)

    def in_parts(split: str) -> bool:
        return intervals and len(joint.parts[split]) > 1

    scores: dict[str, list[Any]] = {
        s: [None] * (len(joint.parts[s]) if in_parts(s) else 1) for s in splits
    }

    def score_one(place: tuple[str, int]) -> None:
        split, k = place
        whole = train if split == "train" else totals[split]
        block = change(joint.block(split, k)) if in_parts(split) else whole
        scores[split][k] = score(joint, fits[0], block)
        advance(1)

    refits: dict[str, list[Any]] = {
        s: [None] * (len(joint.parts["train"]) if in_parts("train") else 0) for s in splits
    }

    def fit_without(k: int) -> None:
        rest = train.without(change(joint.block("train", k)))
        again = solver.fit(rest)
        for split in splits:
            on = rest if split == "train" else totals[split]
            refits[split][k] = r_squared(joint, [score(joint, again, on)])
        advance(1)

    with workers(width <= SIDE_BY_SIDE, most=most_workers) as run:
        run(score_one, [(s, k) for s in splits for k in range(len(scores[s]))])
        fits.clear()  # the largest thing there is, and there will be others
        run(fit_without, range(len(refits["train"])))
    values = {split: r_squared(joint, part_scores) for split, part_scores in scores.items()}
    result: dict[str, dict[str, Estimate]] = {f: {} for f in FIELDS}
    for split in joint.parts:
        without = [
            r_squared(joint, scores[split], less=k)
            for k in range(len(scores[split]))
            if len(scores[split]) > 1 and split != "train"
        ]
        for field in FIELDS:
            value = table_of(values[split], field)
            pieces = []
            for tables, sizes in (
                (without, joint.sizes(split)),
                (refits[split], joint.sizes("train")),
            ):
                if tables:
                    array = np.stack([table_of(t, field) for t in tables])
                    pieces.append((jackknife(value, array, sizes, level).se, len(sizes)))
            result[field][split] = Estimate(value, together(value, pieces, level))
    return result


def count_steps(joint: Joint, *, intervals: bool) -> int:
    """How often `estimate` will advance."""
    if not intervals:
        return 1 + len(joint.parts)
    refits = len(joint.parts["train"]) if len(joint.parts["train"]) > 1 else 0
    return 1 + sum(len(p) for p in joint.parts.values()) + refits


def together(
    value: FloatArray, pieces: list[tuple[FloatArray, int]], level: float
) -> Interval | None:
    """One interval for two sources of chance, the rows fitted on and the rows scored (Welch-Satterthwaite)."""
    from scipy.special import stdtrit

    if not pieces:
        return None
    variance = np.sum([se**2 for se, _ in pieces], axis=0)
    below = np.sum([se**4 / (parts - 1) for se, parts in pieces], axis=0)
    freedom = np.where(below > 0, variance**2 / np.where(below > 0, below, 1), 1.0)
    se = np.sqrt(variance)
    width = stdtrit(np.maximum(freedom, 1.0), 0.5 + level / 2) * se
    return Interval(se, value - width, value + width)
