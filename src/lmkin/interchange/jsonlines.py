"""JSON lines as NeuroX writes them: one sentence a line, its tokens, their layers, the values."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core import ActivationsError, replacing

FloatArray = NDArray[np.float32]


class PrecomputedLines:
    """A NeuroX JSON file; lines are found by their words and read when they are asked for."""

    def __init__(self, path: Path):
        self.path = path
        self._places: dict[tuple[str, ...], list[int]] = {}
        self._order: list[tuple[str, ...]] = []
        with path.open("rb") as file:
            while True:
                place = file.tell()
                line = file.readline()
                if not line:
                    break
                if line.strip():
                    words = tuple(f["token"] for f in self._features(line, len(self._order) + 1))
                    self._places.setdefault(words, []).append(place)
                    self._order.append(words)
        if not self._order:
            raise ActivationsError(f"{path} holds no sentence.")

    def _features(self, line: bytes, number: int) -> list[dict[str, Any]]:
        try:
            features = json.loads(line)["features"]
            if features and "token" in features[0] and "values" in features[0]["layers"][0]:
                return list(features)
        except (ValueError, KeyError, TypeError, IndexError):
            pass
        raise ActivationsError(
            f"{self.path}, line {number}: not a line of NeuroX activations "
            f'({{"linex_index": …, "features": [{{"token": …, "layers": […]}}]}} expected).'
        )

    @property
    def sentences(self) -> list[list[str]]:
        """The words of each sentence, in the file's order."""
        return [list(words) for words in self._order]

    @property
    def widths(self) -> tuple[int, ...]:
        """Neurons of each layer."""
        first = self.find(list(self._order[0]))
        return (int(first.shape[2]),) * int(first.shape[0])

    def kept(self, words: list[str]) -> list[int] | None:
        """The words that have vectors: all of them, if the sentence is in the file."""
        return list(range(len(words))) if tuple(words) in self._places else None

    def find(self, words: list[str], occurrence: int = 0) -> FloatArray:
        """``layers × words × neurons`` of a sentence; its n-th occurrence if there are several."""
        places = self._places[tuple(words)]
        with self.path.open("rb") as file:
            file.seek(places[min(occurrence, len(places) - 1)])
            features = self._features(file.readline(), 0)
        tokens = [[layer["values"] for layer in feature["layers"]] for feature in features]
        return np.asarray(tokens, np.float32).swapaxes(0, 1)


def write_neurox(path: Path, records: Iterable[tuple[list[str], FloatArray]]) -> int:
    """Write sentences as NeuroX does, with 8 decimals; returns how many."""
    count = 0
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        for words, vectors in records:
            rounded = np.round(vectors.astype(np.float64), 8).tolist()
            features = [
                {
                    "token": word,
                    "layers": [
                        {"index": layer, "values": rounded[layer][i]}
                        for layer in range(len(rounded))
                    ],
                }
                for i, word in enumerate(words)
            ]
            line = {"linex_index": count, "features": features}
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
            count += 1
    return count
