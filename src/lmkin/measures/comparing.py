"""`similarity` and `similarities`: how alike all layers of some models are, by any measure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from .. import __version__
from ..errors import MeasureError, did_you_mean
from ..moments import Moments, RowSource, plan_moments, row_source
from ..results.intervals import jackknife, spread_of_folds
from ..results.labelled import Entry, Labels, as_dataset, as_matrix, plain
from .alerts import find_alerts
from .evaluation import Scores, tasks_for
from .null import Null
from .registry import Measure, check_options, choose_measures, measure_info, needs_spectra
from .routes import ROUTES, Outcome, from_moments
from .settings import Settings, check_settings, refuse

_OF_SOURCES = (
    "corpus", "parts", "layers", "units", "pooling", "rows", "precision", "route", "memory", "batch_tokens",
)  # fmt: skip
FEWEST = 4
"""Units that unbiased estimates need, also where a part is left out."""
SCALINGS = {False: "raw", True: "standardized"}


def similarity(source: Any, measure: str = "ckasim", **options: Any) -> xr.DataArray:
    """How alike all layers are by one measure: a table of layers × layers, in the order given.

    The rows are x (the first argument of the measure), the columns y. The coordinates ``se``, ``low`` and ``high`` hold
    standard errors and the ends of the intervals; the attributes hold ``n``, ``d``, ``alerts`` and more. Takes what
    `similarities` takes.

    >>> import numpy as np, lmkin
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> sim = lmkin.similarity({"a/0": X, "b/0": X @ X[:5]}, "ckasim")
    >>> sim.sel(x="a/0", y="a/0").item()
    1.0
    """
    if not isinstance(measure, str) or "," in measure or measure == "all":
        raise MeasureError(
            f"similarity takes the name of one measure; got {measure!r}. lmkin.similarities takes several."
        )
    info = measure_info(measure)
    if options.get("standardize", False) == "both":
        raise MeasureError("One table has one scaling: standardize is True or False here.")
    run = _compare(source, [info], options)
    (by_scaling,) = run.entries.values()
    (entry,) = by_scaling.values()
    return as_matrix(run.labels, entry, run.attrs, measure)


def similarities(source: Any, measures: str | Iterable[str] = "all", **options: Any) -> xr.Dataset:
    """How alike all layers are, by several measures at once: one pass over the rows.

    Parameters
    ----------
    source
        A dict ``{"model/layer": units × neurons}`` with the same rows; a list of `Activations` or folders of them;
        `Moments`; or models with ``corpus=``.
    measures
        ``"all"``, or names: see ``lmkin measures``.
    corpus, layers, units, pooling, batch_tokens, …
        For models, as for :func:`lmkin.extract`.
    intervals
        Jackknife standard errors and intervals over ``parts`` (10) blocks of documents; on by default. ``level=0.95``.
    standardize
        Divide every neuron by its standard deviation first; ``"both"`` gives raw and standardized side by side.
    held_out
        Fit regressions and canonical correlations without a part, and score them on it; each part in turn.
    null
        So many permutations of the units: adds ``M_null_mean``, ``M_p`` and, corrected for the search over all pairs of
        layers, ``M_p_max``, from a sample of ``rows`` units.
    memory, route
        A budget such as ``"8GB"``, within which the planner picks ``panels``, ``joint``, ``pairs`` or
        ``dual``.
    precision, rows, seed, checkpoint, progress
        As for :func:`lmkin.moments`.
    **options
        All of the above, and options of the measures: variance, top_k, estimator, ridge, tolerance, released,
        bandwidth ….

    Returns
    -------
    A Dataset over (model_x, layer_x, model_y, layer_y) with ``M`` for every measure, and ``M_se``, ``M_low``,
    ``M_high``, ``M_without``; ``neuronsim_match`` is the neuron of y that matched each neuron of x. Attributes:
    ``n``, ``widths``, ``alerts``, ``provenance``.
    """
    run = _compare(source, choose_measures(measures), options)
    return as_dataset(run.labels, run.entries, run.attrs)


@dataclass
class _Comparison:
    labels: Labels
    entries: dict[str, dict[str, Entry]]
    attrs: dict[str, Any]


def _compare(source: Any, measures: list[Measure], options: dict[str, Any]) -> _Comparison:
    known = Settings.__dataclass_fields__
    settings = Settings(**{k: v for k, v in options.items() if k in known})
    own = {k: v for k, v in options.items() if k not in known}
    unknown = [name for name in own if not any(name in m.options for m in measures)]
    if unknown:
        of = ", ".join(m.name for m in measures)
        near = did_you_mean(unknown[0], [*known, *{o for m in measures for o in m.options}])
        raise MeasureError(f"No option {unknown[0]!r} of {of}. {near}")
    check_options(measures, own)
    check_settings(settings, measures)
    tasks = tasks_for(measures, own, settings.scalings)
    if isinstance(source, Moments):
        refuse(options, _OF_SOURCES, "these moments are made already")
        return _finish(from_moments(source, tasks, settings), measures, own, settings)
    single = isinstance(settings.parts, int | np.integer) and settings.parts <= 1
    wants_parts = (settings.intervals or settings.held_out) and not single
    if isinstance(source, Mapping | RowSource) and settings.corpus is not None:
        raise MeasureError(
            "A corpus is for models to read; arrays and activations are read already."
        )
    found = row_source(
        source, settings.corpus, parts=settings.parts if wants_parts else 1, **settings.rule()
    )
    n_parts = int(found.part.max()) + 1
    if wants_parts and n_parts > 1:
        _require_enough(found.part, settings)
    plan = plan_moments(
        found.widths,
        found.n,
        parts=n_parts if wants_parts else 1,
        precision=settings.precision,
        scalings=len(settings.scalings),
        memory=settings.memory,
        route=settings.route,
        rows=settings.rows,
        double=found.double,
        resident=found.resident,
        spectra=needs_spectra(measures),
    )
    if settings.say is not None:
        settings.say(str(plan))
    outcome = ROUTES[plan.route](found, tasks, settings, wants_parts and n_parts > 1)
    outcome.plan = plan
    return _finish(outcome, measures, own, settings)


def _require_enough(part: Any, settings: Settings) -> None:
    """An error, before anything is computed, if too few units are left without a part."""
    sizes = np.bincount(part)
    left = len(part) - int(sizes.max())
    if left < FEWEST:
        raise MeasureError(
            f"There are {len(part)} units in {len(sizes)} parts; without one of the parts {left} are "
            f"left, and {FEWEST} are needed. "
            f"Take more units, fewer parts, or no intervals (intervals=False; on the command line --no-intervals)."
        )


def _finish(
    outcome: Outcome, measures: list[Measure], own: dict[str, Any], settings: Settings
) -> _Comparison:
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
        "alerts": [str(a) for a in alerts],
        "provenance": plain(_provenance(outcome, own, settings)),
    }
    return _Comparison(labels, entries, attrs)


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
    if used.get("released"):
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


def _provenance(outcome: Outcome, own: dict[str, Any], settings: Settings) -> dict[str, Any]:
    chosen = {
        k: getattr(settings, k)
        for k in ("intervals", "level", "standardize", "held_out", "null", "precision", "seed")
    }
    return {
        "lmkin": __version__,
        "settings": chosen,
        "options": own,
        "route": outcome.plan.route if outcome.plan else "moments",
        "source": outcome.info,
        "parts": len(outcome.part_sizes),
    }
