"""What a user of a clustering should beware of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core import Alert, AlertKind
from ..similarity import dropped_alerts, listed_layers, pre_norm_alerts, unknown_alerts

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
    alerts = []
    constant = {name: m.layer[~m.moves].tolist() for name, m in models.items()}
    if any(constant.values()):
        some = "; ".join(
            f"{name}: {len(layers):,} in {listed_layers(list(set(layers)))}"
            for name, layers in constant.items()
            if layers
        )
        alerts.append(
            Alert(
                AlertKind.CONSTANT,
                f"Neurons that never move have no correlation. They belong to no cluster and are not kept ({some}).",
            )
        )
    if len(reached) < len(asked):
        lost = ", ".join(f"{t:g}" for t in asked if t not in reached)
        alerts.append(
            Alert(
                AlertKind.THRESHOLDS_LEFT_OUT,
                f"At {lost} so many neurons hang together that a matrix of them would not fit into memory. Give more, "
                f"or fewer layers.",
            )
        )
    widest = max(len(m.layer) for m in models.values())
    chance = float(np.sqrt(4 * np.log(max(widest, 2)) / n))
    if chance > _CHANCE:
        alerts.append(
            Alert(
                AlertKind.FEW_ROWS,
                f"With {n:,} rows, some of the {widest:,} neurons correlate by {min(chance, 1):.2f} by chance: "
                f"clusters at thresholds above {max(1 - chance, 0):.2f} may be of such. Take more words.",
            )
        )
    layers = [(name, n) for name, m in models.items() for n in np.unique(m.layer).tolist()]
    alerts += dropped_alerts(info) + unknown_alerts(info) + pre_norm_alerts(info, layers)
    return alerts
