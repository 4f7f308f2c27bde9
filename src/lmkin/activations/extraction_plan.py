"""What an extraction would take, before it is run: rows, bytes, memory, time."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core import choose_layers
from ..corpus import Corpus
from ..models import AlignedCorpus, LanguageModel, UnitRule
from .batches import batches
from .extraction import SHARD_BYTES, check_numbers, default_batch_tokens, read_units, rows_per_shard

_TRIALS = 4


@dataclass(frozen=True)
class ExtractionPlan:
    """An estimate; bytes are exact, memory and time are not."""

    units: int
    lost: int
    unknown: dict[str, int] | None
    """Units that hold an unknown token, or nothing else; None where it cannot be told."""
    tokens: int
    padded_tokens: int
    layers: list[int]
    disk_bytes: int
    memory_bytes: int
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain data."""
        return {**self.__dict__, "seconds": round(self.seconds, 3)}


def plan_extraction(
    model: LanguageModel,
    corpus: Corpus,
    rule: UnitRule,
    *,
    layers: str | int | Sequence[int] = "all",
    batch_tokens: int | None = None,
    dtype: str = "float32",
    shard_bytes: int = SHARD_BYTES,
) -> ExtractionPlan:
    """Tokenize everything, run a few batches, and say what the whole would take on disk."""
    batch_tokens = default_batch_tokens(model) if batch_tokens is None else batch_tokens
    check_numbers(batch_tokens, shard_bytes, dtype)
    layer_numbers = choose_layers(layers, model.n_layers)
    reading = read_units(model, corpus, rule)
    plan = batches(reading.windows, batch_tokens)
    padded = [len(batch) * batch[0].length for batch in plan]
    width = sum(model.widths[n] for n in layer_numbers)
    disk = len(reading.units) * width * np.dtype(dtype).itemsize
    # Two shards take turns; the model keeps all its layers for a batch.
    rows = rows_per_shard(shard_bytes, width * np.dtype(dtype).itemsize, batch_tokens)
    shard = min(rows, len(reading.units)) * width * 4
    batch = max(padded) * sum(model.widths) * 4 * 4
    return ExtractionPlan(
        units=len(reading.units),
        lost=reading.n_offered - len(reading.units),
        unknown=reading.unknown,
        tokens=reading.n_tokens,
        padded_tokens=sum(padded),
        layers=layer_numbers,
        disk_bytes=disk,
        memory_bytes=model.memory + 2 * shard + batch,
        seconds=_estimate(model, reading, layer_numbers, plan, padded),
    )


def _estimate(
    model: LanguageModel,
    reading: AlignedCorpus,
    layers: list[int],
    plan: list[Any],
    padded: list[int],
) -> float:
    """Time for the whole from a few batches of different lengths."""
    reduce = "max" if reading.rule.pooling == "max" else "sum"
    trials = sorted({int(i) for i in np.linspace(0, len(plan) - 1, _TRIALS)})
    model.run(plan[trials[-1]], layers, reduce=reduce)  # the first batch also warms up
    begun = time.perf_counter()
    for i in trials:
        model.run(plan[i], layers, reduce=reduce)
    spent = time.perf_counter() - begun
    return spent * sum(padded) / sum(padded[i] for i in trials)
