"""Similarity of attention heads as its definition says, number by number in float64. Slow and plain.

Written from the definitions alone. A column that no head of a row sees is not there; a row of which nothing is left is
even; a row with fewer than two columns is left out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
MEASURES = ("js", "pearson", "norm")
SINKS = ("dropped", "kept")


@dataclass(frozen=True)
class Maps:
    """Attention of some heads in one sentence: heads × words × columns, one of the columns the sink."""

    whole: Array
    sink: int
    """Which column the sink is."""
    words: Sequence[int]
    """The word that each column stands for; that of the sink does not matter."""


Layers = Mapping[str, Sequence[Maps]]


def of_arrays(maps: Mapping[str, Sequence[Array]]) -> dict[str, list[Maps]]:
    """The first word is the sink."""
    return {
        name: [Maps(np.asarray(m, np.float64), 0, range(m.shape[-1])) for m in listed]
        for name, listed in maps.items()
    }


def is_causal(sentences: Sequence[Maps]) -> bool:
    """Whether no head ever looks ahead, though it could."""
    ahead = [
        m.whole[k, i, c]
        for m in sentences
        for k in range(m.whole.shape[0])
        for i in range(m.whole.shape[1])
        for c, word in enumerate(m.words)
        if word > i
    ]
    return bool(ahead) and not any(ahead)


def compared_rows(maps: Maps, head: int, *, past: bool, sink: str) -> list[list[float]]:
    """The numbers of every word that sees two positions or more."""
    found = []
    for i, row in enumerate(maps.whole[head]):
        seen = [
            c
            for c, word in enumerate(maps.words)
            if (sink == "kept" if c == maps.sink else not past or word <= i)
        ]
        if len(seen) < 2:
            continue
        values = [float(row[c]) for c in seen]
        total = sum(values)
        found.append([v / total if total else 1 / len(seen) for v in values])
    return found


def js(a: Sequence[float], b: Sequence[float], *, base: float = 2) -> float:
    """½ KL(a‖β) + ½ KL(b‖β), β the average."""
    total = 0.0
    for x, y in zip(a, b, strict=True):
        middle = (x + y) / 2
        total += x / 2 * math.log(x / middle, base) if x else 0.0
        total += y / 2 * math.log(y / middle, base) if y else 0.0
    return total


def pearson(a: Sequence[float], b: Sequence[float]) -> float | None:
    """None where one of the two does not vary."""
    if max(a) - min(a) < 1e-12 or max(b) - min(b) < 1e-12:
        return None
    x, y = sum(a) / len(a), sum(b) / len(b)
    both = sum((p - x) * (q - y) for p, q in zip(a, b, strict=True))
    return both / math.sqrt(sum((p - x) ** 2 for p in a) * sum((q - y) ** 2 for q in b))


def frobenius(A: Sequence[Sequence[float]], B: Sequence[Sequence[float]]) -> float:
    return math.sqrt(
        sum((x - y) ** 2 for a, b in zip(A, B, strict=True) for x, y in zip(a, b, strict=True))
    )


def of_heads(measure: str, X: Sequence[Any], Y: Sequence[Any], *, released: bool = False) -> float:
    """How alike two heads are, from the compared rows of every sentence."""
    sentences = [(A, B) for A, B in zip(X, Y, strict=True) if A]
    if measure == "norm":
        mean = sum(frobenius(A, B) for A, B in sentences) / len(sentences)
        return 1 - mean if released else -mean
    pairs = [(a, b) for A, B in sentences for a, b in zip(A, B, strict=True)]
    if measure == "js":
        base = math.e if released else 2
        return 1 - sum(js(a, b, base=base) for a, b in pairs) / len(pairs)
    defined = [r for a, b in pairs if (r := pearson(a, b)) is not None]
    return sum(defined) / len(defined) if defined else 0.0


def head_table(
    measure: str,
    layers: Layers,
    *,
    sink: str,
    causal: Mapping[str, bool] | None = None,
    released: bool = False,
) -> Array:
    """All heads × all heads. As soon as one of two layers is causal, both are compared on what came before."""
    causal = causal or {name: is_causal(listed) for name, listed in layers.items()}
    heads = [(name, k) for name in layers for k in range(len(layers[name][0].whole))]
    rows = {
        (name, k, past): [compared_rows(m, k, past=past, sink=sink) for m in layers[name]]
        for name, k in heads
        for past in ({True, False} if not causal[name] else {True})
        if past is False or any(causal.values())
    }
    table = np.full((len(heads), len(heads)), np.nan)
    for i, (x, k) in enumerate(heads):
        for j, (y, m) in enumerate(heads):
            past = causal[x] or causal[y]
            table[i, j] = of_heads(measure, rows[x, k, past], rows[y, m, past], released=released)
    return table


def blocks(layers: Layers) -> list[slice]:
    """Rows of a head × head table, layer by layer."""
    found, start = [], 0
    for listed in layers.values():
        found.append(slice(start, start + len(listed[0].whole)))
        start = found[-1].stop
    return found


def layer_table(table: Array, layers: Layers) -> Array:
    """Mean over the heads of x of the best match among those of y."""
    where = blocks(layers)
    return np.array(
        [[np.mean([max(row[y]) for row in table[x]]) for y in where] for x in where], np.float64
    )


def best_matches(table: Array, x: slice, y: slice) -> list[int]:
    """For every head of x, the head of y that is most like it."""
    found = []
    for row in table[x]:
        best = 0
        for k, value in enumerate(row[y]):
            if value > row[y][best]:
                best = k
        found.append(best)
    return found


def columns_of(
    layers: Layers, *, sink: str, past: bool, without: Sequence[int] = ()
) -> dict[str, Array]:
    """Heads as columns, (word, word) pairs of compared rows as rows; without some sentences."""
    return {
        name: np.array(
            [
                [
                    value
                    for number, m in enumerate(listed)
                    if number not in without
                    for row in compared_rows(m, k, past=past, sink=sink)
                    for value in row
                ]
                for k in range(len(listed[0].whole))
            ]
        ).T
        for name, listed in layers.items()
    }
