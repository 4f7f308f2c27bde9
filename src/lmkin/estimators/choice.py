"""One fit: at a penalty that is given, or at the one of a path that predicts other rows best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from .certificate import Fit
from .design import Design
from .losses import Loss
from .path import LEAST, STEPS, fit_path, penalties_of_path
from .penalties import Penalty, PenaltyName, make_penalty
from .selection import HeldOut, PathStep, best_of_folds, best_of_path
from .solver import empty_fit, moved_fit, solve

Array = NDArray[Any]
_WARM = 6
"""Steps from the largest penalty to one that was given."""
_SAMPLE = 4096
"""Rows of the sample that a fit begins on, at least."""
_STEPS = 6
"""Iterations on it."""
_LOOSE = 0.3
"""Largest violation of the KKT conditions along a path that only chooses a penalty, in the unit of `Fit.relative`."""


def _way(l1: float, largest: float) -> list[float]:
    """Larger penalties than the one that was given, on the way to it."""
    if 0 < l1 < largest / 4:
        return [float(v) for v in penalties_of_path(largest, _WARM, l1 / largest)[1:-1]]
    if l1 == 0 and largest > 0:
        return [float(v) for v in penalties_of_path(largest, _WARM, 1e-4)[1:]]
    return []


@dataclass(frozen=True)
class Penalized:
    """What is minimized beside the loss, how exactly, and which penalties a path tries."""

    penalty: PenaltyName = "elementwise"
    l2: float | None = None
    steps: int = STEPS
    least: float = LEAST
    tolerance: float = 0.01
    iterations: int = 2000

    def fit_at(self, design: Design, loss: Loss, l1: float) -> Fit:
        """The fit at one penalty: where there are many rows, by way of a few steps on a sample of them."""
        sampled = max(_SAMPLE, design.n // 8)
        start = self._empty(design, loss)
        if 4 * sampled <= design.n and design.has_room(sampled * design.d):
            start = self._begun(design, loss, l1, sampled, start.largest)
        else:
            for value in _way(l1, start.largest):
                start = solve(
                    design, loss, self._penalty(loss, value), start, tolerance=max(self.tolerance, _LOOSE),
                    iterations=self.iterations,
                )  # fmt: skip
        return self._finish(design, loss, l1, start)

    def _begun(self, design: Design, loss: Loss, l1: float, sampled: int, largest: float) -> Fit:
        """The weights after a few steps on so many rows, which are let go of then."""
        rows, few = design.sample(sampled)
        some, penalty = loss.some(rows), self._penalty(loss, l1)
        near = solve(
            few, some, penalty, self._empty(few, some), tolerance=_LOOSE, iterations=_STEPS
        )
        del few
        return moved_fit(design, loss, penalty, near, largest)

    def fit_on_dev(self, design: Design, loss: Loss, held: HeldOut) -> tuple[Fit, list[PathStep]]:
        """The fit along a path that has the least loss on other rows, and all steps of the path."""
        path = fit_path(design, loss, steps=self.steps, least=self.least, **self._path(loose=True))
        best, steps = best_of_path(path, design, held)
        fit = self._finish(design, loss, best.l1, best)
        place = next(i for i, step in enumerate(steps) if step.l1 == best.l1)
        steps[place] = held.step(fit, design)
        return fit, steps

    def choose_on_folds(
        self,
        design: Design,
        loss: Loss,
        folds: Sequence[tuple[Design, Loss, HeldOut]],
    ) -> tuple[float, list[PathStep]]:
        """The λ₁ of a path of all rows with the least mean loss over folds, and all steps of the path.

        Of each fold the rows that are fitted, their loss, and the rows that choose.
        """
        values = penalties_of_path(self._empty(design, loss).largest, self.steps, self.least)
        paths = [fit_path(d, f, l1=values, **self._path(loose=True)) for d, f, _ in folds]
        return best_of_folds(paths, [d for d, _, _ in folds], [h for _, _, h in folds])

    def _empty(self, design: Design, loss: Loss) -> Fit:
        return empty_fit(design, loss, make_penalty(self.penalty, 0.0, 0.0))

    def _finish(self, design: Design, loss: Loss, l1: float, start: Fit) -> Fit:
        """The fit at a penalty as exact as was asked for, from one near to it on."""
        fit = solve(
            design, loss, self._penalty(loss, l1), start,
            tolerance=self.tolerance, iterations=self.iterations,
        )  # fmt: skip
        return replace(fit, scores=None, by_intercepts=None)

    def _penalty(self, loss: Loss, l1: float) -> Penalty:
        return make_penalty(self.penalty, l1, loss.default_l2(l1) if self.l2 is None else self.l2)

    def _path(self, *, loose: bool) -> dict[str, Any]:
        return {
            "penalty": self.penalty,
            "l2": self.l2,
            "tolerance": max(self.tolerance, _LOOSE) if loose else self.tolerance,
            "iterations": self.iterations,
        }
