"""From tables of numbers to labelled results (xarray)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from .intervals import Interval

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Labels:
    """(model, layer) of every row and column of a table."""

    groups: Sequence[tuple[str, int]]

    @property
    def names(self) -> list[str]:
        """``model/layer``."""
        return [f"{model}/{layer}" for model, layer in self.groups]

    @property
    def models(self) -> list[str]:
        """Models, in the order they came."""
        return list(dict.fromkeys(model for model, _ in self.groups))

    @property
    def layers(self) -> list[int]:
        """All layer numbers."""
        return sorted({layer for _, layer in self.groups})

    def places(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where each group stands on the axes of models and layers."""
        models, layers = self.models, self.layers
        return (
            np.array([models.index(m) for m, _ in self.groups]),
            np.array([layers.index(n) for _, n in self.groups]),
        )


@dataclass
class Entry:
    """One measure's table, as it goes into a result."""

    value: FloatArray
    attrs: dict[str, Any]
    interval: Interval | None = None
    without: FloatArray | None = None
    details: dict[str, dict[tuple[int, int], NDArray[Any]]] = field(default_factory=dict)
    chance: dict[str, FloatArray] = field(default_factory=dict)
    """What shuffled rows give: null_mean, p, p_max."""


def as_matrix(labels: Labels, entry: Entry, attrs: Mapping[str, Any], name: str) -> xr.DataArray:
    """One measure as layers × layers, in the order given; ``se``, ``low`` and ``high`` are coordinates."""
    names = labels.names
    coords: dict[str, Any] = {
        "x": names,
        "y": names,
        "model_x": ("x", [m for m, _ in labels.groups]),
        "layer_x": ("x", [n for _, n in labels.groups]),
        "model_y": ("y", [m for m, _ in labels.groups]),
        "layer_y": ("y", [n for _, n in labels.groups]),
    }
    if entry.interval is not None:
        for part in ("se", "low", "high"):
            coords[part] = (("x", "y"), getattr(entry.interval, part))
    for part, table in entry.chance.items():
        coords[part] = (("x", "y"), table)
    # A coordinate may not have a dimension that the array lacks, so these travel as attributes.
    extra: dict[str, Any] = {} if entry.without is None else {"without": entry.without}
    extra |= {detail: _details(by_pair, len(names)) for detail, by_pair in entry.details.items()}
    return xr.DataArray(
        entry.value,
        dims=("x", "y"),
        coords=coords,
        name=name,
        attrs={**entry.attrs, **attrs, **extra},
    )


AXES = ("model_x", "layer_x", "model_y", "layer_y")


def as_dataset(
    labels: Labels,
    entries: Mapping[str, Mapping[str, Entry]],
    attrs: Mapping[str, Any],
    *,
    axis: str = "scaling",
    unit: str = "neuron",
) -> xr.Dataset:
    """All measures over (model_x, layer_x, model_y, layer_y); by ``axis`` first, if there are two of it.

    ``entries`` is measure → scaling → entry. Layers that a model lacks are NaN. ``unit`` is what details are given of.
    """
    scalings = list(dict.fromkeys(s for by in entries.values() for s in by))
    several = len(scalings) > 1
    variables: dict[str, Any] = {}
    for name, by_scaling in entries.items():
        # A measure that does not see the scale has one table, which stands for both.
        scaling_entries = [by_scaling.get(s, next(iter(by_scaling.values()))) for s in scalings]
        first = scaling_entries[0]
        tables = {"": [e.value for e in scaling_entries]}
        if first.interval is not None:
            for part in ("se", "low", "high"):
                tables[f"_{part}"] = [getattr(e.interval, part) for e in scaling_entries]
        for part in first.chance:
            tables[f"_{part}"] = [e.chance[part] for e in scaling_entries]
        for suffix, arrays in tables.items():
            spread = [_spread(labels, a) for a in arrays]
            data = np.stack(spread) if several else spread[0]
            dims: tuple[str, ...] = (axis, *AXES) if several else AXES
            own = first.attrs if not suffix else {"long_name": f"{name}: {_LONG[suffix]}"}
            variables[f"{name}{suffix}"] = (dims, data, own)
        if first.without is not None:
            spread = [np.stack([_spread(labels, a) for a in e.without]) for e in scaling_entries]  # type: ignore[union-attr]
            data = np.stack(spread, axis=1) if several else spread[0]
            dims = ("part", axis, *AXES) if several else ("part", *AXES)
            variables[f"{name}_without"] = (dims, data, {"long_name": f"{name} without each part"})
        for detail in first.details:
            # What does not see the axis is the same for all of it.
            unlike = several and len(by_scaling) > 1 and axis != "scaling"
            padded = [
                _details(e.details[detail], len(labels.groups))
                for e in (scaling_entries if unlike else scaling_entries[:1])
            ]
            nothing = _nothing(padded[0].dtype)
            spread = [_spread(labels, table, empty=nothing) for table in padded]
            dims = ((axis,) if unlike else ()) + (*AXES, unit)
            none = "-1" if nothing == -1 else "NaN"
            note = {"long_name": f"{name}: {detail} of each {unit} of x ({none}: none)"}
            variables[f"{name}_{detail}"] = (dims, np.stack(spread) if unlike else spread[0], note)
    coords: dict[str, Any] = {
        "model_x": labels.models,
        "layer_x": labels.layers,
        "model_y": labels.models,
        "layer_y": labels.layers,
    }
    if several:
        coords[axis] = scalings
    return xr.Dataset(variables, coords=coords, attrs=dict(attrs))


_LONG = {
    "_se": "standard error",
    "_low": "lower end of the interval",
    "_high": "upper end of the interval",
    "_null_mean": "mean for shuffled units",
    "_p": "p-value, against shuffled units",
    "_p_max": "p-value, against the largest of all pairs of shuffled layers",
}


def _spread(labels: Labels, table: NDArray[Any], empty: Any = np.nan) -> NDArray[Any]:
    """Groups × groups (× more) → models × layers × models × layers (× more)."""
    models, layers = labels.places()
    shape = (len(labels.models), len(labels.layers)) * 2 + table.shape[2:]
    result = np.full(shape, empty, table.dtype)
    result[models[:, None], layers[:, None], models[None, :], layers[None, :]] = table
    return result


def _details(arrays: Mapping[tuple[int, int], NDArray[Any]], size: int) -> NDArray[Any]:
    """Groups × groups × the longest: whole numbers, or numbers in single precision; padded where there is nothing."""
    longest = max(len(a) for a in arrays.values())
    whole = all(np.issubdtype(a.dtype, np.integer) for a in arrays.values())
    dtype = np.dtype(np.int32 if whole else np.float32)
    table = np.full((size, size, longest), _nothing(dtype), dtype)
    for (i, j), array in arrays.items():
        table[i, j, : len(array)] = array
    return table


def _nothing(dtype: Any) -> float:
    """What stands where there is no neuron: -1 among numbers of neurons, NaN among others."""
    return -1 if np.issubdtype(dtype, np.integer) else np.nan


def plain(data: Any) -> str:
    """JSON, for attributes."""
    return json.dumps(data, ensure_ascii=False, default=str)
