"""What the redundancy of some models would take: disk, memory, routes and time."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from ...activations import (
    SHARD_BYTES,
    Run,
    default_batch_tokens,
    plan_extraction,
    read_units,
)
from ...analysis import Running, Source
from ...core import (
    LIBRARIES,
    Budget,
    LayerId,
    LmkinError,
    Plan,
    Step,
    budget,
    choose_layers,
    parse_memory,
)
from ...moments import choose_precision, plan_moments
from .clusters import cluster_neurons
from .layers import layer_redundancy
from .memory_plan import clustering_bytes, plan_clustering
from .options import RedundancyOptions
from .stores import chosen_layers, open_stores

_NEURONS, _WIDTHS, _ROWS = 1000, (96, 192), (1000, 11_000)
"""Of random rows that are timed in place of the real ones: for clusters, for regressions of layers, how many."""
_TIMES = 2
"""Of which the shortest counts: others may be at work."""


def plan_redundancy(source: Source, options: RedundancyOptions, running: Running) -> Plan:
    """A few batches of every model are timed, and random rows clustered. Raise if it does not fit the budget."""
    steps: list[Step] = []
    details: list[dict[str, Any]] = []
    if source.corpus is None:
        sized = [
            (
                a.name,
                len(a),
                a.units.kind,
                [a.widths[n] for n in chosen_layers(a, source.reading.layers)],
            )
            for a in open_stores(source, options)
        ]
        for name, n, unit, widths in sized:
            details.append({"model": name, "rows": n, "units": unit})
            steps += _clustered(name, widths, n, options, running, details[-1])
    else:
        room_for_models(source, options, running)
        for model in source.models:
            run = plan_extraction(
                model,
                source.sentences,
                source.reading.rule(),
                layers=source.reading.layers,
                batch_tokens=source.reading.batch_tokens,
                dtype=options.store_dtype,
            )
            details.append(
                {
                    "model": model.name,
                    "rows": run.units,
                    "units": source.reading.units,
                    "tokens": run.tokens,
                    "bytes_disk": run.disk_bytes,
                    "bytes_models": run.memory_bytes,
                    "seconds_models": round(run.seconds, 1),
                }
            )
            note = f"{run.units:,} {source.reading.units}s, {run.tokens:,} tokens"
            steps.append(
                Step(
                    f"{model.name}: activations",
                    round(run.seconds, 1),
                    run.memory_bytes,
                    run.disk_bytes,
                    note,
                )
            )
            widths = [model.widths[n] for n in run.layers]
            steps += _clustered(model.name, widths, run.units, options, running, details[-1])
    title = (
        f"Redundancy of {len(details)} model{'s' if len(details) > 1 else ''}; charts come on top"
    )
    return Plan(title, steps, budget(running.memory).memory, {"models": details})


def _clustered(
    name: str,
    widths: Sequence[int],
    n: int,
    options: RedundancyOptions,
    running: Running,
    details: dict[str, Any],
) -> list[Step]:
    """Memory and time of the clusters, and of the regressions between layers."""
    total = sum(widths)
    precision = choose_precision(None, double=False, width=total)
    plan = plan_clustering(
        total, n, precision=precision, highest=max(options.thresholds), memory=running.memory
    )
    seconds = round(_seconds_of_clusters(total, n), 1)
    details |= {
        "neurons": total,
        "layers": len(widths),
        "route": plan.route,
        "bytes_clusters": plan.memory,
        "seconds_clusters": seconds,
    }
    note = f"{total:,} neurons in {len(widths)} layers, route {plan.route}"
    steps = [Step(f"{name}: clusters", seconds, plan.memory, note=note)]
    if options.layer_regressions and len(widths) > 1:
        details["seconds_layers"] = round(_seconds_of_regressions(widths, n, options), 1)
        steps.append(Step(f"{name}: layers", details["seconds_layers"]))
    return steps


# -- memory -----------------------------------------------------------------------------------------


def room_for_models(source: Source, options: RedundancyOptions, running: Running) -> dict[str, int]:
    """How models are read within the budget: batches and shards. Raise if a step would not fit, before the first."""
    models = source.models
    weights = sum(m.memory for m in models if m.device_type == "cpu")
    room = budget(running.memory, models=weights)
    bound = parse_memory(running.memory)
    # Of the budget alone: shards of another size would be made anew after a kill.
    shard = SHARD_BYTES if bound is None else max(min(SHARD_BYTES, bound // 32), 4_000_000)
    asked, batches, needs = source.reading.batch_tokens, [], []
    # Clusters come when all models have run and are gone, but for what libraries have grown by meanwhile.
    gone = max(0, weights - LIBRARIES)
    for model in models:
        layers = choose_layers(source.reading.layers, model.n_layers)
        read = read_units(model, source.sentences, source.reading.rule())
        run = Run(model, read, layers, options.store_dtype, asked or default_batch_tokens(model))
        if asked is None:
            run.fit_batches(room.left - 2 * shard)
        batches.append(run.batch_tokens)
        widths = [model.widths[n] for n in layers]
        needs += [run.forward_memory + 2 * shard, _need(widths, len(read.units), options) - gone]
    _require(room, max(needs))
    return {"batch_tokens": min(batches), "shard_bytes": shard}


def require_room(
    sizes: Sequence[tuple[Sequence[int], int]], options: RedundancyOptions, running: Running
) -> None:
    """Raise if clusters or layers of stored activations, (widths, rows) of each model, do not fit the budget."""
    _require(budget(running.memory), max(_need(widths, n, options) for widths, n in sizes))


def _need(widths: Sequence[int], n: int, options: RedundancyOptions) -> int:
    """Bytes that clusters, or the comparison of layers after them, take at least."""
    total = sum(widths)
    size = 4 if choose_precision(None, double=False, width=total) == "float32" else 8
    matrix, pieces = clustering_bytes(total, n, size)
    clusters = matrix if max(options.thresholds) >= 1 else min(matrix, pieces)
    if not options.layer_regressions:
        return clusters
    layers = {LayerId("", number): width for number, width in enumerate(widths)}
    plan = plan_moments(
        layers, n, parts=options.blocks, resident=True, spectra=False, memory="1000TB"
    )
    return max(clusters, min(plan.needs.values()))


def _require(room: Budget, need: int) -> None:
    if not room.fits(need):
        raise LmkinError(
            f"{room.refusal(need, 'clusters and layers')} Take fewer rows, fewer layers, or give more memory; or leave "
            f"the comparison of layers out (layer_regressions=False)."
        )


# -- time -------------------------------------------------------------------------------------------


def _seconds_of_clusters(neurons: int, n: int) -> float:
    """Correlations take time with the rows, trees do not; both with the square of the neurons."""
    fixed, a_row = _clusters_timed()
    return (fixed + a_row * n) * (neurons / _NEURONS) ** 2


def _seconds_of_regressions(widths: Sequence[int], n: int, options: RedundancyOptions) -> float:
    """Some time is of every fit, some goes with its width cubed; sums take time with the rows and the width squared.

    Each layer is fitted by the one before; CKA brings all layers together.
    """
    fixed, cubed, a_row = _regressions_timed(options.intervals, options.parts, options.level)
    wider, layers = max(widths) / _WIDTHS[0], len(widths)
    fits = (layers - 1) * (fixed + cubed * wider**3)
    return fits + a_row * n * wider**2 * (layers - 1 + layers**2 / 4) / 2


@cache
def _clusters_timed() -> tuple[float, float]:
    """Seconds that do not depend on the rows, and seconds a row."""
    few, many = _timed(
        lambda rows: cluster_neurons({"a/0": rows}, progress=False),
        [(count, _NEURONS) for count in _ROWS],
    )
    a_row = max(many - few, 0.0) / (_ROWS[1] - _ROWS[0])
    return max(few - a_row * _ROWS[0], 0.0), a_row


@cache
def _regressions_timed(intervals: bool, parts: int, level: float) -> tuple[float, float, float]:
    """Seconds of two narrow layers: of any fit, of what goes with the cube of the width, and of a row."""

    def once(rows: Any) -> None:
        half = rows.shape[1] // 2
        layers = {"a/0": rows[:, :half], "a/1": rows[:, half:]}
        layer_redundancy(layers, intervals=intervals, parts=parts, level=level, progress=False)

    (narrow, wide), (few, many) = _WIDTHS, _ROWS
    small, long, large = _timed(once, [(few, 2 * narrow), (many, 2 * narrow), (few, 2 * wide)])
    wider = wide / narrow
    a_row = max(long - small, 0.0) / (many - few)
    cubed = max(large - small - a_row * few * (wider**2 - 1), 0.0) / (wider**3 - 1)
    return max(small - cubed - a_row * few, 0.0), cubed, a_row


def _timed(once: Callable[[Any], Any], shapes: Sequence[tuple[int, int]]) -> list[float]:
    """Seconds for random rows of each shape (rows, neurons)."""
    random = np.random.default_rng(0)
    log = logging.getLogger("lmkin")
    level, seconds = log.level, []
    log.setLevel(logging.WARNING)  # plans of random rows are of no use to anybody
    try:
        for number, shape in enumerate(shapes):
            rows = random.standard_normal(shape, dtype=np.float32)
            if not number:
                once(rows)  # what is compiled first is not to count
            times = []
            for _ in range(_TIMES):
                begun = time.perf_counter()
                once(rows)
                times.append(time.perf_counter() - begun)
            seconds.append(min(times))
    finally:
        log.setLevel(level)
    return seconds
