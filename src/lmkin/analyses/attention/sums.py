"""Running sums over sentences, for every pair of heads: they merge by addition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core import Run
from .entropy import entropies
from .maps import Entries, FloatArray

HEAD_MEASURES = ("js", "pearson", "norm")
"""What compares single heads."""
_COUNTED = ("sentences", "words", "single", "even", "all_sentences", "all_words")
_CLOSE = {4: 1e-2, 8: 1e-6}
"""Squared distances below this fraction of the squared norms are computed directly, as their difference loses
digits."""
SHARES = 4
"""Into so many a batch is cut, to be added side by side."""


class HeadSums:
    """Sums over some sentences, for all pairs of some heads.

    ``js`` holds Σ (a + b) log₂(a + b) over all numbers a, b of two heads: with D the sum, the divergence in
    bits is (D_kk + D_k'k' − 2 D_kk') / 4, which is exactly 0 for equal heads. ``pearson`` holds the sum
    of correlations of rows, ``pearson_rows`` of how many; ``norm`` the sum of distances of maps.
    """

    def __init__(self, heads: int, measures: Sequence[str]):
        self.measures = tuple(measures)
        self.heads = heads
        self.tables: dict[str, NDArray[np.float64]] = {
            name: np.zeros((heads, heads)) for name in _tables(measures)
        }
        self.sink = np.zeros(heads)
        """Fractions of the sink, summed over words."""
        self.counts = dict.fromkeys(_COUNTED, 0)

    def add(self, batch: Sequence[Entries], run: Run) -> None:
        """Take in some sentences."""
        self.counts["single"] += sum(e.single for e in batch)
        batch = [e for e in batch if len(e.lengths)]
        if not batch:
            return
        self.counts["sentences"] += len(batch)
        self.counts["words"] += sum(len(e.lengths) for e in batch)
        self.counts["even"] += sum(e.even for e in batch)
        partials: list[dict[str, Any]] = [{} for _ in range(min(SHARES, len(batch)))]

        def work(number: int) -> None:
            mine = {name: np.zeros_like(table) for name, table in self.tables.items()}
            for entries in batch[number :: len(partials)]:
                add_tables(mine, entries)
            partials[number] = mine

        run(work, range(len(partials)))
        for mine in partials:
            for name, table in mine.items():
                self.tables[name] += table

    def merge(self, other: HeadSums, sign: int = 1) -> HeadSums:
        """Sums over the sentences of both; with ``sign=-1``, over those that the other has not."""
        result = HeadSums(self.heads, self.measures)
        for name, table in result.tables.items():
            table += self.tables[name] + sign * other.tables[name]
        result.sink = self.sink + sign * other.sink
        result.counts = {k: v + sign * other.counts[k] for k, v in self.counts.items()}
        return result

    def similarity(self, measure: str, *, released: bool = False) -> NDArray[np.float64]:
        """How alike all pairs of heads are; larger is more alike."""
        if measure == "js":
            D = self.tables["js"]
            own = np.diag(D)
            divergence = (own[:, None] + own[None, :] - 2 * D) / 4 / max(self.counts["words"], 1)
            result: NDArray[np.float64] = 1 - divergence * (np.log(2) if released else 1)
            return result
        if measure == "pearson":
            rows = self.tables["pearson_rows"]
            # Without a row in which both vary there is nothing to correlate.
            return np.where(rows > 0, self.tables["pearson"] / np.maximum(rows, 1), 0.0)
        mean = self.tables["norm"] / max(self.counts["sentences"], 1)
        return (1 if released else 0) - mean


def _tables(measures: Sequence[str]) -> list[str]:
    return [*measures, *(["pearson_rows"] if "pearson" in measures else [])]


def add_tables(tables: dict[str, NDArray[np.float64]], entries: Entries) -> None:
    """Add a sentence to tables of head × head."""
    if "js" in tables:
        tables["js"] += entropies(entries.values)
    if "pearson" in tables:
        Z, defined = standardized(entries.values, entries.lengths)
        tables["pearson"] += Z @ Z.T
        tables["pearson_rows"] += len(entries.lengths) if defined.all() else defined @ defined.T
    if "norm" in tables:
        tables["norm"] += distances(entries.values)


def standardized(values: FloatArray, lengths: NDArray[np.int64]) -> tuple[FloatArray, FloatArray]:
    """Each word's numbers minus their mean, with norm 1 (0 where they are all the same); and where they are not.

    Numbers of a word sum to 1, so their mean is known.
    """
    heads, length = len(values), int(lengths[0])
    if (lengths == length).all():
        Z = (values - values.dtype.type(1 / length)).reshape(heads, -1, length)
        squares = np.einsum("hwc,hwc->hw", Z, Z)
    else:
        Z = values - np.repeat(1 / lengths, lengths).astype(values.dtype)
        starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        squares = np.add.reduceat(Z * Z, starts, axis=1)
    norms = np.sqrt(squares)
    # What rounding leaves of numbers of about 1/length.
    defined = norms > 8 * float(np.finfo(values.dtype).eps)
    inverse = np.where(defined, 1 / np.where(defined, norms, 1), 0).astype(values.dtype)
    Z *= inverse[..., None] if Z.ndim == 3 else np.repeat(inverse, lengths, axis=1)
    return Z.reshape(heads, -1), defined.astype(np.float64)


def distances(values: FloatArray) -> NDArray[Any]:
    """Frobenius distances of all pairs of maps of one sentence."""
    heads = len(values)
    squares = values @ values.T
    own = np.diag(squares).copy()
    both = own[:, None] + own[None, :]
    squares *= -2
    squares += both
    close = squares <= _CLOSE[values.dtype.itemsize] * both
    if np.count_nonzero(close) > heads:  # the diagonal always is
        k, m = np.nonzero(np.triu(close, 1))
        for start in range(0, len(k), heads):
            some, others = k[start : start + heads], m[start : start + heads]
            apart = values[some].astype(np.float64) - values[others]
            squares[some, others] = squares[others, some] = (apart * apart).sum(1)
    np.fill_diagonal(squares, 0)
    result: NDArray[Any] = np.sqrt(np.maximum(squares, 0, out=squares), out=squares)
    return result
