"""Which layers probes read: all side by side, each by itself, and layers 0 to l side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class LayerSet:
    """Neighbouring layers of a model: the kind of the set, and the places of the first and behind the last."""

    kind: str
    first: int
    end: int

    @property
    def span(self) -> tuple[int, int]:
        """The layers, whatever the kind: two sets of the same layers have the same probe."""
        return self.first, self.end

    def label(self, layers: Sequence[int]) -> str:
        """``all``, ``5``, ``0-5``: as results name it."""
        if self.kind == "all":
            return "all"
        last = layers[self.end - 1]
        return str(last) if self.kind == "each" else f"{layers[0]}-{last}"


def layer_sets(kinds: Sequence[str], count: int) -> list[LayerSet]:
    """The sets that were asked for, of so many layers; the oracle is always among them.

    Layers 0 to 0 are layer 0 by itself, where that is there.
    """
    sets = [LayerSet("all", 0, count)]
    if "each" in kinds:
        sets += [LayerSet("each", k, k + 1) for k in range(count)]
    if "upto" in kinds:
        sets += [LayerSet("upto", 0, k + 1) for k in range("each" in kinds, count)]
    return sets
