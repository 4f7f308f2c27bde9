"""The rows of one sentence, for clusters that are shown over it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...activations import Activations, extract
from ...core import MeasureError, quoted
from ...corpus import Corpus, Sentence, split_words
from ...models import LanguageModel

Shown = tuple[Activations, int]
"""Activations, and the number of a sentence of theirs, from 0."""


def read_sentence(
    models: Sequence[LanguageModel],
    sentence: str | int,
    corpus: Corpus,
    reading: Mapping[str, Any],
) -> list[Shown]:
    """What every model makes of a sentence: of a text, or of one of the corpus, by its number from 1."""
    number = sentence_number(sentence)
    if reading.get("units") == "sentence":
        _refuse_sentences()
    if number is None:
        plain = " ".join(str(sentence).split())
        one = Sentence(plain, split_words(plain, "whitespace"), id="1")
    else:
        check_number(number, len(corpus))
        one = corpus[number]
    text = Corpus([one], name="sentence")
    rows = [extract(m, text, progress=False, **reading) for m in models]
    for acts in rows:
        _require_words(acts.name, len(acts))
    return [(acts, 0) for acts in rows]


def stored_sentence(source: Any, sentence: str | int) -> list[Shown]:
    """The rows of a sentence in some stores, by its number in their corpus, from 1."""
    number = sentence_number(sentence)
    stores = source if isinstance(source, list) else []
    if number is None or not stores:
        raise MeasureError(
            "Of activations, a sentence is its number in their corpus, from 1; a text of your own needs the models "
            "and a corpus, and arrays have no sentences."
        )
    for acts in stores:
        if acts.units.kind == "sentence":
            _refuse_sentences()
        check_number(number, len(acts.units.corpus))
        _require_words(acts.name, int(np.sum(acts.units.sentence == number)))
    return [(acts, number) for acts in stores]


def sentence_number(sentence: str | int) -> int | None:
    """The number of a sentence in its corpus, from 0; None for a text. Raise if that has fewer than two words."""
    if isinstance(sentence, int):
        return sentence - 1
    if re.fullmatch(r"\s*-?[0-9]+\s*", sentence):
        return int(sentence) - 1
    if not sentence.strip():
        raise MeasureError("The sentence is empty. Give a text of two words or more.")
    if len(sentence.split()) < 2:
        raise MeasureError(
            "A sentence needs two words at least, to show how neurons go up and down; got "
            f"{quoted(sentence.strip()[:60])}. Give a longer one."
        )
    return None


def _refuse_sentences() -> None:
    raise MeasureError(
        "Clusters are shown over a sentence word by word, and with sentences as units there is one row for all of it. "
        "Leave out the sentence, or take words."
    )


def check_number(number: int, count: int) -> None:
    """Raise if a corpus of so many sentences has none of this number, from 0."""
    if not 0 <= number < count:
        raise MeasureError(
            f"There is no sentence {number + 1}: the corpus has sentences 1 to {count}. A text is taken as it is."
        )


def _require_words(name: str, count: int) -> None:
    if count < 2:
        raise MeasureError(
            f"A sentence needs two words at least, to show how neurons go up and down; {name} reads "
            f"{'one' if count else 'none'} here. Give a longer sentence."
        )
