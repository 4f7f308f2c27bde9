"""`RowSource`: aligned rows of several layers, in parts."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from ..core import IntArray, LayerId, MomentsError, fingerprint, to_numpy
from ..corpus import Units
from . import passes
from .column_spread import Spread
from .parts import owners_of_units
from .passes import SHARDS, Advance, Chunk, starts_of

Blocks = dict[LayerId, Any]


class RowSource(ABC):
    """Rows of several layers, in parts: what a pass reads."""

    widths: dict[LayerId, int]
    part: IntArray
    """The part of each row; -1 for rows in none."""
    info: dict[str, Any]
    reread: bool = True
    """Whether reading the rows a second time is cheap."""
    resident: bool = False
    """Whether rows may be copied into this process's memory, to stay there."""
    double: bool = False
    """Whether the numbers are float64."""
    unit: str = "row"
    units: Units | None = None
    """What the rows stand for, where that is known."""
    relabelled: bool = False
    """Whether parts are those of `with_parts`, in any order, rather than blocks of the rows."""

    @property
    def n(self) -> int:
        """Rows."""
        return len(self.part)

    @property
    def small(self) -> int:
        """Rows that are run again sooner than sums of them are read."""
        return passes.CHUNK

    @property
    def steps(self) -> int:
        """Steps of progress for each row: the models that run over it."""
        return 1 if self.reread else len({layer.model for layer in self.widths})

    @abstractmethod
    def chunks(
        self, start: int = 0, stop: int | None = None, advance: Advance | None = None
    ) -> Iterator[Chunk[Blocks]]:
        """The rows from ``start`` up to ``stop``, in chunks with a block of rows × neurons for every layer."""

    def only(self, layers: Sequence[LayerId]) -> Self:
        """The same rows of some layers."""
        some = copy.copy(self)
        some.widths = {layer: self.widths[layer] for layer in layers}
        return some

    def with_parts(self, labels: IntArray) -> Self:
        """The same rows in other parts, -1 for rows in none. This source stays as it is."""
        if len(labels) != self.n:
            raise MomentsError(f"Parts need one label a row: {self.n} rows, {len(labels)} labels.")
        other = copy.copy(self)
        other.part = np.asarray(labels, np.int64)
        other.relabelled = True
        return other

    @abstractmethod
    def with_columns(self, columns: Mapping[LayerId, Any]) -> Self:
        """The same rows, and numbers that are known of each of them beforehand as layers beside the others."""

    def identity(self) -> dict[str, Any]:
        """Plain data: everything that the rows depend on, their parts included; not the time or the machine."""
        return {
            "layers": [[*layer, width] for layer, width in self.widths.items()],
            "parts": fingerprint(self.part),
            "units": self.info.get("units_hash"),
            "keys": [m.get("key") for m in self.info.get("manifests", {}).values()],
        }

    def starts(self) -> IntArray | None:
        """Rows at which a document begins, or a sentence where documents are few; None where nobody knows."""
        if self.units is None:
            return None
        return starts_of(owners_of_units(self.units, 2 * SHARDS)[0])

    def all_rows(self) -> dict[LayerId, Any]:
        """All rows of every layer, in memory."""
        return self.some_rows(self.n, 0)[0]

    def some_rows(
        self, count: int, seed: int, advance: Advance | None = None
    ) -> tuple[dict[LayerId, Any], IntArray]:
        """A random sample of rows in their order, and the part of each."""
        drawn = np.arange(self.n)
        if count < self.n:
            drawn = np.sort(np.random.default_rng(seed).choice(self.n, count, replace=False))
        source = self if (self.part >= 0).all() else self.with_parts(np.zeros(self.n, np.int64))
        rows: dict[LayerId, Any] = {}
        for chunk in source.chunks(advance=advance):
            mine = np.isin(chunk.rows, drawn)
            places = np.searchsorted(drawn, chunk.rows[mine])
            for layer, block in chunk.data.items():
                array = to_numpy(block)
                if layer not in rows:
                    rows[layer] = np.empty((len(drawn), array.shape[1]), array.dtype)
                rows[layer][places] = array if mine.all() else array[mine]
        return rows, self.part[drawn]

    def seconds(self) -> float:
        """About how long it takes to have the rows; those that lie there cost nothing to speak of."""
        return 0.0

    @property
    def weights(self) -> int:
        """Bytes of the models' weights, where models run."""
        return 0

    @property
    def forward_memory(self) -> int:
        """Bytes that reading a block takes beside its rows: a forward pass, where models run."""
        return 0

    def fit_batches(self, room: int) -> None:
        """Take smaller batches, where nobody asked for their size, until a forward pass fits ``room`` bytes."""
        return

    def to_read_again(self, folder: Path) -> RowSource:
        """The same rows where reading them twice is cheap; ``folder`` may be written to."""
        return self

    def reference(self) -> dict[LayerId, tuple[Any, Any]] | None:
        """Mean and standard deviation of each layer, in a pass of their own; None where that is not cheap."""
        if not self.reread:
            return None
        spreads = {layer: Spread(width) for layer, width in self.widths.items()}
        for chunk in self.chunks():
            for layer, block in chunk.data.items():
                spreads[layer].add(to_numpy(block))
        return {layer: spread.result() for layer, spread in spreads.items()}


def blocks_by_part(chunk: Chunk[Blocks]) -> Iterator[tuple[int, Blocks]]:
    """(part, its rows) of a chunk; rows in no part are left out."""
    for part, mine in chunk.by_part():
        if isinstance(mine, slice):
            yield part, chunk.data
        else:
            yield part, {layer: to_numpy(block)[mine] for layer, block in chunk.data.items()}
