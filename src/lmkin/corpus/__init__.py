"""What is read: sentences, corpora, and the formats they come in."""

from .corpus import Corpus
from .reader import Format, Head, corpus_format, known_formats, read_corpus
from .sentence import SENTENCE, Sentence, Span
from .spans import split_words
from .units import KINDS, Units, first_difference

__all__ = [
    "KINDS",
    "SENTENCE",
    "Corpus",
    "Format",
    "Head",
    "Sentence",
    "Span",
    "Units",
    "corpus_format",
    "first_difference",
    "known_formats",
    "read_corpus",
    "split_words",
]
