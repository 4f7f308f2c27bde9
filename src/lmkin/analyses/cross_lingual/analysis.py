"""Cross-lingual transfer as an analysis: what probes of one language know of others."""

from __future__ import annotations

from typing import Any

from ...analysis import Analysis, Running, Source, analysis
from ...core import LmkinError, Plan
from ...rows import Workspace
from .options import CrossLingualOptions
from .parallel import align_corpora, require_languages, require_tags
from .result import CrossLingual
from .stores import parallel_corpora


@analysis
class CrossLingualAnalysis(Analysis[CrossLingualOptions]):
    """Fits probes on one language of parallel treebanks, and scores them in all."""

    name = "cross-lingual"
    summary = "Fit probes of every MODEL on one language of parallel treebanks, and test them in the others."
    description = """Sentences are split once, at the same places in every language. Neurons are clustered on the
    language of training alone; at every threshold a probe is fitted on those that are left.

        lmkin cross-lingual bert-base-multilingual-cased --corpora en=en_pud.conllu de=de_pud.conllu fi=fi_pud.conllu
        --train-on en -o transfer

    Stored activations of one model, or of several, will do in place of models and corpora:

        lmkin cross-lingual en=en.acts de=de.acts fi=fi.acts --train-on en -o transfer
    """
    function = "cross_lingual"
    Options = CrossLingualOptions
    result = CrossLingual
    by_name = True

    def check(self, options: Any) -> None:
        """Raise if an option has a value that cannot be meant."""
        super().check(options)
        options.check()

    def check_source(self, source: Source, options: Any) -> None:
        """Raise if there are no two languages to read, before anything is read."""
        super().check_source(source, options)
        if source.corpus is None and source.stores_by_name is None:
            raise LmkinError(
                "Give parallel corpora for the models to read, by language: corpora {'en': …, 'de': …}, on the command "
                "line --corpora en=FILE de=FILE; or, without models, stored activations by language: en=FOLDER "
                "de=FOLDER."
            )
        if source.corpus is not None and not hasattr(source.corpus, "items"):
            raise LmkinError(
                "Corpora are given by language, such as {'en': …, 'de': …}, on the command line --corpora en=FILE "
                "de=FILE; got one without a name."
            )
        by_language: Any = source.corpus or source.stores_by_name
        require_languages(by_language)
        options.sources(list(by_language))
        if source.reading.units != "word":
            raise LmkinError("Tags are of words, so transfer reads words (units='word').")

    def check_run(self, source: Source, options: Any, running: Running) -> None:
        """Raise if anything about a run cannot be meant; only the corpora are read for it."""
        super().check_run(source, options, running)
        corpora = parallel_corpora(source)
        require_tags(corpora, options.tag_names())
        align_corpora(corpora, options, running.seed)

    def plan(self, source: Source, options: Any, running: Running) -> Plan:
        """Disk, memory and time of activations, clusters and fits."""
        from .plan import plan_transfer

        return plan_transfer(source, options, running)

    def run(self, source: Source, options: Any, running: Running, work: Workspace) -> CrossLingual:
        """Activations of every model in every language, then clusters, fits and scores."""
        from .computation import compute_cross_lingual

        return compute_cross_lingual(source, options, running, work)
