"""Penalized linear models of rows: losses, penalties, one solver with a certificate, and paths over the penalty."""

from .design import Design
from .losses import CrossEntropy, HalfSquaredError, Loss
from .path import fit_path, penalties_of_path
from .penalties import Penalty, make_penalty
from .probe import Probe
from .selection import PathStep
from .solver import Fit, empty_fit, solve

__all__ = [
    "CrossEntropy",
    "Design",
    "Fit",
    "HalfSquaredError",
    "Loss",
    "PathStep",
    "Penalty",
    "Probe",
    "empty_fit",
    "fit_path",
    "make_penalty",
    "penalties_of_path",
    "solve",
]
