"""What the charts and tables need of a clustering of neurons and of layers against layers, as arrays and labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import xarray as xr

from ....core import LmkinError, slugs
from ...charts.style import heading, signal_text
from ...charts.values import ERRORS
from ...names import FloatArray, plain_names
from ...page import Option, Switch
from ..layer_pairs import Measure

USUAL = 0.3
"""The threshold that the papers speak of."""
_DALVI = "Dalvi et al. 2020, Analyzing redundancy in pretrained transformer models"
_KORNBLITH = "Kornblith et al. 2019, Similarity of neural network representations revisited"
_OF_LAYERS = {
    "r2": (
        "R² by the layer before",
        -np.inf,
        "",
        "Fraction of the variance of a layer that a linear regression on the layer before explains, on words that "
        "it was not fitted on.",
    ),
    "cka": (
        "CKA with the layer before",
        -1.0,
        _KORNBLITH,
        "Unbiased linear CKA of a layer and the one before.",
    ),
    "average": (
        "Average CKA with all other layers",
        -1.0,
        _DALVI,
        "Mean CKA of a layer with all other layers of its model.",
    ),
}


class RedundancyView:
    """The models and thresholds of a clustering, and its tables as arrays."""

    def __init__(self, tables: xr.Dataset):
        needed = ("left", "share", "left_by_layer", "clusters", "neurons_in", "neurons", "width")
        missing = [name for name in needed if name not in tables]
        if missing or "threshold" not in tables.dims or not tables.sizes["threshold"]:
            raise LmkinError(
                "A report of redundancy shows the tables of a clustering of neurons: give what lmkin.redundancy gives. "
                f"This Dataset has the variables {', '.join(map(str, tables)) or 'none'}."
            )
        self.dataset = tables.sortby("threshold")
        self.raw_models = [str(m) for m in tables["model"].values]
        self.models = plain_names(self.raw_models)
        self.keys = slugs(self.models)
        self.thresholds = [float(t) for t in self.dataset["threshold"].values]
        self.labels = [f"{t:g}" for t in self.thresholds]
        self.levels = slugs(self.labels)
        self.layer_numbers = [int(n) for n in self.dataset["layer"].values]
        self.spans = [str(s) for s in self.dataset["span"].values]
        attrs = self.dataset.attrs
        options = {k: attrs[k] for k in ("linkage", "representative", "seed") if k in attrs}
        text = (
            "Distance of two neurons: small if they go up and down together, or against each other."
        )
        distance = "distance of two neurons"
        self.measures = [
            Measure("distance", "1 − |r|", distance, text, True, 0.0, 1.0, _DALVI, options)
        ]

    @property
    def usual(self) -> int:
        """The place of the threshold that is nearest to the usual one."""
        return int(np.argmin([abs(t - USUAL) for t in self.thresholds]))

    def numbers(self, name: str) -> FloatArray:
        """A variable, by model, threshold, and what else it has."""
        values = self.dataset[name]
        dims = [d for d in ("model", "threshold", "layer", "span") if d in values.dims]
        return np.asarray(values.transpose(*dims).values, dtype=np.float64)

    def only(self, model: int) -> RedundancyView:
        """The same with one model."""
        return RedundancyView(self.dataset.isel(model=[model]))


class LayersView:
    """The models and layers of what `lmkin.layer_redundancy` gives, and its values as arrays."""

    def __init__(self, layers: xr.Dataset, models: Sequence[str] = ()):
        missing = [n for n in (*_OF_LAYERS, "cka_all", "drop_rank") if n not in layers]
        if missing:
            raise LmkinError(
                "layers is what lmkin.layer_redundancy gives: r2, cka, average, cka_all and drop_rank by model and "
                f"layer. This Dataset lacks {', '.join(missing)}."
            )
        given = [str(m) for m in layers["model"].values]
        # In the order of the clustering, so that a model has the same colour all over the page.
        order = [*(m for m in models if m in given), *(m for m in given if m not in models)]
        self.dataset = layers.isel(model=[given.index(m) for m in order])
        self.raw_models = order
        self.models = plain_names(order)
        self.keys = slugs(self.models)
        self.layer_numbers = [int(n) for n in layers["layer"].values]
        self.measures = [
            Measure(name, name, title, text, name != "r2", low, 1.0, reference, {})
            for name, (title, low, reference, text) in _OF_LAYERS.items()
        ]

    @property
    def level(self) -> str:
        """The level of the intervals, as a percentage."""
        return f"{100 * float(self.dataset.attrs.get('level', 0.95)):g}%"

    def measure(self, name: str) -> Measure:
        """One of the measures."""
        return next(m for m in self.measures if m.name == name)

    def numbers(self, name: str) -> FloatArray | None:
        """A variable by model and layer (and the other layer), or None where it is not there."""
        if name not in self.dataset:
            return None
        values = self.dataset[name]
        dims = [d for d in ("model", "layer", "other") if d in values.dims]
        return np.asarray(values.transpose(*dims).values, dtype=np.float64)

    def own(self, model: int) -> list[int]:
        """The places of the layers that a model has."""
        known = np.zeros(len(self.layer_numbers), bool)
        for name in ("average", "r2", "drop_rank", "cka_all"):
            table = self.numbers(name)
            assert table is not None
            there = np.isfinite(table[model])
            known |= there.any(1) if there.ndim == 2 else there
        return [int(k) for k in np.flatnonzero(known)]

    def has_intervals(self, name: str) -> bool:
        """Whether any interval of this variable is known."""
        low = self.numbers(f"{name}_low")
        return low is not None and bool(np.isfinite(low).any())

    def only(self, model: int) -> LayersView:
        """The same with one model."""
        return LayersView(self.dataset.isel(model=[model]))


def model_signals(view: RedundancyView | LayersView) -> dict[str, Any]:
    """Of a chart that shows one model: columns are called by the model's key, and ``model`` holds the chosen one."""
    return {"model": view.keys[0], "measure": alt.expr("model"), "scaling": ""}


def model_title(view: RedundancyView | LayersView, text: str) -> alt.TitleParams:
    """A title, and under it the chosen model."""
    return heading(text, signal_text(dict(zip(view.keys, view.models, strict=True)), "model"))


def model_switch(view: RedundancyView | LayersView, notes: Sequence[str] = ()) -> list[Switch]:
    """A switch between models, where there are several; ``notes`` say something of each."""
    if len(view.models) == 1:
        return []
    said_of = notes or [""] * len(view.models)
    options = [Option(*o) for o in zip(view.keys, view.models, said_of, strict=True)]
    return [Switch("model", "Model:", options)]


def of_all(view: LayersView, name: str) -> dict[str, FloatArray]:
    """A variable and its errors, by their endings."""
    tables = {ending: view.numbers(name + ending) for ending in ("", *ERRORS)}
    return {ending: table for ending, table in tables.items() if table is not None}
