"""What activations say: one file a measure, in the folder `catalogue`."""

from __future__ import annotations

from .conformance import INVARIANCES, Check, Conformance, check_measure
from .evaluation import Scores, Task, count_steps, evaluate, tasks_for
from .functions import linear_cka, measure_function
from .options import check_value
from .pair import LayerStats, Pair
from .permutations import Null, check_permutations, count_shuffles, permutation_baseline, shuffle
from .registry import (
    Measure,
    Scored,
    check_options,
    choose_measures,
    forget,
    measure,
    measure_info,
    measure_names,
    needs_spectra,
)
from .replicates import (
    SAMPLED,
    MomentReplicates,
    PanelReplicates,
    Replicates,
    RowReplicates,
    sampled,
)

__all__ = [
    "INVARIANCES",
    "SAMPLED",
    "Check",
    "Conformance",
    "LayerStats",
    "Measure",
    "MomentReplicates",
    "Null",
    "Pair",
    "PanelReplicates",
    "Replicates",
    "RowReplicates",
    "Scored",
    "Scores",
    "Task",
    "check_measure",
    "check_options",
    "check_permutations",
    "check_value",
    "choose_measures",
    "count_shuffles",
    "count_steps",
    "evaluate",
    "forget",
    "linear_cka",
    "measure",
    "measure_function",
    "measure_info",
    "measure_names",
    "needs_spectra",
    "permutation_baseline",
    "sampled",
    "shuffle",
    "tasks_for",
]
