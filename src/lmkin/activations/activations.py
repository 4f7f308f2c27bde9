"""Activations: for every layer a matrix of units × neurons, in memory or mapped from disk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core import ActivationsError, quoted
from ..corpus import Units
from .manifest import unknown_in
from .views import LayerView


class Activations:
    """The activations of a model on a corpus: for each layer a matrix of units × neurons.

    ``acts.layer(3)`` is an array-like of units × neurons; ``acts.units`` says what its rows are;
    ``acts.manifest`` how they came about.
    """

    def __init__(
        self,
        units: Units,
        pieces: Sequence[Mapping[int, NDArray[Any]]],
        manifest: dict[str, Any],
        *,
        path: Path | None = None,
        rows: NDArray[np.int64] | None = None,
    ):
        self.units = units
        self.manifest = manifest
        self.path = path
        self._pieces = pieces
        self._rows = rows

    @property
    def name(self) -> str:
        """The model's name."""
        return str(self.manifest["model"]["name"])

    @property
    def layers(self) -> tuple[int, ...]:
        """The numbers of the layers that are here; 0 is the embedding output."""
        return tuple(sorted(self._pieces[0]))

    @property
    def widths(self) -> dict[int, int]:
        """Neurons of each layer."""
        return {n: self.layer(n).shape[1] for n in self.layers}

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the numbers as stored."""
        return self.layer(self.layers[0]).dtype

    def __len__(self) -> int:
        """Number of units."""
        return len(self.units)

    def __repr__(self) -> str:
        where = f" in {self.path}" if self.path else ""
        widths = sorted(set(self.widths.values()))
        return (
            f"<Activations of {self.name!r}: {len(self):,} {self.units.kind}s × "
            f"{len(self.layers)} layers × {'/'.join(map(str, widths))}{where}>"
        )

    def layer(self, number: int) -> LayerView:
        """One layer as an array-like of units × neurons; -1 is the last."""
        if not isinstance(number, int | np.integer):
            raise ActivationsError(
                f"A layer is given by its number, such as 0 or -1; got {quoted(number)}."
            )
        layer = self.layers[number] if -len(self.layers) <= number < 0 else int(number)
        if layer not in self._pieces[0]:
            raise ActivationsError(
                f"There is no layer {number} here; layers: {', '.join(map(str, self.layers))}."
            )
        pieces = [piece[layer] for piece in self._pieces]
        return LayerView(pieces, self._rows, units=self.units)

    def blocks(self, rows: int = 4096) -> Iterator[dict[int, NDArray[Any]]]:
        """Stream all layers together, ``rows`` units at a time."""
        if rows < 1:
            raise ActivationsError(f"Blocks need at least one row; got {rows}.")
        views = {n: self.layer(n) for n in self.layers}
        for start in range(0, len(self), rows):
            yield {n: view[start : start + rows] for n, view in views.items()}

    def select(self, rows: Sequence[int] | NDArray[Any]) -> Activations:
        """Some of the units, by row number or mask; nothing is copied."""
        numbers = np.arange(len(self))[np.asarray(rows) if len(rows) else slice(0)]
        absolute = numbers if self._rows is None else self._rows[numbers]
        return Activations(
            self.units.select(numbers), self._pieces, self.manifest, path=self.path, rows=absolute
        )

    def take_sentences(self, numbers: Sequence[int]) -> Activations:
        """Some of the sentences, in the order given, over the corpus that these make; nothing is copied."""
        places = [self.units.rows_of(number) for number in numbers]
        taken = [np.arange(p.start, p.stop, dtype=np.int64) for p in places]
        rows = np.concatenate([np.empty(0, np.int64), *taken])
        some, units = self.select(rows), self.units.select(rows)
        sentence = np.repeat(np.arange(len(places), dtype=np.int32), [len(t) for t in taken])
        some.units = replace(units, corpus=self.units.corpus[numbers], sentence=sentence)
        return some

    def sentence(self, number: int) -> dict[int, NDArray[Any]]:
        """All layers of one sentence of the corpus."""
        if not 0 <= number < len(self.units.corpus):
            raise ActivationsError(
                f"There is no sentence {number}; the corpus has 0 to {len(self.units.corpus) - 1}."
            )
        rows = np.flatnonzero(self.units.sentence == number)
        return {n: self.layer(n)[rows] for n in self.layers}

    def by_sentence(self) -> StoredSentences:
        """These activations as a source that a sentence is looked up in by its words."""
        return StoredSentences(self)


class StoredSentences:
    """Activations looked up by the words of a sentence, as a precomputed model."""

    def __init__(self, acts: Activations):
        if acts.units.kind != "word":
            raise ActivationsError(
                f"{acts.path} holds {acts.units.kind}s; only words can stand in for a model."
            )
        if len(acts.layers) != max(acts.layers) + 1:
            raise ActivationsError(
                f"{acts.path} holds only the layers {', '.join(map(str, acts.layers))}; to stand in for "
                f"a model it must hold all of them."
            )
        self.acts = acts
        self._numbers: dict[tuple[str, ...], list[int]] = {}
        for number, sentence in enumerate(acts.units.corpus):
            self._numbers.setdefault(sentence.words, []).append(number)

    @property
    def rule(self) -> dict[str, Any]:
        """How these vectors came about."""
        return dict(self.acts.manifest["units"]["rule"])

    @property
    def unknown(self) -> dict[str, int] | None:
        """How many units hold an unknown token, and how many nothing else."""
        return unknown_in(self.acts.manifest)

    @property
    def pre_norm(self) -> bool | None:
        """Whether the last layer here is after a final norm that the others are before; None where nobody knows."""
        model = self.acts.manifest["model"]
        known: bool | None = model.get("pre_norm")
        if known and model["layers"] != len(self.acts.layers):
            return False  # the last one is not among them
        return known

    @property
    def sentences(self) -> list[list[str]]:
        """The words of each sentence."""
        return [list(s.words) for s in self.acts.units.corpus if len(s)]

    @property
    def widths(self) -> tuple[int, ...]:
        """Neurons of each layer."""
        return tuple(self.acts.widths.values())

    def kept(self, words: list[str]) -> list[int] | None:
        """Which of the words have vectors; None if the sentence is not there."""
        numbers = self._numbers.get(tuple(words))
        if numbers is None:
            return None
        return [int(i) for i in self.acts.units.index[self.acts.units.rows_of(numbers[0])]]

    def find(self, words: list[str], occurrence: int = 0) -> NDArray[np.float32]:
        """``layers × words × neurons`` of a sentence."""
        numbers = self._numbers[tuple(words)]
        layers = self.acts.sentence(numbers[min(occurrence, len(numbers) - 1)])
        return np.stack([layers[n] for n in self.acts.layers]).astype(np.float32)
