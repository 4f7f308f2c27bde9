"""Exact linkage of more neurons than a matrix could hold, up to a threshold."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..threads import workers
from .correlating import Correlations
from .linking import Tree, link

TILE = 4096
"""Neurons of a tile's side."""
_LEAST_STEP = 1 / 128
"""Thresholds are not taken nearer together than this."""
IntArray = NDArray[np.int64]
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
        """Numbers of clusters, one run after another, each of about a tile of neurons."""
        numbers = np.arange(len(self)) if clusters is None else clusters
        if not len(numbers):
            return
        tile = (np.cumsum(self.sizes[numbers]) - 1) // TILE
        yield from np.split(numbers, np.flatnonzero(np.diff(tile)) + 1)

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
    block = correlations.block(clusters.members(rows), clusters.members(columns))
    for axis, some in ((0, rows), (1, columns)):
        sizes = clusters.sizes[some]
        if (sizes > 1).any():
            starts = np.cumsum(sizes) - sizes
            if linkage == "average":
                block = np.add.reduceat(block, starts, axis=axis, dtype=np.float64)
                block /= sizes[:, None] if axis == 0 else sizes[None, :]
            else:
                extreme = np.minimum if linkage == "complete" else np.maximum
                block = extreme.reduceat(block, starts, axis=axis)
    return block


def components(
    correlations: Correlations,
    clusters: _Clusters,
    threshold: float,
    linkage: str = "average",
    advance: Callable[[int], None] = lambda _: None,
) -> IntArray:
    """Clusters that are connected by mean distances up to the threshold: nothing merges across below it."""
    from . import loops

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
    say: Callable[[str], None] = lambda _: None,
    advance: Callable[[int], None] = lambda _: None,
) -> Tree:
    r"""The tree up to ``limit``, or as far as it can be grown with matrices of up to ``most`` clusters a side.

    These linkages never merge across connected components of :math:`\{d \le t\}` below t, so a matrix is needed of
    each component only. Where one is too large, a lower threshold comes first: what merges below it is one cluster
    then, of which only the distances to others are kept, and fewer clusters remain to be connected.
    """
    n = correlations.n
    merges: list[tuple[IntArray, IntArray, FloatArray]] = []
    labels = np.arange(n)
    done, goal = -1.0, limit
    while done < limit:
        clusters = _Clusters.of(labels)
        found = components(correlations, clusters, goal, linkage, advance)
        _, sizes = np.unique(found, return_counts=True)
        if sizes.max() > most:
            lower = (max(done, 0.0) + goal) / 2
            if goal - max(done, 0.0) < _LEAST_STEP:
                break
            say(
                f"At {goal:.3f}, {sizes.max():,} clusters hang together, and a matrix of them would not fit: first "
                f"those up to {lower:.3f}."
            )
            goal = lower
            continue
        order = np.argsort(found, kind="stable")
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
