"""What a comparison would take, said before it is run."""

from __future__ import annotations

from typing import Any

from ..errors import LmkinError
from .output import busy, format_seconds, print_json, say


def say_plan(
    source: Any,
    measures: list[Any],
    own: dict[str, Any],
    parts: int,
    neurons: str,
    memory: str | None,
    route: str | None,
    null: int,
    as_json: bool,
) -> None:
    """Say what it would take: memory by the planner, time from a few batches and a few random layers."""
    from ..measures.registry import needs_spectra
    from ..measures.timing import seconds_of_measures
    from ..moments import Moments, plan_moments

    if isinstance(source, Moments):
        raise LmkinError("These are moments already: there is nothing to plan.")
    parts = min(parts, int(source.part.max()) + 1)
    scalings = [False, True] if neurons == "both" else [neurons == "standardized"]
    plan = plan_moments(
        source.widths,
        source.n,
        parts=parts,
        scalings=len(scalings),
        memory=memory,
        route=route,
        double=source.double,
        resident=source.resident,
        spectra=needs_spectra(measures),
    )
    with busy("Timing a few batches and measures …"):
        reading = source.seconds()
        computing = seconds_of_measures(
            measures,
            own,
            scalings,
            layers=len(source.widths),
            width=max(source.widths.values()),
            replicates=1 + (parts if parts > 1 else 0) + null,
        )
    if as_json:
        print_json(
            {
                "route": plan.route,
                "bytes": plan.needs,
                "budget": plan.budget,
                "units": plan.n,
                "seconds_models": round(reading, 1),
                "seconds_measures": round(computing, 1),
            }
        )
        return
    say(f"Nothing is computed. {plan}")
    say(
        f"Time: about {format_seconds(reading)} for the models, and up to about {format_seconds(computing)} for the "
        f"measures; charts come on top."
    )
