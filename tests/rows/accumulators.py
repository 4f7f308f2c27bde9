"""Sources of rows that run once, and each accumulator of a pass over them, with what it holds as plain arrays."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lmkin.analyses.attention.map_sums import MapSums
from lmkin.analyses.attention.maps import SentenceMaps
from lmkin.analyses.dependency.row_sample import Kept
from lmkin.analyses.dependency.shuffled_moments import ShuffledMoments, WindowShuffle
from lmkin.core import LayerId, Layout, LmkinError, replacing
from lmkin.moments import Moments, MomentSums
from lmkin.rows import ArraySource, Chunk, Shard
from lmkin.rows.passes import chunk_ranges

Arrays = dict[str, Any]
WINDOW = 7


class Once(ArraySource):
    """Arrays that are read as models are: once, and in chunks of neighbouring rows."""

    reread = False
    small = 2

    def __init__(self, arrays: Any, labels: Any, starts: Any):
        super().__init__(arrays, 1)
        self.part = labels
        self._starts = starts
        self.read: list[int] = []
        """Rows that were read, in their order."""

    def starts(self) -> Any:
        return self._starts

    def identity(self) -> dict[str, Any]:
        return {**super().identity(), "rows": str(self.arrays[LayerId("a", 0)][0, 0])}

    def chunks(
        self, start: int = 0, stop: int | None = None, advance: Any = None
    ) -> Iterator[Chunk[Any]]:
        stop = self.n if stop is None else stop
        for low, high in chunk_ranges(self.part, start, stop):
            self.read += range(low, high)
            data = {layer: array[low:high] for layer, array in self.arrays.items()}
            yield Chunk(np.arange(low, high), self.part[low:high], data)


class Sentences(Once):
    """Attention maps whose numbers are made of the number of the sentence."""

    layout = Layout({LayerId("a", 1): 2, LayerId("b", 1): 3})
    causal = np.array([False, True])

    def chunks(
        self, start: int = 0, stop: int | None = None, advance: Any = None
    ) -> Iterator[Chunk[Any]]:
        for chunk in super().chunks(start, stop, advance):
            yield Chunk(chunk.rows, chunk.parts, [self._maps(int(row)) for row in chunk.rows])

    def _maps(self, row: int) -> SentenceMaps:
        random = np.random.default_rng(row)
        words = 2 + row % 4
        weights = random.dirichlet(np.ones(words), size=(5, words))
        weights[2:] = np.tril(weights[2:])
        weights /= weights.sum(-1, keepdims=True)
        return SentenceMaps(weights, random.random((5, words)) / 2)


class Column:
    """A small accumulator: how many rows of each part, and the sum of their numbers plus one."""

    def __init__(self) -> None:
        self.counts: dict[int, list[int]] = {}

    def settings(self) -> dict[str, Any]:
        return {}

    def fresh(self, shard: Shard, first: Column | None) -> Column:
        return Column()

    def update(self, chunk: Chunk[Any]) -> None:
        for part, mine in chunk.by_part():
            rows = chunk.rows[mine]
            self._add(part, [len(rows), int((rows + 1).sum())])

    def _add(self, part: int, more: list[int]) -> None:
        known = self.counts.get(part, [0, 0])
        self.counts[part] = [a + b for a, b in zip(known, more, strict=True)]

    def merge(self, other: Column) -> None:
        for part, more in other.counts.items():
            self._add(part, more)

    def save(self, path: Path) -> None:
        with replacing(path) as temporary:
            temporary.write_text(json.dumps(list(self.counts.items())))

    def load(self, path: Path) -> Column:
        loaded = Column()
        try:
            loaded.counts = dict(json.loads(path.read_text()))
        except ValueError:
            raise LmkinError("damaged") from None
        return loaded


@dataclass(frozen=True)
class Case:
    """An accumulator, the source that it is fed by, and what it holds."""

    make: Any
    holds: Any
    counts: Any
    """Rows by part, as it counted them."""
    source: type[Once] = Once


def of_moments(moments: Moments) -> Arrays:
    """Everything that measures are made of."""
    if not moments.n:
        return {}
    found: Arrays = {"n": moments.n, "parts": np.array([*moments.part_sizes.items()])}
    for which in ({}, *({"only": part} for part in moments.part_sizes)):
        snapshot = moments.snapshot(**which)
        for i in range(len(moments.groups)):
            found[f"mean {which} {i}"] = snapshot.mean(i)
            if snapshot.n > 1:
                for j in range(len(moments.groups)):
                    found[f"cov {which} {i} {j}"] = snapshot.cov(i, j)
                    norms = snapshot.norm_products(i, j, standardized=False)
                    found[f"norms {which} {i} {j}"] = norms
    return found


def of_sampled(sums: MomentSums) -> Arrays:
    """Moments, and the rows that were drawn."""
    found = of_moments(sums.moments)
    if sums.moments.n:
        order = np.argsort(sums.moments.sample.keys)
        rows = sums.moments.sample.rows
        assert rows is not None
        found["sample"] = rows[order]
        found["sample parts"] = sums.moments.sample.parts[order]
    return found


def of_kept(kept: Kept) -> Arrays:
    numbers, rows = kept.result()
    return {"numbers": numbers, **{str(layer): array for layer, array in rows.items()}}


def of_maps(sums: MapSums) -> Arrays:
    found: Arrays = {}
    for number, view in enumerate(sums.views):
        for part in sorted(view.parts):
            head = view.parts[part]
            found |= {f"{number} {part} {name}": table for name, table in head.tables.items()}
            found[f"{number} {part} sink"] = head.sink
            found[f"{number} {part} counts"] = np.array(list(head.counts.values()))
        assert view.moments is not None
        found |= {f"{number} {name}": array for name, array in of_moments(view.moments).items()}
    return found


def one_by_one(work: Any, items: Any) -> None:
    for item in items:
        work(item)


def part_sizes(sums: Any) -> dict[int, int]:
    return dict(sums.moments.part_sizes)


CASES = {
    "a small one": Case(
        lambda n: Column(),
        lambda c: {str(part): np.array(c.counts[part]) for part in sorted(c.counts)},
        lambda c: {part: counts[0] for part, counts in c.counts.items()},
    ),
    "moments": Case(
        lambda n: MomentSums(sample_rows=0), lambda s: of_moments(s.moments), part_sizes
    ),
    "moments in float32": Case(
        lambda n: MomentSums(precision="float32", sample_rows=0),
        lambda s: of_moments(s.moments),
        part_sizes,
    ),
    "shuffled moments": Case(
        lambda n: ShuffledMoments(n, WindowShuffle(WINDOW, 3), seed=3),
        lambda s: of_moments(s.moments),
        part_sizes,
    ),
    "kept rows": Case(lambda n: Kept(np.arange(0, n, 3)), of_kept, None),
    "attention": Case(
        lambda n: MapSums(
            Sentences.layout,
            Sentences.causal,
            ["js", "pearson", "norm", "ckasim"],
            ["dropped", "kept"],
            one_by_one,
        ),
        of_maps,
        lambda s: {p: h.counts["all_sentences"] for p, h in s.views[0].parts.items()},
        Sentences,
    ),
}
