"""`Variables`: numbers by the labels of their axes, on the way into a labelled dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from .scored import Scored

ERRORS = ("_se", "_low", "_high")
"""Endings of what belongs to a score: its standard error, and the ends of its interval."""


class Variables:
    """Arrays by name over the axes of a result, NaN where nothing was computed; ``long`` says what each name means."""

    def __init__(self, coords: Mapping[str, Sequence[Any]], long: Mapping[str, str]):
        self.coords = {name: list(values) for name, values in coords.items()}
        self.long = long
        self._place = {name: {v: k for k, v in enumerate(vs)} for name, vs in self.coords.items()}
        self.values: dict[str, tuple[tuple[str, ...], NDArray[np.float64]]] = {}

    def put(self, name: str, value: float | None, **at: Any) -> None:
        """One number, at labels of its axes."""
        if name not in self.values:
            shape = tuple(len(self.coords[axis]) for axis in at)
            self.values[name] = (tuple(at), np.full(shape, np.nan))
        axes, array = self.values[name]
        place = tuple(self._place[axis][at[axis]] for axis in axes)
        array[place] = np.nan if value is None else value

    def put_scored(self, names: Sequence[str], scored: Scored, **at: Any) -> None:
        """Scores with their intervals."""
        for k, name in enumerate(names):
            self.put(name, float(scored.value[k]), **at)
            if scored.interval is not None:
                for ending in ERRORS:
                    self.put(name + ending, float(getattr(scored.interval, ending[1:])[k]), **at)

    def dataset(self) -> xr.Dataset:
        """All of it; every variable says what it is."""
        variables = {}
        for name, (axes, array) in self.values.items():
            base = next((name.removesuffix(e) for e in ERRORS if name.endswith(e)), name)
            variables[name] = (axes, array, {"long_name": self.long[base]})
        return xr.Dataset(variables, coords=self.coords)
