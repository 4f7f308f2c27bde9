"""The noun: an analysis, what it reads, and how it is run."""

from .analysis import Analysis, analysis, find_analysis, known_analyses
from .interval_options import MEASURES, Intervals
from .running import Running
from .source import Source

__all__ = [
    "MEASURES",
    "Analysis",
    "Intervals",
    "Running",
    "Source",
    "analysis",
    "find_analysis",
    "known_analyses",
]
