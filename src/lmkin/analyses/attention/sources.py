"""Where attention maps come from: the maps of several layers, sentence by sentence."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core import (
    Layout,
    fingerprint,
)
from ...rows import Advance, Chunk
from .maps import SentenceMaps

BATCH = 16_384
"""Numbers of a head that are compared at once."""


class MapSource(ABC):
    """Attention maps of several layers: a pass whose rows are sentences, each in a part."""

    layout: Layout
    """Layers, and how many heads each has."""
    causal: NDArray[np.bool_]
    """Of every layer: whether its heads see only what came before."""
    part: NDArray[np.int64]
    """Of every sentence."""
    info: dict[str, Any]
    unit = "sentence"
    steps = 1
    small = 0
    reread: bool = True

    @abstractmethod
    def sentences(
        self, start: int = 0, stop: int | None = None, advance: Advance | None = None
    ) -> Iterator[tuple[int, SentenceMaps]]:
        """(number of the sentence, its maps), from one up to another; those without a map are left out."""

    def chunks(
        self, start: int = 0, stop: int | None = None, advance: Advance | None = None
    ) -> Iterator[Chunk[list[SentenceMaps]]]:
        """Neighbouring sentences of one part, a few at a time."""
        numbers: list[int] = []
        maps: list[SentenceMaps] = []
        size = 0
        for number, sentence in self.sentences(start, stop, advance):
            if numbers and (self.part[number] != self.part[numbers[-1]] or size >= BATCH):
                yield self._chunk(numbers, maps)
                numbers, maps, size = [], [], 0
            numbers.append(number)
            maps.append(sentence)
            size += sentence.weights.shape[1] * sentence.weights.shape[2]
        if numbers:
            yield self._chunk(numbers, maps)

    def _chunk(self, numbers: list[int], maps: list[SentenceMaps]) -> Chunk[list[SentenceMaps]]:
        rows = np.array(numbers, np.int64)
        return Chunk(rows, self.part[rows], maps)

    def identity(self) -> dict[str, Any]:
        """Plain data: everything that the maps depend on, and their parts; not the time or the machine."""
        models = self.info.get("models", {})
        return {
            "heads": [
                [*layer, heads]
                for layer, heads in zip(self.layout.groups, self.layout.widths, strict=True)
            ],
            "units": self.info.get("units"),
            "parts": fingerprint(self.part),
            "corpus": self.info.get("corpus_hash"),
            "models": {
                name: {k: v for k, v in identity.items() if k != "attention_implementation"}
                for name, identity in models.items()
            },
        }

    def starts(self) -> NDArray[np.int64] | None:
        """Sentences at which a document begins; None where nobody knows."""
        return None
