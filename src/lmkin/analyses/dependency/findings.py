"""What came out of a decomposition, in sentences: no more than the intervals carry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from ...results import say_interval, say_value
from .tables import by_length, scored_split


def dependency_findings(dataset: xr.Dataset, portfolio: Mapping[str, xr.Dataset]) -> list[str]:
    """The models that the others explain best and least, what all explain of each on average, what could go."""
    split = scored_split(dataset)
    sentences = []
    for length, tables in by_length(dataset).items():
        at = "" if length is None else f"At {length} tokens, "
        sentences += _explained(tables.sel(split=split), split, at)
    if "drop_order" in portfolio:
        sentences.append(drop_order_sentence(portfolio["drop_order"]))
    return sentences


def _explained(data: xr.Dataset, split: str, at: str) -> list[str]:
    level = float(data.attrs.get("level", 0.95))
    rho = _value(data, "rho_group", ())
    sentences = [
        f"{at or 'On '}{'on ' if at else ''}{split} rows, the other models explain {_said(rho, level)} of a model on "
        f"average (R²)."
    ]
    values = data["r2_group"].values
    if len(values) < 2 or not np.isfinite(values).all():
        return sentences
    names = [str(m) for m in data["model"].values]
    best, least = int(np.argmax(values)), int(np.argmin(values))
    every = [_value(data, "r2_group", (i,)) for i in range(len(values))]
    if all(v["low"] is None for v in every):
        return sentences
    start = at or ""
    for word, place, apart in (
        ("best", best, all(_above(every[best], v) for i, v in enumerate(every) if i != best)),
        ("least", least, all(_above(v, every[least]) for i, v in enumerate(every) if i != least)),
    ):
        if apart:
            sentences.append(
                f"{start}{names[place]} is explained {word} by the others: R² {_said(every[place], level)}."
            )
    if len(sentences) == 1:
        low, high = min(values), max(values)
        sentences.append(
            f"{start}{'no' if start else 'No'} model is explained better or worse than all others beyond their "
            f"intervals: R² from {low:.3f} to {high:.3f}."
        )
    return sentences


def _above(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether an interval lies above another."""
    return one["low"] is not None and other["high"] is not None and one["low"] > other["high"]


def _value(data: xr.Dataset, name: str, place: tuple[int, ...]) -> dict[str, float | None]:
    estimate: dict[str, float | None] = {"value": float(data[name].values[place])}
    for part in ("se", "low", "high"):
        known = f"{name}_{part}" in data
        number = float(data[f"{name}_{part}"].values[place]) if known else np.nan
        estimate[part] = number if np.isfinite(number) else None
    return estimate


def _said(estimate: Mapping[str, Any], level: float) -> str:
    return f"{say_value(estimate['value'], estimate['se'])}{say_interval(estimate['low'], estimate['high'], level)}"


def drop_order_sentence(order: xr.Dataset) -> str:
    """In which order to switch off, and what is then still explained of all that are off."""
    advised = order.isel(step=order["carried"].values.astype(bool))
    names = [str(m) for m in advised["model"].values]
    kept = [f"{float(v):.3f}" for v in advised["r2_dropped"].values]
    steps = ", ".join(f"{name} ({value})" for name, value in zip(names, kept, strict=True))
    at = f" at {order.attrs['length']} tokens" if "length" in order.attrs else ""
    reason = order.attrs["no_order"]
    if not names:
        return f"No order to switch off{at}: {reason}."
    rest = f"no order after that: {reason}" if reason else f"{order.attrs['stays']} stays"
    return (
        f"Switch off in this order{at}: {steps}; {rest}. In brackets: mean R² of those that are off by then, by those "
        f"that are left."
    )
