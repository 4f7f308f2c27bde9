"""`similarity`: how alike all layers of some models are, by one or several measures."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from ...core import PARTS, MeasureError, Precision, as_data
from ...corpus import Corpus
from ...measures import (
    Measure,
    Null,
    Scores,
    choose_measures,
    needs_spectra,
    tasks_for,
)
from ...models import ReadingOptions, check_reading
from ...moments import ROWS, Moments, plan_source
from ...results import Entry, Labels, as_dataset, jackknife, make_provenance, plain, spread_of_folds
from ...rows import RowSource, Workspace, row_source
from .alerts import find_alerts
from .options import DEFAULT_MEASURES, Neurons, Route
from .result import Similarity
from .routes import ROUTES, Outcome, from_moments
from .settings import SCALINGS, Settings, check_settings, refuse_for_moments

_log = logging.getLogger("lmkin")
FEWEST = 4
"""Units that unbiased estimates need, also where a part is left out."""


def similarity(
    source: Any,
    corpus: Corpus | str | Path | None = None,
    *,
    measures: str | Iterable[str] = DEFAULT_MEASURES,
    neurons: Neurons = "both",
    held_out: bool = False,
    permutations: int = 0,
    measure_options: Mapping[str, Any] | None = None,
    intervals: bool = True,
    level: float = 0.95,
    parts: int | Sequence[Any] = PARTS,
    memory: float | str | None = None,
    route: Route | None = None,
    precision: Precision | None = None,
    sample_rows: int = ROWS,
    seed: int = 0,
    workspace: str | Path | Workspace | None = None,
    progress: bool | None = None,
    **reading: Unpack[ReadingOptions],
) -> Similarity:
    """Compare all layers of all models by CKA, SVCCA, PWCCA, neuron matching or any measure, in one pass over the rows.

    Parameters
    ----------
    source
        A dict ``{"model/layer": units × neurons}`` with the same rows; a list of `Activations` or folders of them;
        `Moments`; or models with a ``corpus``.
    corpus
        What models are to read; not for arrays, activations and moments.
    measures
        One name, several (a list, or with commas), or ``"all"``: see ``lmkin measures``. By default the five of Wu et
        al. 2020.
    neurons
        ``raw``, ``standardized`` (each divided by its standard deviation), or ``both``, side by side.
    held_out
        Fit regressions and canonical correlations without a part, and score them on it; each part in turn.
    permutations
        So many permutations of the units: adds ``M_null_mean``, ``M_p`` and, corrected for the search over all pairs of
        layers, ``M_p_max``, from a sample of ``sample_rows`` units.
    measure_options
        Options of the measures: variance, top_k, estimator, ridge, tolerance, convention, bandwidth ….
    intervals
        Standard errors and confidence intervals of every value, by a jackknife.
    level
        Confidence level of the intervals.
    parts
        How many blocks of whole documents the jackknife leaves out in turn; or one label a row.
    memory
        A budget such as ``"8GB"`` for the peak of the whole process.
    route
        ``panels``, ``joint``, ``pairs`` or ``dual``; by default what fits the budget best.
    precision
        Of the products: ``float32`` or ``float64``; by default what suits the rows.
    sample_rows
        How many rows are kept as they are: for permutations; of them at most 1,000 for measures that need rows.
    seed
        Of that sample, and of permutations.
    workspace
        A folder for unfinished work: the same call goes on from there after a kill.
    progress
        Show progress bars; by default where there is a terminal or a notebook.
    reading
        How models read the corpus, as for :func:`lmkin.extract`: layers, units, pooling, batch_tokens ….
    """
    check_reading(reading, similarity)
    compared = choose_measures(measures)
    settings = Settings(
        measures=[m.name for m in compared],
        measure_options=dict(measure_options or {}),
        corpus=corpus,
        intervals=intervals,
        level=level,
        parts=parts,
        neurons=neurons,
        held_out=held_out,
        permutations=permutations,
        memory=memory,
        route=route,
        precision=precision,
        sample_rows=sample_rows,
        seed=seed,
        workspace=workspace,
        progress=progress,
        reading=reading,
    )
    check_settings(settings)
    return _compare(source, compared, settings, dict(settings.measure_options))


def _compare(
    source: Any, measures: list[Measure], settings: Settings, own: dict[str, Any]
) -> Similarity:
    tasks = tasks_for(measures, own, settings.scalings)
    if isinstance(source, Moments):
        refuse_for_moments(settings)
        return _finish(from_moments(source, tasks, settings), measures, own, settings)
    single = isinstance(settings.parts, int | np.integer) and settings.parts <= 1
    wants_parts = (settings.intervals or settings.held_out) and not single
    if isinstance(source, Mapping | RowSource) and settings.corpus is not None:
        raise MeasureError(
            "A corpus is for models to read; arrays and activations are read already."
        )
    rows = row_source(
        source, settings.corpus, parts=settings.parts if wants_parts else 1, **settings.reading
    )
    n_parts = int(rows.part.max()) + 1
    if wants_parts and n_parts > 1:
        _require_enough(rows.part, settings)
    plan = plan_source(
        rows,
        parts=n_parts if wants_parts else 1,
        precision=settings.precision,
        scalings=len(settings.scalings),
        memory=settings.memory,
        route=settings.route,
        rows=settings.sample_rows,
        spectra=needs_spectra(measures),
    )
    _log.info("Plan: %s", plan)
    outcome = ROUTES[plan.route](rows, tasks, settings, wants_parts and n_parts > 1)
    outcome.plan = plan
    return _finish(outcome, measures, own, settings)


def _require_enough(part: Any, settings: Settings) -> None:
    """Raise if too few units are left without a part, before anything is computed."""
    sizes = np.bincount(part)
    left = len(part) - int(sizes.max())
    if left < FEWEST:
        raise MeasureError(
            f"There are {len(part)} units in {len(sizes)} parts; without one of the parts {left} are "
            f"left, and {FEWEST} are needed. "
            f"Take more units, fewer parts, or no intervals (intervals=False)."
        )


def _finish(
    outcome: Outcome, measures: list[Measure], own: dict[str, Any], settings: Settings
) -> Similarity:
    """Intervals, alerts, labels."""
    labels = Labels(outcome.groups)
    sizes = list(outcome.part_sizes.values())
    entries: dict[str, dict[str, Entry]] = {}
    for measure in measures:
        for scaling in settings.scalings:
            score = outcome.scores.get((measure.name, scaling))
            if score is None:
                continue
            held_out = settings.held_out and measure.fitted
            interval = None
            if score.without is not None and (settings.intervals or held_out):
                rule = spread_of_folds if held_out else jackknife
                interval = rule(score.value, score.without, score.part_sizes, settings.level)
            entries.setdefault(measure.name, {})[SCALINGS[scaling]] = Entry(
                score.value,
                _describe(measure, own, score, held_out),
                interval,
                score.without if settings.intervals else None,
                score.details,
                _chance(outcome.nulls.get((measure.name, scaling))),
            )
    if len(settings.scalings) > 1 and all(len(by) == 1 for by in entries.values()):
        for by in entries.values():  # all are blind to scale; both tables were asked for
            by["standardized"] = by["raw"]
    alerts = find_alerts(
        outcome.sides,
        measures,
        outcome.info,
        held_out=settings.held_out,
        standardized=True in settings.scalings,
        parts=max(len(sizes), 1) if settings.intervals else None,
    )
    attrs = {
        "n": outcome.n,
        "d": [outcome.widths[g] for g in outcome.groups],
        "units": outcome.info.get("units", "row"),
        "corpus": outcome.info.get("corpus", ""),
        "models": labels.models,
        "widths": plain({str(g): w for g, w in outcome.widths.items()}),
        "parts": len(sizes) if settings.intervals else 0,
        "part_sizes": sizes,
        "level": settings.level,
        "alerts": as_data(alerts),
        "provenance": _provenance(outcome, measures, own, settings),
    }
    return Similarity(as_dataset(labels, entries, attrs))


def _chance(null: Null | None) -> dict[str, Any]:
    """What goes into a result of the shuffled rows."""
    return {} if null is None else {"null_mean": null.mean, "p": null.p, "p_max": null.p_max}


def _describe(
    measure: Measure, own: Mapping[str, Any], score: Scores, held_out: bool
) -> dict[str, Any]:
    used = {k: v for k, v in own.items() if k in measure.options}
    title = measure.title
    if "estimator" in measure.options:
        title += f", {used.get('estimator', 'unbiased')}"
    if used.get("convention") == "released":
        title += ", as released"
    low, high = measure.range
    if held_out:
        low = -1.0  # a correlation, on units that the fit has not seen
    return {
        "long_name": title + (", held out" if held_out else ""),
        "summary": measure.summary,
        "symmetric": int(measure.symmetric),
        "low": low,
        "high": high,
        "unbiased": int(measure.unbiased or held_out),
        "held_out": int(held_out),
        "reference": measure.reference,
        "options": plain(used),
        "n_used": score.n,
        "part_sizes": list(score.part_sizes),
    }


def _provenance(
    outcome: Outcome, measures: list[Measure], own: dict[str, Any], settings: Settings
) -> dict[str, Any]:
    names = (
        "neurons",
        "held_out",
        "permutations",
        "intervals",
        "level",
        "precision",
        "sample_rows",
    )
    options = {name: getattr(settings, name) for name in names}
    return make_provenance(
        analysis="similarity",
        options={
            "measures": [m.name for m in measures],
            **options,
            "parts": len(outcome.part_sizes),
            "measure_options": own,
        },
        source=outcome.info,
        running={"memory": settings.memory, "seed": settings.seed},
        route=outcome.plan.route if outcome.plan else "moments",
    )
