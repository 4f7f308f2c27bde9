"""Attention maps made up at random, of all kinds that real heads show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
KINDS = ("dense", "sparse", "one position", "even", "first word only")
LENGTHS = (1, 2, 5, 9, 3, 1, 7, 2, 4, 6)


def random_map(
    rng: np.random.Generator, heads: int, words: int, kind: str = "dense", *, causal: bool = False
) -> Array:
    """Heads × words × words; rows sum to 1. Numbers are 0, or large enough not to be rounding."""
    A = rng.uniform(0.01, 1, size=(heads, words, words)) ** 3
    if kind == "sparse":
        A *= rng.uniform(size=A.shape) < 0.4
    if kind == "one position":
        A *= 0
    if kind == "even":
        A = np.ones_like(A)
    if kind == "first word only":
        A *= np.arange(words) == 0
    if causal:
        A = np.tril(A)
    for head, word in zip(*np.nonzero(~A.any(-1)), strict=True):
        A[head, word, rng.integers(word + 1 if causal else words)] = 1
    return A / A.sum(-1, keepdims=True)


def random_layer(
    seed: int,
    heads: int,
    lengths: Sequence[int] = LENGTHS,
    kind: str = "dense",
    *,
    causal: bool = False,
    dtype: Any = np.float64,
) -> list[Array]:
    """Maps of a layer, one a sentence."""
    rng = np.random.default_rng(seed)
    return [random_map(rng, heads, n, kind, causal=causal).astype(dtype) for n in lengths]


def without(maps: Mapping[str, Sequence[Any]], sentences: Sequence[int]) -> dict[str, list[Any]]:
    """The same layers without some sentences."""
    return {
        name: [m for number, m in enumerate(listed) if number not in sentences]
        for name, listed in maps.items()
    }
