"""What cross-lingual transfer would take: activations of every language, clusters, and fits."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...activations import plan_extraction
from ...analysis import Running, Source
from ...core import Plan, Step, budget
from ..redundancy import chosen_layers, plan_clustering
from .fits import memory_of_fits, require_room
from .options import CrossLingualOptions
from .parallel import Parallel, align_corpora
from .stores import aligned_stores, parallel_corpora

_PASSES = 250
"""Passes over the rows that choosing a penalty takes, within a factor of 3."""
_LEFT = 0.5
"""Share of the neurons that thresholds and sets of layers leave, on average; a guess."""
_TRIAL = (8192, 512, 16)


def plan_transfer(source: Source, options: CrossLingualOptions, running: Running) -> Plan:
    """Some batches of every model are timed, and a product of the size that fits need. Raise if it cannot fit."""
    parallel = align_corpora(parallel_corpora(source), options, running.seed)
    sources = options.sources(parallel.languages)
    classes = [
        max(len(set(parallel.corpora[name].tags(tag))) for name in sources)
        for tag in options.tag_names()
    ]
    sets = 1 + len(options.cuts()) + len(options.sets())
    steps: list[Step] = []
    details: list[dict[str, Any]] = []
    for title, rows, width, extraction in _sized(source, parallel):
        n = max(rows[name] for name in sources)
        require_room(n, max(classes), running)
        clusters = plan_clustering(
            width, n, precision="float32", highest=max(options.cuts()), memory=running.memory
        )
        memory = memory_of_fits(n, width, max(classes))
        fits = sets * len(sources) * len(classes)
        share = (1 + _LEFT * (sets - 1)) * sum(rows[name] for name in sources)
        if options.ceiling:
            fits += (len(rows) - len(sources)) * len(classes)
            share += sum(count for name, count in rows.items() if name not in sources)
        seconds = _PASSES * share * width * sum(classes) * _product_time()
        steps += [
            *extraction,
            Step(f"{title}: clusters", None, clusters.memory, note=f"{width:,} neurons, {clusters.route}"),
            Step(f"{title}: probes", round(seconds, 1), memory, note=f"{fits} probes"),
        ]  # fmt: skip
        details.append(
            {
                "model": title, "rows": rows, "neurons": width, "route": clusters.route, "probes": fits,
                "bytes_clusters": clusters.memory, "bytes_fits": memory, "seconds_fits": round(seconds, 1),
            }
        )  # fmt: skip
    held = int(parallel.held_out.sum())
    title = (
        f"Transfer from {', '.join(sources)} to {len(parallel.languages)} languages: {parallel.sentences - held:,} "
        f"sentences are fitted on, {held:,} held out; charts come on top"
    )
    return Plan(title, steps, budget(running.memory).memory, {"models": details})


def _sized(
    source: Source, parallel: Parallel
) -> Iterator[tuple[str, dict[str, int], int, list[Step]]]:
    """Of each model its name, rows by language, neurons, and the step that reads the corpora, if there is one."""
    stored = aligned_stores(source, parallel)
    for acts in stored or ():
        first = acts[parallel.languages[0]]
        width = sum(first.widths[n] for n in chosen_layers(first, source.reading.layers))
        yield first.name, {name: len(acts[name]) for name in parallel.languages}, width, []
    for model in source.models if stored is None else ():
        runs = {
            name: plan_extraction(
                model, corpus, source.reading.rule(), layers=source.reading.layers,
                batch_tokens=source.reading.batch_tokens,
            )
            for name, corpus in parallel.corpora.items()
        }  # fmt: skip
        every = list(runs.values())
        rows = {name: run.units for name, run in runs.items()}
        tokens = sum(run.tokens for run in every)
        step = Step(
            f"{model.name}: activations",
            round(sum(run.seconds for run in every), 1),
            max(run.memory_bytes for run in every),
            sum(run.disk_bytes for run in every),
            f"{sum(rows.values()):,} words of {len(rows)} languages, {tokens:,} tokens",
        )
        yield model.name, rows, sum(model.widths[n] for n in every[0].layers), [step]


def _product_time() -> float:
    """Seconds for one number of a row and one class, in both products of a pass."""
    n, d, c = _TRIAL
    random = np.random.default_rng(0)
    X = random.standard_normal((n, d), dtype=np.float32)
    W = random.standard_normal((d, c), dtype=np.float32)
    best = np.inf
    for _ in range(3):
        begun = time.perf_counter()
        R = X @ W
        (R.T @ X).T  # noqa: B018 (timed)
        best = min(best, time.perf_counter() - begun)
    return best / (n * d * c)
