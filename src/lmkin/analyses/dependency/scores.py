"""What fits leave unexplained, from sums alone, part by part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .joint import ROWS, Block, Joint

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Fits:
    """All fits to the rows of one block."""

    mean: FloatArray
    """Of the rows that were fitted on."""
    group: FloatArray
    """[−W, I] of every column by all other models, columns × columns; those that are no target are 0."""
    pair: list[FloatArray]
    """For every group as basis: weights of all columns, basis neurons × columns."""


@dataclass(frozen=True)
class Score:
    """Of some rows: squares that are left, and what is needed for those that were there."""

    n: int
    mean: FloatArray
    trace: FloatArray
    """Squares about the mean of these rows, by group."""
    group: FloatArray
    """Squares that the others leave, by group."""
    pair: FloatArray
    """Squares that a single basis leaves, basis × target."""


def score(joint: Joint, fits: Fits, block: Block) -> Score:
    """How far fits are off on the rows of a block."""
    moved = block.mean - fits.mean
    C = block.products
    some = [slice(start, start + ROWS) for start in range(0, len(C), ROWS)]
    left = np.concatenate([((fits.group[r] @ C) * fits.group[r]).sum(1) for r in some])
    left += block.n * (fits.group @ moved) ** 2
    own = np.diag(C)
    pair = np.empty((len(joint.groups), len(joint.groups)))
    for j, (basis, V) in enumerate(zip(joint.slices, fits.pair, strict=True)):
        unexplained = own + np.einsum("rc,rc->c", V, C[basis, basis] @ V - 2 * C[basis])
        unexplained += block.n * (moved - V.T @ moved[basis]) ** 2
        pair[j] = by_group(joint, unexplained)
    return Score(block.n, block.mean, by_group(joint, own), by_group(joint, left), pair)


def by_group(joint: Joint, columns: FloatArray) -> FloatArray:
    """Sums over the columns of every group."""
    return np.array([columns[s].sum() for s in joint.slices])


@dataclass(frozen=True)
class R2:
    """R² of every model: by all others, and by each single one (basis × target)."""

    group: FloatArray
    pair: FloatArray

    @property
    def rho_pair(self) -> FloatArray:
        """(R²(u, v) + R²(v, u)) / 2."""
        rho: FloatArray = (self.pair + self.pair.T) / 2
        return rho

    @property
    def rho_group(self) -> FloatArray:
        """The mean of the R² of all."""
        return np.asarray(self.group.mean())


def r_squared(joint: Joint, scores: Sequence[Score], less: int | None = None) -> R2:
    """1 − what is left / what there was about the mean, of some parts together, or of all but one."""
    some = [s for k, s in enumerate(scores) if k != less]
    n = np.array([s.n for s in some], np.float64)
    means = np.stack([s.mean for s in some])
    mean = n @ means / n.sum()
    between = n @ (means - mean) ** 2
    total = np.sum([s.trace for s in some], axis=0) + by_group(joint, between)
    group = np.sum([s.group for s in some], axis=0)
    pair = np.sum([s.pair for s in some], axis=0)
    total = np.where(total > 0, total, np.nan)  # what does not move cannot be explained
    r2_pair = 1 - pair / total[None, :]
    np.fill_diagonal(r2_pair, 1.0)  # a model explains itself
    return R2(1 - group / total, r2_pair)
