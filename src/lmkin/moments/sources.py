"""Where rows come from: arrays, stored activations, or models that run over a corpus."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..activations import Activations, common_units
from ..corpus import Units
from ..errors import MomentsError
from .accumulator import CHUNK
from .arrays import as_rows, is_double, to_numpy
from .groups import Group, named_blocks, unique_names
from .parts import IntArray, parts_of_rows, parts_of_units, runs
from .spread import Spread

Blocks = dict[Group, Any]


class RowSource(ABC):
    """Rows of several groups, in parts."""

    widths: dict[Group, int]
    part: IntArray
    """The part of each row."""
    info: dict[str, Any]
    reread: bool = True
    """Whether reading the rows a second time is cheap."""
    resident: bool = False
    """Whether rows may be copied into this process's memory, to stay there."""
    unit: str = "row"
    units: Units | None = None
    """What the rows stand for, where that is known."""

    @property
    def n(self) -> int:
        """Rows."""
        return len(self.part)

    @abstractmethod
    def blocks(
        self,
        groups: Sequence[Group] | None = None,
        advance: Callable[[int], None] | None = None,
        skip: Container[int] = (),
    ) -> Iterator[tuple[int, Blocks]]:
        """Blocks of neighbouring rows with their part, of all groups or some; ``skip`` names parts to leave out."""

    double: bool = False
    """Whether the numbers are float64."""

    def all_rows(self) -> dict[Group, Any]:
        """All rows of every group, in memory."""
        pieces: dict[Group, list[Any]] = {g: [] for g in self.widths}
        for _, blocks in self.blocks():
            for group, block in blocks.items():
                pieces[group].append(to_numpy(block))
        return {g: np.concatenate(blocks) for g, blocks in pieces.items()}

    def some_rows(
        self, count: int, seed: int, advance: Callable[[int], None] | None = None
    ) -> tuple[dict[Group, Any], IntArray]:
        """A random sample of rows in their order, and the part of each."""
        chosen = np.arange(self.n)
        if count < self.n:
            chosen = np.sort(np.random.default_rng(seed).choice(self.n, count, replace=False))
        pieces: dict[Group, list[Any]] = {g: [] for g in self.widths}
        start = 0
        for _, blocks in self.blocks(advance=advance):
            size = next(iter(blocks.values())).shape[0]
            mine = chosen[(chosen >= start) & (chosen < start + size)] - start
            for group, block in blocks.items():
                pieces[group].append(to_numpy(block)[mine])
            start += size
        return {g: np.concatenate(blocks) for g, blocks in pieces.items()}, self.part[chosen]

    def seconds(self) -> float:
        """About how long it takes to have the rows; those that lie there cost nothing to speak of."""
        return 0.0

    def to_read_again(self, folder: Path) -> RowSource:
        """The same rows where reading them twice is cheap; ``folder`` may be written to."""
        return self

    def reference(
        self, groups: Sequence[Group] | None = None
    ) -> dict[Group, tuple[Any, Any]] | None:
        """Mean and standard deviation of each group, in a pass of their own; None where that is not cheap."""
        if not self.reread:
            return None
        spreads = {g: Spread(self.widths[g]) for g in groups or self.widths}
        for _, blocks in self.blocks(groups):
            for group, block in blocks.items():
                spreads[group].add(to_numpy(block))
        return {group: spread.result() for group, spread in spreads.items()}


class SlicedSource(RowSource):
    """Rows that lie there, in memory or on disk, to be sliced."""

    arrays: dict[Group, Any]

    def blocks(
        self,
        groups: Sequence[Group] | None = None,
        advance: Callable[[int], None] | None = None,
        skip: Container[int] = (),
    ) -> Iterator[tuple[int, Blocks]]:
        """Slices of all arrays."""
        chosen = self.widths if groups is None else groups
        for part, start, stop in runs(self.part, CHUNK, skip):
            yield part, {g: self.arrays[g][start:stop, :] for g in chosen}
            if advance:
                advance(stop - start)


class ArraySource(SlicedSource):
    """Arrays of units × neurons by ``model/layer``, rows aligned."""

    def __init__(self, arrays: Mapping[Any, Any], parts: int | Sequence[Any]):
        self.arrays = {g: as_rows(a, str(g)) for g, a in named_blocks(arrays).items()}
        self.widths = {g: a.shape[1] for g, a in self.arrays.items()}
        sizes = {a.shape[0] for a in self.arrays.values()}
        if len(sizes) > 1:
            some = ", ".join(f"{g}: {a.shape[0]}" for g, a in list(self.arrays.items())[:6])
            raise MomentsError(
                f"All arrays need the same rows, one a unit; they have {some}. Are some of another corpus?"
            )
        n = sizes.pop()
        if n == 0:
            raise MomentsError("The arrays have no rows: there is nothing to compare.")
        hashes = {h for a in arrays.values() if (h := getattr(a, "units_hash", None))}
        if len(hashes) > 1:
            raise MomentsError(
                "The rows of these layers stand for different words, so they cannot be compared. Extract all from the "
                "same corpus; where a model lost some words, lmkin.common_units(a, b) brings both to those they share."
            )
        self.part = parts_of_rows(n, parts)
        self.double = any(is_double(a) for a in self.arrays.values())
        self.resident = all(isinstance(a, np.ndarray) for a in self.arrays.values())
        self.info = {"units": "row", "parts_of": "rows", "repeated": self._repeated()}

    def _repeated(self) -> int:
        """Rows that are, in all groups, exact copies of an earlier one."""
        arrays = list(self.arrays.values())
        alike = np.arange(len(self.part))
        for array in arrays:  # a few neurons tell most rows apart
            some = min(8, array.shape[1])
            head = np.ascontiguousarray(to_numpy(array[:, :some])[alike])
            _, which, counts = np.unique(head, axis=0, return_inverse=True, return_counts=True)
            alike = alike[counts[which.reshape(-1)] > 1]
            if not len(alike):
                return 0
        rows = [np.ascontiguousarray(to_numpy(array)[alike]) for array in arrays]
        return len(alike) - len({b"".join(a[i].tobytes() for a in rows) for i in range(len(alike))})

    def all_rows(self) -> dict[Group, Any]:
        """The arrays as they are."""
        return self.arrays


class ActivationSource(SlicedSource):
    """Stored or extracted activations, cut down to the units that all have."""

    resident = True

    def __init__(
        self, activations: Sequence[Activations], parts: int | Sequence[Any], layers: Any = "all"
    ):
        from ..activations.extraction import choose_layers

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
                self.arrays[Group(name, number)] = acts.layer(number)
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
