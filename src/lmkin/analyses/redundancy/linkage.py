"""Average linkage, exact: the chain of nearest neighbours on one square matrix, and trees that are cut anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...core import MeasureError

LINKAGES = ("average", "complete", "single")
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Tree:
    """Merges of ``leaves`` things, in the order of their heights: two things, one of each side, and the height.

    A whole tree has ``leaves - 1`` merges. One that was grown up to a height only has those up to ``limit``.
    """

    leaves: int
    first: IntArray
    second: IntArray
    height: FloatArray
    limit: float = np.inf

    def labels(self, threshold: float) -> IntArray:
        """Clusters, all of whose merges lie at or below the threshold; numbered in the order of their first leaf."""
        if threshold > self.limit:
            raise MeasureError(
                f"These clusters are known up to the threshold {self.limit:g}; {threshold:g} is above."
            )
        from . import linkage_loops as loops

        parent = np.arange(self.leaves)
        below = int(np.searchsorted(self.height, threshold, side="right"))
        loops.unite(parent, self.first[:below], self.second[:below])
        _, inverse = np.unique(loops.roots(parent), return_inverse=True)
        return np.asarray(inverse, np.int64).reshape(-1)

    def to_scipy(self) -> FloatArray:
        """The matrix Z of scipy.cluster.hierarchy, for dendrograms and the like."""
        from . import linkage_loops as loops

        if len(self.height) < self.leaves - 1:
            raise MeasureError(
                "The tree was grown up to a threshold only, so there is no whole dendrogram of it."
            )
        return np.asarray(loops.as_scipy(self.leaves, self.first, self.second, self.height))


def link(
    D: FloatArray,
    sizes: Sequence[int] | IntArray | None = None,
    limit: float = np.inf,
    linkage: str = "average",
) -> Tree:
    r"""Agglomerative clustering of a square matrix of distances, which is overwritten.

    The chain of nearest neighbours (Murtagh 1983) as in scipy, with the same decisions where distances are equal, in
    memory that does not grow. ``sizes``: how many things each row stands for. Above ``limit`` nothing is merged:
    :math:`d(a \cup b, c) \ge \min(d(a, c), d(b, c))`, so a cluster whose nearest is farther is finished.
    """
    from . import linkage_loops as loops

    n = len(D)
    weight = np.ones(n) if sizes is None else np.asarray(sizes, np.float64)
    if D.shape != (n, n) or len(weight) != n:
        raise MeasureError(f"Distances are a square matrix; got the shape {D.shape}.")
    D = np.ascontiguousarray(D, np.float64)
    first, second, height = loops.chain(D, weight.copy(), float(limit), LINKAGES.index(linkage))
    if np.isnan(height).any():
        raise MeasureError("Distances are symmetric, and no NaN; these are not.")
    order = np.argsort(height, kind="stable")
    return Tree(n, first[order], second[order], height[order], limit)
