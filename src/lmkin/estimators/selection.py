"""How a penalty is chosen: along a path, by the loss on rows that were not fitted."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core import LmkinError
from .design import Design, blocks_of_rows
from .losses import Loss
from .solver import Fit

Array = NDArray[Any]
PATIENCE = 3
"""Steps of a path without a better loss on the held-out rows, after which it ends."""


@dataclass(frozen=True)
class PathStep:
    """One penalty of a path: what it leaves, and what it scores on the rows that choose."""

    l1: float
    l2: float
    neurons: int
    """With a weight that is not 0."""
    weights: int
    """That are not 0."""
    dev_loss: float
    dev_score: float
    """Accuracy, or R²."""
    residual: float
    """Largest violation of the KKT conditions, in units of λ₁ (or of a hundredth of the largest λ₁)."""
    iterations: int


def best_of_path(
    fits: Iterable[Fit],
    design: Design,
    X: Any,
    held: Loss,
    known: Any,
    rate: Callable[[Array], float],
) -> tuple[Fit, list[PathStep]]:
    """The fit with the least loss on other rows, and all steps of the path up to where that no longer falls.

    ``X`` are those rows, ``known`` which of them the loss is of (their labels were fitted), ``rate`` scores all.
    """
    best: Fit | None = None
    steps: list[PathStep] = []
    least, since = np.inf, 0
    for fit in fits:
        step = step_of(fit, design, X, held, known, rate)
        loss = step.dev_loss
        steps.append(step)
        if loss < least:
            best, least, since = fit, loss, 0
        else:
            since += 1
        if since >= PATIENCE:
            break
    assert best is not None
    return best, steps


def step_of(
    fit: Fit, design: Design, X: Any, held: Loss, known: Any, rate: Callable[[Array], float]
) -> PathStep:
    """What a fit leaves, and what it scores on other rows."""
    scores = scores_of(X, *design.unscaled(fit.W, fit.b))
    return PathStep(
        fit.l1,
        fit.l2,
        len(fit.neurons),
        int(np.count_nonzero(fit.W)),
        held.mean(scores[known]),
        rate(scores),
        fit.relative,
        fit.iterations,
    )


def held_out_rows(n: int, share: float, groups: Any, seed: int) -> tuple[Array, Array]:
    """Numbers of the rows that are fitted, and of those that choose: about a share of all, in whole groups."""
    if not 0 < share < 1:
        raise LmkinError(f"dev_share is a fraction between 0 and 1, such as 0.1; got {share}.")
    owner = np.arange(n)
    if groups is not None:
        if len(groups) != n:
            raise LmkinError(f"There are {len(groups)} groups for {n} rows: one a row is needed.")
        owner = np.unique(np.asarray(groups), return_inverse=True)[1].reshape(-1)
    order = np.random.default_rng(seed).permutation(owner.max() + 1)
    sizes = np.bincount(owner)[order].cumsum()
    some = order[: max(1, int(np.searchsorted(sizes, share * n, "right")))]
    held = np.isin(owner, some)
    if held.all():
        raise LmkinError(
            "All rows belong to one group: none are left to fit. Give dev=(X, y), or an l1."
        )
    return np.flatnonzero(~held), np.flatnonzero(held)


def scores_of(X: Any, V: Array, b: Array) -> Array:
    """X V + b for rows in memory or not, float64."""
    out = np.empty((X.shape[0], V.shape[1]))
    for here, block in blocks_of_rows(X, np.float64):
        out[here] = block @ V + b
    return out
