"""Groups: the layers of models, as named columns of one wide matrix."""

from __future__ import annotations

import operator
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from .errors import LmkinError, MomentsError
from .quotation import quoted

_MANY = 100_000
"""More layers than any model has."""
PANEL = 768
"""Columns of a product: narrower ones leave the processor waiting."""


class LayerId(NamedTuple):
    """A layer of a model. ``str(group)`` is ``model/layer``."""

    model: str
    layer: int

    def __str__(self) -> str:
        return f"{self.model}/{self.layer}"


def as_layer_id(key: Hashable) -> LayerId:
    """A group from ``"model/layer"``, ``(model, layer)``, or a name alone (its layer is 0).

    >>> as_layer_id("org/bert/3"), as_layer_id(("bert", 3)), as_layer_id("bert")
    (LayerId(model='org/bert', layer=3), LayerId(model='bert', layer=3), LayerId(model='bert', layer=0))
    """
    if isinstance(key, tuple) and len(key) == 2:
        model, layer = key
        if isinstance(layer, bool) or not hasattr(layer, "__index__"):
            raise MomentsError(f"A group is (model, layer number); got {quoted(key)}.")
        return LayerId(str(model), layer.__index__())
    if not isinstance(key, str):
        raise MomentsError(
            f"A group is named 'model/layer', or (model, layer number); got {quoted(key)}."
        )
    model, slash, tail = key.rpartition("/")
    if slash and model and tail.isdecimal():
        return LayerId(model, int(tail))
    return LayerId(key, 0)


class Layout:
    """Which columns of the wide matrix are whose."""

    def __init__(self, widths: Mapping[LayerId, int], panels: Iterable[slice] | None = None):
        self.groups = tuple(widths)
        self.widths = tuple(int(w) for w in widths.values())
        self.number = {group: i for i, group in enumerate(self.groups)}
        starts = [0]
        for width in self.widths:
            starts.append(starts[-1] + width)
        self.slices = tuple(slice(a, b) for a, b in pairwise(starts))
        self.width = starts[-1]
        self.panels = self._cut() if panels is None else tuple(panels)
        """Columns of neighbouring groups, wide enough for a fast product."""
        self._panel = {
            i: number
            for number, panel in enumerate(self.panels)
            for i, columns in enumerate(self.slices)
            if panel.start <= columns.start < panel.stop
        }

    def _cut(self) -> tuple[slice, ...]:
        panels, start = [], 0
        for columns in self.slices:
            if columns.stop - start >= PANEL or columns.stop == self.width:
                panels.append(slice(start, columns.stop))
                start = columns.stop
        return tuple(panels)

    def place(self, i: int, j: int) -> tuple[int, slice, slice]:
        """Where the products of groups i ≤ j lie: the number of the panel, its rows, its columns."""
        number = self._panel[i]
        start = self.panels[number].start
        rows, columns = self.slices[i], self.slices[j]
        return (
            number,
            slice(rows.start - start, rows.stop - start),
            slice(columns.start - start, columns.stop - start),
        )

    def find(self, key: Hashable) -> int:
        """The number of a layer. Raise, listing what is there, if it is not."""
        group = as_layer_id(key)
        if group not in self.number:
            names = [str(g) for g in self.groups]
            some = ", ".join(names[:12]) + (" …" if len(names) > 12 else "")
            raise MomentsError(f"There is no group {quoted(str(group))} here. Groups: {some}.")
        return self.number[group]

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Layout)
            and self.groups == other.groups
            and self.widths == other.widths
            and self.panels == other.panels
        )

    __hash__ = None  # type: ignore[assignment]


def named_blocks(blocks: Mapping[Any, Any]) -> dict[LayerId, Any]:
    """The same arrays by layer. Raise if two names mean the same."""
    if not isinstance(blocks, Mapping):
        raise MomentsError(
            f"Rows come as a dict {{'model/layer': array}}; got {type(blocks).__name__}."
        )
    named: dict[LayerId, Any] = {}
    for key, block in blocks.items():
        group = as_layer_id(key)
        if group in named:
            raise MomentsError(f"Two of the arrays are called {quoted(str(group))}.")
        named[group] = block
    if not named:
        raise MomentsError("There are no arrays: give at least one {'model/layer': array}.")
    return named


def unique_names(names: Iterable[str]) -> list[str]:
    """The same names, later ones of the same kind numbered.

    >>> unique_names(["a", "b", "a"])
    ['a', 'b', 'a#2']
    """
    seen: dict[str, int] = {}
    result: list[str] = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        result.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return result


def choose_layers(layers: str | int | Sequence[int], n_layers: int) -> list[int]:
    """Layer numbers from ``"all"``, ``"last"``, a list, or a text such as ``"0,4-6,-1"``.

    >>> choose_layers("0,4-6,-1", 13)
    [0, 4, 5, 6, 12]
    """
    if isinstance(layers, str) and layers == "all":
        return list(range(n_layers))
    if isinstance(layers, str) and layers == "last":
        return [n_layers - 1]
    numbers = _layer_numbers(layers)
    wrong = [n for n in numbers if not -n_layers <= n < n_layers]
    if wrong:
        raise LmkinError(
            f"no layer {wrong[0]}: the model has the layers 0 to {n_layers - 1}, 0 the embeddings."
        )
    return sorted({n % n_layers for n in numbers})


def check_layers(layers: str | int | Sequence[int]) -> None:
    """Raise if layers cannot be meant, whatever the model: before one is loaded."""
    if not isinstance(layers, str) or layers not in ("all", "last"):
        _layer_numbers(layers)


def _layer_numbers(layers: str | int | Sequence[int]) -> list[int]:
    numbers: list[int] = []
    try:
        if isinstance(layers, str):
            for part in layers.split(","):
                first, dash, last = part.strip().rpartition("-")
                low, high = (int(first), int(last)) if dash and first else (int(part), int(part))
                if low > high:
                    raise LmkinError(
                        f"The layers {quoted(part.strip())} count down, so that there are none. Write '{high}-{low}'."
                    )
                if high - low >= _MANY:
                    raise LmkinError(
                        f"The layers {quoted(part.strip())} are more than any model has."
                    )
                numbers += range(low, high + 1)
        else:
            numbers = [operator.index(n) for n in np.atleast_1d(np.asarray(layers)).tolist()]
    except (ValueError, TypeError):
        raise LmkinError(
            f"Cannot understand the layers {quoted(layers)}. Write 'all', 'last', or numbers such as '0,4-6,-1'."
        ) from None
    if not numbers:
        raise LmkinError(
            "No layer is asked for. Write 'all', 'last', or numbers such as '0,4-6,-1'."
        )
    return numbers
