"""What probes are scored by and compared with, written from the definitions, one row after the other."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np


def jackknife_error(score: Any, part: Sequence[int]) -> float:
    """Delete-a-part jackknife for parts of unequal size (Busing, Meijer & van der Leeden 1999)."""
    part = np.asarray(part)
    n, names = len(part), sorted(set(part.tolist()))
    g, whole = len(names), score(np.ones(n, bool))
    without = [score(part != k) for k in names]
    h = [n / (part == k).sum() for k in names]
    centre = g * whole - sum((1 - 1 / hk) * w for hk, w in zip(h, without, strict=True))
    pseudo = [hk * whole - (hk - 1) * w for hk, w in zip(h, without, strict=True)]
    total = sum((p - centre) ** 2 / (hk - 1) for p, hk in zip(pseudo, h, strict=True))
    return math.sqrt(total / g)


def tag_of_the_word(words: Sequence[str], tags: Sequence[str], asked: Sequence[str]) -> list[str]:
    """The most frequent tag of a word (of equally frequent ones the first by name), else that of all words."""
    by_word: dict[str, Counter[str]] = {}
    for word, tag in zip(words, tags, strict=True):
        by_word.setdefault(word, Counter())[tag] += 1

    def best(counts: Counter[str]) -> str:
        return min(counts, key=lambda tag: (-counts[tag], tag))

    usual = best(Counter(tags))
    return [best(by_word[word]) if word in by_word else usual for word in asked]


def online_code(
    X: Any, y: Any, sentence: Any, fit: Any, *, classes: int, portions: Sequence[float], seed: int
) -> float:
    """Bits of labels that are sent portion by portion, in whole sentences, each with a probe of those before."""
    order = np.random.default_rng(seed).permutation(sentence.max() + 1).tolist()
    rows = sorted(range(len(y)), key=lambda i: (order[sentence[i]], i))
    ends = []
    for share in portions:
        end = 0
        while end < share * len(y) or (
            end < len(y) and sentence[rows[end]] == sentence[rows[end - 1]]
        ):
            end += 1
        ends.append(end)
    ends = sorted(set(ends))
    bits = ends[0] * math.log2(classes)
    for begin, end in pairwise(ends):
        known = sorted(rows[:begin])
        probability = fit(X[known], y[known])
        for i in rows[begin:end]:
            p = probability(X[i : i + 1])[y[i]]
            bits -= math.log2((begin * p + 1) / (begin + classes))
    return bits
