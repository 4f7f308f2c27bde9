"""What is kept of a corpus: sums over its units, that merge, and that measures are functions of."""

from __future__ import annotations

from .accumulator import HUGE
from .compute import accumulate, compute_moments
from .moment_sums import MomentSums
from .moments import Moments
from .panels import PanelMoments
from .precision import choose_precision
from .routes import ROUTES, RoutePlan, plan_moments, plan_source
from .row_sample import ROWS
from .snapshot import Snapshot
from .storage import pack_moments, unpack_moments

__all__ = [
    "HUGE",
    "ROUTES",
    "ROWS",
    "MomentSums",
    "Moments",
    "PanelMoments",
    "RoutePlan",
    "Snapshot",
    "accumulate",
    "choose_precision",
    "compute_moments",
    "pack_moments",
    "plan_moments",
    "plan_source",
    "unpack_moments",
]
