"""Exact linkage of more neurons than a matrix could hold, up to a threshold."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core import workers
from .correlations import Correlations
from .linkage import Tree, link

TILE = 4096
"""Neurons of a tile's side."""
_LEAST_STEP = 1 / 128
"""Thresholds are not taken nearer together than this."""
IntArray = NDArray[np.int64]
_log = logging.getLogger("lmkin")
FloatArray = NDArray[np.float64]


@dataclass
class _Clusters:
    """Neurons in an order in which clusters lie together, and where each begins."""

    order: IntArray
    start: IntArray

    @classmethod
    def of(cls, labels: IntArray) -> _Clusters:
        order = np.argsort(labels, kind="stable")
        start = np.flatnonzero(np.diff(labels[order], prepend=-1))
        return cls(order, np.append(start, len(order)))

    def __len__(self) -> int:
        return len(self.start) - 1

    @property
    def sizes(self) -> IntArray:
        return np.diff(self.start)

    def runs(self, clusters: IntArray | None = None) -> Iterator[IntArray]:
        """Numbers of clusters, one run after another, each of a tile of neurons at most, or of one larger cluster."""
        numbers = np.arange(len(self)) if clusters is None else clusters
        edges, filled = [], 0
        for k, size in enumerate(self.sizes[numbers].tolist()):
            if filled and filled + size > TILE:
                edges.append(k)
                filled = 0
            filled += size
        if len(numbers):
            yield from np.split(numbers, edges)

    def members(self, clusters: IntArray) -> IntArray:
        """Their neurons, cluster after cluster."""
        if len(clusters) == clusters[-1] - clusters[0] + 1:
            return self.order[self.start[clusters[0]] : self.start[clusters[-1] + 1]]
        return np.concatenate([self.order[self.start[c] : self.start[c + 1]] for c in clusters])


def between(
    correlations: Correlations,
    clusters: _Clusters,
    rows: IntArray,
    columns: IntArray,
    linkage: str,
) -> Any:
    """|r| of some clusters with some others: the mean over their members (average linkage), the least, or the largest.

    Of a cluster with itself it means nothing.
    """
    if len(clusters) == correlations.n:  # each neuron is alone
        return correlations.block(clusters.members(rows), clusters.members(columns))
    table = np.full((len(rows), len(columns)), -np.inf if linkage == "single" else np.inf)
    if rows is columns and len(rows) == 1:
        return table  # one cluster with itself
    if linkage == "average":
        table[:] = 0.0
    for r, members, starts in _strips(clusters, rows):
        for c, others, firsts in _strips(clusters, columns):
            block = correlations.block(members, others)
            place = (slice(r, r + len(starts)), slice(c, c + len(firsts)))
            if linkage == "average":
                block = np.add.reduceat(block, starts, axis=0, dtype=np.float64)
                table[place] += np.add.reduceat(block, firsts, axis=1)
            else:
                extreme = np.minimum if linkage == "complete" else np.maximum
                block = extreme.reduceat(extreme.reduceat(block, starts, axis=0), firsts, axis=1)
                extreme(table[place], block, out=table[place])
    if linkage == "average":
        table /= clusters.sizes[rows][:, None]
        table /= clusters.sizes[columns][None, :]
    return table


def _strips(clusters: _Clusters, some: IntArray) -> Iterator[tuple[int, IntArray, IntArray]]:
    """Members of some clusters, a tile at a time: the first cluster's place, the neurons, where each cluster begins."""
    ends = np.cumsum(clusters.sizes[some])
    members = clusters.members(some)
    for start in range(0, len(members), TILE):
        stop = min(start + TILE, len(members))
        first = int(np.searchsorted(ends, start, side="right"))
        inside = ends[(ends > start) & (ends < stop)] - start
        yield first, members[start:stop], np.concatenate([[0], inside]).astype(np.int64)


def components(
    correlations: Correlations,
    clusters: _Clusters,
    threshold: float,
    linkage: str = "average",
    advance: Callable[[int], None] = lambda _: None,
) -> IntArray:
    """Clusters that are connected by mean distances up to the threshold: nothing merges across below it."""
    from . import linkage_loops as loops

    parent = np.arange(len(clusters))
    runs = list(clusters.runs())
    lock = threading.Lock()

    def scan(pair: tuple[int, int]) -> None:
        rows, columns = runs[pair[0]], runs[pair[1]]
        block = between(correlations, clusters, rows, columns, linkage)
        with lock:
            loops.unite_near(parent, block, threshold, rows[0], columns[0])
        advance(int(clusters.sizes[rows].sum()) * int(clusters.sizes[columns].sum()))

    pairs = [(i, j) for i in range(len(runs)) for j in range(i, len(runs))]
    with workers() as run:
        run(scan, pairs)
    return np.asarray(loops.roots(parent))


def grow(
    correlations: Correlations,
    limit: float,
    *,
    most: int,
    linkage: str = "average",
    stops: Sequence[float] = (),
    advance: Callable[[int], None] = lambda _: None,
) -> Tree:
    r"""The tree up to ``limit``, or as far as it can be grown with matrices of up to ``most`` clusters a side.

    These linkages never merge across connected components of :math:`\{d \le t\}` below t, so a matrix is needed of
    each component only. Where one is too large, a lower threshold comes first: what merges below it is one cluster
    then, of which only the distances to others are kept, and fewer clusters remain to be connected. ``stops`` are
    thresholds that are of use by themselves: they are tried first.
    """
    n = correlations.n
    merges: list[tuple[IntArray, IntArray, FloatArray]] = []
    labels = np.arange(n)
    done, goal = -1.0, limit
    while done < limit:
        clusters = _Clusters.of(labels)
        component = components(correlations, clusters, goal, linkage, advance)
        _, sizes = np.unique(component, return_counts=True)
        if sizes.max() > most:
            asked = [t for t in stops if done < t < goal]
            lower = asked[len(asked) // 2] if asked else (max(done, 0.0) + goal) / 2
            if not asked and goal - max(done, 0.0) < _LEAST_STEP:
                break
            _log.info(
                "At %.3f, %s clusters hang together, and a matrix of them would not fit: first those up to %.3f.",
                goal,
                f"{sizes.max():,}",
                lower,
            )
            goal = lower
            continue
        order = np.argsort(component, kind="stable")
        merges += [
            _grow_one(correlations, clusters, some, goal, linkage)
            for some in np.split(order, np.cumsum(sizes)[:-1])
            if len(some) > 1
        ]
        labels = _joined(n, merges, goal).labels(goal)
        # A step that was small enough may be longer next time, for there are fewer clusters now.
        done, goal = goal, min(limit, goal + 2 * (goal - max(done, 0.0)) + _LEAST_STEP)
    return _joined(n, merges, done)


def _grow_one(
    correlations: Correlations, clusters: _Clusters, some: IntArray, limit: float, linkage: str
) -> tuple[IntArray, IntArray, FloatArray]:
    """Merges inside a component, each as two neurons and a height."""
    D = np.empty((len(some), len(some)))
    place = {int(c): k for k, c in enumerate(some)}
    runs = list(clusters.runs(some))
    for i, rows in enumerate(runs):
        for columns in runs[i:]:
            a, b = place[int(rows[0])], place[int(columns[0])]
            block = between(correlations, clusters, rows, columns, linkage)
            block = 1 - block.astype(np.float64)
            # Means by rows and by columns differ in a last digit, and the chain would never end.
            if rows is columns:
                block = np.triu(block, 1) + np.triu(block, 1).T
            D[a : a + len(rows), b : b + len(columns)] = block
            D[b : b + len(columns), a : a + len(rows)] = block.T
    tree = link(D, clusters.sizes[some], limit, linkage)
    neuron = clusters.order[clusters.start[some]]
    return neuron[tree.first], neuron[tree.second], tree.height


def _joined(n: int, merges: list[tuple[IntArray, IntArray, FloatArray]], limit: float) -> Tree:
    if not merges:
        return Tree(n, np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), limit)
    first, second, height = (np.concatenate([m[k] for m in merges]) for k in range(3))
    order = np.argsort(height, kind="stable")
    return Tree(n, first[order], second[order], height[order], limit)
