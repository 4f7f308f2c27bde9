"""All fits of a decomposition by one rule for the ridge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError

from ...core import GRID, MeasureError, Ridge
from .joint import Block, Joint
from .regression import (
    TOLERANCE,
    as_ridge,
    columns_of,
    leave_one_out,
    residual_rows,
    smallest_eigenvalue,
    weights,
)
from .scores import R2, Fits, r_squared, score

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class FitRidges:
    """What was added to the diagonal: one number a fit, in the terms of the rule."""

    group: FloatArray
    """By model (all its layers have one)."""
    pair: FloatArray
    """Basis × target."""


class Solver:
    """Fits to any block of train rows."""

    def __init__(self, joint: Joint, ridge: Ridge):
        self.joint = joint
        self.ridge = ridge
        self.tolerance = TOLERANCE[joint.precision]
        self.blocks = [columns_of(joint, groups) for groups in joint.models.values()]
        self.width = joint.layout.width
        self.ridges: FitRidges | None = None

    def fit(self, train: Block, validation: Block | None = None) -> Fits:
        """Fit to some rows; where the ridge is to be found, the first call finds it on ``validation``."""
        S = train.products / (train.n - 1)
        if self.ridge.rule != "validation":
            return self._by_rule(S, train)
        if self.ridges is None:
            if validation is None:
                raise MeasureError(
                    "The ridge is to be chosen on validation rows, and the split has none: give 'validation'."
                )
            return self._choose(S, train, validation)
        return self._with_ridges(S, train)

    def ridge_for(self, S: FloatArray, target: int, basis: Sequence[int]) -> FloatArray:
        """What is added for a fit of one group by some others: the rule's, or what was found for it."""
        joint, rule = self.joint, self.ridge.rule
        if rule == "relative":
            return as_ridge(self.ridge.value, self.width)
        if rule == "absolute":
            return self._absolute(self.ridge.value)
        if rule == "floor":
            return self._absolute(self._lift(S, columns_of(joint, basis)))
        assert self.ridges is not None
        if len(basis) == 1:
            return as_ridge(self.ridges.pair[basis[0], target], self.width)
        model = list(joint.models).index(joint.groups[target].model)
        return as_ridge(self.ridges.group[model], self.width)

    # -- one rule -------------------------------------------------------------------------------

    def _by_rule(self, S: FloatArray, train: Block) -> Fits:
        joint, k = self.joint, len(self.joint.groups)
        models, value = len(joint.models), self.ridge.value
        if self.ridge.rule == "floor":
            group = [self._lift(S, self._rest(m)) for m in range(models)]
            single = [self._lift(S, columns_of(joint, [j])) for j in range(k)]
            self.ridges = self.ridges or FitRidges(
                np.array(group), np.repeat(np.array(single)[:, None], k, axis=1)
            )
            raw = [self._absolute(v) for v in group]
            return Fits(
                train.mean,
                self._separately(S, raw),
                [self._from_one(S, j, self._absolute(v)) for j, v in enumerate(single)],
            )
        added = (
            as_ridge(value, self.width) if self.ridge.rule == "relative" else self._absolute(value)
        )
        self.ridges = self.ridges or FitRidges(np.full(models, value), np.full((k, k), value))
        return self._with(S, train, added)

    def _with(self, S: FloatArray, train: Block, added: FloatArray) -> Fits:
        """The same diagonal for all fits: one factorisation for all that leave one out."""
        joint = self.joint
        group: FloatArray | None = None
        if (added > 0).all():
            try:
                group = leave_one_out(S, self.blocks, added)
            except LinAlgError:
                group = None
        if group is None:
            group = self._separately(S, [added] * len(self.blocks))
        return Fits(
            train.mean, group, [self._from_one(S, j, added) for j in range(len(joint.groups))]
        )

    def _absolute(self, value: float) -> FloatArray:
        """λ in the units of the blocks."""
        return value / self.joint.unit**2

    def _lift(self, S: FloatArray, basis: NDArray[np.int64]) -> float:
        """What raises the smallest eigenvalue, in the models' own units, to the floor."""
        unit = self.joint.unit
        raw = S * unit[:, None] * unit[None, :]
        return max(0.0, self.ridge.value - smallest_eigenvalue(raw, basis))

    def _rest(self, model: int) -> NDArray[np.int64]:
        return np.concatenate([b for m, b in enumerate(self.blocks) if m != model])

    def _separately(self, S: FloatArray, added: Sequence[FloatArray]) -> FloatArray:
        whole = np.zeros((self.width, self.width))
        for m, block in enumerate(self.blocks):
            rest = self._rest(m)
            W = weights(S, block, rest, added[m], self.tolerance, self.joint.unit)
            whole[block] = residual_rows(W, block, rest, self.width)
        return whole

    def _from_one(self, S: FloatArray, j: int, added: FloatArray) -> FloatArray:
        """Weights of all columns by one group."""
        basis = columns_of(self.joint, [j])
        every = np.arange(self.width)
        return weights(S, every, basis, added, self.tolerance, self.joint.unit).T

    # -- the ridge is found ---------------------------------------------------------------------

    def _choose(self, S: FloatArray, train: Block, validation: Block) -> Fits:
        joint = self.joint
        names = list(joint.models)
        owner = np.array([names.index(g.model) for g in joint.groups])
        best: Fits | None = None
        seen = R2(np.full(len(joint.groups), -np.inf), np.full((len(owner), len(owner)), -np.inf))
        of_model = np.full(len(names), -np.inf)
        group, pair = np.zeros(len(names)), np.zeros((len(owner), len(owner)))
        for value in GRID:
            fits = self._with(S, train, as_ridge(value, self.width))
            r2 = r_squared(joint, [score(joint, fits, validation)])
            if best is None:
                best = Fits(train.mean, fits.group.copy(), [V.copy() for V in fits.pair])
            means = np.array([r2.group[owner == m].mean() for m in range(len(names))])
            for m in np.flatnonzero(means > of_model):
                group[m] = value
                best.group[self.blocks[m]] = fits.group[self.blocks[m]]
            of_model = np.maximum(of_model, means)
            for j, i in zip(*np.nonzero(r2.pair > seen.pair), strict=True):
                pair[j, i] = value
                best.pair[j][:, joint.slices[i]] = fits.pair[j][:, joint.slices[i]]
            seen = R2(r2.group, np.maximum(seen.pair, r2.pair))
            del fits  # before the next are made
        assert best is not None
        self.ridges = FitRidges(group, pair)
        return best

    def _with_ridges(self, S: FloatArray, train: Block) -> Fits:
        """With the ridges found before."""
        assert self.ridges is not None
        joint, result = self.joint, None
        for value in sorted({*self.ridges.group.tolist(), *self.ridges.pair.ravel().tolist()}):
            fits = self._with(S, train, as_ridge(value, self.width))
            if result is None:
                result = fits
            for m in np.flatnonzero(self.ridges.group == value):
                result.group[self.blocks[m]] = fits.group[self.blocks[m]]
            for j, i in zip(*np.nonzero(self.ridges.pair == value), strict=True):
                result.pair[j][:, joint.slices[i]] = fits.pair[j][:, joint.slices[i]]
            del fits
        assert result is not None
        return result
