"""Dependency as an analysis: how much of every model the others explain."""

from __future__ import annotations

from typing import Any

from ...analysis import Analysis, Running, Source, analysis
from ...core import LmkinError, Plan
from ...models import Reading
from ...rows import Workspace
from .options import DependencyOptions
from .result import Dependency


@analysis
class DependencyAnalysis(Analysis[DependencyOptions]):
    """Language Model Decomposition: every model as a linear function of the others."""

    name = "dependency"
    summary = (
        "Say how much of every MODEL the others explain linearly, and which could be switched off."
    )
    description = """Fitted on some texts and scored on held-out ones; results and a report go into a folder. Each
    length is kept when it is finished: after a kill, the same command goes on.

        lmkin dependency bert-base-uncased roberta-base albert-base-v2 --corpus wiki.txt --lengths 16,64,256 -o lmd
    """
    function = "decompose"
    Options = DependencyOptions
    result = Dependency
    reading = Reading(layers="last", units="sentence")

    def check(self, options: Any) -> None:
        """Raise if an option has a value that cannot be meant."""
        super().check(options)
        options.check()

    def check_source(self, source: Source, options: Any) -> None:
        """Raise if there is one model only, or if options of reading and lengths exclude each other."""
        from .run import check_source

        super().check_source(source, options)
        check_source(source, options)

    def check_run(self, source: Source, options: Any, running: Running) -> None:
        """Raise if anything about a run cannot be meant, or would do nothing to moments that were made before."""
        from .run import check_moments

        super().check_run(source, options, running)
        check_moments(source, options, running)

    def plan(self, source: Source, options: Any, running: Running) -> Plan:
        """Rows, memory of sums and fits, and time, for every length."""
        from .plan import plan_dependency

        if source.corpus is None:
            raise LmkinError("What is stored is read in a moment: there is nothing to plan.")
        return plan_dependency(source, options, running)

    def run(self, source: Source, options: Any, running: Running, work: Workspace) -> Dependency:
        """A decomposition for every length, and which models to keep."""
        from .run import run_dependency

        return run_dependency(source, options, running, work)
