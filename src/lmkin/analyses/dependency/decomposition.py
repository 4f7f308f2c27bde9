"""`decompose`: how much of every model the others explain, linearly and on rows that were not fitted on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Unpack

import numpy as np
import xarray as xr

from ...core import (
    PARTS,
    SHARES,
    Convention,
    MeasureError,
    Precision,
    Ridge,
    as_data,
    budget,
    by_shares,
    check_intervals,
    check_seed,
    make_split,
    progress_bar,
    quoted,
    refuse_unused,
)
from ...corpus import Corpus
from ...models import ReadingOptions, check_reading
from ...moments import Moments
from ...results import make_provenance
from ...rows import ModelSource, Workspace, owners_of, row_source
from .alerts import find_alerts
from .intervals import count_steps, estimate
from .joint import Joint, widest_basis
from .memory_plan import fit_precision, plan_decomposition
from .result import Dependency
from .row_sample import Kept
from .solver import Solver
from .sources import (
    chosen_layers,
    given_moments,
    lengths_of,
    refuse_reading,
    require_corpus,
)
from .split_moments import collect, parts_by_split
from .variables import beyond_length, variables_of

RidgeRule = Literal["auto", "relative", "absolute", "floor", "validation"]
KEPT = 2000
"""Test rows that are kept as they are, to show the inputs that weigh most in what is not explained."""


@dataclass(frozen=True)
class Settings:
    """What a decomposition takes beside the rows."""

    ridge: Ridge
    intervals: bool = True
    level: float = 0.95
    progress: bool | None = None
    workers: int | None = None
    """Fits at the same time, where memory was planned; None for as many as there are cores."""


def decompose_rows(
    source: Any,
    corpus: Corpus | str | Path | None = None,
    *,
    split: Mapping[str, Any] | None = None,
    ridge: str | float = "auto",
    ridge_rule: RidgeRule = "auto",
    convention: Convention = "paper",
    intervals: bool = True,
    level: float = 0.95,
    parts: int = PARTS,
    permutation_baseline: bool = True,
    row_lengths: Any = None,
    precision: Precision | None = None,
    memory: float | str | None = None,
    seed: int = 0,
    workspace: str | Path | Workspace | None = None,
    progress: bool | None = None,
    **reading: Unpack[ReadingOptions],
) -> Dependency:
    """Every model of some rows as a linear function of the others; :func:`lmkin.decompose` without lengths of texts."""
    if convention not in ("paper", "released"):
        raise MeasureError(f"convention is 'paper' or 'released'; got {quoted(convention)}.")
    asked = Ridge.make(ridge, ridge_rule, released=convention == "released")
    check_intervals(intervals, level, parts)
    check_seed(seed)
    check_reading(reading, decompose_rows)
    # Read here, so that what was left out is told from what was given.
    given_reading: dict[str, Any] = {**reading}
    layers = given_reading.pop("layers", "last")
    units = str(given_reading.pop("units", "sentence"))
    if isinstance(source, Moments) or (
        isinstance(source, Mapping) and any(isinstance(v, Moments) for v in source.values())
    ):
        if corpus is not None or row_lengths is not None:
            raise MeasureError(
                "Moments are sums: neither a corpus nor lengths can be added to them."
            )
        unused = {"parts": parts, "precision": precision, "memory": memory, "seed": seed,
                  "workspace": workspace, **_given(reading)}  # fmt: skip
        refuse_unused(
            {k: v for k, v in unused.items() if not _by_default(k, v)},
            "Moments are sums that were made before",
        )
        joint = Joint(given_moments(source, split))
        asked.require_rows(joint.parts)
        settled = asked.settled(sum(joint.sizes("train")), joint.widest_basis, joint.parts)
        settings = Settings(settled, bool(intervals), level, progress)
        return _analyse(joint, settings, asked, info=joint.parts["train"][0][0].info)
    if corpus is not None and not isinstance(corpus, str | Path):
        require_corpus(corpus)
    rows = row_source(
        source, corpus, parts=1, layers=chosen_layers(source, layers), units=units, **given_reading
    )
    if not isinstance(rows, ModelSource) or rows is source:
        refuse_reading(corpus, {"units": units, **given_reading})
    sizes = lengths_of(rows, row_lengths)
    width = sum(rows.widths.values())
    products = fit_precision(precision, double=rows.double, width=width)
    owner = owners_of(rows)
    whole = make_split(rows.n, split, parts=1, seed=seed, owner=owner)
    asked.require_rows(whole.parts)
    settled = asked.settled(len(whole.rows("train")), widest_basis(rows.widths), whole.parts)
    settings = Settings(settled, bool(intervals), level, progress)
    rows.fit_batches(budget(memory).left // 2)  # sums are there while models run
    plan = plan_decomposition(
        width,
        parts if intervals else 1,
        len(split if isinstance(split, Mapping) else SHARES),
        precision=products,
        null=permutation_baseline,
        choosing=settled.rule == "validation",
        memory=memory,
        forward=rows.forward_memory,
        weights=rows.weights,
        in_shards=workspace is not None and not rows.reread,
    )
    settings = replace(settings, workers=plan.workers)
    made = make_split(rows.n, split, parts=plan.parts, seed=seed, owner=owner)
    scored = "test" if "test" in made.parts else "train"
    random = np.random.default_rng(seed)
    some = made.rows(scored)
    kept = Kept(np.sort(random.choice(some, min(KEPT, len(some)), replace=False)))
    info = dict(rows.info)
    if rows.units is None and by_shares(split) and len(made.parts) > 1:
        info["drawn"] = "rows"
    moments, shuffled, kept = collect(
        rows,
        made,
        kept,
        lengths=sizes,
        precision=products,
        null=permutation_baseline,
        seed=seed,
        work=Workspace.of(workspace),
        progress=progress,
    )
    joint = Joint(parts_by_split(moments, made))
    chance = None if shuffled is None else Joint(parts_by_split(shuffled, made))
    shown = {"split": split, "precision": products, "seed": seed, "memory": memory}
    return _analyse(
        joint, settings, asked, chance=chance, info=info, kept=kept, texts=rows.units, options=shown
    )


def _analyse(
    joint: Joint,
    settings: Settings,
    asked: Ridge,
    *,
    chance: Joint | None = None,
    info: dict[str, Any] | None = None,
    kept: Kept | None = None,
    texts: Any = None,
    options: Mapping[str, Any] | None = None,
) -> Dependency:
    _require_rows(joint, settings.ridge)
    solver = Solver(joint, settings.ridge)
    steps = count_steps(joint, intervals=settings.intervals)
    extra = [j for j in (chance, joint if joint.covariate is not None else None) if j is not None]
    steps += sum(count_steps(j, intervals=False) for j in extra)
    with progress_bar("decomposition", steps, "fits", show=settings.progress) as advance:
        tables = estimate(
            joint,
            solver,
            intervals=settings.intervals,
            level=settings.level,
            most_workers=settings.workers,
            advance=advance,
        )
        variables = variables_of(joint, tables)
        if chance is not None:
            null_tables = estimate(
                chance,
                Solver(chance, settings.ridge),
                intervals=False,
                most_workers=settings.workers,
                advance=advance,
            )
            variables |= variables_of(joint, null_tables, "_null", ("r2_group", "r2_pair"))
        if joint.covariate is not None:
            variables |= beyond_length(joint, settings.ridge, settings.workers, advance)
    assert solver.ridges is not None
    names = joint.names
    owner = [list(joint.models).index(g.model) for g in joint.groups]
    variables["ridge_group"] = (("model",), solver.ridges.group[owner])
    variables["ridge_pair"] = (("basis", "target"), solver.ridges.pair)
    sizes = {split: sum(joint.sizes(split)) for split in joint.parts}
    variables["n"] = (("split",), np.array(list(sizes.values())))
    data = xr.Dataset(
        variables,
        coords={"split": list(joint.parts), "model": names, "basis": names, "target": names},
    )
    data["width"] = (("model",), np.array([s.stop - s.start for s in joint.slices]))
    alerts = find_alerts(data, joint, info or {}, settings.ridge.rule)
    data.attrs = {
        "rule": settings.ridge.rule,
        "ridge": settings.ridge.value,
        "ridge_reason": settings.ridge.reason,
        "level": settings.level,
        "units": (info or {}).get("units", "row"),
        "corpus": (info or {}).get("corpus", ""),
        "parts": {split: len(parts) for split, parts in joint.parts.items()},
        "alerts": as_data(alerts),
        "provenance": make_provenance(
            analysis="dependency",
            options={
                "split": sizes if options is None else _plain_split(options["split"], sizes),
                "ridge": asked.value,
                "ridge_rule": asked.rule,
                "intervals": settings.intervals,
                "level": settings.level,
                "permutation_baseline": chance is not None,
                "precision": None if options is None else options["precision"],
            },
            source=info or {},
            running={k: options[k] for k in ("memory", "seed")} if options is not None else {},
        ),
    }
    return Dependency(data, joint, solver, kept, texts)


def _plain_split(split: Any, sizes: Mapping[str, int]) -> Any:
    """As it was asked for; row numbers of one's own as how many they are."""
    if split is None:
        return dict(SHARES)
    return {k: float(v) for k, v in split.items()} if by_shares(split) else dict(sizes)


def _require_rows(joint: Joint, ridge: Ridge) -> None:
    n = sum(joint.sizes("train"))
    widest = joint.widest_basis
    if ridge.none and n <= widest:
        raise MeasureError(
            f"There are {n:,} rows to fit on and up to {widest:,} neurons to fit with: without a ridge any target "
            f"would be explained in full, and nothing learnt. Take more rows, or a ridge above 0."
        )
    if n < 3:
        raise MeasureError(
            f"Three rows at least are needed to fit on; there are {n}. Give 'train' more of them."
        )


def _given(reading: Mapping[str, Any]) -> dict[str, Any]:
    """How models are to read, as far as it is not what `decompose` does anyway."""
    usual = {"layers": "last", "units": "sentence"}
    return {
        name: value
        for name, value in reading.items()
        if not (value is None or (isinstance(value, str) and value == usual.get(name)))
    }


def _by_default(name: str, value: Any) -> bool:
    """Whether an option of `decompose` is as it is if nobody gives it."""
    default = (decompose_rows.__kwdefaults__ or {}).get(name)
    return value is default or (type(value) is type(default) and bool(value == default))
