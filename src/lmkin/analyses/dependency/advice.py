"""How far the intervals carry an order in which to switch models off."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...core import one_core
from ...results import Interval, jackknife
from .intervals import NARROW, together

if TYPE_CHECKING:
    from .portfolio import Subsets

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Replicates:
    """R² of every model by a basis: of all rows, without each part of those scored, refitted without each of train."""

    value: FloatArray
    scored: FloatArray
    """Parts of the rows that are scored × models."""
    refitted: FloatArray
    """Parts of the train rows × models; none where these have no parts."""


@dataclass(frozen=True)
class Step:
    """What the intervals say of one step of an order: the model's R² by those left, and why the step is not advice."""

    r2: Interval
    reason: str = ""


class Advice:
    """Intervals of R² by any basis, and of differences, on the rows that are reported."""

    def __init__(self, subsets: Subsets, level: float):
        self._subsets = subsets
        self._level = level
        self._known: dict[tuple[int, ...], Replicates] = {}
        joint = subsets.joint
        self._sizes = (joint.sizes(subsets.reports), joint.sizes("train"))

    @property
    def missing(self) -> str:
        """Why nothing can be advised at all; empty if something can."""
        if self._subsets.reports != "test":
            return (
                "there are no test rows, and R² of rows that were fitted on says nothing of others"
            )
        if len(self._sizes[0]) < 2:
            return "there are no intervals (they need two parts of the test rows at least)"
        return ""

    def step(self, left: Sequence[int], gone: Sequence[int], values: FloatArray) -> Step:
        """Of the step that switches off the best of ``left`` by ``values``, after those that are ``gone``.

        It is carried if R² of the model by those that stay is above 0, and if what the step costs is less than any
        other would; both by their intervals. A model that is worse beyond doubt ends the search: those behind it are
        worse still.
        """
        names = self._subsets.names
        order = np.argsort(-values, kind="stable")
        best = left[int(order[0])]
        mine = self._by(left, best)
        r2 = self._interval(mine, lambda table: table[..., best])
        own = float(mine.value[best])
        if not float(r2.low) > 0:
            return Step(
                r2,
                f"R² of {names[best]} by those that would stay is {own:.3f} ({float(r2.low):.3f} to "
                f"{float(r2.high):.3f}), not clearly above 0",
            )
        alike: list[int] = []
        nearest: tuple[float, Interval] | None = None
        for place in order[1:]:
            other = left[int(place)]
            value, apart = self._difference(left, gone, best, other)
            if float(apart.low) > 0:
                break
            alike.append(other)
            nearest = nearest or (value, apart)
        if nearest is None:
            return Step(r2)
        value, apart = nearest
        listed = [names[m] for m in (best, *alike)]
        told = ", ".join(listed[:-1]) + f" and {listed[-1]}"
        return Step(
            r2,
            f"{told} cannot be told apart: the mean R² of what is off differs by {value:.3f} "
            f"({float(apart.low):.3f} to {float(apart.high):.3f}) between {listed[0]} and {listed[1]}",
        )

    def _difference(
        self, left: Sequence[int], gone: Sequence[int], one: int, other: int
    ) -> tuple[float, Interval]:
        """How much more of what is off is explained if one model goes rather than the other."""
        first, second = self._by(left, one), self._by(left, other)
        both = Replicates(
            np.concatenate([first.value, second.value]),
            np.concatenate([first.scored, second.scored], axis=1),
            np.concatenate([first.refitted, second.refitted], axis=1),
        )
        count = len(self._subsets.names)
        off = [*gone, one], [count + m for m in (*gone, other)]

        def difference(table: FloatArray) -> FloatArray:
            gain: FloatArray = table[..., off[0]].mean(-1) - table[..., off[1]].mean(-1)
            return gain

        return float(difference(both.value)), self._interval(both, difference)

    def _by(self, left: Sequence[int], without: int) -> Replicates:
        basis = tuple(sorted(m for m in left if m != without))
        if basis not in self._known:
            with one_core(self._subsets.joint.layout.width <= NARROW):
                self._known[basis] = self._subsets.replicates(basis)
        return self._known[basis]

    def _interval(self, replicates: Replicates, of: Callable[[FloatArray], FloatArray]) -> Interval:
        """Of a function of R²: both jackknives, of the rows scored and of the rows fitted on."""
        value = np.asarray(of(replicates.value))
        pieces = [
            (jackknife(value, np.asarray(of(table)), sizes, self._level).se, len(sizes))
            for table, sizes in zip(
                (replicates.scored, replicates.refitted), self._sizes, strict=True
            )
            if len(table) > 1
        ]
        interval = together(value, pieces, self._level)
        assert interval is not None
        return interval
