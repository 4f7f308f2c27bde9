"""How the layers are brought together: all at once, by pairs of models, or from the rows."""

from __future__ import annotations

import tempfile
from collections.abc import Container, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from ...core import LayerId, MeasureError, fingerprint, progress_bar
from ...measures import (
    MomentReplicates,
    Null,
    PanelReplicates,
    Replicates,
    RowReplicates,
    Scores,
    Task,
    check_permutations,
    count_shuffles,
    count_steps,
    evaluate,
    sampled,
    shuffle,
)
from ...moments import Moments, PanelMoments, RoutePlan, accumulate, choose_precision
from ...rows import RowSource, Workspace
from .settings import Settings


@dataclass
class Outcome:
    """Scores of all pairs of groups, and what is to be said about them."""

    groups: list[LayerId]
    widths: dict[LayerId, int]
    scores: dict[tuple[str, bool], Scores]
    n: int
    part_sizes: dict[Any, int]
    info: dict[str, Any]
    sides: Sequence[Any]
    nulls: dict[tuple[str, bool], Null] = field(default_factory=dict)
    plan: RoutePlan | None = None


def from_moments(
    moments: Moments | PanelMoments,
    tasks: list[Task],
    settings: Settings,
    known: Container[tuple[int, int]] = (),
    work: Workspace | None = None,
) -> Outcome:
    """From sums, and the rows that were kept for what needs rows; without the pairs of layers that are ``known``.

    Finished scores are kept in ``work``.
    """
    if not moments.groups:
        raise MeasureError("These moments are empty: no rows have been added yet.")
    replicates = (
        PanelReplicates(moments) if isinstance(moments, PanelMoments) else MomentReplicates(moments)
    )
    sums = [t for t in tasks if t.measure.needs == "moments"]
    rows = [t for t in tasks if t.measure.needs != "moments"]
    jobs: list[tuple[list[Task], Replicates]] = [(sums, replicates)] if sums else []
    if rows:
        jobs.append((rows, sampled(moments)))
    scores = _run(jobs, settings, known, work)
    info = dict(moments.info)
    if isinstance(moments, Moments) and (settings.intervals or settings.held_out):
        info["outliers"] = [str(part) for part in moments.parts_with_outliers()]
    return Outcome(
        list(moments.groups),
        moments.widths,
        scores,
        moments.n,
        moments.part_sizes if len(moments.part_sizes) > 1 else {},
        info,
        replicates.sides(),
        _nulls(tasks, sampled(moments, settings.sample_rows), settings)
        if settings.permutations
        else {},
    )


def _nulls(
    tasks: Sequence[Task], rows: RowReplicates, settings: Settings
) -> dict[tuple[str, bool], Null]:
    """What chance would give for every task, on a sample of the rows."""
    check_permutations(settings.permutations)
    every = list(range(len(rows.names)))
    total = sum(count_shuffles(t, every, every, settings.permutations) for t in tasks)
    with progress_bar("null", total, "pairs", show=settings.progress) as advance:
        return {
            t.key: shuffle(t, rows, every, every, settings.permutations, settings.seed, advance)
            for t in tasks
        }


def _run(
    jobs: Sequence[tuple[list[Task], Replicates]],
    settings: Settings,
    known: Container[tuple[int, int]] = (),
    work: Workspace | None = None,
) -> dict[tuple[str, bool], Scores]:
    how = [
        (
            tasks,
            replicates,
            {
                "without_parts": settings.intervals and len(replicates.part_sizes) > 1,
                "held_out": settings.held_out,
            },
        )
        for tasks, replicates in jobs
    ]
    total = sum(count_steps(tasks, r, known=known, **options) for tasks, r, options in how)
    scores: dict[tuple[str, bool], Scores] = {}
    with progress_bar("measures", total, "pairs", show=settings.progress) as advance:
        for tasks, replicates, options in how:
            names = [[t.measure.name, t.standardized, t.options] for t in tasks]
            mine = None if work is None else work.within(tasks=names, **options)
            scores |= evaluate(
                tasks, replicates, advance=advance, known=known, work=mine, **options
            )
    return scores


def jointly(source: RowSource, tasks: list[Task], settings: Settings, keep_parts: bool) -> Outcome:
    """All layers of all models at once."""
    moments = _moments_of(source, tasks, settings, keep_parts)
    return from_moments(moments, tasks, settings, work=_work(source, settings))


def _work(source: RowSource, settings: Settings) -> Workspace | None:
    """Where scores of these rows are kept."""
    work = Workspace.of(settings.workspace)
    if not work.keeps:
        return None
    own = {"precision": settings.precision, "seed": settings.seed, "kept": settings.sample_rows}
    parts = np.asarray(source.part)
    return work.within(
        rows=source.identity(), parts=fingerprint(parts), layers=_names(source), **own
    )


def _names(source: RowSource) -> list[str]:
    return [str(layer) for layer in source.widths]


def by_panels(
    source: RowSource, tasks: list[Task], settings: Settings, keep_parts: bool
) -> Outcome:
    """From rows in memory, a panel of layers at a time."""
    precision = choose_precision(
        settings.precision, double=source.double, width=sum(source.widths.values())
    )
    with progress_bar("rows", source.n, f"{source.unit}s", show=settings.progress) as advance:
        moments = PanelMoments(
            source,
            keep_parts=keep_parts,
            precision=precision,
            rows=_kept_rows(tasks, settings),
            seed=settings.seed,
            advance=advance,
        )
    return from_moments(moments, tasks, settings, work=_work(source, settings))


def _kept_rows(tasks: list[Task], settings: Settings) -> int:
    """How many rows are needed as they are."""
    needed = settings.permutations or any(t.measure.needs != "moments" for t in tasks)
    return settings.sample_rows if needed else 0


def _moments_of(
    source: RowSource, tasks: list[Task], settings: Settings, keep_parts: bool
) -> Moments:
    return accumulate(
        source,
        keep_parts=keep_parts,
        precision=settings.precision,
        sample_rows=_kept_rows(tasks, settings),
        seed=settings.seed,
        exact_scale=any(t.standardized for t in tasks),
        work=Workspace.of(settings.workspace),
        progress=settings.progress,
    )


def by_pairs(source: RowSource, tasks: list[Task], settings: Settings, keep_parts: bool) -> Outcome:
    """One pair of models after another; what a pair says is put where it belongs.

    Models are run once, into a temporary folder; or, where there is a place for unfinished work, into that, to go on
    there after a kill.
    """
    work = Workspace.of(settings.workspace)
    if work.keeps:
        folder = work.within(rows=source.identity()).path("activations", "acts")
        return _by_pairs(source.to_read_again(folder), tasks, settings, keep_parts)
    with tempfile.TemporaryDirectory(prefix="lmkin-") as temporary:
        return _by_pairs(source.to_read_again(Path(temporary)), tasks, settings, keep_parts)


def _by_pairs(
    source: RowSource, tasks: list[Task], settings: Settings, keep_parts: bool
) -> Outcome:
    layers, part = (
        source.some_rows(settings.sample_rows, settings.seed)
        if settings.permutations
        else ({}, None)
    )
    nulls = {}
    if part is not None:
        rows = [(str(g), a) for g, a in layers.items()]
        nulls = _nulls(tasks, RowReplicates(rows, part, keep_parts=False), settings)
        settings = replace(settings, permutations=0)
    groups = list(source.widths)
    place = {g: i for i, g in enumerate(groups)}
    models = list(dict.fromkeys(g.model for g in groups))
    whole: dict[tuple[str, bool], Scores] = {}
    sides: dict[LayerId, Any] = {}
    outcome: Outcome | None = None
    seen: set[str] = set()
    for a, b in combinations(models, 2):
        pair_groups = [g for g in groups if g.model in (a, b)]
        pair = source.only(pair_groups)
        moments = _moments_of(pair, tasks, settings, keep_parts)
        # Pairs of layers of one model are known once it has met another.
        known = {
            (i, j)
            for i, g in enumerate(pair_groups)
            for j, h in enumerate(pair_groups)
            if g.model == h.model and g.model in seen
        }
        outcome = from_moments(moments, tasks, settings, known, _work(pair, settings))
        seen |= {a, b}
        for g, side in zip(pair_groups, outcome.sides, strict=True):
            sides.setdefault(g, _Measured.of(side))
        outcome.sides = ()
        index = np.array([place[g] for g in pair_groups])
        for key, score in outcome.scores.items():
            _put(whole.setdefault(key, _blank(score, len(groups))), score, index)
    assert outcome is not None
    return Outcome(
        groups,
        dict(source.widths),
        whole,
        outcome.n,
        outcome.part_sizes,
        outcome.info,
        [sides[g] for g in groups],
        nulls,
    )


@dataclass(frozen=True)
class _Measured:
    """What alerts need of a layer, without its sums."""

    name: str
    n: int
    d: int
    n_alive: int
    std: Any
    xp: Any
    first: Any
    drift: float

    @classmethod
    def of(cls, side: Any) -> _Measured:
        spectrum = side.spectrum(False).head(1)
        return cls(side.name, side.n, side.d, side.n_alive, side.std, side.xp, spectrum, side.drift)

    def spectrum(self, standardized: bool) -> Any:
        return self.first


def _blank(score: Scores, size: int) -> Scores:
    without = None
    if score.without is not None:
        without = np.full((len(score.without), size, size), np.nan)
    return Scores(np.full((size, size), np.nan), without, {}, score.n, score.part_sizes)


def _put(whole: Scores, score: Scores, index: Any) -> None:
    """Put what a pair of models says where it belongs; NaN is what was known before."""
    tables = [(whole.value, score.value)]
    if whole.without is not None and score.without is not None:
        tables += list(zip(whole.without, score.without, strict=True))
    for target, table in tables:
        old = target[np.ix_(index, index)]
        target[np.ix_(index, index)] = np.where(np.isnan(table), old, table)
    for name, arrays in score.details.items():
        known = whole.details.setdefault(name, {})
        known |= {(int(index[i]), int(index[j])): array for (i, j), array in arrays.items()}


def dually(source: RowSource, tasks: list[Task], settings: Settings, keep_parts: bool) -> Outcome:
    """From the rows themselves: there are few."""
    rows = source.all_rows()
    layers = [(str(g), rows[g]) for g in source.widths]
    replicates = RowReplicates(layers, source.part, keep_parts=keep_parts)
    return Outcome(
        list(source.widths),
        dict(source.widths),
        _run([(tasks, replicates)], settings, work=_work(source, settings)),
        source.n,
        replicates.part_sizes,
        source.info,
        replicates.sides(),
        _nulls(tasks, replicates, settings) if settings.permutations else {},
    )


ROUTES = {"panels": by_panels, "joint": jointly, "pairs": by_pairs, "dual": dually}
