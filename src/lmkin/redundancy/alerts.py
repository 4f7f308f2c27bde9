"""What a user of a clustering should beware of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..measures.alerts import Alert, dropped_alerts

if TYPE_CHECKING:
    from .clustering import Neurons

_CHANCE = 0.2
"""The largest correlation of so many unrelated neurons is about √(4 ln N / n); above this there is an alert."""


def find_alerts(
    models: Mapping[str, Neurons],
    asked: Sequence[float],
    reached: Sequence[float],
    n: int,
    info: Mapping[str, Any],
) -> list[Alert]:
    """All that holds."""
    found = []
    constant = {name: int((~m.moves).sum()) for name, m in models.items()}
    if any(constant.values()):
        some = ", ".join(f"{name}: {count:,}" for name, count in constant.items() if count)
        found.append(
            Alert(
                "constant neurons",
                f"Neurons that never move have no correlation. They belong to no cluster and are not kept ({some}).",
            )
        )
    if len(reached) < len(asked):
        lost = ", ".join(f"{t:g}" for t in asked if t not in reached)
        found.append(
            Alert(
                "thresholds left out",
                f"At {lost} so many neurons hang together that a matrix of them would not fit into memory. Give more, "
                f"or fewer layers.",
            )
        )
    widest = max(len(m.layer) for m in models.values())
    chance = float(np.sqrt(4 * np.log(max(widest, 2)) / n))
    if chance > _CHANCE:
        found.append(
            Alert(
                "few rows",
                f"With {n:,} rows, some of the {widest:,} neurons correlate by {min(chance, 1):.2f} by chance: "
                f"clusters at thresholds above {max(1 - chance, 0):.2f} may be of such. Take more words.",
            )
        )
    found += dropped_alerts(info)
    return found
