"""Redundancy as an analysis: which neurons, and which layers, of a model say the same thing."""

from __future__ import annotations

from typing import Any

from ...analysis import Analysis, Running, Source, analysis
from ...core import Plan
from ...rows import Workspace
from .options import RedundancyOptions
from .result import Redundancy


@analysis
class RedundancyAnalysis(Analysis[RedundancyOptions]):
    """Clusters the neurons of every model, and ranks its layers by what they add."""

    name = "redundancy"
    summary = "Cluster the neurons of every MODEL that say the same thing, and rank its layers by what they add."
    description = """Activations are stored while the command runs; results and a report go into a folder. After a kill,
    the same command goes on.

        lmkin redundancy bert-base-cased distilbert-base-cased --corpus en_ewt-ud-dev.conllu -o same
    """
    function = "redundancy"
    Options = RedundancyOptions
    result = Redundancy

    def check(self, options: Any) -> None:
        """Raise if an option has a value that cannot be meant."""
        super().check(options)
        options.check()

    def check_source(self, source: Source, options: Any) -> None:
        """Raise if a sentence cannot be shown with such units, or is not in the corpus."""
        from .run import check_source

        super().check_source(source, options)
        check_source(source, options)

    def plan(self, source: Source, options: Any, running: Running) -> Plan:
        """Disk, memory and time of activations, clusters and layers, for every model."""
        from .plan import plan_redundancy

        return plan_redundancy(source, options, running)

    def run(self, source: Source, options: Any, running: Running, work: Workspace) -> Redundancy:
        """Activations of every model, then clusters, layers, and some clusters over a sentence."""
        from .run import run_redundancy

        return run_redundancy(source, options, running, work)
