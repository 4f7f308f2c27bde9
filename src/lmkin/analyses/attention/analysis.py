"""Attention as an analysis: how alike the heads of some models look."""

from __future__ import annotations

from typing import Any

from ...analysis import Analysis, Running, Source, analysis
from ...core import LmkinError, Plan
from ...models import attention_units
from ...rows import Workspace
from .options import AttentionOptions
from .result import AttentionSimilarity


@analysis
class AttentionAnalysis(Analysis[AttentionOptions]):
    """Compares all heads of all models on the same sentences."""

    name = "attention"
    summary = (
        "Compare the attention heads of all MODELs on the same sentences, and write results and a report into a "
        "folder."
    )
    description = """Models run side by side over the corpus once; maps are not kept. Parts of the corpus that are
    finished are: after a kill, the same command goes on with the next.

        lmkin attention bert-base-cased roberta-base --corpus en_ewt-ud-dev.conllu -o heads
    """
    function = "attention_similarity"
    Options = AttentionOptions
    result = AttentionSimilarity
    unread = ("pooling", "first_token", "special_tokens", "long", "overlap", "max_length")
    stored = False
    attention = True

    def check(self, options: Any) -> None:
        """Raise if an option has a value that cannot be meant."""
        from .heads import check_threshold
        from .measure_choice import check_measure_options, choose_measures

        super().check(options)
        options.check_intervals()
        check_threshold(options.threshold)
        check_measure_options(choose_measures(options.measures), options.measure_options)

    def check_source(self, source: Source, options: Any) -> None:
        """Raise if there is no corpus, or not the sentence that is to be drawn."""
        if source.corpus is None:
            raise LmkinError(
                "Attention is not stored: give a corpus for the models to read (corpus=…)."
            )
        attention_units(source.reading.units)
        super().check_source(source, options)
        from .sentence_maps import choose_sentence

        choose_sentence(options.sentence, source.sentences)

    def plan(self, source: Source, options: Any, running: Running) -> Plan:
        """Memory and time of models and heads. Raise if it does not fit the budget."""
        from .plan import plan_attention

        return plan_attention(source, options, running)

    def run(
        self, source: Source, options: Any, running: Running, work: Workspace
    ) -> AttentionSimilarity:
        """One pass over the sentences, then all measures, single heads, and a sentence to draw."""
        from .comparison import attention_similarity

        return attention_similarity(
            source.models,
            source.sentences,
            **vars(options),
            units=attention_units(source.reading.units),
            memory=running.memory,
            layers=source.reading.layers,
            batch_tokens=source.reading.batch_tokens,
            workspace=work,
            progress=running.progress,
        )
