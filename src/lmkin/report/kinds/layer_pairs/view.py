"""What charts and tables need of values by pairs of layers, as plain arrays and labels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import xarray as xr

from ....core import LmkinError, slugs
from ...charts.values import ERRORS
from ...names import FloatArray, json_of, one_line, plain_names

PLACE = ("model_x", "layer_x", "model_y", "layer_y")
_COMPANIONS = (*ERRORS, "_null_mean", "_p", "_p_max")
_WAYS: dict[str, tuple[str, dict[str, tuple[str, str, str]]]] = {
    "scaling": (
        "Neurons:",
        {
            "raw": (
                "raw",
                "neurons as they are",
                "As they are: neurons with a large variance weigh more, where the measure lets them.",
            ),
            "standardized": (
                "standardized",
                "each neuron standardized",
                "Standardized: all neurons count the same. Where this disagrees with the neurons as they are, a few "
                "neurons with a large variance decide the other.",
            ),
        },
    ),
    "sink": (
        "Attention to the sink:",
        {
            "dropped": (
                "sink dropped",
                "dropped",
                "Dropped: what goes to special tokens, or to the first position, is left out, and what is left made "
                "to sum to 1 again. Heads are alike if they look at the same places.",
            ),
            "kept": (
                "sink kept",
                "kept",
                "Kept: the sink is one position more. Heads that give most of their attention to it are alike for "
                "that reason alone.",
            ),
        },
    ),
}
"""Dimensions that a switch walks through: its label, and of each value a short name, a title and a text."""


@dataclass(frozen=True)
class Measure:
    """A measure as the report speaks of it; ``key`` names it in signals and columns."""

    key: str
    name: str
    title: str
    summary: str
    symmetric: bool
    low: float
    high: float
    reference: str
    options: Any
    unbiased: bool = False


@dataclass(frozen=True)
class Scaling:
    """A way the numbers were taken: neurons raw or standardized, the sink of attention dropped or kept.

    ``name`` is its value on ``dimension``; both are empty where the Dataset has one way only.
    """

    key: str = ""
    name: str = ""
    dimension: str = ""
    label: str = ""
    """Of the switch between this one and the others."""
    short: str = ""
    title: str = ""
    text: str = ""


@dataclass(frozen=True)
class Layer:
    """A layer of a model, and its place in the Dataset."""

    model: int
    number: int
    place: tuple[int, int]


class LayerPairs:
    """The measures, scalings, models and layers of a Dataset, and its values as tables."""

    def __init__(self, dataset: xr.Dataset):
        missing = [name for name in PLACE if name not in dataset.dims]
        if missing:
            raise LmkinError(
                f"A Dataset of similarities has the dimensions {', '.join(PLACE)}; this one lacks "
                f"{', '.join(missing)}. Give what lmkin.similarity returned."
            )
        self.dataset = dataset
        self.raw_models = [str(m) for m in dataset["model_x"].values]
        self.models = plain_names(self.raw_models)
        if self.raw_models != [str(m) for m in dataset["model_y"].values]:
            raise LmkinError("model_x and model_y differ; the report needs all models on both.")
        self.measures = _measures(dataset)
        if not self.measures:
            raise LmkinError(
                f"No measure in this Dataset; its variables: {', '.join(map(str, dataset)) or 'none'}."
            )
        self.scalings = scalings_of(dataset)

    @cached_property
    def layers(self) -> list[Layer]:
        """Layers in the order of the models; those that a model lacks are left out."""
        first = self.dataset[[m.name for m in self.measures]].to_array()
        others = [d for d in first.dims if d not in PLACE]
        there = np.asarray(first.notnull().any(others).transpose(*PLACE).values)
        known = np.asarray(there.any(axis=(2, 3)) | there.any(axis=(0, 1)))
        widths = json_of(self.dataset.attrs.get("widths", "{}"))
        numbers = [int(n) for n in self.dataset["layer_x"].values]
        return [
            Layer(m, number, (m, k))
            for m, name in enumerate(self.raw_models)
            for k, number in enumerate(numbers)
            # A layer whose every value is undefined is a layer still, and shown.
            if known[m, k] or (isinstance(widths, dict) and f"{name}/{number}" in widths)
        ]

    def table(self, measure: Measure, scaling: Scaling, suffix: str = "") -> FloatArray | None:
        """Values (or ``_se``, ``_low``, ``_high``) of all layers × all layers: rows are x, columns y."""
        name = measure.name + suffix
        if name not in self.dataset:
            return None
        values = select(self.dataset[name], scaling).transpose(*PLACE).values
        m, k = (np.array([layer.place[i] for layer in self.layers], dtype=int) for i in (0, 1))
        table: FloatArray = np.asarray(
            values[m[:, None], k[:, None], m[None, :], k[None, :]], dtype=np.float64
        )
        return table

    @property
    def level(self) -> str:
        """The level of the intervals, as a percentage."""
        return f"{100 * float(self.dataset.attrs.get('level', 0.95)):g}%"

    def has_errors(self, measure: Measure) -> bool:
        """Whether there are standard errors and intervals for this measure."""
        return measure.name + "_se" in self.dataset


def select(values: xr.DataArray, scaling: Scaling) -> xr.DataArray:
    """The values of one scaling; the same where there is only one."""
    return (
        values.sel({scaling.dimension: scaling.name})
        if scaling.dimension in values.dims
        else values
    )


def scalings_of(dataset: xr.Dataset) -> list[Scaling]:
    """What the dimension ``scaling`` (or ``sink``) holds; one nameless scaling where there is none."""
    dimension = next((d for d in _WAYS if d in dataset.dims), None)
    if dimension is None:
        return [Scaling()]
    label, known = _WAYS[dimension]
    names = [str(name) for name in dataset[dimension].values]
    return [
        Scaling(key, name, dimension, label, *known.get(name, (one_line(name), one_line(name), "")))
        for key, name in zip(slugs(names), names, strict=True)
    ]


def _measures(dataset: xr.Dataset) -> list[Measure]:
    names = [
        str(name)
        for name, values in dataset.data_vars.items()
        if set(PLACE) <= set(values.dims) <= {*PLACE, *_WAYS}
        and not any(
            str(name).endswith(e) and str(name).removesuffix(e) in dataset.data_vars
            for e in _COMPANIONS
        )
    ]
    measures = []
    for key, name, label in zip(slugs(names), names, plain_names(names), strict=True):
        about = dataset[name].attrs
        measures.append(
            Measure(
                key=key,
                name=name,
                title=one_line(str(about.get("long_name") or label)) or label,
                summary=str(about.get("summary", "")),
                symmetric=bool(about.get("symmetric", True)),
                low=float(about.get("low", -math.inf)),
                unbiased=bool(about.get("unbiased", 0)),
                high=float(about.get("high", math.inf)),
                reference=str(about.get("reference", "")),
                options=json_of(about.get("options", "{}")),
            )
        )
    return measures
