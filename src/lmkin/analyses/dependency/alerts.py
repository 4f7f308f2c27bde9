"""Traps in a decomposition, each with a sentence on what to do."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from ...core import GRID, Alert, AlertKind
from ..similarity import FEW_PARTS, constant_alerts, ungrouped_alert, unknown_alerts
from .joint import Joint

APART = 0.1
"""How far R² on train and on test rows may be apart."""
BY_LENGTH = 0.05
"""How much R² may lose when what depends on length is taken out."""
FEW = 10
"""Rows a neuron below which a fit overfits."""


def find_alerts(
    data: xr.Dataset, joint: Joint, info: dict[str, Any], rule: str = "relative"
) -> list[Alert]:
    """All alerts of a result; ``rule`` is that of the ridge."""
    return [
        *_in_sample(data),
        *_apart(data, rule),
        *_grid_end(data, rule),
        *_few_rows(data, joint),
        *_by_length(data),
        *constant_alerts(joint.constant.items()),
        *_chance(data),
        *_lost(info),
        *unknown_alerts(info),
        *([ungrouped_alert()] if info.get("drawn") == "rows" else []),
        *_parts(joint, data),
    ]


def _in_sample(data: xr.Dataset) -> list[Alert]:
    if "test" in data["split"].values:
        return []
    return [
        Alert(
            AlertKind.IN_SAMPLE,
            "There are no test rows: R² is of the rows that were fitted on, and too high. Give a split with 'test'.",
        )
    ]


def _apart(data: xr.Dataset, rule: str) -> list[Alert]:
    if "test" not in data["split"].values:
        return []
    gap = data["r2_group"].sel(split="train") - data["r2_group"].sel(split="test")
    far = [str(m) for m in data["model"].values[(gap > APART).values]]
    if not far:
        return []
    more = "Take more rows" + (
        "." if rule == "validation" else ", or choose the ridge on validation rows."
    )
    return [
        Alert(
            AlertKind.TRAIN_TEST_APART,
            f"R² is up to {float(gap.max()):.2f} higher on train than on test rows ({', '.join(far[:6])}): the fit "
            f"overfits its train rows, or the test rows are of another kind. {more}",
        )
    ]


def _grid_end(data: xr.Dataset, rule: str) -> list[Alert]:
    if rule != "validation":
        return []
    at = data["model"].values[(data["ridge_group"] >= GRID[-1]).values]
    if not len(at):
        return []
    return [
        Alert(
            AlertKind.RIDGE_END,
            f"The best ridge is the largest that was tried ({GRID[-1]:g}) for {', '.join(map(str, at[:6]))}: the "
            f"others say hardly more of it than its mean does. Take more rows.",
        )
    ]


def _few_rows(data: xr.Dataset, joint: Joint) -> list[Alert]:
    n = int(data["n"].sel(split="train"))
    widest = joint.widest_basis
    if n >= FEW * widest:
        return []
    return [
        Alert(
            AlertKind.FEW_ROWS,
            f"There are {n:,} rows to fit on and up to {widest:,} neurons to fit with: fewer than {FEW} rows a neuron. "
            f"R² on test rows is then too low, and rises with more rows.",
        )
    ]


def _by_length(data: xr.Dataset) -> list[Alert]:
    if "rho_group_beyond_length" not in data:
        return []
    split = data["split"].values[-1]
    lost = float((data["rho_group"] - data["rho_group_beyond_length"]).sel(split=split))
    most = float(data["r2_length"].sel(split=split).max())
    if most <= BY_LENGTH or (lost <= BY_LENGTH and most <= 2 * BY_LENGTH):
        return []
    return [
        Alert(
            AlertKind.LENGTH,
            f"The length of the text alone explains up to {most:.0%} of a model; with it taken out, the mean "
            f"R² is {abs(lost):.2f} {'lower' if lost > 0 else 'higher'}. Models may agree on how long a text is "
            f"rather than on what it says: look at R² with length taken out.",
        )
    ]


def _chance(data: xr.Dataset) -> list[Alert]:
    if "r2_group_null" not in data or "test" not in data["split"].values:
        return []
    chance = data["r2_group_null"].sel(split="test")
    if float(chance.max()) <= 0.02:
        return []
    return [
        Alert(
            AlertKind.BASELINE,
            f"Shuffled rows reach an R² of {float(chance.max()):.2f} on test rows: something other than the pairing of "
            f"rows is shared. Look for repeated texts, or rows that are not what they seem.",
        )
    ]


def _lost(info: dict[str, Any]) -> list[Alert]:
    alerts = []
    if info.get("dropped"):
        some = ", ".join(f"{k}: {v:,}" for k, v in info["dropped"].items())
        alerts.append(
            Alert(
                AlertKind.DROPPED,
                f"{info.get('units', 'row').capitalize()}s that another model lacks are left out of all ({some}).",
            )
        )
    if info.get("repeated"):
        count = int(info["repeated"])
        rows = "1 row repeats" if count == 1 else f"{count:,} rows repeat"
        alerts.append(
            Alert(
                AlertKind.REPEATED,
                f"{rows} an earlier one: where one is in train and the other in test, R² is too high. Take repeated "
                f"texts out.",
            )
        )
    return alerts


def _parts(joint: Joint, data: xr.Dataset) -> list[Alert]:
    if "r2_group_se" not in data:
        return []
    fewest = min(len(p) for p in joint.parts.values())
    if fewest >= FEW_PARTS or not np.isfinite(data["r2_group_se"].values).any():
        return []
    return [
        Alert(
            AlertKind.FEW_PARTS,
            f"The intervals rest on {fewest} parts only: they are rough. Take more parts, and rows enough for them.",
        )
    ]
