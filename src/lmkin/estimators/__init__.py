"""Penalized linear models of rows: losses, penalties, one solver with a certificate, and paths over the penalty."""

from .choice import Penalized
from .design import Design, blocks_of_rows
from .losses import CrossEntropy, HalfSquaredError, Loss
from .path import fit_path, penalties_of_path
from .penalties import Penalty, PenaltyName, make_penalty
from .probe import Probe
from .selection import PathStep, scores_of
from .solver import Fit, empty_fit, solve

__all__ = [
    "CrossEntropy",
    "Design",
    "Fit",
    "HalfSquaredError",
    "Loss",
    "PathStep",
    "Penalized",
    "Penalty",
    "PenaltyName",
    "Probe",
    "blocks_of_rows",
    "empty_fit",
    "fit_path",
    "make_penalty",
    "penalties_of_path",
    "scores_of",
    "solve",
]
