"""What is read: sentences, corpora, and the formats they come in."""

from .corpus import Corpus
from .reading import Format, Head, corpus_format, known_formats, read_corpus
from .sentence import Sentence, Span
from .units import Units, first_difference

__all__ = [
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
]
