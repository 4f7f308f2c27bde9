"""Does a similarity function do what it should? A battery of checks for any ``fn(X, Y) -> float``."""

from __future__ import annotations

from ..rooms import make_callable
from .battery import conformance
from .result import Check, Conformance
from .subject import INVARIANCES

__all__ = ["INVARIANCES", "Check", "Conformance", "conformance"]
make_callable(__name__, conformance)
