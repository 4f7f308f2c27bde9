"""Rows that lie there: arrays, and stored activations."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

import array_api_compat
import numpy as np

from ..activations import Activations, LayerView, common_units, shared_units, unknown_in
from ..core import (
    IntArray,
    LayerId,
    MomentsError,
    as_rows,
    choose_layers,
    fingerprint,
    is_double,
    named_blocks,
    parts_of_rows,
    to_numpy,
    unique_names,
)
from . import passes
from .parts import parts_of_units
from .passes import Advance, Chunk, chunk_ranges, in_one_piece
from .row_source import Blocks, RowSource


class SlicedSource(RowSource):
    """Rows that lie there, in memory or on disk, to be sliced."""

    arrays: dict[LayerId, Any]

    def chunks(
        self, start: int = 0, stop: int | None = None, advance: Advance | None = None
    ) -> Iterator[Chunk[Blocks]]:
        """Slices of all arrays; where the rows of a part are scattered, those of a part together."""
        stop = self.n if stop is None else stop
        for rows in self._ranges(start, stop):
            data = {layer: _taken(array, rows) for layer, array in self.arrays.items()}
            yield Chunk(rows, self.part[rows], data)
            for array in (
                self.arrays.values()
            ):  # what is mapped from files is read, and need not stay resident
                if isinstance(array, LayerView):
                    array.release()
            if advance:
                advance(len(rows))

    def _ranges(self, start: int, stop: int) -> Iterator[IntArray]:
        """Numbers of the rows of each chunk."""
        mine = self.part[start:stop]
        if not self.relabelled and in_one_piece(mine):
            for low, high in chunk_ranges(self.part, start, stop):
                yield np.arange(low, high)
            return
        for label in np.unique(mine[mine >= 0]).tolist():
            rows = start + np.flatnonzero(mine == label)
            for low in range(0, len(rows), passes.CHUNK):
                yield rows[low : low + passes.CHUNK]

    def only(self, layers: Sequence[LayerId]) -> Self:
        """The same rows of some layers."""
        some = super().only(layers)
        some.arrays = {layer: self.arrays[layer] for layer in layers}
        return some

    def with_columns(self, columns: Mapping[LayerId, Any]) -> Self:
        """The same rows, with more layers."""
        wider = copy.copy(self)
        wider.arrays = {**self.arrays, **columns}
        wider.widths = {**self.widths, **{layer: a.shape[1] for layer, a in columns.items()}}
        return wider


def _taken(array: Any, rows: IntArray) -> Any:
    """Some rows; neighbours without a copy."""
    if len(rows) == rows[-1] - rows[0] + 1:
        return array[int(rows[0]) : int(rows[-1]) + 1, :]
    if isinstance(array, np.ndarray | LayerView):
        return to_numpy(array[rows])
    xp = array_api_compat.array_namespace(array)
    return xp.take(array, xp.asarray(rows, device=array_api_compat.device(array)), axis=0)


def _content(array: Any) -> str:
    """A fingerprint of the rows, taken block by block: what is mapped from files need not fit into memory."""
    blocks = range(0, array.shape[0], passes.CHUNK)
    parts = [fingerprint(to_numpy(array[low : low + passes.CHUNK, :])) for low in blocks]
    return fingerprint([str(array.dtype), list(array.shape), parts])


class ArraySource(SlicedSource):
    """Arrays of units × neurons by ``model/layer``, rows aligned; layer views among them say what the rows are."""

    def identity(self) -> dict[str, Any]:
        """Everything that the rows depend on: of arrays, their content."""
        content = {str(layer): _content(array) for layer, array in self.arrays.items()}
        return {**super().identity(), "content": content}

    def __init__(self, arrays: Mapping[Any, Any], parts: int | Sequence[Any]):
        self.arrays = {g: as_rows(a, str(g)) for g, a in named_blocks(arrays).items()}
        self.widths = {g: a.shape[1] for g, a in self.arrays.items()}
        self.units = shared_units(arrays)
        sizes = {a.shape[0] for a in self.arrays.values()}
        if len(sizes) > 1:
            some = ", ".join(f"{g}: {a.shape[0]}" for g, a in list(self.arrays.items())[:6])
            raise MomentsError(
                f"All arrays need the same rows, one a unit; they have {some}. Are some of another corpus?"
            )
        n = sizes.pop()
        if n == 0:
            raise MomentsError("The arrays have no rows: there is nothing to compare.")
        self.double = any(is_double(a) for a in self.arrays.values())
        self.resident = all(isinstance(a, np.ndarray) for a in self.arrays.values())
        if self.units is not None:
            self.part, made_of = parts_of_units(self.units, parts)
            self.unit = self.units.kind
            self.info = describe_units(self.units, made_of)
            return
        self.part = parts_of_rows(n, parts)
        made_of = "rows" if isinstance(parts, int | np.integer) else "labels"
        self.info = {"units": "row", "parts_of": made_of, "repeated": self._repeated(n)}

    def _repeated(self, n: int) -> int:
        """Rows that are, in all groups, exact copies of an earlier one."""
        arrays = list(self.arrays.values())
        alike = np.arange(n)
        for array in arrays:  # a few neurons tell most rows apart
            some = min(8, array.shape[1])
            head = np.ascontiguousarray(to_numpy(array[:, :some])[alike])
            _, which, counts = np.unique(head, axis=0, return_inverse=True, return_counts=True)
            alike = alike[counts[which.reshape(-1)] > 1]
            if not len(alike):
                return 0
        rows = [np.ascontiguousarray(to_numpy(array)[alike]) for array in arrays]
        return len(alike) - len({b"".join(a[i].tobytes() for a in rows) for i in range(len(alike))})

    def all_rows(self) -> dict[LayerId, Any]:
        """The arrays as they are."""
        return self.arrays


class ActivationSource(SlicedSource):
    """Stored or extracted activations, cut down to the units that all have."""

    resident = True

    def __init__(
        self, activations: Sequence[Activations], parts: int | Sequence[Any], layers: Any = "all"
    ):
        kept = common_units(*activations)
        names = unique_names(a.name for a in activations)
        self.arrays = {}
        for name, acts in zip(names, kept, strict=True):
            numbers = acts.layers
            if layers != "all":
                asked = choose_layers(layers, max(numbers) + 1)
                missing = [n for n in asked if n not in numbers]
                if missing:
                    raise MomentsError(
                        f"The activations of {name} lack layer {', '.join(map(str, missing))}; they have "
                        f"{', '.join(map(str, numbers))}."
                    )
                numbers = tuple(asked)
            for number in numbers:
                self.arrays[LayerId(name, number)] = acts.layer(number)
        self.widths = {g: v.shape[1] for g, v in self.arrays.items()}
        units = self.units = kept[0].units
        self.part, made_of = parts_of_units(units, parts)
        self.unit = units.kind
        self.info = describe_units(units, made_of)
        self.info["dropped"] = {
            name: len(a) - len(k)
            for name, a, k in zip(names, activations, kept, strict=True)
            if len(a) > len(k)
        }
        self.info["lost"] = {
            name: lost for name, a in zip(names, activations, strict=True) if (lost := _lost(a))
        }
        self.info["unknown"] = {
            name: counts
            for name, a in zip(names, activations, strict=True)
            if (counts := unknown_in(a.manifest))
        }
        self.info["manifests"] = {
            name: {k: a.manifest[k] for k in ("model", "units", "corpus", "key") if k in a.manifest}
            for name, a in zip(names, activations, strict=True)
        }


def describe_units(units: Any, made_of: str) -> dict[str, Any]:
    """What the rows are, for results and alerts."""
    texts = [s.text if s.text_b is None else f"{s.text}\t{s.text_b}" for s in units.corpus]
    counts = np.bincount(units.sentence, minlength=len(texts))
    seen: set[str] = set()
    repeated = 0
    for text, count in zip(texts, counts, strict=True):
        if text in seen:
            repeated += int(count)
        seen.add(text)
    return {
        "units": units.kind,
        "corpus": units.corpus.name,
        "corpus_hash": units.corpus.hash,
        "units_hash": units.hash,
        "sentences": len(texts),
        "parts_of": made_of,
        "repeated": repeated,
    }


def _lost(acts: Activations) -> dict[str, int]:
    losses = acts.manifest.get("units", {}).get("losses", {})
    return {why: int(count) for why, count in losses.get("dropped", {}).items()}
