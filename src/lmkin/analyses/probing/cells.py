"""`Cells`: numbers of a result by the labels of their axes."""

from __future__ import annotations

import numpy as np
import xarray as xr

from .variables import ERRORS


class Cells:
    """Numbers of a labelled dataset, one at a time, faster than xarray has them."""

    def __init__(self, dataset: xr.Dataset):
        self.attrs = dataset.attrs
        self.labels = {
            str(axis): [str(v) for v in dataset[axis].values]
            for axis in dataset.dims
            if axis in dataset.coords
        }
        self._place = {
            axis: {label: k for k, label in enumerate(labels)}
            for axis, labels in self.labels.items()
        }
        # Of each variable as it is stored: labels of axes would be put to every one of some hundred.
        stored = ((str(name), dataset.variables[name]) for name in dataset)
        self._arrays = {name: (variable.dims, variable.values) for name, variable in stored}

    def get(self, name: str, **at: str) -> float | None:
        """One number; None where nothing was computed."""
        if name not in self._arrays:
            return None
        axes, array = self._arrays[name]
        number = float(array[tuple(self._place[str(axis)][at[str(axis)]] for axis in axes)])
        return number if np.isfinite(number) else None

    def with_errors(self, key: str, name: str, **at: str) -> dict[str, float | None]:
        """A number and its error and interval, under names that begin with ``key``."""
        return {key + ending: self.get(name + ending, **at) for ending in ("", *ERRORS)}
