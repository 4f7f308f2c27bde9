"""All measures for all pairs of layers, on all units and without each part of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import LmkinError, MeasureError
from ..moments.arrays import to_numpy
from .from_rows import RowSide
from .pair import Pair, Side
from .registry import Measure, Scored, options_of
from .replicates import Replicates

FloatArray = NDArray[np.float64]


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


Run = Callable[[Callable[[tuple[int, int]], None], Iterable[tuple[int, int]]], None]


def evaluate(
    tasks: Sequence[Task],
    replicates: Replicates,
    *,
    without_parts: bool,
    held_out: bool,
    advance: Callable[[int], None],
    known: Container[tuple[int, int]] = (),
) -> dict[tuple[str, bool], Scores]:
    """Scores of every task, by measure and scaling; pairs that are ``known`` stay NaN.

    ``without_parts``: also without each part, for the jackknife. ``held_out``: what is fitted is fitted without a
    part and scored on it, each part in turn.
    """
    size = len(replicates.names)
    sizes = tuple(replicates.part_sizes.values())
    scores = {
        t.key: Scores(np.full((size, size), np.nan), n=replicates.n, part_sizes=sizes)
        for t in tasks
    }
    fitted = [t for t in tasks if held_out and t.measure.fitted]
    plain = [t for t in tasks if t not in fitted]
    with workers(replicates.threads) as run:
        if plain:
            parts = [None, *(replicates.part_sizes if without_parts else ())]
            for number, part in enumerate(parts):
                sides = replicates.sides(without=part)
                table = _Table(plain, scores, number - 1, len(parts) - 1, advance)
                make = _maker(replicates, sides)
                for some in _all_pairs(size, known):
                    run(partial(table.fill, make), some)
        if fitted:
            _held_out(fitted, replicates, scores, run, advance, known)
    return scores


def count_steps(
    tasks: Sequence[Task],
    replicates: Replicates,
    *,
    without_parts: bool,
    held_out: bool,
    known: Container[tuple[int, int]] = (),
) -> int:
    """How often `evaluate` will advance."""
    size, parts = len(replicates.names), len(replicates.part_sizes)
    fitted = any(held_out and t.measure.fitted for t in tasks)
    plain = any(not (held_out and t.measure.fitted) for t in tasks)
    rounds = plain * (1 + (parts if without_parts else 0)) + fitted * parts
    return rounds * sum(len(some) for some in _all_pairs(size, known))


def _held_out(
    tasks: Sequence[Task],
    replicates: Replicates,
    scores: dict[tuple[str, bool], Scores],
    run: Run,
    advance: Callable[[int], None],
    known: Container[tuple[int, int]],
) -> None:
    """Fit without a part, score on it; each part in turn, weighted by its size."""
    sizes = replicates.part_sizes
    if len(sizes) < 2:
        raise MeasureError(
            "A held-out score needs two parts at least: name the parts of the rows (part=… in update, "
            "parts=… elsewhere)."
        )
    for number, part in enumerate(sizes):
        sides, others = replicates.sides(without=part), replicates.sides(only=part)
        table = _Table(tasks, scores, number, len(sizes), advance)
        make = _maker(replicates, sides, others)
        for some in _all_pairs(len(sides), known):
            run(partial(table.fill, make), some)
    weights = np.array(list(sizes.values())) / sum(sizes.values())
    for task in tasks:
        score = scores[task.key]
        assert score.without is not None
        score.value = np.tensordot(weights, score.without, 1)


Make = Callable[[int, int, bool], Pair]


def _maker(
    replicates: Replicates, sides: Sequence[Side], others: Sequence[Side] | None = None
) -> Make:
    def make(i: int, j: int, standardized: bool) -> Pair:
        test = None if others is None else replicates.pair(others[i], others[j], standardized)
        return replicates.pair(sides[i], sides[j], standardized, test)

    return make


def _one_by_one(work: Callable[[tuple[int, int]], None], pairs: Iterable[tuple[int, int]]) -> None:
    for pair in pairs:
        work(pair)


@contextmanager
def workers(threads: bool) -> Iterator[Run]:
    """Run pairs side by side, each on one core: small matrices use cores better so than one after another."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    limit = int(os.environ.get("OMP_NUM_THREADS") or cores or 1)
    count = min(cores or 1, limit)
    if not threads or count < 2:
        yield _one_by_one
        return
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(count) as pool:

        def run(work: Callable[[tuple[int, int]], None], pairs: Iterable[tuple[int, int]]) -> None:
            waiting = [pool.submit(work, pair) for pair in pairs]
            try:
                for each in waiting:
                    each.result()
            finally:
                for each in waiting:
                    each.cancel()

        yield run


def _all_pairs(size: int, known: Container[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    """Each layer with itself first: then what belongs to a layer alone is known when it meets others."""
    yield [(i, i) for i in range(size) if (i, i) not in known]
    pairs = ((i, j) for i in range(size) for j in range(i + 1, size))
    yield [pair for pair in pairs if pair not in known]


class _Table:
    """Where the scores of one replicate go."""

    def __init__(
        self,
        tasks: Sequence[Task],
        scores: dict[tuple[str, bool], Scores],
        replicate: int,
        replicates: int,
        advance: Callable[[int], None],
    ):
        self.tasks = tasks
        self.scores = scores
        self.replicate = replicate
        self.advance = advance
        for task in tasks:
            score = scores[task.key]
            if replicates and score.without is None:
                score.without = np.full((replicates, *score.value.shape), np.nan)

    def fill(self, make: Make, place: tuple[int, int]) -> None:
        """Both directions of one pair of layers, by all tasks."""
        i, j = place
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
                found = to_numpy(array() if callable(array) else array)
                self.scores[task.key].details.setdefault(name, {})[i, j] = found
