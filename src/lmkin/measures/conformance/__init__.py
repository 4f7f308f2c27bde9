"""Does a similarity function do what it should? A battery of checks for any ``fn(X, Y) -> float``."""

from ..registry import INVARIANCES
from .battery import check_measure
from .result import Check, Conformance

__all__ = [
    "INVARIANCES",
    "Check",
    "Conformance",
    "check_measure",
]
