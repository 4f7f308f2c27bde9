"""Which of some models are those of the paper, and what it says of them."""

from __future__ import annotations

import logging
from collections.abc import Mapping

import xarray as xr

from ...results import published
from .tables import PAPER, by_length

_log = logging.getLogger("lmkin")
GROUP = "group"
"""The row of the mean of all models."""


def compare_published(
    dataset: xr.Dataset, specs: Mapping[str, str] | None = None
) -> xr.DataArray | None:
    """Table 2 of the paper (Zhang 2022) under the names of our models; None, and a line in the log, where none is.

    ``specs``: what each model was loaded by, where it was loaded. A checkpoint is known by its name on the hub, or by a
    folder of that name. The attribute ``checkpoints`` says which it is for each of our models.
    """
    figures = published(PAPER[0])
    known = [str(m) for m in figures["model"].values if str(m) != GROUP]
    ours = matching_checkpoints([str(m) for m in dataset["model"].values], known, specs or {})
    if not ours:
        _log.info(
            "None of these models is among the twelve of the paper, so there is nothing to show beside them: %s.",
            ", ".join(known),
        )
        return None
    lengths = [int(n) for n in figures["length"].values]
    here = by_length(dataset)
    if None not in here and not set(lengths) & set(here):
        listed = ", ".join(map(str, lengths))
        _log.info(
            "The paper has figures for %s tokens; none of these lengths is among yours.", listed
        )
        return None
    shown = figures.sel(model=list(ours.values())).assign_coords(model=list(ours))
    return shown.assign_attrs(checkpoints=ours)


def matching_checkpoints(
    names: list[str], checkpoints: list[str], specs: Mapping[str, str]
) -> dict[str, str]:
    """Our model → the checkpoint that it is; untrained twins are none."""
    short = {name.rpartition("/")[2].lower(): name for name in checkpoints}
    ours = {}
    for name in names:
        plain = name if name in specs else name.rpartition("/")[0] or name
        for given in (specs.get(plain, ""), name, plain):
            last = given.rstrip("/\\").replace("\\", "/").rpartition("/")[2].lower()
            if last in short and not given.startswith("untrained:"):
                ours[name] = short[last]
                break
    return ours
