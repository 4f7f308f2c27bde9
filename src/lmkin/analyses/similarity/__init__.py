"""How alike layers are, across models and within one."""

from .alerts import (
    FEW_PARTS,
    constant_alerts,
    dropped_alerts,
    listed_layers,
    pre_norm_alerts,
    ungrouped_alert,
    unknown_alerts,
)
from .comparison import similarity
from .findings import layer_findings
from .measure_time import seconds_of_measures
from .options import DEFAULT_MEASURES, Neurons
from .result import LayerComparison, Similarity
from .settings import SCALINGS
from .tables import measure_names, pair_rows, pairs_table

__all__ = [
    "DEFAULT_MEASURES",
    "FEW_PARTS",
    "SCALINGS",
    "LayerComparison",
    "Neurons",
    "Similarity",
    "constant_alerts",
    "dropped_alerts",
    "layer_findings",
    "listed_layers",
    "measure_names",
    "pair_rows",
    "pairs_table",
    "pre_norm_alerts",
    "seconds_of_measures",
    "similarity",
    "ungrouped_alert",
    "unknown_alerts",
]
