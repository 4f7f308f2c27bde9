"""Cross-lingual transfer: probes of one language's words, tested on the same sentences in others."""

from .computation import compute_cross_lingual, cross_lingual
from .families import FAMILIES
from .result import CrossLingual

__all__ = ["FAMILIES", "CrossLingual", "compute_cross_lingual", "cross_lingual"]
