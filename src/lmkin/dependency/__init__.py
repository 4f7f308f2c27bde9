"""Language Model Decomposition: how much of a model the others explain, and which could be switched off."""

from .decomposing import decompose
from .lengths import join_lengths
from .paper import published_dependency
from .result import Dependency
from .sequences import cut_sequences

__all__ = ["Dependency", "cut_sequences", "decompose", "join_lengths", "published_dependency"]
