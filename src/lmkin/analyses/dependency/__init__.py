"""Language Model Decomposition: how much of a model the others explain, and which could be switched off."""

from .decomposition import decompose_rows
from .findings import drop_order_sentence
from .joint import widest_basis
from .language_model_decomposition import decompose
from .lengths import SHORTEST, check_lengths, decompose_lengths, join_lengths, limits_said
from .memory_plan import fit_precision, plan_decomposition
from .portfolio_tables import PORTFOLIO, check_sizes, subset_sizes
from .published import compare_published
from .result import Dependency
from .tables import by_length, scored_split
from .token_chunks import cut_sequences

__all__ = [
    "PORTFOLIO",
    "SHORTEST",
    "Dependency",
    "by_length",
    "check_lengths",
    "check_sizes",
    "compare_published",
    "cut_sequences",
    "decompose",
    "decompose_lengths",
    "decompose_rows",
    "drop_order_sentence",
    "fit_precision",
    "join_lengths",
    "limits_said",
    "plan_decomposition",
    "scored_split",
    "subset_sizes",
    "widest_basis",
]
