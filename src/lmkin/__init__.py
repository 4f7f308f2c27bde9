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
    "Corpus": "corpus",
    "CorpusError": "errors",
    "LanguageModel": "models",
    "LmkinError": "errors",
    "LmkinWarning": "errors",
    "ModelError": "errors",
    "Sentence": "corpus",
    "common_units": "activations",
    "export_activations": "activations",
    "extract": "activations",
    "linear_cka": "measures",
    "load_model": "models",
    "open_activations": "activations",
    "read_corpus": "corpus",
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
    from .corpus import Corpus, Sentence, read_corpus
    from .errors import ActivationsError, CorpusError, LmkinError, LmkinWarning, ModelError
    from .measures import linear_cka
    from .models import LanguageModel, load_model


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'lmkin' has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
