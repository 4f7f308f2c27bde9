"""Random: what any ranking must beat."""

from __future__ import annotations

import numpy as np

from ..registry import Evidence, Ranked, ranking_method


@ranking_method(
    "random",
    summary="A seeded random order: what any other must beat.",
    needs="nothing",
    value="place",
)
def random_order(evidence: Evidence) -> Ranked:
    """Neurons in an order drawn with the seed."""
    order = np.random.default_rng(evidence.seed).permutation(evidence.neurons)
    return Ranked(order, np.argsort(order).astype(np.float64), 0)
