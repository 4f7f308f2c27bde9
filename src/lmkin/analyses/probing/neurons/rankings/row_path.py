"""Row path: neurons in the order in which a probe with a penalty by neuron takes them in."""

from __future__ import annotations

import numpy as np

from .....core import LmkinError, is_whole, quoted
from .....estimators import fit_path
from ..registry import Evidence, Ranked, ranking_method

STEPS = 20
_LOOSE = 0.1
"""Largest violation of the KKT conditions of the fits, in units of λ₁: they only rank."""


@ranking_method(
    "row-path",
    summary="By the order of entry along a path of falling λ₁, with the penalty by neuron (group lasso).",
    needs="rows",
    value="step at which it enters",
    reference="Simon, Friedman & Hastie 2013",
)
def row_path(evidence: Evidence, *, steps: int = STEPS) -> Ranked:
    """Neurons in the order in which their weights stop being 0 as λ₁ falls, with ``penalty="row"``.

    Neurons that enter at the same of ``steps`` values of λ₁ come by the length of their weights there. Those that never
    enter come last, by how near they are: the length of their gradient at the end of the path.
    """
    if not is_whole(steps) or steps < 2:
        raise LmkinError(f"steps is a number of steps, 2 or more; got {quoted(steps)}.")
    assert evidence.rows is not None
    rows = evidence.rows
    d = evidence.neurons
    step, size = np.full(d, np.inf), np.zeros(d)
    gradient = np.zeros(d)
    path = fit_path(
        rows.design(), rows.loss("train"), penalty="row", l2=rows.settings.l2, steps=int(steps),
        tolerance=_LOOSE,
    )  # fmt: skip
    for k, fit in enumerate(path):
        length = np.sqrt((fit.W**2).sum(1))
        new = (length > 0) & np.isinf(step)
        step[new], size[new] = k, length[new]
        gradient = np.sqrt((fit.gradient**2).sum(1))
        if np.isfinite(step).all():
            break
    entered = np.isfinite(step)
    size = np.where(entered, size, gradient)
    order = np.lexsort((np.arange(d), -size, step))
    return Ranked(order, np.where(entered, step, np.nan), int(entered.sum()))
