"""What came out of a comparison of layers, in sentences: no more than the intervals carry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...results import jackknife, say_interval, say_value

FloatArray = NDArray[np.float64]
_AXES = ("model_x", "layer_x", "model_y", "layer_y")
_PREFERRED = "ckasim"
"""Unbiased and symmetric: the measure that findings rest on, where it was computed."""
_SIGNIFICANT = 0.05


@dataclass(frozen=True)
class _Candidates:
    """Pairs among which the most alike is looked for: their names, values, and values without each part."""

    names: list[str]
    values: FloatArray
    without: FloatArray | None
    """Parts × pairs."""
    errors: FloatArray | None = None
    """Standard errors, lower and upper ends, where they are known: 3 × pairs."""


def layer_findings(dataset: xr.Dataset, measures: Sequence[str]) -> list[str]:
    """Of one measure: the layers most alike, across models or in the one there is; the models most alike; chance."""
    measure = _PREFERRED if _PREFERRED in measures else measures[0]
    tables = _Tables(dataset, measure)
    if len(tables.models) < 2:
        return _said(tables, tables.layers_within(), "layers", f"Of {tables.models[0]}, ")
    sentences = _said(tables, tables.layers_across(), "layers of different models", "")
    if len(tables.models) > 2:
        sentences += _said(tables, tables.pairs_of_models(), "models, on average over layers,", "")
    return sentences + _against_chance(dataset, measure)


def _said(tables: _Tables, pairs: _Candidates, what: str, begin: str) -> list[str]:
    """The most alike of some pairs, and how many others the intervals do not tell from it."""
    if not pairs.names:
        return []
    best = int(np.argmax(pairs.values))
    value, se, told = float(pairs.values[best]), None, ""
    errors = pairs.errors
    if pairs.without is not None and errors is None:
        interval = jackknife(pairs.values, pairs.without, tables.sizes, tables.level)
        errors = np.stack([interval.se, interval.low, interval.high])
    if errors is not None:
        se, low, high = (float(e) for e in errors[:, best])
        told = say_interval(low, high, tables.level)
    if pairs.without is not None:
        mine = pairs.without[:, [best]]
        apart = jackknife(value - pairs.values, mine - pairs.without, tables.sizes, tables.level)
        alike = int((~(apart.low > 0)).sum()) - 1
        if alike:
            others = "one other pair" if alike == 1 else f"{alike:,} other pairs"
            told += f"; the intervals do not tell {others} from this one"
    elif len(pairs.names) > 1:
        told += "; there are no intervals to say whether others are less alike"
    start = f"{begin}the" if begin else "The"
    return [
        f"{start} {what} most alike by {tables.measure} are {pairs.names[best]}: {say_value(value, se)}{told}."
    ]


def _against_chance(dataset: xr.Dataset, measure: str) -> list[str]:
    """How many pairs of layers of different models shuffled rows do not account for."""
    if f"{measure}_p_max" not in dataset:
        return []
    p = dataset[f"{measure}_p_max"].transpose(*_AXES).values
    pairs = [p[a, :, b] for a, b in combinations(range(len(p)), 2)]
    values = np.concatenate([t[np.isfinite(t)] for t in pairs])
    above = int((values < _SIGNIFICANT).sum())
    return [
        f"Of {len(values):,} pairs of layers of different models, {above:,} are more alike by {measure} than shuffled "
        f"units allow (permutation test, p < {_SIGNIFICANT:g} after correction for the search over all pairs)."
    ]


class _Tables:
    """Values of one measure, and what they are without each part."""

    def __init__(self, dataset: xr.Dataset, measure: str):
        self.measure = measure
        table = dataset[measure]
        self.values: FloatArray = table.transpose(*_AXES).values
        self.models = [str(m) for m in dataset["model_x"].values]
        self.layers = [int(n) for n in dataset["layer_x"].values]
        self.symmetric = bool(table.attrs.get("symmetric", 0))
        self.level = float(dataset.attrs.get("level", 0.95))
        sizes = table.attrs.get("part_sizes") or dataset.attrs.get("part_sizes") or []
        self.sizes: list[int] = list(sizes)
        self.without: FloatArray | None = None
        # Held out, there are scores on single parts, not values without them.
        if f"{measure}_without" in dataset and sizes and not table.attrs.get("held_out"):
            self.without = dataset[f"{measure}_without"].transpose("part", *_AXES).values
        self.errors: FloatArray | None = None
        if f"{measure}_se" in dataset:
            parts = [dataset[f"{measure}_{e}"].transpose(*_AXES) for e in ("se", "low", "high")]
            self.errors = np.stack([part.values for part in parts])

    def layers_across(self) -> _Candidates:
        """All pairs of layers of different models."""
        count = range(len(self.layers))
        pairs = combinations(range(len(self.models)), 2)
        return self._pairs_of_layers(
            [self._larger(a, i, b, j) for a, b in pairs for i in count for j in count]
        )

    def layers_within(self) -> _Candidates:
        """All pairs of different layers of the only model."""
        pairs = combinations(range(len(self.layers)), 2)
        return self._pairs_of_layers([self._larger(0, i, 0, j) for i, j in pairs])

    def _larger(self, a: int, i: int, b: int, j: int) -> tuple[int, int, int, int]:
        """Of both directions that which says more; the first where the measure is symmetric."""
        there, back = (a, i, b, j), (b, j, a, i)
        return back if self.values[back] > self.values[there] else there

    def pairs_of_models(self) -> _Candidates:
        """Means over all layers of two models."""
        pairs = [(a, b) for a, b in self._pairs() if np.isfinite(self.values[a, :, b]).any()]
        names = [f"{self.models[a]} and {self.models[b]}" for a, b in pairs]
        values = np.array([np.nanmean(self.values[a, :, b]) for a, b in pairs])
        without = None
        if self.without is not None and pairs:
            means = [np.nanmean(self.without[:, a, :, b], axis=(1, 2)) for a, b in pairs]
            without = np.stack(means, axis=1)
        return _Candidates(names, values, without)

    def _pairs(self) -> list[tuple[int, int]]:
        count = range(len(self.models))
        if self.symmetric:
            return list(combinations(count, 2))
        return [(a, b) for a in count for b in count if a != b]

    def _pairs_of_layers(self, places: list[tuple[int, int, int, int]]) -> _Candidates:
        places = [p for p in places if np.isfinite(self.values[p])]
        if not places:
            return _Candidates([], np.zeros(0), None)
        at = tuple(np.array(places).T)
        without = None if self.without is None else self.without[(slice(None), *at)]
        errors = None if self.errors is None else self.errors[(slice(None), *at)]
        return _Candidates([self._named(p) for p in places], self.values[at], without, errors)

    def _named(self, place: tuple[int, int, int, int]) -> str:
        a, i, b, j = place
        if a == b:
            return f"{self.layers[i]} and {self.layers[j]}"
        return f"layer {self.layers[i]} of {self.models[a]} and layer {self.layers[j]} of {self.models[b]}"
