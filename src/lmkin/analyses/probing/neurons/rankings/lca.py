"""Linguistic Correlation Analysis: neurons in the order in which they carry the weights of the classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .....core import LmkinError, is_whole, quoted
from ..registry import Evidence, Ranked, ranking_method

Array = NDArray[Any]
STEPS = 100
_ROUNDING = 1e-9
"""A share that is short of a threshold by less has reached it: sums of weights are rounded."""


@ranking_method(
    "lca",
    summary="Linguistic Correlation Analysis: by the weights of the probe, class by class.",
    needs="weights",
    value="step at which it enters",
    reference="Dalvi et al. 2019, What is one grain of sand in the desert?",
)
def lca(evidence: Evidence, *, steps: int = STEPS) -> Ranked:
    """Neurons in the order in which they enter the union over classes, as the share of the weights grows.

    Of each class neurons are sorted by |weight|. At each of ``steps`` equal steps, a class takes the first neurons that
    reach this share of the sum of its |weights|, the crossing one included. Neurons of one step come by their largest
    share of a class's sum, then by column. A neuron without a weight never enters; such come last, by column.
    """
    if not is_whole(steps) or steps < 1:
        raise LmkinError(f"steps is a number of steps, such as 100; got {quoted(steps)}.")
    assert evidence.weights is not None
    step, share = entry_steps(evidence.weights, int(steps))
    order = np.lexsort((np.arange(len(step)), -share, step))
    entered = step <= steps
    return Ranked(order, np.where(entered, step, np.nan), int(entered.sum()))


def entry_steps(weights: Array, steps: int) -> tuple[Array, Array]:
    """Of each neuron the step at which it enters (``steps`` + 1: never), and its largest share of a class's sum.

    The k-th neuron of a class is taken at step t if those before it have not reached t/steps. So its step is the first
    whose threshold lies above their share, and one search a class does for all thresholds together.
    """
    d = weights.shape[1]
    entered, share = np.full(d, steps + 1), np.zeros(d)
    thresholds = np.arange(1, steps + 1) / steps
    for row in np.abs(weights.astype(np.float64)):
        columns = np.flatnonzero(row)
        if not len(columns):
            continue
        order = columns[np.argsort(-row[columns])]
        if (
            row[order[1:]] == row[order[:-1]]
        ).any():  # rare; of equals the first column comes first
            order = columns[np.argsort(-row[columns], kind="stable")]
        reached = np.cumsum(row[order])
        before = np.concatenate([[0.0], reached[:-1] / reached[-1]])
        at = np.searchsorted(thresholds, before + _ROUNDING, side="right") + 1
        entered[order] = np.minimum(entered[order], np.minimum(at, steps))
        share[order] = np.maximum(share[order], row[order] / reached[-1])
    return entered, share
