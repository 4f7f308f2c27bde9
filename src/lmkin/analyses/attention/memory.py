"""How much memory a comparison of attention takes, before it begins."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...core import Budget, MeasureError, budget
from ...corpus import Corpus
from ...models import AttentionUnit, LanguageModel, UnitRule
from .maps import SINKS
from .model_maps import ModelMaps
from .sources import BATCH, MapSource
from .sums import HEAD_MEASURES, SHARES
from .views import views_of

_COPIES = 8
"""Of the numbers of a batch of sentences, at the same time: maps, a view of them, and what a measure makes of it."""


def attention_memory(
    source: MapSource, measures: Sequence[str], sinks: Iterable[str] = SINKS, *, parts: int = 1
) -> int:
    """Bytes that comparing the heads of a source takes, beside the weights of its models.

    Forward passes of all models are there side by side, each with the attention of all its layers for a batch; then
    the maps of some sentences, and a table of heads × heads for every measure, view and part.
    """
    heads = source.layout.width
    views = len(views_of(source.causal, sinks))
    tables = len([m for m in measures if m in HEAD_MEASURES]) + ("pearson" in measures)
    # Those of every part, of the sum of all and of all without one, and of the shares of a batch.
    sums = 8 * heads * heads * tables * (views * (parts + 3) + SHARES)
    if any(m not in HEAD_MEASURES for m in measures):
        sums += 8 * heads * heads * views * (2 * parts + 4)
    forward, longest = 0, 0
    if isinstance(source, ModelMaps):
        for model in source.models:
            length = longest_input(model, source.corpus, source.units)
            tokens = max(source.batch_tokens, length)
            maps = 4 * tokens * length * sum(source.heads_of(model))
            # One sentence at a time is taken out of the batch, joined into units, and made to sum to 1.
            one = 4 * length * length * sum(source.heads_of(model))
            forward += model.forward_memory(tokens, length) + maps + 4 * one
            longest = max(longest, length)
    numbers = BATCH + longest * longest
    return sums + forward + _COPIES * 4 * heads * numbers


def longest_input(model: LanguageModel, corpus: Corpus, units: AttentionUnit) -> int:
    """Tokens of the longest sentence that a model reads whole."""
    reading = model.read(corpus, UnitRule.make(units, long="truncate"))
    return max(window.length for window in reading.windows)


def require_memory_for(
    source: ModelMaps, measures: Sequence[str], memory: float | str | None, *, parts: int
) -> tuple[int, Budget]:
    """Bytes that a comparison takes, and the budget. Raise if it does not fit, saying the least that would."""
    need = attention_memory(source, measures, parts=parts)
    weights = sum(m.memory for m in source.models if m.device_type == "cpu")
    room = budget(memory, models=weights)
    if not room.fits(need):
        raise MeasureError(
            f"{room.refusal(need, f'maps and sums of {source.layout.width} heads')} Compare fewer layers (layers=…), "
            f"take smaller batches (batch_tokens=…), or raise the budget (memory=…)."
        )
    return need, room
