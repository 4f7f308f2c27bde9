"""What is asked: models of every source, and how their tokens become units."""

from .base import AlignedCorpus, LanguageModel, Window
from .loader import known_sources, load_model, load_tokenizer, model_source
from .options import Loading, LoadingOptions, Reading, ReadingOptions, check_reading
from .rule import AttentionUnit, UnitRule, attention_units
from .tokens import Tokenizer

__all__ = [
    "AlignedCorpus",
    "AttentionUnit",
    "LanguageModel",
    "Loading",
    "LoadingOptions",
    "Reading",
    "ReadingOptions",
    "Tokenizer",
    "UnitRule",
    "Window",
    "attention_units",
    "check_reading",
    "known_sources",
    "load_model",
    "load_tokenizer",
    "model_source",
]
