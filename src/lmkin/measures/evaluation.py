"""All measures for all pairs of layers, on all units and without each part of them."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core import LmkinError, MeasureError, Run, to_numpy, workers
from ..rows import Workspace
from .from_rows import RowSide
from .kept_scores import BoolArray, KeptScores
from .pair import LayerStats, Pair
from .registry import Measure, Scored, options_of
from .replicates import Place, Replicates, Stage

FloatArray = NDArray[np.float64]
_BATCH = 64
"""Pairs of layers between two looks at the clock."""


@dataclass
class Scores:
    """What one measure says of all pairs of layers."""

    value: FloatArray
    """x × y."""
    without: FloatArray | None = None
    """part × x × y: the value without each part, or, held out, on each part alone."""
    details: dict[str, dict[tuple[int, int], NDArray[Any]]] = field(default_factory=dict)
    n: int = 0
    part_sizes: tuple[int, ...] = ()
    """Units of each part that was left out."""


@dataclass(frozen=True)
class Task:
    """One measure with its options, for raw or standardized neurons."""

    measure: Measure
    options: dict[str, Any]
    standardized: bool

    @property
    def key(self) -> tuple[str, bool]:
        """How its scores are found."""
        return self.measure.name, self.standardized

    def __call__(self, pair: Pair) -> tuple[float, dict[str, Any]]:
        """The value of a pair, and details."""
        try:
            result = self._call(pair)
        except LmkinError:
            raise
        except Exception as error:
            if self.measure.function.__module__.startswith("lmkin."):
                raise
            raise MeasureError(
                f"The measure {self.measure.name} failed for {pair.x.name} and {pair.y.name}: {type(error).__name__}: "
                f"{error}. Mend it, or leave it out."
            ) from error
        scored = result if isinstance(result, Scored) else Scored(result, {})
        try:
            value = float(scored.value)
        except (TypeError, ValueError):
            raise MeasureError(
                f"{self.measure.name} must return a number; it returned {type(scored.value).__name__}."
            ) from None
        if not np.isfinite(value):
            raise MeasureError(
                f"{self.measure.name} gives {value} for {pair.x.name} and {pair.y.name}."
            )
        return value, scored.details

    def _call(self, pair: Pair) -> Any:
        if self.measure.needs != "rows":
            return self.measure.function(pair, **self.options)
        assert isinstance(pair.x, RowSide)
        assert isinstance(pair.y, RowSide)
        X, Y = (side.rows(True) if self.standardized else side.raw for side in (pair.x, pair.y))
        return self.measure.function(X, Y, **self.options)


def tasks_for(
    measures: Iterable[Measure], options: dict[str, Any], scalings: Sequence[bool]
) -> list[Task]:
    """One task for every measure and scaling; a measure that does not see the scale has one only."""
    return [
        Task(m, options_of(m, options), s)
        for m in measures
        for s in (scalings[:1] if blind_to_scale(m, options) else scalings)
    ]


def blind_to_scale(measure: Measure, options: dict[str, Any]) -> bool:
    """Whether raw and standardized neurons give the same; a ridge is an exception."""
    ridge = "ridge" in measure.options and options.get("ridge", 0)
    return "neuron-scale" in measure.invariances and not ridge


def evaluate(
    tasks: Sequence[Task],
    replicates: Replicates,
    *,
    without_parts: bool,
    held_out: bool,
    advance: Callable[[int], None],
    known: Container[Place] = (),
    work: Workspace | None = None,
) -> dict[tuple[str, bool], Scores]:
    """Scores of every task, by measure and scaling; pairs that are ``known`` stay NaN.

    ``without_parts``: also without each part, for the jackknife. ``held_out``: what is fitted is fitted without a
    part and scored on it, each part in turn. What is finished is kept in ``work``, if that has a folder.
    """
    size = len(replicates.names)
    sizes = replicates.part_sizes
    scores = {
        t.key: Scores(
            np.full((size, size), np.nan), n=replicates.n, part_sizes=tuple(sizes.values())
        )
        for t in tasks
    }
    fitted = [t for t in tasks if held_out and t.measure.fitted]
    plain = [t for t in tasks if t not in fitted]
    parts: list[Any] = [None, *(sizes if without_parts else ())]
    if fitted and len(sizes) < 2:
        raise MeasureError(
            "A held-out score needs two parts at least: name the parts of the rows (part=… in update, "
            "parts=… elsewhere)."
        )
    # A function of a user's own may have changed since, under the same name.
    ours = all(t.measure.function.__module__.startswith("lmkin.") for t in tasks)
    kept = KeptScores(
        work if work is not None and ours else Workspace(), len(parts) + len(sizes), size
    )
    kept.restore(scores)
    with workers(replicates.threads) as run:
        for stage in replicates.stages(known):
            for together in replicates.rounds(parts if plain else []):
                fills = []
                for part in together:
                    number = parts.index(part)
                    table = _Table(
                        plain, scores, number - 1, len(parts) - 1, advance, kept.done[number]
                    )
                    fills.append(table.filler(replicates, replicates.sides(without=part)))
                _run_stage(run, fills, stage, partial(kept.keep, scores))
            for together in replicates.rounds(list(sizes) if fitted else []):
                fills = []
                for part in together:
                    number = list(sizes).index(part)
                    done = kept.done[len(parts) + number]
                    table = _Table(fitted, scores, number, len(sizes), advance, done)
                    sides = replicates.sides(without=part), replicates.sides(only=part)
                    fills.append(table.filler(replicates, *sides))
                _run_stage(run, fills, stage, partial(kept.keep, scores))
    kept.keep(scores, now=True)
    weights = np.array(list(sizes.values())) / max(sum(sizes.values()), 1)
    for task in fitted:  # fitted without a part, scored on it; each in turn, weighted by its size
        score = scores[task.key]
        assert score.without is not None
        score.value = np.tensordot(weights, score.without, 1)
    return scores


def count_steps(
    tasks: Sequence[Task],
    replicates: Replicates,
    *,
    without_parts: bool,
    held_out: bool,
    known: Container[Place] = (),
) -> int:
    """How often `evaluate` will advance."""
    every, parts = range(len(replicates.names)), len(replicates.part_sizes)
    fitted = any(held_out and t.measure.fitted for t in tasks)
    plain = any(not (held_out and t.measure.fitted) for t in tasks)
    rounds = plain * (1 + (parts if without_parts else 0)) + fitted * parts
    return rounds * sum((i, j) not in known for i in every for j in every[i:])


Fill = Callable[[Place], None]


def _run_stage(run: Run, fills: Sequence[Fill], stage: Stage, keep: Callable[[], None]) -> None:
    """Fill in all pairs of a stage; between batches of them ``keep`` may save what is done."""

    def work(place: Place) -> None:
        for fill in fills:
            fill(place)

    for some in stage:
        for first in range(0, len(some), _BATCH):
            run(work, some[first : first + _BATCH])
            keep()


class _Table:
    """Where the scores of one replicate go."""

    def __init__(
        self,
        tasks: Sequence[Task],
        scores: dict[tuple[str, bool], Scores],
        replicate: int,
        replicates: int,
        advance: Callable[[int], None],
        done: BoolArray,
    ):
        self.tasks = tasks
        self.scores = scores
        self.replicate = replicate
        self.advance = advance
        self.done = done
        """Pairs that are filled in."""
        for task in tasks:
            score = scores[task.key]
            if replicates and score.without is None:
                score.without = np.full((replicates, *score.value.shape), np.nan)

    def filler(
        self,
        replicates: Replicates,
        sides: Sequence[LayerStats],
        others: Sequence[LayerStats] | None = None,
    ) -> Fill:
        """What fills in a pair of the layers ``sides``, scored on ``others`` if those are given."""

        def make(i: int, j: int, standardized: bool) -> Pair:
            test = None if others is None else replicates.pair(others[i], others[j], standardized)
            return replicates.pair(sides[i], sides[j], standardized, test)

        return partial(self._fill, make)

    def _fill(self, make: Callable[[int, int, bool], Pair], place: Place) -> None:
        """Both directions of one pair of layers, by all tasks."""
        i, j = place
        if self.done[i, j]:
            self.advance(1)
            return
        for standardized in sorted({t.standardized for t in self.tasks}):
            pair = make(i, j, standardized)
            tasks = [t for t in self.tasks if t.standardized == standardized]
            for task in tasks:
                self._put(task, i, j, *task(pair))
            if i == j:
                continue
            back = pair.transposed()
            for task in tasks:
                if task.measure.symmetric:
                    value = self._target(task)[i, j]
                    self._target(task)[j, i] = value
                else:
                    self._put(task, j, i, *task(back))
        self.done[i, j] = True
        self.advance(1)

    def _target(self, task: Task) -> FloatArray:
        score = self.scores[task.key]
        if self.replicate < 0:
            return score.value
        assert score.without is not None
        target: FloatArray = score.without[self.replicate]
        return target

    def _put(self, task: Task, i: int, j: int, value: float, details: dict[str, Any]) -> None:
        self._target(task)[i, j] = value
        if self.replicate < 0:
            for name, array in details.items():
                detail = to_numpy(array() if callable(array) else array)
                self.scores[task.key].details.setdefault(name, {})[i, j] = detail
