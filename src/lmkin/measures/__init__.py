"""What activations say: one file a measure, in the folder `catalogue`."""

from __future__ import annotations

from .comparing import similarities, similarity
from .functions import linear_cka, measure_function
from .null import permutation_null
from .pair import Pair, Side
from .registry import Measure, Scored, forget, measure, measure_info, measure_names

__all__ = [
    "Measure",
    "Pair",
    "Scored",
    "Side",
    "forget",
    "linear_cka",
    "measure",
    "measure_function",
    "measure_info",
    "measure_names",
    "permutation_null",
    "similarities",
    "similarity",
]
