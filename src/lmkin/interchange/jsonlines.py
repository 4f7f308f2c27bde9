"""JSON lines as NeuroX writes them: one sentence a line, its tokens, their layers, the values."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core import (
    ActivationsError,
    Number,
    Unfit,
    checked,
    open_file,
    parse_json,
    quoted,
    replacing,
    to_json,
)

FloatArray = NDArray[np.float32]
_LINE = {
    "features": [{"token": str, "layers": [{"values": [Number()], str: Any}], str: Any}],
    str: Any,
}
_LONGEST = 2**31
"""Bytes of a line, at most."""


class PrecomputedLines:
    """A NeuroX JSON file; lines are found by their words and read when they are asked for."""

    def __init__(self, path: Path):
        self.path = path
        self._shape: tuple[int, ...] = ()
        """Neurons of each layer."""
        self._places: dict[tuple[str, ...], list[int]] = {}
        self._order: list[tuple[str, ...]] = []
        with open_file(path, error=ActivationsError) as file:
            while True:
                place = file.tell()
                line = file.readline(_LONGEST)
                if not line:
                    break
                if line.strip():
                    number = len(self._order) + 1
                    features = self._features(line, number)
                    self._same_shape(features, number)
                    words = tuple(f["token"] for f in features)
                    self._places.setdefault(words, []).append(place)
                    self._order.append(words)
        if not self._order:
            raise ActivationsError(f"{path} holds no sentence.")

    def _features(self, line: bytes, number: int) -> list[dict[str, Any]]:
        try:
            features: list[dict[str, Any]] = checked(parse_json(line), _LINE)["features"]
            if features and features[0]["layers"]:
                return features
            said = "it has no tokens, or no layers"
        except Unfit as error:
            said = str(error)
        raise ActivationsError(
            f"{self.path}, line {number}: not a line of NeuroX activations "
            f'({{"linex_index": …, "features": [{{"token": …, "layers": […]}}]}} expected): {said}.'
        )

    def _same_shape(self, features: list[dict[str, Any]], number: int) -> None:
        """Raise if a token has other layers or neurons than the first of the file."""
        shapes = {tuple(len(layer["values"]) for layer in f["layers"]) for f in features}
        self._shape = self._shape or min(shapes)
        if shapes != {self._shape} or len(set(self._shape)) != 1 or not self._shape[0]:
            raise ActivationsError(
                f"{self.path}, line {number}: its tokens have other layers, or other numbers of neurons, than those "
                f"before: {quoted(min(shapes - {self._shape}, default=self._shape))}."
            )

    @property
    def sentences(self) -> list[list[str]]:
        """The words of each sentence, in the file's order."""
        return [list(words) for words in self._order]

    @property
    def widths(self) -> tuple[int, ...]:
        """Neurons of each layer."""
        return self._shape

    def kept(self, words: list[str]) -> list[int] | None:
        """The words that have vectors: all of them, if the sentence is in the file."""
        return list(range(len(words))) if tuple(words) in self._places else None

    def find(self, words: list[str], occurrence: int = 0) -> FloatArray:
        """``layers × words × neurons`` of a sentence; its n-th occurrence if there are several."""
        places = self._places[tuple(words)]
        with open_file(self.path, error=ActivationsError) as file:
            file.seek(places[min(occurrence, len(places) - 1)])
            features = self._features(file.readline(_LONGEST), self._order.index(tuple(words)) + 1)
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
            file.write(to_json(line) + "\n")
            count += 1
    return count
