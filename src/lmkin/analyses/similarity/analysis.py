"""Similarity as an analysis: how alike all layers of some models are."""

from __future__ import annotations

from typing import Any

from ...analysis import Analysis, Running, Source, analysis
from ...core import Plan
from ...rows import Workspace
from .options import SimilarityOptions
from .result import Similarity


@analysis
class SimilarityAnalysis(Analysis[SimilarityOptions]):
    """Compares all layers of all models on the same rows."""

    name = "similarity"
    summary = "Compare all layers of all MODELs on the same words, and write results and a report into a folder."
    description = """Models run side by side over the corpus once; activations are not stored. A run that is broken off
    goes on where it stopped when the same command is given again.

        lmkin similarity bert-base-cased roberta-base --corpus en_ewt-ud-dev.conllu -o bert-roberta
    """
    function = "similarity"
    Options = SimilarityOptions
    result = Similarity

    def check(self, options: Any) -> None:
        """Raise if an option has a value that cannot be meant."""
        super().check(options)
        options.check()

    def plan(self, source: Source, options: Any, running: Running) -> Plan:
        """Memory and time of models and measures."""
        from .plan import plan_similarity

        return plan_similarity(source, options, running)

    def run(self, source: Source, options: Any, running: Running, work: Workspace) -> Similarity:
        """One pass over the rows, then all measures."""
        from .comparison import similarity

        rows = source.rows(options.parts if options.intervals or options.held_out else 1)
        return similarity(
            rows,
            measures=options.measures,
            neurons=options.neurons,
            intervals=options.intervals,
            level=options.level,
            held_out=options.held_out,
            permutations=options.permutations,
            measure_options=options.measure_options,
            route=options.route,
            precision=options.precision,
            sample_rows=options.sample_rows,
            memory=running.memory,
            seed=running.seed,
            workspace=work,
            progress=running.progress,
        )
