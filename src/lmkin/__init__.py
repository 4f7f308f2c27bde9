"""lmkin: how alike are language models, how redundant, and what is the smallest part that does a task.

>>> import lmkin
>>> corpus = lmkin.read_corpus("sample")
>>> len(corpus) > 500
True
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# The public face. Names are looked up when they are used, so that `import lmkin` loads neither
# torch nor transformers.
_HOME = {
    "Activations": "activations",
    "ActivationsError": "errors",
    "Clustering": "redundancy",
    "Corpus": "corpus",
    "CorpusError": "errors",
    "Dependency": "dependency",
    "Keep": "redundancy",
    "LanguageModel": "models",
    "LmkinError": "errors",
    "LmkinWarning": "errors",
    "MeasureError": "errors",
    "ModelError": "errors",
    "Moments": "moments",
    "MomentsError": "errors",
    "Sentence": "corpus",
    "attention_heads": "attention",
    "attention_similarities": "attention",
    "attention_similarity": "attention",
    "average_similarity": "results",
    "cluster_neurons": "redundancy",
    "cluster_strips": "redundancy",
    "common_units": "activations",
    "conformance": "conformance",
    "cut_sequences": "dependency",
    "decompose": "dependency",
    "export_activations": "activations",
    "extract": "activations",
    "layer_redundancy": "redundancy",
    "linear_cka": "measures",
    "load_model": "models",
    "load_result": "results",
    "localization": "results",
    "measure": "measures",
    "measure_function": "measures",
    "moments": "moments",
    "open_activations": "activations",
    "permutation_null": "measures",
    "published_dependency": "dependency",
    "read_corpus": "corpus",
    "save_result": "results",
    "sentence_attention": "attention",
    "similarities": "measures",
    "similarity": "measures",
}
_ROOMS = ("measures", "report", "results")
__all__ = ["__version__", *_HOME]

if TYPE_CHECKING:
    from .activations import (
        Activations,
        common_units,
        export_activations,
        extract,
        open_activations,
    )
    from .attention import (
        attention_heads,
        attention_similarities,
        attention_similarity,
        sentence_attention,
    )
    from .conformance import conformance
    from .corpus import Corpus, Sentence, read_corpus
    from .dependency import Dependency, cut_sequences, decompose, published_dependency
    from .errors import (
        ActivationsError,
        CorpusError,
        LmkinError,
        LmkinWarning,
        MeasureError,
        ModelError,
        MomentsError,
    )
    from .measures import (
        linear_cka,
        measure,
        measure_function,
        permutation_null,
        similarities,
        similarity,
    )
    from .models import LanguageModel, load_model
    from .moments import Moments, moments
    from .redundancy import Clustering, Keep, cluster_neurons, cluster_strips, layer_redundancy
    from .results import average_similarity, load_result, localization, save_result


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f".{name}", __name__)
    if name not in _HOME:
        raise AttributeError(f"module 'lmkin' has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
