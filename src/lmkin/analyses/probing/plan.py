"""What probes would take: activations, memory of the rows, and time of the fits."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...activations import plan_extraction
from ...analysis import Running, Source
from ...core import LmkinError, Plan, Step, budget
from ..redundancy import chosen_layers, open_store
from .layer_sets import layer_sets
from .neurons.study import neuron_fits_planned
from .options import ProbeOptions
from .tasks import MISSING

_CHOOSING = 400
"""Passes over the rows that choosing a penalty takes; measured on layers of an encoder, within a factor of 3."""
_GIVEN = 150
"""The same at a penalty that is given."""
_ADAM = 40
"""What ten epochs of small batches are worth in passes."""
_SCORES = 8
"""Copies of the scores, rows × classes, that a fit holds."""


def plan_probing(source: Source, options: ProbeOptions, running: Running) -> Plan:
    """Some batches of every model are timed, and a product of the size that fits need. Raise if it cannot fit."""
    steps: list[Step] = []
    details: list[dict[str, Any]] = []
    classes = _classes(source, options)
    for name, n, widths, extraction in _sized(source):
        about: dict[str, Any] = {"model": name, "rows": n, "neurons": sum(widths)}
        if extraction is not None:
            steps.append(
                Step(
                    f"{name}: activations",
                    round(extraction.seconds, 1),
                    extraction.memory_bytes,
                    extraction.disk_bytes,
                    f"{extraction.units:,} units, {extraction.tokens:,} tokens",
                )
            )
        memory = bytes_of_fits(n, sum(widths), max(classes))
        require_room(n, max(classes), running)
        seconds = sum(_seconds(n, widths, count, options) for count in classes)
        fits = len(layer_sets(options.sets(), len(widths)))
        about |= {
            "probes": fits * len(classes),
            "bytes_fits": memory,
            "seconds_fits": round(seconds, 1),
        }
        steps.append(
            Step(f"{name}: probes", round(seconds, 1), memory, note=f"{fits * len(classes)} sets of layers and tasks")
        )  # fmt: skip
        details.append(about)
    title = f"Probes of {len(details)} model{'s' if len(details) > 1 else ''}; charts come on top"
    return Plan(title, steps, budget(running.memory).memory, {"models": details})


def bytes_of_fits(n: int, width: int, classes: int) -> int:
    """Rows in memory, a working set of half their neurons, and scores."""
    return 4 * n * (width + width // 2) + _SCORES * 4 * n * classes


def bytes_of_scores(n: int, classes: int) -> int:
    """The least that a fit needs, if rows are read from disk at each pass."""
    return _SCORES * 4 * n * classes + 64_000_000


def require_room(n: int, classes: int, running: Running) -> None:
    """Raise if not even the scores of the rows fit the budget."""
    room, need = budget(running.memory), bytes_of_scores(n, classes)
    if not room.fits(need):
        raise LmkinError(
            f"{room.refusal(need, 'probes')} Take fewer rows (train_limit=…), or give more memory."
        )


def _sized(source: Source) -> list[tuple[str, int, list[int], Any]]:
    """Of each model its name, rows, widths, and what extracting it would take."""
    layers = source.reading.layers
    if source.corpus is not None:
        sized: list[tuple[str, int, list[int], Any]] = []
        for model in source.models:
            run = plan_extraction(
                model, source.sentences, source.reading.rule(), layers=layers,
                batch_tokens=source.reading.batch_tokens,
            )  # fmt: skip
            sized.append((model.name, run.units, [model.widths[n] for n in run.layers], run))
        return sized
    by_split = source.stores_by_split
    if by_split is not None:
        acts = by_split["train"]
        widths = [acts.widths[n] for n in chosen_layers(acts, layers)]
        return [(acts.name, sum(map(len, by_split.values())), widths, None)]
    stores = [open_store(spec) for spec in source.specs]
    return [(a.name, len(a), [a.widths[n] for n in chosen_layers(a, layers)], None) for a in stores]


def _classes(source: Source, options: ProbeOptions) -> list[int]:
    """Classes of each task, 1 for scores."""
    if source.corpus is not None:
        corpus = source.sentences
    elif source.stores_by_split is not None:
        corpus = source.stores_by_split["train"].units.corpus
    else:
        corpus = open_store(source.specs[0]).units.corpus
    if options.label == "score":
        return [1]
    if options.label is not None:
        return [max(1, len({s.label for s in corpus if s.label is not None}))]
    return [max(1, len(set(corpus.tags(tag)) - set(MISSING))) for tag in options.tags()]


def _seconds(n: int, widths: Sequence[int], classes: int, options: ProbeOptions) -> float:
    """Of all fits: passes over the columns that each set of layers has."""
    edges = np.cumsum([0, *widths])
    sets = layer_sets(options.sets(), len(widths))
    columns = sum(int(edges[s.end] - edges[s.first]) for s in sets)
    if options.solver == "adam":
        of_layers = _ADAM * (1 + options.control + options.code_length)
    else:
        one = _GIVEN if options.l1 is not None else _CHOOSING
        of_layers = one * (1 + options.code_length) + _GIVEN * options.control
    of_neurons = _CHOOSING * neuron_fits_planned(options)
    passes = of_layers * columns + of_neurons * int(edges[-1])
    return passes * n * classes * _product_time()


def _product_time() -> float:
    """Seconds for one number of a row and one class, in both products of a pass."""
    random = np.random.default_rng(0)
    X = random.standard_normal((8192, 512), dtype=np.float32)
    W = random.standard_normal((512, 16), dtype=np.float32)
    best = np.inf
    for _ in range(3):
        begun = time.perf_counter()
        R = X @ W
        (R.T @ X).T  # noqa: B018 (timed)
        best = min(best, time.perf_counter() - begun)
    return best / (8192 * 512 * 16)
