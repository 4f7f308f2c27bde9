"""Attention maps of one sentence, and what of them is compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[Any]
IntArray = NDArray[np.int64]
Sink = Literal["dropped", "kept"]
SINKS = ("dropped", "kept")
NOTHING = 1e-9
"""Less than this fraction of a row is rounding."""


class View(NamedTuple):
    """A way to look at attention: without the sink or with it, at all positions or at those before only."""

    sink: str
    """``dropped``: what goes to special and first tokens is left out, and rows made to sum to 1 again; ``kept``: it is
    one position more."""
    past: bool
    """Only positions up to the word's own, as a causal model sees them."""


@dataclass(frozen=True)
class SentenceMaps:
    """Attention of all heads in one sentence."""

    weights: FloatArray
    """Heads × words × words, without the sink; every row sums to 1, or to 0 where all goes to the sink."""
    sink: FloatArray
    """Heads × words: the fraction of a row that goes to the sink; 1 only where nothing is left."""
    first: int = 0
    """The word that the first column stands for: 1 where the first word itself is the sink."""


class Entries(NamedTuple):
    """The numbers of a sentence that are compared, word after word."""

    values: FloatArray
    """Heads × numbers; those of a word sum to 1."""
    lengths: IntArray
    """How many numbers each word has: the positions that it sees."""
    single: int
    """Words that were left out, as they see one position only: all heads agree there."""
    even: int
    """Rows of single heads of which nothing is left, as all goes elsewhere; they are taken as even."""


def entries_of(maps: SentenceMaps, view: View, heads: IntArray | slice = slice(None)) -> Entries:
    """The numbers of some heads in a view."""
    weights, sink = maps.weights[heads], maps.sink[heads]
    if view.sink == "kept":
        weights = _with_sink(weights, sink)
    words, positions = weights.shape[1:]
    if not view.past and positions > 1:  # every word sees everything, and rows sum to 1 as they are
        blank = (sink >= 1) & (view.sink == "dropped")
        if blank.any():
            weights = np.where(blank[..., None], weights.dtype.type(1 / positions), weights)
        lengths = np.full(words, positions, np.int64)
        return Entries(weights.reshape(len(weights), -1), lengths, 0, int(blank.sum()))
    sees = np.ones((words, positions), bool)
    if view.past:
        sees = np.arange(positions)[None, :] + maps.first <= np.arange(words)[:, None]
        sees[:, maps.weights.shape[2] :] = True  # the sink
    rows = sees.sum(1) > 1
    weights, sees = weights[:, rows] * sees[rows], sees[rows]
    total = weights.sum(-1, keepdims=True)
    blank = total <= NOTHING
    share = np.where(blank, sees / np.maximum(sees.sum(1, keepdims=True), 1), weights)
    share = share / np.where(blank, 1, total)
    flat = share.reshape(len(share), -1)[:, np.flatnonzero(sees)]
    lengths = sees.sum(1).astype(np.int64)
    values = np.ascontiguousarray(flat, weights.dtype)
    return Entries(values, lengths, int((~rows).sum()), int(blank.sum()))


def _with_sink(weights: FloatArray, sink: FloatArray) -> FloatArray:
    """The sink as one position more."""
    whole = np.empty((*weights.shape[:2], weights.shape[2] + 1), weights.dtype)
    np.multiply(weights, (1 - sink)[..., None], out=whole[..., :-1])
    whole[..., -1] = sink
    return whole
