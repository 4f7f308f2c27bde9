"""`Similarity`: how alike all layers of some models are, by one or several measures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from ...core import MeasureError, did_you_mean, quoted
from ...results import (
    Files,
    Labels,
    Result,
    ResultTable,
    average_similarity,
    localization,
    result_kind,
    save_result,
)
from .findings import layer_findings
from .tables import measure_names, pair_rows, pairs_table

CHANCE = ("null_mean", "p", "p_max")


class LayerComparison(Result):
    """What comparisons of layers have in common: measures over (model_x, layer_x, model_y, layer_y)."""

    @property
    def measures(self) -> list[str]:
        """Names of the measures."""
        return measure_names(self.dataset)

    @property
    def labels(self) -> Labels:
        """(model, layer) of every layer, in the order given."""
        return Labels([_place(name) for name in json.loads(self.attrs["widths"])])

    def averages(self, *, others: str = "all") -> xr.Dataset:
        """The mean similarity of each layer to all others, by every measure: (model, layer)."""
        return average_similarity(self.dataset, others=others)

    def _matrix(self, name: str, part: xr.Dataset) -> xr.DataArray:
        """One measure of a part of the dataset as a table of layers × layers."""
        labels = self.labels
        coords: dict[str, Any] = {
            "x": labels.names,
            "y": labels.names,
            "model_x": ("x", [m for m, _ in labels.groups]),
            "layer_x": ("x", [n for _, n in labels.groups]),
            "model_y": ("y", [m for m, _ in labels.groups]),
            "layer_y": ("y", [n for _, n in labels.groups]),
        }
        for suffix in ("se", "low", "high", *CHANCE):
            if f"{name}_{suffix}" in part:
                coords[suffix] = (("x", "y"), self._square(part[f"{name}_{suffix}"]))
        # A coordinate may not have a dimension that the array lacks, so these travel as attributes.
        extra = {
            suffix: self._square(part[f"{name}_{suffix}"])
            for suffix in ("without", "match", "match_r")
            if f"{name}_{suffix}" in part
        }
        values = self._square(part[name])
        attrs = {**part[name].attrs, **self.attrs, **extra}
        return xr.DataArray(values, dims=("x", "y"), coords=coords, name=name, attrs=attrs)

    def _measure(self, name: str | None) -> str:
        if name is None:
            if len(self.measures) > 1:
                raise MeasureError(
                    f"There are several measures: name one of {', '.join(self.measures)}."
                )
            return self.measures[0]
        if name not in self.measures:
            raise MeasureError(
                f"{quoted(name)} was not computed here. {did_you_mean(str(name), self.measures)}"
            )
        return name

    def _square(self, table: xr.DataArray) -> Any:
        return as_square(table, self.labels.groups)


@result_kind
class Similarity(LayerComparison):
    """How alike all layers are: variables over (model_x, layer_x, model_y, layer_y), rows x, columns y.

    For every measure M there are ``M``, ``M_se``, ``M_low``, ``M_high``, ``M_without`` (without each part), and after
    permutations ``M_null_mean``, ``M_p``, ``M_p_max``; ``neuronsim_match`` is the neuron of y that matched each neuron
    of x, ``neuronsim_match_r`` the absolute correlation of the two. With raw and standardized neurons, ``scaling``
    comes first.

    >>> import numpy as np, lmkin
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> result = lmkin.similarity({"a/0": X, "b/0": X @ X[:5]}, measures="ckasim", neurons="raw")
    >>> result.matrix("ckasim").sel(x="a/0", y="a/0").item()
    1.0
    """

    kind = "similarity"

    def matrix(self, measure: str | None = None, scaling: str | None = None) -> xr.DataArray:
        """One measure as a table of layers × layers, x × y, in the order given.

        The coordinates ``se``, ``low`` and ``high`` hold standard errors and the ends of the intervals; the attributes
        ``without`` (parts × layers × layers) and, of neuronsim, ``match`` and ``match_r``. Where there is one measure,
        it need not be named; of raw and standardized neurons, raw is the default.
        """
        return self._matrix(self._measure(measure), self.select(scaling))

    def select(self, scaling: str | None = None) -> xr.Dataset:
        """The dataset with raw or with standardized neurons; by default what comes first."""
        if "scaling" not in self.dataset.dims:
            return self.dataset
        known = [str(s) for s in self.dataset["scaling"].values]
        if scaling is not None and scaling not in known:
            raise MeasureError(
                f"Neurons are {' or '.join(known)} here; got {quoted(scaling)}. {did_you_mean(str(scaling), known)}"
            )
        return self.dataset.sel(scaling=scaling or known[0])

    def localization(self, *, others: str = "all") -> xr.Dataset:
        """Neuronsim − svsim of each layer (Wu et al. 2020). Raise if one of them was not computed."""
        if not self.localizes:
            raise MeasureError(
                f"A localization score is neuronsim − svsim, and here are {', '.join(self.measures)}: ask for both, "
                f"measures='neuronsim,svsim'."
            )
        return localization(self.dataset, others=others)

    @property
    def localizes(self) -> bool:
        """Whether both measures are there that localization scores are made of."""
        return {"neuronsim", "svsim"} <= set(self.measures)

    # -- what every result has ----------------------------------------------------------------------

    def tables(self) -> list[ResultTable]:
        """For every pair of models: the mean over layers, and the two layers that are most alike."""
        return [pairs_table(self.dataset)]

    def data(self) -> dict[str, Any]:
        """Size, pairs of models, alerts."""
        return {
            "n": int(self.attrs["n"]),
            "units": self.attrs["units"],
            "pairs": pair_rows(self.dataset),
            "alerts": [a.to_dict() for a in self.alerts],
        }

    def findings(self) -> list[str]:
        """Which layers, and which models, are most alike; as far as intervals tell."""
        return layer_findings(self.select(), self.measures)

    def files(self) -> Files:
        """``similarity.nc`` and .csv, ``averages.csv``, and ``localization.csv`` where it is defined."""
        local = self.localization() if self.localizes else None
        files: Files = {
            "similarity.nc": lambda path: save_result(self.dataset, path),
            "similarity.csv": lambda path: save_result(self.dataset, path),
            "averages.csv": lambda path: save_result(self.averages(), path),
        }
        if local is not None:
            files["localization.csv"] = lambda path: save_result(local, path)
        return files


def as_square(table: xr.DataArray, groups: Sequence[tuple[str, int]]) -> Any:
    """Models × layers × models × layers as layers × layers; parts stay in front, neurons behind."""
    axes = ("model_x", "layer_x", "model_y", "layer_y")
    front = [d for d in ("part",) if d in table.dims]
    back = [d for d in table.dims if d not in (*axes, *front)]
    values = table.transpose(*front, *axes, *back).values
    models = [str(m) for m in table["model_x"].values]
    layers = [int(n) for n in table["layer_x"].values]
    m = np.array([models.index(name) for name, _ in groups])
    k = np.array([layers.index(n) for _, n in groups])
    place = (m[:, None], k[:, None], m[None, :], k[None, :])
    return values[(slice(None), *place)] if front else values[place]


def _place(name: str) -> tuple[str, int]:
    model, _, layer = name.rpartition("/")
    return model, int(layer)
