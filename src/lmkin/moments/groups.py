"""Groups: the layers of models, as named columns of one wide matrix."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from ..errors import MomentsError

PANEL = 768
"""Columns of a product: narrower ones leave the processor waiting."""


class Group(NamedTuple):
    """A layer of a model. ``str(group)`` is ``model/layer``."""

    model: str
    layer: int

    def __str__(self) -> str:
        return f"{self.model}/{self.layer}"


def as_group(key: Hashable) -> Group:
    """A group from ``"model/layer"``, ``(model, layer)``, or a name alone (its layer is 0).

    >>> as_group("org/bert/3"), as_group(("bert", 3)), as_group("bert")
    (Group(model='org/bert', layer=3), Group(model='bert', layer=3), Group(model='bert', layer=0))
    """
    if isinstance(key, tuple) and len(key) == 2:
        model, layer = key
        if isinstance(layer, bool) or not hasattr(layer, "__index__"):
            raise MomentsError(f"A group is (model, layer number); got {key!r}.")
        return Group(str(model), layer.__index__())
    if not isinstance(key, str):
        raise MomentsError(
            f"A group is named 'model/layer', or (model, layer number); got {key!r}."
        )
    model, slash, tail = key.rpartition("/")
    if slash and model and tail.isdecimal():
        return Group(model, int(tail))
    return Group(key, 0)


class Layout:
    """Which columns of the wide matrix are whose."""

    def __init__(self, widths: Mapping[Group, int], panels: Iterable[slice] | None = None):
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
        """The number of a group; an error that lists what is there."""
        group = as_group(key)
        if group not in self.number:
            names = [str(g) for g in self.groups]
            some = ", ".join(names[:12]) + (" …" if len(names) > 12 else "")
            raise MomentsError(f"There is no group {str(group)!r} here. Groups: {some}.")
        return self.number[group]

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Layout)
            and self.groups == other.groups
            and self.widths == other.widths
            and self.panels == other.panels
        )

    __hash__ = None  # type: ignore[assignment]


def named_blocks(blocks: Mapping[Any, Any]) -> dict[Group, Any]:
    """The same arrays by group; an error where two names mean the same."""
    if not isinstance(blocks, Mapping):
        raise MomentsError(
            f"Rows come as a dict {{'model/layer': array}}; got {type(blocks).__name__}."
        )
    named: dict[Group, Any] = {}
    for key, block in blocks.items():
        group = as_group(key)
        if group in named:
            raise MomentsError(f"Two of the arrays are called {str(group)!r}.")
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
