"""What the charts and tables need of a Dataset of similarities, as plain arrays and labels."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ..errors import LmkinError
from .charts import one_line

FloatArray = NDArray[np.float64]
PLACE = ("model_x", "layer_x", "model_y", "layer_y")
ERRORS = ("_se", "_low", "_high")
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
                "to sum to 1 again. Heads are alike if they look at the same words.",
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


class View:
    """The measures, scalings, models and layers of a Dataset, and its values as tables."""

    def __init__(self, dataset: xr.Dataset):
        missing = [name for name in PLACE if name not in dataset.dims]
        if missing:
            raise LmkinError(
                f"A Dataset of similarities has the dimensions {', '.join(PLACE)}; this one lacks "
                f"{', '.join(missing)}. Give what lmkin.similarities returned."
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
        return f"{100 * float(self.dataset.attrs.get('level', 0.95)):g} %"

    def has_errors(self, measure: Measure) -> bool:
        """Whether there are standard errors and intervals for this measure."""
        return measure.name + "_se" in self.dataset


def column(measure: Measure, scaling: Scaling, suffix: str = "") -> str:
    """The name of the column of a chart's data that holds these values; ``COLUMN`` is the same as an expression."""
    return f"{measure.key}|{scaling.key}|{suffix}"


COLUMN = "measure + '|' + scaling + '|{}'"


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
    found = []
    for key, name, label in zip(slugs(names), names, plain_names(names), strict=True):
        about = dataset[name].attrs
        found.append(
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
    return found


def plain_names(names: Sequence[str]) -> list[str]:
    """Names on one line, no two alike."""
    return _told_apart([one_line(name) or "(no name)" for name in names], "{} ({})")


def slugs(names: Sequence[str]) -> list[str]:
    """Names that can stand in a file name, no two alike."""
    plain = [re.sub(r"\W+", "-", name).strip("-")[:60] or "nameless" for name in names]
    return _told_apart(plain, "{}-{}")


def _told_apart(names: Sequence[str], pattern: str) -> list[str]:
    apart: list[str] = []
    for name in names:
        candidate, count = name, 1
        while candidate in apart:
            count += 1
            candidate = pattern.format(name, count)
        apart.append(candidate)
    return apart


def json_of(text: Any) -> Any:
    """What a JSON text says; the text itself where it is no JSON."""
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return text


def rounded(value: float) -> float | None:
    """Five significant digits, which is more than any interval allows; None for NaN and infinity."""
    return float(f"{value:.5g}") if math.isfinite(value) else None


def number_format(values: FloatArray) -> str:
    """Four decimals, unless the values are of quite another size."""
    finite = np.abs(values[np.isfinite(values)])
    usual = finite.size == 0 or 0.01 <= finite.max() < 1000
    return ".4f" if usual else ".4~g"


def said(value: float, error: float | None = None) -> str:
    """A value, with its standard error where there is one."""
    if not math.isfinite(value):
        return "–"
    if error is None or not math.isfinite(error):
        return _three_digits(value)
    return f"{_three_digits(value)} ± {_three_digits(error)}"


def _three_digits(value: float) -> str:
    return f"{value:.3f}" if value == 0 or 1e-3 <= abs(value) < 1000 else f"{value:.3g}"
