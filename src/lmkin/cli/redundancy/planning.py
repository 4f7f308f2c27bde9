"""What `lmkin redundancy` would take, said before it is run."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from ..output import busy, format_seconds, print_json, say
from .reading import Choice

_NEURONS, _WIDTH, _ROWS = 1000, 96, (1000, 3000)
"""Of random rows that are timed in place of the real ones: for clusters, for maps between layers, how many."""


def plan_models(
    models: Sequence[Any],
    corpus: Any,
    rule: dict[str, Any],
    reading: dict[str, Any],
    choice: Choice,
) -> list[dict[str, Any]]:
    """For models that are to read a corpus: a few batches are timed."""
    from ...activations.planning import plan_extraction
    from ...models import UnitRule

    made = UnitRule.make(**rule)
    found = []
    with busy("Tokenizing, and timing a few batches …"):
        for model in models:
            run = plan_extraction(model, corpus, made, **reading)
            widths = [model.widths[n] for n in run.layers]
            found.append(
                {
                    "model": model.name,
                    "rows": run.units,
                    "units": rule["units"],
                    "tokens": run.tokens,
                    "bytes_disk": run.disk_bytes,
                    "bytes_models": run.memory_bytes,
                    "seconds_models": round(run.seconds, 1),
                    **_clustered(widths, run.units, choice),
                }
            )
    return found


def plan_stores(stores: Sequence[Any], choice: Choice) -> list[dict[str, Any]]:
    """For activations that are there."""
    from ...activations.extraction import choose_layers

    found = []
    for acts in stores:
        have = acts.layers
        layers = have if choice.layers == "all" else choose_layers(choice.layers, max(have) + 1)
        about = {"model": acts.name, "rows": len(acts), "units": acts.units.kind}
        widths = [acts.widths[n] for n in layers]
        found.append({**about, **_clustered(widths, len(acts), choice)})
    return found


def _clustered(widths: Sequence[int], n: int, choice: Choice) -> dict[str, Any]:
    """Memory and time of the clusters, and of the maps between layers."""
    from ...moments import choose_precision
    from ...redundancy.planning import plan_clustering

    total = sum(widths)
    precision = choose_precision(None, double=False, width=total)
    plan = plan_clustering(
        total, n, precision=precision, highest=choice.thresholds[-1], memory=choice.memory
    )
    found = {
        "neurons": total,
        "layers": len(widths),
        "route": plan.route,
        "bytes_clusters": plan.memory,
        "seconds_clusters": round(_seconds_of_clusters(total, n), 1),
    }
    if choice.layer_maps:
        found["seconds_layers"] = round(_seconds_of_maps(widths, n, choice), 1)
    return found


def say_plan(found: Sequence[dict[str, Any]], *, as_json: bool) -> None:
    """Rows, tokens, disk, memory, route and time of every model."""
    from ...activations.resources import human_bytes

    if as_json:
        print_json({"models": list(found)})
        return
    say("Nothing is computed.")
    for each in found:
        text = f"{each['model']}: {each['rows']:,} {each['units']}s"
        if "tokens" in each:
            text += (
                f", {each['tokens']:,} tokens. Activations: {human_bytes(each['bytes_disk'])} on disk, about "
                f"{human_bytes(each['bytes_models'])} of memory while the model runs"
            )
        how = "one matrix" if each["route"] == "matrix" else "tiles, and a matrix of each component"
        text += (
            f". Clusters of {each['neurons']:,} neurons in {each['layers']} layers: from {how} (route "
            f"{each['route']}), {human_bytes(each['bytes_clusters'])} of memory. Time: about "
        )
        kinds = {"models": "the model", "clusters": "the clusters", "layers": "the layers"}
        times = [
            f"{format_seconds(each[f'seconds_{kind}'])} for {name}"
            for kind, name in kinds.items()
            if f"seconds_{kind}" in each
        ]
        say(f"{text}{', '.join(times)}.")
    say("Charts come on top.")


# -- time -------------------------------------------------------------------------------------------


def _seconds_of_clusters(neurons: int, n: int) -> float:
    """Correlations take time with the rows, trees do not; both with the square of the neurons."""
    fixed, a_row = _clusters_timed()
    return (fixed + a_row * n) * (neurons / _NEURONS) ** 2


def _seconds_of_maps(widths: Sequence[int], n: int, choice: Choice) -> float:
    """Sums take time with the rows and the square of the width, fits with its cube; so for every pair of neighbours."""
    fixed, a_row = _maps_timed(choice.parts, choice.level)
    wider = max(widths) / _WIDTH
    return (fixed * max(wider, 1) ** 3 + a_row * n * wider**2) * (len(widths) - 1)


@cache
def _clusters_timed() -> tuple[float, float]:
    from ...redundancy import cluster_neurons

    return _timed(lambda rows: cluster_neurons({"a/0": rows}, progress=False), _NEURONS)


@cache
def _maps_timed(parts: int, level: float) -> tuple[float, float]:
    from ...redundancy import layer_redundancy

    def once(rows: Any) -> None:
        layers = {"a/0": rows[:, :_WIDTH], "a/1": rows[:, _WIDTH:]}
        layer_redundancy(layers, parts=parts, level=level, progress=False)

    return _timed(once, 2 * _WIDTH)


def _timed(once: Callable[[Any], Any], width: int) -> tuple[float, float]:
    """Seconds that do not depend on the rows, and seconds a row, on random rows of so many neurons."""
    random = np.random.default_rng(0)
    rows = random.standard_normal((_ROWS[1], width), dtype=np.float32)
    once(rows[: _ROWS[0]])  # what is compiled first is not to count
    seconds = []
    for count in _ROWS:
        begun = time.perf_counter()
        once(rows[:count])
        seconds.append(time.perf_counter() - begun)
    a_row = max((seconds[1] - seconds[0]) / (_ROWS[1] - _ROWS[0]), 0.0)
    return max(seconds[0] - a_row * _ROWS[0], 0.0), a_row
