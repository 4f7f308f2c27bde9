"""What a comparison of attention heads would take."""

from __future__ import annotations

import time

from ...analysis import Running, Source
from ...core import Plan, Step
from ...models import attention_units
from .measure_choice import choose_measures
from .memory import require_memory_for
from .model_maps import ModelMaps
from .options import AttentionOptions

_TRIED = 8
"""Sentences that are timed."""


def open_maps(source: Source, options: AttentionOptions) -> ModelMaps:
    """Maps of the models over the corpus, before anything is run."""
    batch = source.reading.batch_tokens
    return ModelMaps(
        source.models,
        source.sentences,
        options.blocks,
        units=attention_units(source.reading.units),
        layers=source.reading.layers,
        **({} if batch is None else {"batch_tokens": batch}),
    )


def plan_attention(source: Source, options: AttentionOptions, running: Running) -> Plan:
    """Memory of maps and sums, and time from a few sentences. Raise if it does not fit the budget."""
    maps = open_maps(source, options)
    need, room = require_memory_for(
        maps, choose_measures(options.measures), running.memory, parts=options.blocks
    )
    sentences = source.sentences
    some = sentences[:: max(1, len(sentences) // _TRIED)][:_TRIED]
    begun = time.perf_counter()
    for model in maps.models:
        for _ in model.attention(
            some, units=maps.units, batch_tokens=maps.batch_tokens, warn=False
        ):
            pass
    per_sentence = (time.perf_counter() - begun) / max(len(some), 1)
    title = f"{maps.layout.width} heads in {len(maps.layout.groups)} layers, {len(sentences):,} sentences"
    steps = [
        Step("models and heads", seconds=round(2 * per_sentence * len(sentences), 1), memory=need,
             note="comparing takes about as long as the models")
    ]  # fmt: skip
    return Plan(
        title, steps, room.memory, {"sentences": len(sentences), "heads": maps.layout.width}
    )
