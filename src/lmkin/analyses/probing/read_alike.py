"""Whether activations came about as those that probes were fitted on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...activations import Activations
from ...core import LmkinError, MeasureError, quoted
from ..redundancy import identity_of

_READ = {"kind": "units", "pooling": "pooling", "special_tokens": "special_tokens"}
"""Of the rule of units what makes a row another one, and the option that says it."""


def require_read_alike(provenance: Mapping[str, Any], model: str, activations: Activations) -> None:
    """Raise if a model read otherwise than when its probes were fitted: rows are then something else."""
    models = provenance.get("source", {}).get("models", {})
    apart = first_difference(models.get(model, {}), activations.manifest)
    if apart is not None:
        was, now = apart
        raise MeasureError(
            f"These probes were fitted on activations with {was}, and those of {quoted(activations.name)} have {now}: "
            f"rows stand for something else. Extract them with {was}."
        )


def require_same_splits(splits: Mapping[str, Activations]) -> None:
    """Raise if the splits are of different models, or if a model read them in different ways."""
    names = {acts.name for acts in splits.values()}
    if len(names) > 1:
        raise LmkinError(
            f"The splits are of different models: {', '.join(sorted(names))}. A probe that is fitted on one says "
            f"nothing on another."
        )
    (first, one), *others = splits.items()
    for name, acts in others:
        if identity_of(acts.manifest.get("model")) != identity_of(one.manifest.get("model")):
            raise LmkinError(
                f"The splits are of different models: {quoted(name)} is of other weights than {quoted(first)}, or was "
                f"loaded in another way. A probe that is fitted on one says nothing on another."
            )
        apart = first_difference(one.manifest, acts.manifest)
        if apart is not None:
            raise LmkinError(
                f"The splits were read in different ways: {quoted(first)} has {apart[0]}, {quoted(name)} {apart[1]}. "
                f"Extract all of them alike."
            )


def first_difference(before: Mapping[str, Any], here: Mapping[str, Any]) -> tuple[str, str] | None:
    """What two manifests say differently of how rows came about, each as an option; None: nothing."""
    was, now = (manifest.get("units", {}).get("rule", {}) for manifest in (before, here))
    for name, keyword in _READ.items():
        if name in was and name in now and was[name] != now[name]:
            return f"{keyword}={quoted(was[name])}", f"{keyword}={quoted(now[name])}"
    return None
