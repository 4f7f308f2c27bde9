"""What is kept of a corpus: sums over its units, that merge, and that measures are functions of."""

from __future__ import annotations

from ..rooms import make_callable
from .groups import Group, as_group
from .making import accumulate, moments, row_source
from .moments import Moments
from .panels import PanelMoments
from .planning import Plan, plan_moments
from .precision import choose_precision
from .snapshot import Snapshot
from .sources import RowSource

__all__ = [
    "Group",
    "Moments",
    "PanelMoments",
    "Plan",
    "RowSource",
    "Snapshot",
    "accumulate",
    "as_group",
    "choose_precision",
    "moments",
    "plan_moments",
    "row_source",
]
make_callable(__name__, moments)
