"""Penalized linear models of rows: losses, penalties, one solver with a certificate, and paths over the penalty."""

from typing import TYPE_CHECKING, Any

from .adam import Convention, Epochs, Solver, adam_penalty, check_solver, fit_by_adam
from .certificate import Fit
from .choice import Penalized
from .design import Design
from .losses import CrossEntropy, HalfSquaredError, Loss
from .many import fit_many, for_each_design
from .path import fit_path, penalties_of_path
from .penalties import Penalty, PenaltyName, make_penalty
from .row_blocks import blocks_of_rows
from .selection import HeldOut, PathStep, rate, scores_of
from .solver import empty_fit, moved_fit, solve

if TYPE_CHECKING:
    from .probe import Probe

__all__ = [
    "Convention",
    "CrossEntropy",
    "Design",
    "Epochs",
    "Fit",
    "HalfSquaredError",
    "HeldOut",
    "Loss",
    "PathStep",
    "Penalized",
    "Penalty",
    "PenaltyName",
    "Probe",
    "Solver",
    "adam_penalty",
    "blocks_of_rows",
    "check_solver",
    "empty_fit",
    "fit_by_adam",
    "fit_many",
    "fit_path",
    "for_each_design",
    "make_penalty",
    "moved_fit",
    "penalties_of_path",
    "rate",
    "scores_of",
    "solve",
]


def __getattr__(name: str) -> Any:
    """`Probe` is looked up when it is used: scikit-learn, whose methods it has, takes most of a second to load."""
    if name != "Probe":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .probe import Probe

    return Probe
