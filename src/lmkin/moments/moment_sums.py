"""`MomentSums`: moments as one pass over rows makes them, shard by shard."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..core import fingerprint, load_tensors, save_tensors, to_numpy
from ..rows import Blocks, Chunk, Shard, blocks_by_part
from .moments import Moments
from .row_sample import ROWS
from .storage import pack_moments, unpack_moments

_NAME = "moments"
_KIND = "moments of a shard"


class MomentSums:
    """An accumulator of a pass, around `Moments`.

    The reference of the first shard serves all, so that their sums add up exactly; each shard draws its sample of rows
    with a seed of its own.
    """

    def __init__(
        self,
        *,
        precision: str | None = None,
        keep_parts: bool = True,
        sample_rows: int = ROWS,
        seed: int = 0,
        reference: Mapping[Any, tuple[Any, Any]] | None = None,
        moments: Moments | None = None,
    ):
        self._options: dict[str, Any] = {
            "precision": precision,
            "keep_parts": keep_parts,
            "sample_rows": sample_rows,
        }
        self._seed = seed
        self._reference = reference
        self.moments = moments or Moments(**self._options, seed=seed, reference=reference)

    def settings(self) -> dict[str, Any]:
        """What the sums depend on beside the rows."""
        reference = None
        if self._reference is not None:
            pairs = {str(k): np.stack([to_numpy(a) for a in v]) for k, v in self._reference.items()}
            reference = {name: fingerprint(pair) for name, pair in pairs.items()}
        return {**self._options, "seed": self._seed, "reference": reference}

    def fresh(self, shard: Shard, first: MomentSums | None) -> MomentSums:
        """Empty moments for a shard, in the reference of those before it."""
        known = None if first is None else first.moments.reference
        return MomentSums(
            **self._options, seed=self._seed + shard.number, reference=known or self._reference
        )

    def update(self, chunk: Chunk[Blocks]) -> None:
        """Add the rows of a chunk, each to its part."""
        for part, blocks in blocks_by_part(chunk):
            self.moments.update(blocks, part=part)

    def merge(self, other: MomentSums) -> None:
        """Add the sums of other rows."""
        self.moments.absorb(other.moments)

    def save(self, path: Path) -> None:
        """Write everything to one file."""
        arrays, head = pack_moments(self.moments, _NAME)
        save_tensors(path, arrays, {_NAME: head}, kind=_KIND)

    def load(self, path: Path) -> MomentSums:
        """What `save` wrote, to the last bit. Raise if it is damaged."""
        arrays, head = load_tensors(path, kind=_KIND)
        return MomentSums(moments=unpack_moments(arrays, head.get(_NAME), _NAME))
