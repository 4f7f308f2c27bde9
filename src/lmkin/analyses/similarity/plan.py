"""What a comparison of layers would take."""

from __future__ import annotations

from typing import Any

from ...analysis import Running, Source
from ...core import LmkinError, Plan, Step
from ...measures import choose_measures, needs_spectra
from ...moments import ROUTES, Moments, plan_source
from .measure_time import seconds_of_measures
from .options import SimilarityOptions

SCALINGS = {"raw": [False], "standardized": [True], "both": [False, True]}


def plan_similarity(source: Source, options: SimilarityOptions, running: Running) -> Plan:
    """Memory by the planner of routes; time from a few batches of each model, and a few random layers."""
    rows = source.rows(options.parts if options.intervals or options.held_out else 1)
    if isinstance(rows, Moments):
        raise LmkinError("These are moments already: there is nothing to plan.")
    parts = int(rows.part.max()) + 1
    measures = choose_measures(options.measures)
    scalings = SCALINGS[options.neurons]
    route = plan_source(
        rows,
        parts=parts,
        precision=options.precision,
        scalings=len(scalings),
        memory=running.memory,
        route=options.route,
        rows=options.sample_rows,
        spectra=needs_spectra(measures),
    )
    replicates = 1 + (parts if parts > 1 else 0) + options.permutations
    computing = seconds_of_measures(
        measures,
        dict(options.measure_options),
        scalings,
        layers=len(rows.widths),
        width=max(rows.widths.values()),
        replicates=replicates,
    )
    details: dict[str, Any] = {
        "route": route.route,
        "bytes": route.needs,
        "process": route.budget.process,
        "units": rows.n,
    }
    title = f"{len(rows.widths)} layers, {route.neurons:,} neurons, {rows.n:,} {rows.unit}s in {parts} parts"
    return Plan(
        title,
        [
            Step("models", seconds=round(rows.seconds(), 1)),
            Step(
                "measures",
                seconds=round(computing, 1),
                memory=route.needs[route.route],
                note=f"route {route.route}: {ROUTES[route.route]}",
            ),
        ],
        route.budget.memory,
        details,
    )
