"""What a decomposition would take, for every length of the texts."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ...activations import plan_extraction
from ...analysis import Running, Source
from ...core import SHARES, Plan, Ridge, Step, budget, make_split
from ...corpus import Corpus
from ...rows import owners_of, row_source
from .decomposition import decompose_rows
from .joint import widest_basis
from .lengths import limits_said
from .memory_plan import fit_precision, plan_decomposition
from .options import DependencyOptions
from .token_chunks import cut_sequences

_log = logging.getLogger("lmkin")
_SMALL = 600
"""Neurons of a decomposition that is timed in place of the real one."""


def plan_dependency(source: Source, options: DependencyOptions, running: Running) -> Plan:
    """Rows, tokens, memory of sums and fits, and time. Raise if it does not fit the budget."""
    steps: list[Step] = []
    details: list[dict[str, Any]] = []
    for line in limits_said(source.models, options.token_lengths or ()):
        _log.info(line)
    for length, corpus, reading in _texts(source, options):
        figures = _figures(source, options, running, length, corpus, reading)
        details.append(figures)
        name = "texts as they are" if length is None else f"length {length}"
        steps += [
            Step(
                f"{name}: models",
                seconds=figures["seconds_models"],
                memory=figures["bytes_sums"],
                note=f"{figures['rows']:,} texts, {figures['tokens']:,} tokens for all models; sums of "
                f"{figures['neurons']:,} neurons in {figures['parts']} parts",
            ),
            Step(
                f"{name}: fits",
                seconds=figures["seconds_fits"],
                memory=figures["bytes_sums"] + figures["bytes_fits"],
                note=f"ridge by {figures['ridge_rule']}",
            ),
        ]
    title = f"{len(source.models)} models by each other; charts, and subsets of many models, come on top"
    bound = budget(running.memory).memory
    return Plan(title, steps, bound, {"results": details})


def _texts(
    source: Source, options: DependencyOptions
) -> Iterator[tuple[int | None, Corpus, dict[str, Any]]]:
    """(length, what the models read at it, how they read it); None: texts as they are."""
    if options.token_lengths is None:
        yield None, source.sentences, {}
        return
    texts = replace(source, limit=None).sentences
    tokenizer = options.reference_tokenizer or source.models[0]
    for length in sorted(options.token_lengths):
        chunks = cut_sequences(texts, tokenizer, length, limit=source.limit)
        yield length, chunks, {"max_length": length, "long": "truncate"}


def _figures(
    source: Source,
    options: DependencyOptions,
    running: Running,
    length: int | None,
    corpus: Any,
    reading: Any,
) -> dict[str, Any]:
    rule = replace(source.reading, **reading)
    runs = [
        plan_extraction(m, corpus, rule.rule(), layers=rule.layers, batch_tokens=rule.batch_tokens)
        for m in source.models
    ]
    rows = row_source(source.models, corpus, parts=1, **rule.__dict__)
    total = sum(rows.widths.values())
    split = make_split(rows.n, options.split, parts=1, seed=running.seed, owner=owners_of(rows))
    asked = Ridge.make(options.ridge, options.ridge_rule, released=options.convention == "released")
    ridge = asked.settled(len(split.rows("train")), widest_basis(rows.widths), split.parts)
    splits = len(options.split or SHARES)
    need = plan_decomposition(
        total,
        options.blocks,
        splits,
        precision=fit_precision(options.precision, double=False, width=total),
        null=options.permutation_baseline,
        choosing=ridge.rule == "validation",
        memory=running.memory,
        forward=rows.forward_memory,
        weights=rows.weights,
    )
    return {
        "length": length,
        "rows": rows.n,
        "units": rows.unit,
        "tokens": sum(run.tokens for run in runs),
        "neurons": total,
        "ridge_rule": ridge.rule,
        "parts": need.parts * splits,
        "bytes_sums": need.sums,
        "bytes_fits": need.fits,
        "seconds_models": round(sum(run.seconds for run in runs), 1),
        "seconds_fits": round(_seconds_of_fits(len(source.models), total, options, ridge.rule), 3),
    }


def _seconds_of_fits(models: int, neurons: int, options: DependencyOptions, rule: str) -> float:
    """About how long fits and intervals take: from random rows of fewer neurons, for time grows with their cube."""
    width = max(2, min(neurons, _SMALL) // models)
    random = np.random.default_rng(0)
    n = 20 * width * models
    rows = {str(k): random.standard_normal((n, width), dtype=np.float32) for k in range(models)}
    seconds = 0.0
    for some in (
        {k: r[:1000, :2] for k, r in rows.items()},
        rows,
    ):  # what is compiled first is not to count
        begun = time.perf_counter()
        result = decompose_rows(
            some,
            split=options.split,
            # What `auto` means for the real rows, not for those that are timed.
            ridge_rule="validation" if rule == "validation" else "relative",
            intervals=options.intervals,
            level=options.level,
            parts=options.parts,
            permutation_baseline=options.permutation_baseline,
            progress=False,
        )
        result.drop_order(progress=False)
        result.unique()
        seconds = time.perf_counter() - begun
    return seconds * max(1.0, neurons / (width * models)) ** 3
