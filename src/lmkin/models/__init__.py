"""What is asked: models of every source, and how their tokens become units."""

from .base import LanguageModel, Reading, Window
from .loading import known_sources, load_model, load_tokenizer, model_source
from .rule import UnitRule

__all__ = [
    "LanguageModel",
    "Reading",
    "UnitRule",
    "Window",
    "known_sources",
    "load_model",
    "load_tokenizer",
    "model_source",
]
