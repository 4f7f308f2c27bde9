"""Probing as an analysis: what layers and neurons know about a task."""

from __future__ import annotations

from typing import Any

from ...analysis import Analysis, Running, Source, analysis
from ...core import LmkinError, Plan
from ...rows import Workspace
from .options import ProbeOptions
from .result import Probes
from .splits import units_of_corpus
from .tasks import read_tasks


@analysis
class ProbeAnalysis(Analysis[ProbeOptions]):
    """Fits linear probes of all layers, each layer, and layers 0 to l."""

    name = "probe"
    summary = "Fit linear probes on the layers of every MODEL: what they know about a tag or label."
    description = """One corpus is split (80 % train, 10 % dev, 10 % test, in whole documents or sentences); or give
    --train, and --dev and --test. Penalties are chosen on dev; scores are of test.

        lmkin probe bert-base-cased --train en_ewt-ud-train.conllu --dev en_ewt-ud-dev.conllu
        --test en_ewt-ud-test.conllu --tag upos -o probes
    """
    function = "probe"
    Options = ProbeOptions
    result = Probes
    splits = True

    def check(self, options: Any) -> None:
        """Raise if an option has a value that cannot be meant."""
        super().check(options)
        options.check()

    def check_source(self, source: Source, options: Any) -> None:
        """Raise if nothing is to be predicted, or if these units have no such labels; before anything is loaded."""
        super().check_source(source, options)
        options.check_task()
        if source.corpus is None:
            return
        if options.label is not None and source.reading.units != "sentence":
            raise LmkinError(
                "Labels are of sentences: read sentences as units (units='sentence'), with pooling='cls' for a model "
                "that was tuned for its first token."
            )
        if options.label is None and source.reading.units == "sentence":
            raise LmkinError(
                "Tags are of words, so a probe for a tag reads words (units='word'), or tokens, which have the tag of "
                "the word they lie in (units='token'). For the labels of sentences use label='class' or label='score'."
            )

    def check_run(self, source: Source, options: Any, running: Running) -> None:
        """Raise if anything about a run cannot be meant; only the corpus is read for it, and split."""
        super().check_run(source, options, running)
        if source.corpus is not None and source.reading.units != "token":
            read_tasks(units_of_corpus(source, running.seed), options.resolved())

    def plan(self, source: Source, options: Any, running: Running) -> Plan:
        """Disk, memory and time of activations and of the fits."""
        from .plan import plan_probing

        return plan_probing(source, options.resolved(), running)

    def run(self, source: Source, options: Any, running: Running, work: Workspace) -> Probes:
        """Activations of every model, then all fits, then scores."""
        from .computation import compute_probes

        return compute_probes(source, options, running, work)
