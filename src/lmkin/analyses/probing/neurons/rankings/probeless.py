"""Probeless: neurons by how far apart the means of the classes lie."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..registry import Evidence, Ranked, ranking_method

Array = NDArray[Any]


@ranking_method(
    "probeless",
    summary="By the distances of the means of the classes, summed over all pairs; no probe is fitted.",
    needs="rows",
    value="sum of the distances of means",
    classes=True,
    reference="Antverg & Belinkov 2022, On the pitfalls of analyzing individual neurons",
)
def probeless(evidence: Evidence, *, standardize: bool = False) -> Ranked:
    r"""Neurons by :math:`\sum_{c < c'} |\mu_c - \mu_{c'}|` over the rows of train, the largest first.

    As the paper has it, of the neurons as they are: one with large activations comes early for that alone. With
    ``standardize`` they are divided by their standard deviations.
    """
    assert evidence.rows is not None
    rows = evidence.rows
    design = rows.design(standardize=True)
    spread = distances_of_means(design, rows.target["train"], rows.classes)
    if standardize:
        spread = spread / design.standard.scale
    order = np.lexsort((np.arange(len(spread)), -spread))
    return Ranked(order, spread, int((spread > 0).sum()))


def distances_of_means(design: Any, y: NDArray[np.int64], classes: int) -> Array:
    """The sum over pairs of classes with rows. Sorted, the k-th of C means is added 2k − C − 1 times."""
    sums = np.zeros((classes, design.d))
    for here, block in design.chunks():
        mine = y[here]
        member = np.zeros((classes, len(mine)))
        member[mine, np.arange(len(mine))] = 1
        sums += member @ (block - design.mean)
    counts = np.bincount(y, minlength=classes)
    there = counts > 0
    means = np.sort(sums[there] / counts[there, None], axis=0)
    C = len(means)
    distance = np.asarray((2 * np.arange(1, C + 1) - C - 1) @ means)
    return np.where(design.standard.alive, np.maximum(distance, 0), 0.0)
