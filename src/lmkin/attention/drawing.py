"""What all heads look at in one sentence, to be drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from ..corpus import Corpus, Sentence
from ..corpus.spans import split_words
from ..errors import MeasureError
from .sources import ModelMaps, check_models
from .tables import Heads

ELSEWHERE = "(elsewhere)"
"""The column of what goes to special tokens, or to a decoder's first token."""


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
    found = next(source.sentences(), None)
    if found is None:
        raise MeasureError(
            "These models share no word of the sentence: one cannot represent its words, has them as a decoder's first "
            "token, or reads less at once."
        )
    _, maps = found
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
