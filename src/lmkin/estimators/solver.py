"""The solver: a working set of neurons, which grows until no other neuron violates the KKT conditions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .accelerated import INNER, descend
from .certificate import Fit, Point, Products, smooth_gradient, unit
from .design import Design
from .losses import Loss
from .metrics import Metric
from .penalties import Penalty

Array = NDArray[Any]
_FIRST = 64
"""Neurons of the first working set, at least."""
_MOST = 0.5
"""Share of the neurons from which on all of them are the working set."""
_WHOLE = 2048
"""Neurons whose second moments are taken together, where there is room, if the working set is all of them."""
_SPAN = 512
"""Of more: neurons of one block."""
_AGAIN = 8
"""Steps after which the metric is made anew, where the fit is then; each time twice as many."""
_APART = 32
"""Steps by blocks, after which second moments of all neurons together are taken if there is room for them."""
_ALIKE = 2.5
"""The curvature of blocks of neurons without rows drawn, in units of their number."""
_ROUGH = 0.3
"""How exactly the model of a step is minimized, where rows are a sample."""
_DRAWN = 400
"""Rows that the metric draws for each output, at most: as many as there is room for."""
_ROUNDS = 50


def empty_fit(design: Design, loss: Loss, penalty: Penalty) -> Fit:
    """The fit of intercepts alone: optimal from the λ₁ on that it says is the largest."""
    W, b = np.zeros((design.d, loss.outputs)), loss.start()
    scores = np.empty((design.n, loss.outputs), design.dtype, order="F")
    scores[:] = b
    G, _, _ = smooth_gradient(design, loss, penalty, Point(W, b, scores))
    largest = float(penalty.sizes(G).max(initial=0.0))
    return Fit(W, b, largest, penalty.l2, loss.mean(scores), 0.0, largest, 0, 0.5, G)


def moved_fit(design: Design, loss: Loss, penalty: Penalty, fit: Fit, largest: float) -> Fit:
    """A fit of other rows, such as a sample, as a start on these: its weights, with their gradient here."""
    scores = design.scores(fit.W, fit.b)
    G, gb, _ = smooth_gradient(design, loss, penalty, Point(fit.W, fit.b, scores))
    return replace(fit, gradient=G, largest=largest, l2=penalty.l2, scores=scores, by_intercepts=gb)


def solve(
    design: Design,
    loss: Loss,
    penalty: Penalty,
    start: Fit,
    *,
    tolerance: float = 0.01,
    iterations: int = 2000,
) -> Fit:
    """The fit at a penalty, from another one on, such as the one before on a path.

    ``tolerance``: largest violation of the KKT conditions, in the unit of `Fit.relative`.
    """
    aim = tolerance * unit(penalty.l1, start.largest)
    before, spent = design.passes, 0
    W, b, G = start.W.astype(np.float64), start.b.astype(np.float64), start.gradient
    # Strong rule (Tibshirani et al. 2012): what is far from entering is left out until it is shown to violate.
    likely = penalty.sizes(G) >= max(2 * penalty.l1 - start.l1, 0.999 * penalty.l1)
    wanted = (W != 0).any(1) | likely
    curvature, residual, objective = start.curvature, np.inf, np.inf
    scores, gb = start.scores, start.by_intercepts
    if scores is not None:
        G = G + 2 * (penalty.l2 - start.l2) * W
    limit = _AGAIN
    for _ in range(_ROUNDS):
        columns = np.flatnonzero(wanted)
        everything = len(columns) > _MOST * design.d or not design.has_room(len(columns) * design.n)
        if everything:
            wanted[:] = True
            columns = np.arange(design.d)
        part, blocks = _working_set(design, columns, everything)
        known = None if scores is None or gb is None else (G[columns], gb)
        scores = part.scores(W[columns], b) if scores is None else scores
        if design.sampled and len(blocks) > 1:
            # Blocks that are alike, as of neighbouring layers, all take the same step, and know nothing of each other.
            curvature = max(curvature, _ALIKE * len(blocks))
        metric = Metric(part, loss, scores, blocks, drawn=_drawn(design, loss, blocks))
        apart = len(blocks) > 1 and not design.sampled and design.has_room(design.d**2)
        point, curvature, count = descend(
            part, loss, penalty, metric, Point(W[columns], b, scores), curvature=curvature,
            known=known, tolerance=aim / 2, iterations=min(iterations - spent, limit),
            inner=_ROUGH if design.sampled else INNER,
        )  # fmt: skip
        spent += max(count, 1)
        W = np.zeros_like(W)
        W[columns], b = point.W, point.b
        scores = point.scores
        G, gb, _ = smooth_gradient(design, loss, penalty, Point(W, b, scores))
        violations = penalty.violations(W, G)
        residual = max(float(violations.max(initial=0.0)), float(np.abs(gb).max()))
        objective = loss.mean(point.scores) + penalty.value(W)
        new = ~wanted & (violations > aim)
        unfinished = count >= limit and residual > aim
        if not (new.any() or unfinished) or spent >= iterations:
            break
        limit *= 2 if unfinished else 1
        if unfinished and apart and spent >= _APART:  # blocks know too little of each other
            design.take_moments()
            curvature = 1.0
        # The worst first, about as many as there are; the rest may lose its reason once they are in.
        order = np.argsort(-np.where(new, violations, -1), kind="stable")
        wanted[order[: min(int(new.sum()), max(_FIRST, len(columns)))]] = True
    return Fit(
        W, b, penalty.l1, penalty.l2, objective, residual, start.largest, spent,
        design.passes - before, G, scores, gb, curvature if design.sampled else 1.0,
    )  # fmt: skip


def _working_set(
    design: Design, columns: NDArray[np.int64], everything: bool
) -> tuple[Products, list[tuple[slice, Array]]]:
    """Some columns, and second moments of them by blocks."""
    known = design.known_moments(columns)
    if everything:
        if known is not None:
            return design, [(slice(0, design.d), known)]
        whole = design.d <= _WHOLE and design.has_room(design.d**2)
        width = design.d if whole else _SPAN
        spans = [slice(k, min(k + width, design.d)) for k in range(0, design.d, width)]
        return design, [(here, design.second_moments(here)) for here in spans]
    block = design.block(columns)
    if known is None and design.d <= _SPAN:
        known = design.second_moments(slice(0, design.d))[np.ix_(columns, columns)]
    return block, [(slice(0, len(columns)), block.second_moments() if known is None else known)]


def _drawn(design: Design, loss: Loss, blocks: Sequence[tuple[slice, Array]]) -> int:
    """How many rows the metric draws for each output; 0: second moments are exact, or rows are a sample themselves."""
    if design.sampled or (loss.quadratic and len(blocks) == 1):
        return 0
    d = sum(len(moments) for _, moments in blocks)
    a_row = max(1, loss.outputs * d) * design.dtype.itemsize
    some = min(_DRAWN, design.n // 4, design.room_for_copies // a_row)
    return some if some >= _DRAWN // 8 else 0
