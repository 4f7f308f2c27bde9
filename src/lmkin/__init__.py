"""lmkin: how alike are language models, how redundant, and what is the smallest part that does a task.

>>> import lmkin
>>> corpus = lmkin.read_corpus("sample")
>>> len(corpus) > 500
True
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .core.version import __version__

# The public face. Names are looked up when they are used, so that `import lmkin` loads neither
# torch nor transformers.
_HOME = {
    "Activations": "activations",
    "ActivationsError": "core",
    "AttentionSimilarity": "analyses.attention",
    "Clustering": "analyses.redundancy",
    "Corpus": "corpus",
    "CorpusError": "core",
    "CrossLingual": "analyses.cross_lingual",
    "Dependency": "analyses.dependency",
    "LanguageModel": "models",
    "LmkinError": "core",
    "LmkinWarning": "core",
    "MeasureError": "core",
    "ModelError": "core",
    "Moments": "moments",
    "MomentsError": "core",
    "NeuronMask": "analyses.redundancy",
    "NeuronRanking": "analyses.probing",
    "Probe": "estimators",
    "Probes": "analyses.probing",
    "Redundancy": "analyses.redundancy",
    "Result": "results",
    "Sentence": "corpus",
    "Similarity": "analyses.similarity",
    "attention_heads": "analyses.attention",
    "attention_similarity": "analyses.attention",
    "check_measure": "measures",
    "cluster_neurons": "analyses.redundancy",
    "cluster_strips": "analyses.redundancy",
    "common_units": "activations",
    "compute_moments": "moments",
    "cross_lingual": "analyses.cross_lingual",
    "cut_sequences": "analyses.dependency",
    "decompose": "analyses.dependency",
    "export_activations": "activations",
    "extract": "activations",
    "layer_redundancy": "analyses.redundancy",
    "linear_cka": "measures",
    "load": "results",
    "load_model": "models",
    "measure": "measures",
    "measure_function": "measures",
    "minimal_neurons": "analyses.probing",
    "open_activations": "activations",
    "permutation_baseline": "measures",
    "probe": "analyses.probing",
    "probe_clusters": "analyses.probing",
    "published": "results",
    "rank_neurons": "analyses.probing",
    "ranked_layers": "analyses.redundancy",
    "read_corpus": "corpus",
    "redundancy": "analyses.redundancy",
    "sentence_attention": "analyses.attention",
    "similarity": "analyses.similarity",
    "write_report": "report",
    "write_result": "report",
}
__all__ = ["__version__", *_HOME]

if TYPE_CHECKING:
    from .activations import (
        Activations,
        common_units,
        export_activations,
        extract,
        open_activations,
    )
    from .analyses.attention import (
        AttentionSimilarity,
        attention_heads,
        attention_similarity,
        sentence_attention,
    )
    from .analyses.cross_lingual import CrossLingual, cross_lingual
    from .analyses.dependency import Dependency, cut_sequences, decompose
    from .analyses.probing import (
        NeuronRanking,
        Probes,
        minimal_neurons,
        probe,
        probe_clusters,
        rank_neurons,
    )
    from .analyses.redundancy import (
        Clustering,
        NeuronMask,
        Redundancy,
        cluster_neurons,
        cluster_strips,
        layer_redundancy,
        ranked_layers,
        redundancy,
    )
    from .analyses.similarity import Similarity, similarity
    from .core import (
        ActivationsError,
        CorpusError,
        LmkinError,
        LmkinWarning,
        MeasureError,
        ModelError,
        MomentsError,
    )
    from .corpus import Corpus, Sentence, read_corpus
    from .estimators import Probe
    from .measures import check_measure, linear_cka, measure, measure_function, permutation_baseline
    from .models import LanguageModel, load_model
    from .moments import Moments, compute_moments
    from .report import write_report, write_result
    from .results import Result, load, published


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'lmkin' has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
