"""Which of some models are those of the paper, and what it says of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import xarray as xr

from ..output import say
from .tables import by_length, scored_split


def compare_published(
    result: xr.Dataset, specs: Mapping[str, str]
) -> tuple[xr.DataArray | None, list[dict[str, Any]]]:
    """Table 2 of the paper under the names of our models, and a line for each model and length; says where none is.

    ``specs``: what each model was loaded by, where it was loaded. A checkpoint is known by its name on the hub, or by a
    folder of that name.
    """
    from ...dependency import published_dependency
    from ...dependency.paper import CHECKPOINTS

    short = {name.rpartition("/")[2].lower(): name for name in CHECKPOINTS.values()}
    ours = {}
    for name in map(str, result["model"].values):
        plain = name if name in specs else name.rpartition("/")[0] or name
        for given in (specs.get(plain, ""), name, plain):
            last = given.rstrip("/\\").replace("\\", "/").rpartition("/")[2].lower()
            if last in short and not given.startswith("untrained:"):
                ours[name] = short[last]
                break
    if not ours:
        say(
            "None of these models is among the twelve of the paper, so there is nothing to show beside them: "
            f"{', '.join(CHECKPOINTS.values())}."
        )
        return None, []
    tables = {k: published_dependency(k) for k in (2, 3)}
    here = by_length(result)
    split = scored_split(result)
    rows = []
    for name, checkpoint in ours.items():
        for length in map(int, tables[2]["length"].values):
            if list(here) != [None] and length not in here:
                continue
            own = here.get(length)
            r2 = None if own is None else float(own["r2_group"].sel(split=split, model=name))
            paper = {
                f"table_{k}": float(t.sel(model=checkpoint, length=length))
                for k, t in tables.items()
            }
            rows.append(
                {"model": name, "checkpoint": checkpoint, "tokens": length, "r2": r2, **paper}
            )
    if not rows:
        lengths = ", ".join(str(int(n)) for n in tables[2]["length"].values)
        say(f"The paper has figures for {lengths} tokens; none of these lengths is among yours.")
        return None, []
    chosen = tables[2].sel(model=list(ours.values())).assign_coords(model=list(ours))
    return chosen, rows
