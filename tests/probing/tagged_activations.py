"""Activations in memory that hold what is planted: the tag of a word, more clearly from layer to layer, and noise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import lmkin
from lmkin.core import fingerprint
from lmkin.corpus import Units


def activations_of(
    units: Units, layers: Mapping[int, Any], name: str = "planted", *, weights: str = "w"
) -> lmkin.Activations:
    """Matrices of units × neurons as activations of a model of some weights."""
    arrays = {n: np.asarray(X, np.float32) for n, X in layers.items()}
    corpus = units.corpus
    return lmkin.Activations(
        units,
        [arrays],
        {
            "status": "memory",
            "key": fingerprint([name, weights, units.hash, {n: fingerprint(X) for n, X in arrays.items()}]),
            "model": {"name": name, "weights": weights, "layers": 9},
            "corpus": {"name": corpus.name, "format": None, "hash": corpus.hash,
                       "sentences": len(corpus), "words": corpus.n_words},
            "units": {"kind": units.kind, "offered": len(units), "kept": len(units), "hash": units.hash,
                      "rule": {}, "losses": {"with_unknown_token": 0, "only_unknown_tokens": 0}},
            "layers": list(arrays), "widths": [X.shape[1] for X in arrays.values()], "dtype": "float32",
        },
    )  # fmt: skip


def tagged_activations(
    corpus: lmkin.Corpus,
    name: str = "planted",
    *,
    layers: int = 3,
    width: int = 12,
    noise: float = 1.0,
    seed: int = 0,
    tag: str = "upos",
    weights: str = "w",
) -> lmkin.Activations:
    """Layer l holds a random direction for each tag, l times, and noise."""
    units = Units.all_words(corpus)
    tags = units.tags(tag)
    number = {t: k for k, t in enumerate(sorted(set(tags)))}
    random = np.random.default_rng(seed)
    planted = random.normal(size=(len(number), width))[[number[t] for t in tags]]
    return activations_of(
        units,
        {n: n * planted + noise * random.normal(size=planted.shape) for n in range(layers)},
        name,
        weights=weights,
    )
