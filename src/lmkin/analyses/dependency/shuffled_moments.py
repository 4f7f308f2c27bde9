"""The permutation baseline: moments of rows of which every model's are in an order of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...core import (
    LayerId,
    LmkinError,
    Split,
    Unfit,
    Whole,
    checked,
    load_tensors,
    save_tensors,
    to_numpy,
)
from ...moments import Moments, MomentSums, pack_moments, unpack_moments
from ...rows import Blocks, Chunk, Shard, SlicedSource

IntArray = NDArray[np.int64]
_NAME = "moments"
_KIND = "moments of shuffled rows of a shard"


class Shuffle(Protocol):
    """Rows in another order for every layer; parts stay where they are."""

    @property
    def window(self) -> int | None:
        """Rows that are shuffled together, from a multiple of it up to the next; None: any rows by themselves."""

    def __call__(self, rows: IntArray, blocks: Blocks) -> Blocks:
        """What stands in the place of some rows."""


class SplitShuffle:
    """Of rows that lie there: each model's in an order of its own within every split."""

    window = None

    def __init__(self, source: SlicedSource, split: Split, seed: int):
        self._arrays = source.arrays
        self._row: dict[LayerId, IntArray] = {}
        for k, layer in enumerate(source.arrays):
            random = np.random.default_rng([seed, k])
            self._row[layer] = np.arange(source.n)
            for name in split.parts:
                mine = split.rows(name)
                self._row[layer][mine] = random.permutation(mine)

    def __call__(self, rows: IntArray, blocks: Blocks) -> Blocks:
        """Other rows of the same split."""
        return {layer: to_numpy(self._arrays[layer][self._row[layer][rows]]) for layer in blocks}


class WindowShuffle:
    """Of rows that come once: each model's in an order of its own among some neighbours."""

    def __init__(self, window: int, seed: int):
        self.window = window
        self._seed = seed

    def __call__(self, rows: IntArray, blocks: Blocks) -> Blocks:
        """The same rows, in another order."""
        random = np.random.default_rng([self._seed, int(rows[0])])
        return {
            layer: to_numpy(block)[random.permutation(len(rows))] for layer, block in blocks.items()
        }


class ShuffledMoments:
    """An accumulator of a pass: moments of shuffled rows.

    Rows of a window that a shard cuts in two wait until the other half is merged: the result is that of one pass,
    however rows are cut into shards.

    Parameters
    ----------
    n
        Rows of the source.
    shuffle
        How rows are shuffled.
    seed
        Of the shuffle.
    precision
        Of the products.
    """

    def __init__(
        self,
        n: int,
        shuffle: Shuffle,
        *,
        seed: int,
        precision: str | None = None,
        sums: MomentSums | None = None,
    ):
        self._n = n
        self._shuffle = shuffle
        self._options: dict[str, Any] = {"seed": seed, "precision": precision}
        self._sums = sums or MomentSums(precision=precision, sample_rows=0)
        self._waiting: dict[int, list[Chunk[Blocks]]] = {}
        """Pieces of windows that are not complete."""

    @property
    def moments(self) -> Moments:
        """The moments so far."""
        return self._sums.moments

    def settings(self) -> dict[str, Any]:
        """What the sums depend on beside the rows."""
        return {**self._options, "window": self._shuffle.window}

    def fresh(self, shard: Shard, first: ShuffledMoments | None) -> ShuffledMoments:
        """Empty moments for a shard, in the reference of those before it."""
        sums = self._sums.fresh(shard, None if first is None else first._sums)
        return ShuffledMoments(self._n, self._shuffle, **self._options, sums=sums)

    def update(self, chunk: Chunk[Blocks]) -> None:
        """Add the rows of a chunk, shuffled, as soon as those that they are shuffled with are there."""
        window = self._shuffle.window
        if window is None:
            self._add(chunk)
            return
        place = chunk.rows // window
        for number in np.unique(place).tolist():
            mine = place == number
            self._wait(number, chunk if mine.all() else _rows_of(chunk, mine))

    def _wait(self, number: int, piece: Chunk[Blocks]) -> None:
        """Put a piece to its window; add the window, if it is complete."""
        window = self._shuffle.window
        assert window is not None
        pieces = [*self._waiting.pop(number, []), piece]
        if any(p.data.keys() != piece.data.keys() for p in pieces):
            raise LmkinError(
                "Rows of a finished shard are of other layers: it is damaged. Remove it."
            )
        if sum(len(p.rows) for p in pieces) == min(window, self._n - number * window):
            self._add(_joined(pieces))
        else:
            self._waiting[number] = pieces

    def _add(self, chunk: Chunk[Blocks]) -> None:
        shuffled = self._shuffle(chunk.rows, chunk.data)
        self._sums.update(Chunk(chunk.rows, chunk.parts, shuffled))

    def merge(self, other: ShuffledMoments) -> None:
        """Add the sums of other rows, and windows that are now complete."""
        self._sums.merge(other._sums)
        for number in sorted(other._waiting):
            for piece in other._waiting[number]:
                self._wait(number, piece)
        # Now, whatever comes next: sums do not depend on which shards an earlier run has finished.
        self.moments.flush()

    def save(self, path: Path) -> None:
        """Write sums, and rows that wait, to one file."""
        arrays, head = pack_moments(self.moments, _NAME)
        waiting = []
        for number, pieces in self._waiting.items():
            piece, name = _joined(pieces), f"waiting{number}"
            arrays |= {f"{name}.rows": piece.rows, f"{name}.parts": piece.parts}
            for k, block in enumerate(piece.data.values()):
                arrays[f"{name}.block{k}"] = to_numpy(block)
            waiting.append([number, [[*layer] for layer in piece.data]])
        save_tensors(path, arrays, {_NAME: head, "waiting": waiting}, kind=_KIND)

    def load(self, path: Path) -> ShuffledMoments:
        """What `save` wrote, to the last bit. Raise if it is damaged."""
        arrays, head = load_tensors(path, kind=_KIND)
        sums = MomentSums(moments=unpack_moments(arrays, head.get(_NAME), _NAME))
        loaded = ShuffledMoments(self._n, self._shuffle, **self._options, sums=sums)
        try:
            for number, layers in checked(head["waiting"], [[Any]]):
                name = f"waiting{checked(number, Whole())}"
                data = {
                    LayerId(checked(model, str), checked(layer, Whole())): arrays[
                        f"{name}.block{k}"
                    ]
                    for k, (model, layer) in enumerate(checked(layers, [[Any]]))
                }
                piece = Chunk(arrays[f"{name}.rows"], arrays[f"{name}.parts"], data)
                sizes = {len(piece.rows), len(piece.parts), *(len(b) for b in data.values())}
                whole = piece.rows.dtype.kind in "iu" and piece.parts.dtype.kind in "iu"
                if len(sizes) > 1 or any(b.ndim != 2 for b in data.values()) or not whole:
                    raise Unfit("rows that wait are cut")
                if (piece.rows < 0).any() or (piece.rows >= self._n).any():
                    raise Unfit("rows that wait are none")
                loaded._waiting[number] = [piece]
        except (KeyError, TypeError, ValueError) as error:
            raise LmkinError(f"{path} is damaged: {error}.") from None
        return loaded


def _rows_of(chunk: Chunk[Blocks], mine: NDArray[np.bool_]) -> Chunk[Blocks]:
    data = {layer: to_numpy(block)[mine] for layer, block in chunk.data.items()}
    return Chunk(chunk.rows[mine], chunk.parts[mine], data)


def _joined(pieces: list[Chunk[Blocks]]) -> Chunk[Blocks]:
    """Pieces of a window as one, in the order of their rows."""
    if len(pieces) == 1:
        return pieces[0]
    rows = np.concatenate([p.rows for p in pieces])
    order = np.argsort(rows)
    data = {
        layer: np.concatenate([to_numpy(p.data[layer]) for p in pieces])[order]
        for layer in pieces[0].data
    }
    return Chunk(rows[order], np.concatenate([p.parts for p in pieces])[order], data)
