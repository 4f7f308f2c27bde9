"""neuronsim: the best match of each neuron among the neurons of the other layer."""

from __future__ import annotations

from typing import Any

from ..averages import mean_of_top
from ..pair import Pair
from ..registry import Scored, measure

_REFERENCE = (
    "Bau et al. 2019; Wu et al. 2020, Similarity Analysis of Contextual Word Representation Models"
)


@measure(
    "neuronsim",
    title="neuron similarity",
    summary="Mean over the neurons of x of the largest absolute correlation with a neuron of y: high if single "
    "neurons of both say the same.",
    needs="moments",
    symmetric=False,
    range=(0.0, 1.0),
    invariances=("shift", "neuron-scale", "sign", "permutation"),
    details=("match", "match_r"),
    cost="d² a pair",
    reference=_REFERENCE,
)
def neuronsim(pair: Pair, *, top_k: int | None = None) -> Scored:
    r"""Mean over neurons k of X of the best match among the neurons of Y.

    .. math:: \frac{1}{d_x} \sum_k \max_{k'} |r(X_{\cdot k}, Y_{\cdot k'})|

    A constant neuron of X takes no part in the mean; one of Y matches nothing. ``top_k``: the mean of the k best only.
    Also tells which neuron of Y matched each of X (``match``; -1 for a constant one), and the absolute correlation
    of the two (``match_r``; NaN for a constant one).
    """
    xp = pair.xp
    best, alive = pair.best_matches(), pair.x.alive

    def match() -> Any:
        R = pair.absolute_correlations()
        # Of neurons that match alike but for rounding (duplicates), the first.
        rounding = 8 * float(xp.finfo(R.dtype).eps)
        partners = xp.argmax(xp.astype(best[:, None] - rounding <= R, xp.int8), axis=1)
        return xp.where(alive, partners, -xp.ones_like(partners))

    def match_r() -> Any:
        return xp.where(alive, best, xp.full_like(best, float("nan")))

    some = best if pair.x.n_alive == pair.x.d else best[alive]
    return Scored(mean_of_top(xp, some, top_k), {"match": match, "match_r": match_r})
