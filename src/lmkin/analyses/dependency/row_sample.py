"""Rows that are kept as they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core import LayerId, LmkinError, Unfit, fingerprint, load_tensors, save_tensors, to_numpy
from ...rows import Blocks, Chunk, Shard

IntArray = NDArray[np.int64]
_KIND = "rows of a shard"


class Kept:
    """An accumulator of a pass: some rows of the test split as they are, for the inputs that weigh most."""

    def __init__(self, rows: IntArray):
        self.rows = rows
        self._numbers: list[IntArray] = []
        self._blocks: dict[LayerId, list[Any]] = {}

    def settings(self) -> dict[str, Any]:
        """Which rows are wanted."""
        return {"rows": fingerprint(self.rows)}

    def fresh(self, shard: Shard, first: Kept | None) -> Kept:
        """None of the rows yet."""
        return Kept(self.rows)

    def update(self, chunk: Chunk[Blocks]) -> None:
        """Take those rows of a chunk that are wanted."""
        mine = np.isin(chunk.rows, self.rows)
        if mine.any():
            self._numbers.append(chunk.rows[mine])
            for layer, block in chunk.data.items():
                self._blocks.setdefault(layer, []).append(to_numpy(block)[mine])

    def merge(self, other: Kept) -> None:
        """Take in those of other rows. Raise if they are of other layers."""
        if self._blocks and other._blocks and self._blocks.keys() != other._blocks.keys():
            raise LmkinError(
                "Rows of a finished shard are of other layers: it is damaged. Remove it."
            )
        self._numbers += other._numbers
        for layer, blocks in other._blocks.items():
            self._blocks.setdefault(layer, []).extend(blocks)

    def save(self, path: Path) -> None:
        """Write numbers and rows to one file."""
        numbers, rows = self.result()
        arrays = {"numbers": numbers, **{f"rows{k}": a for k, a in enumerate(rows.values())}}
        save_tensors(path, arrays, {"layers": [[*layer] for layer in rows]}, kind=_KIND)

    def load(self, path: Path) -> Kept:
        """What `save` wrote. Raise if it is damaged."""
        arrays, head = load_tensors(path, kind=_KIND)
        loaded = Kept(self.rows)
        try:
            layers = [LayerId(model, layer) for model, layer in head["layers"]]
            if layers:
                numbers = arrays["numbers"]
                blocks = {layer: arrays[f"rows{k}"] for k, layer in enumerate(layers)}
                cut = any(b.ndim != 2 or len(b) != len(numbers) for b in blocks.values())
                if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or cut:
                    raise Unfit("rows are cut")
                loaded._numbers = [numbers]
                loaded._blocks = {layer: [block] for layer, block in blocks.items()}
        except (KeyError, TypeError, ValueError) as error:
            raise LmkinError(f"{path} is damaged: {error}.") from None
        return loaded

    def result(self) -> tuple[IntArray, dict[LayerId, NDArray[Any]]]:
        """Numbers and rows, in the order of the numbers."""
        if not self._numbers:
            return np.zeros(0, np.int64), {}
        numbers = np.concatenate(self._numbers)
        order = np.argsort(numbers)
        return numbers[order], {g: np.concatenate(b)[order] for g, b in self._blocks.items()}
