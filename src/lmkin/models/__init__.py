"""What is asked: models of every source, and how their tokens become units."""

from .base import AlignedCorpus, LanguageModel, Window
from .loader import known_sources, load_model, load_tokenizer, model_source
from .options import Loading, LoadingOptions, Reading, ReadingOptions, check_reading
from .rule import UnitRule
from .tokens import Tokenizer

__all__ = [
    "AlignedCorpus",
    "LanguageModel",
    "Loading",
    "LoadingOptions",
    "Reading",
    "ReadingOptions",
    "Tokenizer",
    "UnitRule",
    "Window",
    "check_reading",
    "known_sources",
    "load_model",
    "load_tokenizer",
    "model_source",
]
