"""`decompose`: how much of every model the others explain, linearly and on rows that were not fitted on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from .. import __version__
from ..arguments import check_replicates, refuse_unused
from ..corpus import Corpus
from ..errors import MeasureError, did_you_mean
from ..moments import Moments
from ..moments.making import row_source
from ..moments.parts import PARTS
from ..moments.running import ModelSource
from ..progress import progress_bar
from ..results.labelled import plain
from .alerts import find_alerts
from .joint import Joint
from .keeping import Kept
from .planning import fit_precision, plan_decomposition
from .replicating import count_steps, estimate
from .result import Dependency
from .ridge import Ridge
from .rows import collect, parts_by_split
from .solving import Solver
from .sources import (
    READING,
    chosen_layers,
    given_moments,
    lengths_of,
    refuse_reading,
    require_corpus,
    starts_of,
)
from .splitting import SHARES, make_split
from .tabulating import beyond_length, variables_of

KEPT = 2000
"""Test rows that are kept as they are, to show the inputs that weigh most in what is not explained."""


@dataclass(frozen=True)
class Settings:
    """What a decomposition takes beside the rows."""

    ridge: Ridge
    intervals: bool = True
    level: float = 0.95
    progress: bool | None = None


def decompose(
    source: Any,
    corpus: Corpus | str | Path | None = None,
    *,
    split: Mapping[str, Any] | None = None,
    ridge: str | float = "auto",
    rule: str = "relative",
    released: bool = False,
    intervals: bool = True,
    level: float = 0.95,
    parts: int = PARTS,
    null: bool = True,
    lengths: Any = None,
    layers: Any = "last",
    units: str = "sentence",
    precision: str | None = None,
    memory: float | str | None = None,
    seed: int = 0,
    checkpoint: str | Path | None = None,
    progress: bool | None = None,
    say: Callable[[str], None] | None = None,
    **reading: Any,
) -> Dependency:
    r"""Language Model Decomposition (Zhang 2022): every model as a linear function of the others.

    With target u and basis z, the neurons of some other models side by side,
    :math:`W = \mathrm{cov}(u, z) (\lambda I + \mathrm{cov}(z, z))^{-1}`, :math:`b = E[u] - W E[z]`, fitted on train
    rows; :math:`R^2 = 1 - E\|u - Wz - b\|^2 / E\|u - E[u]\|^2` on each split. For every model by all others
    (``r2_group``), for all ordered pairs (``r2_pair``), and their means (``rho_pair``, ``rho_group``).

    Parameters
    ----------
    source
        A dict of arrays ``{"model": rows × neurons}`` whose rows are the same texts; a list of activations; models
        with a ``corpus``; or moments: ``{"train": Moments, "test": Moments}``.
    corpus
        What the models are to read; not for arrays, activations and moments.
    split
        Row numbers by name, ``{"train": …, "validation": …, "test": …}``, or shares (default 0.8, 0.1, 0.1): whole
        documents where they are known, else rows drawn with ``seed``.
    ridge, rule
        ``"auto"`` (1e-6) or a number, with the rule ``relative`` (a share of the mean eigenvalue of each model's
        covariance: no unit matters), ``absolute`` (λ itself), ``floor`` (the smallest eigenvalue is raised to it); or
        ``ridge="validation"``, the best share on the validation rows for each fit. 0: the solution of least norm.
    released
        λ = 1e-6, absolute, as in the authors' code.
    intervals, level, parts
        Jackknife over ``parts`` blocks of the rows that are scored, and of those that are fitted on (fitted anew
        without each).
    null
        Also the R² that chance gives: the rows of each model shuffled.
    lengths
        Length of each row's text, for arrays: R² is also given with what depends on it regressed out. Known for
        activations and models.
    layers, units, reading
        As for :func:`lmkin.extract`; by default the last layer, averaged over the tokens of a text.
    precision
        Of the products, ``float32`` or ``float64``; by default what suits the arrays and their width.
    memory
        A budget such as ``"8GB"``; where the parts asked for do not fit, there are fewer.
    seed
        For the split and for shuffled rows.
    checkpoint
        A folder for unfinished work: the same call goes on from there after a kill.
    progress, say
        Show a progress bar; who is told of work that was there already.
    """
    settings = Settings(
        Ridge.make(ridge, rule, released=released), bool(intervals), level, progress
    )
    check_replicates(level, parts, seed)
    unknown = [name for name in reading if name not in READING]
    if unknown:
        known = [*(decompose.__kwdefaults__ or {}), *READING]
        raise MeasureError(f"Unknown option {unknown[0]!r}. {did_you_mean(unknown[0], known)}")
    if isinstance(source, Moments) or (
        isinstance(source, Mapping) and any(isinstance(v, Moments) for v in source.values())
    ):
        if corpus is not None or lengths is not None:
            raise MeasureError(
                "Moments are sums: neither a corpus nor lengths can be added to them."
            )
        unused = {"parts": parts, "layers": layers, "units": units, "precision": precision, "memory": memory,
                  "seed": seed, "checkpoint": checkpoint, **reading}  # fmt: skip
        refuse_unused(
            {k: v for k, v in unused.items() if not _by_default(k, v)},
            "Moments are sums that were made before",
        )
        joint = Joint(given_moments(source, split))
        settings.ridge.require_rows(joint.parts)
        return _analyse(joint, settings, info=joint.parts["train"][0][0].info)
    if corpus is not None and not isinstance(corpus, str | Path):
        require_corpus(corpus)
    rows = row_source(
        source, corpus, parts=1, layers=chosen_layers(source, layers), units=units, **reading
    )
    if not isinstance(rows, ModelSource) or rows is source:
        refuse_reading(corpus, {"units": units, **reading})
    sizes = lengths_of(rows, lengths)
    width = sum(rows.widths.values())
    precision = fit_precision(precision, double=rows.double, width=width)
    plan = plan_decomposition(
        width,
        parts if intervals else 1,
        len(split if isinstance(split, Mapping) else SHARES),
        precision=precision,
        null=null,
        choosing=settings.ridge.rule == "validation",
        memory=memory,
        say=say,
    )
    made = make_split(rows.n, split, parts=plan.parts, seed=seed, starts=starts_of(rows))
    settings.ridge.require_rows(made.parts)
    scored = "test" if "test" in made.parts else "train"
    random = np.random.default_rng(seed)
    some = made.rows(scored)
    kept = Kept(np.sort(random.choice(some, min(KEPT, len(some)), replace=False)))
    info = dict(rows.info)
    found, shuffled = collect(
        rows,
        made,
        lengths=sizes,
        precision=precision,
        kept=kept,
        null=null,
        seed=seed,
        checkpoint=Path(checkpoint) if checkpoint is not None else None,
        progress=progress,
        say=say,
    )
    joint = Joint(parts_by_split(found, made))
    chance = None if shuffled is None else Joint(parts_by_split(shuffled, made))
    return _analyse(joint, settings, chance=chance, info=info, kept=kept, texts=rows.units)


def _analyse(
    joint: Joint,
    settings: Settings,
    *,
    chance: Joint | None = None,
    info: dict[str, Any] | None = None,
    kept: Kept | None = None,
    texts: Any = None,
) -> Dependency:
    _require_rows(joint, settings.ridge)
    solver = Solver(joint, settings.ridge)
    steps = count_steps(joint, intervals=settings.intervals)
    extra = [j for j in (chance, joint if joint.covariate is not None else None) if j is not None]
    steps += sum(count_steps(j, intervals=False) for j in extra)
    with progress_bar("decomposition", steps, "fits", show=settings.progress) as advance:
        tables = estimate(
            joint, solver, intervals=settings.intervals, level=settings.level, advance=advance
        )
        variables = variables_of(joint, tables)
        if chance is not None:
            found = estimate(
                chance, Solver(chance, settings.ridge), intervals=False, advance=advance
            )
            variables |= variables_of(joint, found, "_null", ("r2_group", "r2_pair"))
        if joint.covariate is not None:
            variables |= beyond_length(joint, settings.ridge, advance)
    assert solver.chosen is not None
    names = joint.names
    owner = [list(joint.models).index(g.model) for g in joint.groups]
    variables["ridge_group"] = (("model",), solver.chosen.group[owner])
    variables["ridge_pair"] = (("basis", "target"), solver.chosen.pair)
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
        "level": settings.level,
        "units": (info or {}).get("units", "row"),
        "corpus": (info or {}).get("corpus", ""),
        "alerts": [str(a) for a in alerts],
        "provenance": plain({"lmkin": __version__, "source": info or {}}),
    }
    return Dependency(data, joint, solver, kept, texts)


def _require_rows(joint: Joint, ridge: Ridge) -> None:
    n = sum(joint.sizes("train"))
    widest = max(
        sum(
            s.stop - s.start
            for g, s in zip(joint.groups, joint.slices, strict=True)
            if g.model != m
        )
        for m in joint.models
    )
    if ridge.none and n <= widest:
        raise MeasureError(
            f"There are {n:,} rows to fit on and up to {widest:,} neurons to fit with: without a ridge any target "
            f"would be explained in full, and nothing learnt. Take more rows, or a ridge above 0."
        )
    if n < 3:
        raise MeasureError(
            f"Three rows at least are needed to fit on; there are {n}. Give 'train' more of them."
        )


def _by_default(name: str, value: Any) -> bool:
    """Whether an option of `decompose` is as it is if nobody gives it."""
    default = (decompose.__kwdefaults__ or {}).get(name)
    return value is default or (type(value) is type(default) and bool(value == default))
