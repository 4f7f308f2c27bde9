"""What only one model explains of another, what several share, and what none explains."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...core import MeasureError, did_you_mean, quoted
from .portfolio import Subsets

FloatArray = NDArray[np.float64]


def unique_shares(subsets: Subsets) -> xr.Dataset:
    """What only one model knows of another, beside all the rest: R² by all others, minus R² without that one.

    ``unexplained`` is the fraction of a model that no other explains; ``unique`` (basis, target) what is lost without
    the basis model; ``shared`` what at least two of the others could give.
    """
    names = subsets.names
    k = len(names)
    whole = np.array(
        [subsets.r2(subsets.reports, [m for m in range(k) if m != i])[i] for i in range(k)]
    )
    unique = np.full((k, k), np.nan)
    for j in range(k):
        for i in range(k):
            if i != j:
                rest = [m for m in range(k) if m not in (i, j)]
                unique[j, i] = whole[i] - subsets.r2(subsets.reports, rest)[i]
    return xr.Dataset(
        {
            "unique": (("basis", "target"), unique),
            "shared": (("target",), whole - np.nansum(unique, axis=0)),
            "unexplained": (("target",), 1 - whole),
        },
        coords={"basis": names, "target": names},
        attrs={"reported_on": subsets.reports},
    )


def commonality(
    subsets: Subsets, target: str, groups: Mapping[str, str | Sequence[str]]
) -> dict[str, float]:
    """R² of a model, divided among up to three groups of others and what they share, by inclusion and exclusion.

    The shares sum to the R² by all groups. One below 0 means that groups explain more together than apart.
    """
    names = subsets.names
    listed = _groups_of_models(subsets, target, groups)
    number = {name: [names.index(m) for m in some] for name, some in listed.items()}

    def r2(some: Sequence[str]) -> float:
        basis = [m for name in some for m in number[name]]
        return float(subsets.r2(subsets.reports, basis)[names.index(target)])

    every = list(listed)
    shares = {}
    for size in range(1, len(every) + 1):
        for inside in combinations(every, size):
            outside = [name for name in every if name not in inside]
            shares[" + ".join(map(str, inside))] = sum(
                (-1) ** (count + 1) * r2([*outside, *some])
                for count in range(size + 1)
                for some in combinations(inside, count)
            )
    return shares


def _groups_of_models(subsets: Subsets, target: Any, groups: Any) -> dict[str, list[str]]:
    """Groups as lists of models. Raise if they are not what they should be."""
    if not isinstance(groups, Mapping) or any(
        not isinstance(some, Iterable) for some in groups.values()
    ):
        raise MeasureError(
            f"Groups of models come as a dict with a name for each, such as {{'large': ['b', 'c'], 'small': 'd'}}; got "
            f"{quoted(groups)}."
        )
    if not 1 <= len(groups) <= 3:
        raise MeasureError(f"One to three groups of models; got {len(groups)}.")
    listed = {
        name: [some] if isinstance(some, str) else list(some) for name, some in groups.items()
    }
    flat = [m for some in listed.values() for m in some]
    for name in [target, *flat]:
        if not isinstance(name, str) or name not in subsets.names:
            layer = name in subsets.joint.names if isinstance(name, str) else False
            raise MeasureError(
                f"Models are named here, with all their layers; {quoted(name)} is one layer. Known: "
                f"{', '.join(subsets.names)}."
                if layer
                else f"There is no model {quoted(name)} here. {did_you_mean(str(name), subsets.names)}"
            )
    if target in flat or len(set(flat)) < len(flat) or not all(listed.values()):
        raise MeasureError(
            f"Every model is in one group at most, the target in none, and no group is empty; got {quoted(target)} and "
            f"{listed}."
        )
    return listed
