"""What came out of a comparison of attention, in sentences: no more than the intervals carry."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from ..similarity import layer_findings
from .tables import head_rows

_SINK = 0.5
"""Fraction of a head's attention from which the sink decides how it looks."""


def attention_findings(
    dataset: xr.Dataset, measures: Sequence[str], heads: xr.Dataset | None
) -> list[str]:
    """The layers most alike; how many heads of every model repeat others; how many look at the sink."""
    shown = ["js"] if "js" in measures else list(measures[:1])
    sentences = layer_findings(dataset, shown)
    if heads is None:
        return sentences
    for row in head_rows(heads):
        if not row["could_go"]:
            continue
        verb = "looks" if row["could_go"] == 1 else "look"
        sentences.append(
            f"Of the {row['heads']} heads of {row['model']}, {row['could_go']} {verb} where another head of the model "
            f"looks, within {heads.attrs['threshold']:g} bits; a test with the task must say whether it can do "
            f"without them."
        )
    share = heads["sink_share"].values
    models = heads["model"].values
    for model in dict.fromkeys(models.tolist()):
        mine = share[models == model]
        count = int((mine > _SINK).sum())
        if count:
            sentences.append(
                f"{count} of {len(mine)} heads of {model} give more than half of their attention to special or first "
                f"tokens (mean over all heads {np.mean(mine):.0%})."
            )
    return sentences
