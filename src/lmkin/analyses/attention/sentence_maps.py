"""What all heads look at in one sentence, to be drawn."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from ...core import MeasureError
from ...corpus import Corpus, Sentence, split_words
from ...models import AttentionUnit, attention_units
from .head_tables import Heads
from .model_maps import ModelMaps, check_models

ELSEWHERE = "(elsewhere)"
"""The column of what goes to special tokens, or to a decoder's first token."""


def choose_sentence(
    asked: str | int | Sentence | None, corpus: Corpus, sizes: Sequence[int] | None = None
) -> Sentence | str:
    """A sentence by its number in the corpus, from 1, or its text. Raise if there is none, or if it is empty.

    Without either the first of 8 to 16 words, else the longest that is not over 40. ``sizes``: what counts in the place
    of words, by sentence.
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
            "The sentence is empty: there is nothing to attend to. Give a text, or its number in the corpus."
        )
    if asked is not None:
        return asked
    counts = [len(s.words) for s in corpus] if sizes is None else list(sizes)
    middling = (k for k, n in enumerate(counts) if 8 <= n <= 16)
    longest = max(
        (k for k, n in enumerate(counts) if n <= 40), key=counts.__getitem__, default=None
    )
    shortest = min(range(len(counts)), key=counts.__getitem__)
    return corpus[next(middling, shortest if longest is None else longest)]


def sentence_attention(
    models: Any,
    sentence: Sentence | str,
    *,
    units: AttentionUnit = "word",
    layers: Any = "all",
) -> xr.DataArray:
    """Attention of every head of every layer in one sentence: head × word × to.

    The last column of ``to`` is what goes elsewhere: to special tokens, or to a decoder's first token. Rows sum to 1.
    A sentence may be given as text; punctuation then counts as words of its own. With ``units="token"`` the words are
    the models' own tokens.
    """
    attention_units(units)
    given = sentence
    if isinstance(given, str):
        given = Sentence(given, split_words(given, "punctuation"))
    if not isinstance(given, Sentence):
        raise MeasureError(f"A sentence is a Sentence or its text; got {type(given).__name__}.")
    if not (given.words if units == "word" else given.text.strip()):
        raise MeasureError("The sentence is empty: there is nothing to attend to.")
    one = Corpus([given], name=given.text)
    source = ModelMaps(check_models(models), one, 1, units=units, layers=layers)
    first = next(source.sentences(), None)
    if first is None:
        raise MeasureError(
            f"These models share no {units} of the sentence: one cannot represent its {units}s, has them as a "
            f"decoder's first token, or reads less at once."
        )
    _, maps = first
    heads = Heads(source.layout)
    weights = maps.weights * (1 - maps.sink)[..., None]
    whole = np.concatenate([weights, maps.sink[..., None]], axis=-1)
    names = list(source.shown.values())
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
        attrs={"words": names, "units": units, "text": given.text},
    )
