"""What all heads look at in one sentence, to be drawn."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import xarray as xr

from ...core import MeasureError
from ...corpus import Corpus, Sentence, split_words
from .head_tables import Heads
from .model_maps import ModelMaps, check_models

ELSEWHERE = "(elsewhere)"
"""The column of what goes to special tokens, or to a decoder's first token."""


def choose_sentence(asked: str | int | Sentence | None, corpus: Corpus) -> Sentence | str:
    """A sentence by its number in the corpus, from 1, or its text. Raise if there is none, or if it is empty.

    Without either the first of 8 to 16 words, else the longest that is not over 40.
    """
    if isinstance(asked, str) and re.fullmatch(r"\s*-?[0-9]+\s*", asked):
        asked = int(asked)
    if isinstance(asked, int):
        if not 1 <= asked <= len(corpus):
            raise MeasureError(
                f"There is no sentence {asked}: the corpus has sentences 1 to {len(corpus)}. A text is taken as it is."
            )
        return corpus[asked - 1]
    if isinstance(asked, str) and not asked.strip():
        raise MeasureError(
            "The sentence is empty: there are no words to attend to. Give a text, or its number in the corpus."
        )
    if asked is not None:
        return asked
    fitting = (s for s in corpus if 8 <= len(s.words) <= 16)
    longest = max(
        (s for s in corpus if len(s.words) <= 40), key=lambda s: len(s.words), default=None
    )
    return next(fitting, None) or longest or min(corpus, key=lambda s: len(s.words))


def sentence_attention(
    models: Any, sentence: Sentence | str, *, layers: Any = "all"
) -> xr.DataArray:
    """Attention of every head of every layer in one sentence: head × word × to.

    The last column of ``to`` is what goes elsewhere: to special tokens, or to a decoder's first token. Rows sum to 1.
    A sentence may be given as text; punctuation then counts as words of its own.
    """
    given = sentence
    if isinstance(given, str):
        given = Sentence(given, split_words(given, "punctuation"))
    if not isinstance(given, Sentence):
        raise MeasureError(f"A sentence is a Sentence or its text; got {type(given).__name__}.")
    if not given.words:
        raise MeasureError("The sentence is empty: there are no words to attend to.")
    source = ModelMaps(check_models(models), Corpus([given], name=given.text), 1, layers=layers)
    first = next(source.sentences(), None)
    if first is None:
        raise MeasureError(
            "These models share no word of the sentence: one cannot represent its words, has them as a decoder's first "
            "token, or reads less at once."
        )
    _, maps = first
    heads = Heads(source.layout)
    words = source.words
    weights = maps.weights * (1 - maps.sink)[..., None]
    whole = np.concatenate([weights, maps.sink[..., None]], axis=-1)
    names = [given.words[k] for k in words]
    return xr.DataArray(
        whole,
        dims=("head", "word", "to"),
        coords={
            "head": heads.names,
            "word": [f"{k}:{name}" for k, name in enumerate(names)],
            "to": [*(f"{k}:{name}" for k, name in enumerate(names)), ELSEWHERE],
            "model": ("head", [source.layout.groups[i].model for i in heads.layer]),
            "layer": ("head", [source.layout.groups[i].layer for i in heads.layer]),
        },
        name="attention",
        attrs={"words": names, "text": given.text},
    )
