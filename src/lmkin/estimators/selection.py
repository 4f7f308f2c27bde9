"""How a penalty is chosen: along a path, by the loss on rows that were not fitted."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..activations import JoinedLayers, LayerView
from ..core import LmkinError, to_numpy
from .certificate import Fit
from .design import FAR, Design
from .losses import Loss
from .row_blocks import blocks_of_rows

Array = NDArray[Any]
IntArray = NDArray[np.int64]
_FEW = 64
"""Rows that tell which columns are far from 0."""
PATIENCE = 3
"""Steps of a path without a better loss on the held-out rows, after which it ends."""


@dataclass(frozen=True)
class PathStep:
    """One penalty of a path: what it leaves, and what it scores on the rows that choose.

    Where the penalty was chosen on several folds, numbers are means over them (those of neurons, weights and iterations
    rounded), and the residual is the largest.
    """

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


@dataclass(frozen=True)
class HeldOut:
    """Rows that choose: ``known`` are those with a label that was fitted, ``loss`` is of these; ``rate`` scores all."""

    X: Any
    loss: Loss
    known: NDArray[np.bool_]
    rate: Callable[[Array], float]

    def step(self, fit: Fit, design: Design) -> PathStep:
        """What a fit leaves, and what it scores on these rows."""
        scores = scores_of(self.X, *design.unscaled(fit.W, fit.b))
        return PathStep(
            fit.l1, fit.l2, len(fit.neurons), int(np.count_nonzero(fit.W)), self.loss.mean(scores[self.known]),
            self.rate(scores), fit.relative, fit.iterations,
        )  # fmt: skip


def best_of_path(fits: Iterable[Fit], design: Design, held: HeldOut) -> tuple[Fit, list[PathStep]]:
    """The fit with the least loss on other rows, and all steps of the path up to where that no longer falls."""
    best: Fit | None = None
    steps: list[PathStep] = []
    for fit in fits:
        steps.append(held.step(fit, design))
        if _least(steps) == len(steps) - 1:
            best = fit
        if _is_over(steps):
            break
    assert best is not None
    return best, steps


def best_of_folds(
    paths: Sequence[Iterable[Fit]], designs: Sequence[Design], held: Sequence[HeldOut]
) -> tuple[float, list[PathStep]]:
    """The λ₁ with the least mean loss over folds, whose paths are of the same λ₁, and all steps."""
    steps: list[PathStep] = []
    sizes = np.array([float(one.known.sum()) for one in held])
    for fits in zip(*paths, strict=True):
        each = [h.step(f, d) for h, f, d in zip(held, fits, designs, strict=True)]
        steps.append(_mean_step(each, sizes))
        if _is_over(steps):
            break
    return steps[_least(steps)].l1, steps


def _mean_step(each: Sequence[PathStep], sizes: Array) -> PathStep:
    def mean(name: str, weights: Array | None = None) -> float:
        return float(np.average([getattr(step, name) for step in each], weights=weights))

    return PathStep(
        each[0].l1, each[0].l2, round(mean("neurons")), round(mean("weights")), mean("dev_loss", sizes),
        mean("dev_score", sizes), max(step.residual for step in each), round(mean("iterations")),
    )  # fmt: skip


def _least(steps: Sequence[PathStep]) -> int:
    return min(range(len(steps)), key=lambda k: steps[k].dev_loss)


def _is_over(steps: Sequence[PathStep]) -> bool:
    return len(steps) - 1 - _least(steps) >= PATIENCE


def held_out_rows(n: int, share: float, groups: Any, seed: int) -> tuple[IntArray, IntArray]:
    """Numbers of the rows that are fitted, and of those that choose: about a share of all, in whole groups."""
    if not 0 < share < 1:
        raise LmkinError(f"dev_share is a fraction between 0 and 1, such as 0.1; got {share}.")
    owner, ends, order = _groups(n, groups, seed)
    some = order[: max(1, int(np.searchsorted(ends, share * n, "right")))]
    held = np.isin(owner, some)
    if held.all():
        raise LmkinError(
            "All rows belong to one group: none are left to fit. Give dev=(X, y), or an l1."
        )
    return np.flatnonzero(~held), np.flatnonzero(held)


def fold_rows(n: int, folds: int, groups: Any, seed: int) -> list[tuple[IntArray, IntArray]]:
    """For each fold, numbers of the rows that are fitted, and of those that choose: whole groups, nearly equal.

    Every row chooses once.
    """
    if isinstance(folds, bool) or not isinstance(folds, int | np.integer) or folds < 2:
        raise LmkinError(f"cv is a number of folds, 2 or more, such as 5; got {folds!r}.")
    owner, ends, order = _groups(n, groups, seed)
    if len(order) < folds:
        raise LmkinError(
            f"cv={folds} needs {folds} groups at least; there are {len(order)}. Take fewer folds."
        )
    middle = ends - np.bincount(owner)[order] / 2
    fold = np.empty(len(order), np.int64)
    fold[order] = np.minimum((middle * folds / n).astype(np.int64), folds - 1)
    mine = fold[owner]
    if len(np.unique(mine)) < folds:
        raise LmkinError(
            f"cv={folds} cannot be had in whole groups: one of them holds {np.bincount(owner).max()} of {n} rows. Take "
            f"fewer folds."
        )
    return [(np.flatnonzero(mine != k), np.flatnonzero(mine == k)) for k in range(folds)]


def _groups(n: int, groups: Any, seed: int) -> tuple[IntArray, IntArray, IntArray]:
    """The group of each row by number, the order in which groups are taken, and how many rows these are by then."""
    owner = np.arange(n)
    if groups is not None:
        if len(groups) != n:
            raise LmkinError(f"There are {len(groups)} groups for {n} rows: one a row is needed.")
        try:
            owner = np.unique(np.asarray(groups), return_inverse=True)[1].reshape(-1)
        except TypeError:
            kinds = sorted({type(group).__name__ for group in groups})
            raise LmkinError(
                f"groups cannot be told apart: they are {' and '.join(kinds)}. Give every row a string, or "
                f"every row a number."
            ) from None
    order = np.random.default_rng(seed).permutation(owner.max() + 1)
    return owner, np.bincount(owner)[order].cumsum(), order


def scores_of(X: Any, V: Array, b: Array) -> Array:
    """X V + b for rows in memory or not, float64; products are as exact as the rows are."""
    out = np.empty((X.shape[0], V.shape[1]))
    kind = np.float64 if str(X.dtype).endswith("float64") else np.float32
    near = V.astype(kind)
    far, origin = _far_columns(X, kind)
    own, near[far] = near[far], 0
    for here, block in blocks_of_rows(X, kind):
        out[here] = block @ near
        if len(far):
            out[here] += (block[:, far] - origin) @ own
    out += b + origin.astype(np.float64) @ V[far]
    return out


def _far_columns(X: Any, kind: Any) -> tuple[IntArray, Array]:
    """Columns that are many deviations from 0, as some rows tell, and about where: products of float32 cancel there."""
    if kind == np.float64:
        return np.zeros(0, np.int64), np.zeros(0)
    some = np.asarray(to_numpy(X[: min(_FEW, X.shape[0]), :]), np.float64)
    if not len(some):
        return np.zeros(0, np.int64), np.zeros(0)
    mean = some.mean(0)
    far = np.flatnonzero(np.abs(mean) > FAR * some.std(0))
    return far, mean[far].astype(kind)


def rate(scores: Array, true: Array) -> float:
    """Accuracy of scores of numbered classes (−1 is wrong); or R², the mean over outputs.

    R² of a constant output is 1 or 0, as scikit-learn has it; of one row there is none.
    """
    if true.dtype.kind == "i":
        return float((scores.argmax(1) == true).mean())
    if len(true) < 2:
        return math.nan
    true = true.reshape(scores.shape)
    errors, spread = ((true - scores) ** 2).sum(0), ((true - true.mean(0)) ** 2).sum(0)
    explained = 1 - errors / np.where(spread > 0, spread, 1)
    return float(np.where(spread > 0, explained, errors == 0).mean())


def on_disk(X: Any) -> bool:
    """Whether a matrix gives its rows in blocks, and need not fit into memory; such as `lmkin.Activations.layer`."""
    return isinstance(X, LayerView | JoinedLayers)


def some_rows(X: Any, rows: Array) -> Any:
    """Some rows; of a matrix on disk they stay there."""
    return X.select(rows) if on_disk(X) else X[rows]
