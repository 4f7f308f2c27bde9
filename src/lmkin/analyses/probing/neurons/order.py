"""`NeuronRanking`: neurons in the order of their importance, and what it was found with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ....core import LmkinError, is_whole, quoted
from ....results import Column, ResultTable
from ...redundancy import NeuronMask
from ..fits import FittedProbe
from ..probe_rows import ProbeRows
from .fits import FitSettings
from .registry import find_ranking

Array = NDArray[Any]
IntArray = NDArray[np.int64]
_SHOWN = 20
"""Neurons that the terminal shows."""


@dataclass(frozen=True)
class Neurons:
    """Of which model the ranked columns are, and where each lies."""

    model: str
    identity: str | None
    layer: IntArray
    number: IntArray
    """In its layer."""

    @classmethod
    def of(cls, places: Sequence[tuple[int, int]], model: str, identity: str | None) -> Neurons:
        """From (layer, neuron) of each column."""
        pairs = np.array(places, np.int64).reshape(-1, 2)
        return cls(model, identity, pairs[:, 0], pairs[:, 1])

    def __len__(self) -> int:
        return len(self.layer)

    @property
    def layers(self) -> list[int]:
        """Numbers of the layers, in their order."""
        return list(dict.fromkeys(self.layer.tolist()))

    def masks(self, columns: IntArray) -> dict[int, NDArray[np.bool_]]:
        """Some columns as a mask for every layer."""
        chosen = np.zeros(len(self), bool)
        chosen[columns] = True
        masks = {}
        for layer in self.layers:
            mine = self.layer == layer
            masks[layer] = np.zeros(int(self.number[mine].max()) + 1, bool)
            masks[layer][self.number[mine]] = chosen[mine]
        return masks

    def by_layer(self, columns: IntArray) -> dict[int, int]:
        """How many of some columns each layer has."""
        return {n: int((self.layer[columns] == n).sum()) for n in self.layers}


@dataclass(frozen=True, eq=False)
class NeuronRanking:
    """Neurons in the order of their importance for a task, with what they were ranked by.

    ``order`` are columns of the matrix that the probe reads (layer after layer), the most important first; with
    ``reverse`` the least. ``value`` says of each column what it was ranked by, ``informed`` how many of the first have
    a reason for their place (the others come by their number). ``stability`` is the overlap of two halves of the rows,
    by the number of neurons, where it was asked for.
    """

    order: IntArray
    method: str
    reverse: bool
    value: Array
    informed: int
    neurons: Neurons
    task: str
    seed: int = 0
    options: dict[str, Any] = field(default_factory=dict)
    settings: FitSettings = field(default_factory=FitSettings)
    fitted: FittedProbe | None = None
    labels: Array | None = None
    rows: ProbeRows | None = None
    stability: xr.Dataset | None = None

    def __len__(self) -> int:
        """How many neurons there are."""
        return len(self.order)

    def __repr__(self) -> str:
        first = ", ".join(f"{n}/{k}" for n, k in self.places[:5])
        turned = ", the least important first" if self.reverse else ""
        return (
            f"<NeuronRanking of {len(self):,} neurons of {self.neurons.model!r} for {self.task!r} by {self.method}"
            f"{turned}: {first} …>"
        )

    def __getstate__(self) -> dict[str, Any]:
        """Without the rows: they may be larger than memory elsewhere."""
        return {**self.__dict__, "rows": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    @property
    def places(self) -> list[tuple[int, int]]:
        """(layer, neuron) of each neuron, in the order of the ranking."""
        layer, number = self.neurons.layer[self.order], self.neurons.number[self.order]
        return list(zip(layer.tolist(), number.tolist(), strict=True))

    def top(self, count: int) -> NeuronMask:
        """The first so many neurons, as a mask for every layer that can be saved and applied to activations."""
        if not is_whole(count) or not 1 <= count <= len(self):
            raise LmkinError(
                f"The first so many of {len(self):,} neurons: a number from 1 to {len(self):,}; got {quoted(count)}."
            )
        masks = self.neurons.masks(self.order[:count])
        return NeuronMask(self.neurons.model, None, masks, self.neurons.identity)

    def by_layer(self, count: int) -> dict[int, int]:
        """How many of the first so many neurons lie in each layer."""
        return self.neurons.by_layer(self.order[:count])

    def curves(
        self,
        sizes: Sequence[int] | None = None,
        *,
        split: str = "test",
        draws: int = 3,
        X: Any = None,
        y: Any = None,
        dev: tuple[Any, Any] | None = None,
        test: tuple[Any, Any] | None = None,
        groups: Any = None,
    ) -> xr.Dataset:
        """Scores of the first N neurons, of all others, and of N random ones, by another probe than the ranking's.

        Variables by N: ``kept``, ``removed``, ``ablated`` (the ranking's own probe with the first N at their means) and
        ``random`` (the mean of ``draws``); the keywords are those of `lmkin.rank_neurons`.
        """
        from .curves import neuron_curves

        return neuron_curves(
            self, sizes, split=split, draws=draws, X=X, y=y, dev=dev, test=test, groups=groups
        )

    def table(self) -> ResultTable:
        """A row a neuron, in the order of the ranking."""
        about = find_ranking(self.method)
        rows = [
            {"rank": rank, "layer": layer, "neuron": number, "value": _plain(self.value[column])}
            for rank, ((layer, number), column) in enumerate(
                zip(self.places, self.order.tolist(), strict=True), start=1
            )
        ]
        first = "least important" if self.reverse else "most important"
        return ResultTable(
            "ranking",
            [
                Column("rank", kind="count"),
                Column("layer", kind="plain"),
                Column("neuron", kind="plain"),
                Column("value", about.value, kind="number"),
            ],
            rows,
            title=f"Neurons of {self.neurons.model} for {self.task}, by {self.method}, the {first} first",
            caption=about.summary,
            most=_SHOWN,
        )


def _plain(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
