"""What came out of an analysis of redundancy, in sentences: no more than the intervals carry."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from ...results import say_interval, say_value
from .tables import ranked_rows


def redundancy_findings(
    dataset: xr.Dataset, layers: xr.Dataset | None, threshold: float
) -> list[str]:
    """Of every model: how many neurons are left, how many clusters span layers, and the layer that adds least."""
    sentences = []
    k = int(np.flatnonzero(np.isclose(dataset["threshold"].values, threshold))[0])
    spans = [str(s) for s in dataset["span"].values]
    across = [i for i, s in enumerate(spans) if s not in ("alone", "same layer")]
    for i, name in enumerate(map(str, dataset["model"].values)):
        left, total = int(dataset["left"][i, k]), int(dataset["neurons"][i])
        clusters = dataset["clusters"].values[i, k]
        several = int(clusters[[j for j, s in enumerate(spans) if s != "alone"]].sum())
        sentence = (
            f"At threshold {threshold:g}, {left:,} of the {total:,} neurons of {name} "
            f"({left / total:.0%}) stand for all"
        )
        if several:
            spread = int(clusters[across].sum())
            sentence += (
                f"; of {several:,} clusters of two neurons or more, {spread:,} have members in several layers, and the "
                f"largest has {int(dataset['largest'][i, k]):,} neurons"
            )
        sentences.append(f"{sentence}.")
    if layers is not None:
        sentences += _layers(layers)
    return sentences


def _layers(layers: xr.Dataset) -> list[str]:
    """The layer of each model that adds least, where its interval lies above that of the next."""
    level = float(layers.attrs.get("level", 0.95))
    rows = ranked_rows(layers)
    sentences = []
    for model in dict.fromkeys(row["model"] for row in rows):
        first, *others = (row for row in rows if row["model"] == model)
        said = f"R² {say_value(first['r2'], first['r2_se'])}{say_interval(first['r2_low'], first['r2_high'], level)}"
        if others and not _above(first, others[0]):
            known = first["r2_low"] is not None
            reason = "cannot be told apart by their intervals" if known else "have no intervals"
            alike = [row for row in others if not _above(first, row)]
            listed = ", ".join(str(row["layer"]) for row in (first, *alike[:5]))
            more = f" and {len(alike) - 5} more" if len(alike) > 5 else ""
            sentences.append(
                f"The layers of {model} that add least to the one before {reason}: {listed}{more} (layer "
                f"{first['layer']}: {said} by layer {first['before']})."
            )
            continue
        sentences.append(
            f"Layer {first['layer']} of {model} adds least to the one before: {said} by layer {first['before']}."
        )
    return sentences


def _above(one: dict[str, Any], other: dict[str, Any]) -> bool:
    low, high = one["r2_low"], other["r2_high"]
    return low is not None and high is not None and bool(low > high)
