"""The rows of each model in each language: words of the same sentences, the same words for all models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...activations import Activations, JoinedLayers, common_units
from ...analysis import Running, Source
from ...core import quoted, unique_names
from ...corpus import Units
from ...rows import Workspace, row_source
from ..probing import require_finite
from ..redundancy import chosen_layers, extract_models
from .parallel import Parallel
from .stores import aligned_stores

Array = NDArray[Any]
IntArray = NDArray[np.int64]
_BLOCK = 4096
"""Rows that are looked at together where they may be on disk."""


class SomeColumns:
    """Some columns of a matrix that is read from where it is stored, block of rows by block of rows."""

    ndim = 2

    def __init__(self, matrix: Any, columns: IntArray):
        self.matrix, self.columns = matrix, columns

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return int(self.matrix.shape[0]), len(self.columns)

    @property
    def dtype(self) -> Any:
        """Of the numbers as stored."""
        return self.matrix.dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Array:
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        return np.asarray(self.matrix[rows])[:, self.columns[columns]]

    def select(self, rows: IntArray) -> SomeColumns:
        """Some of the rows; nothing is read."""
        return SomeColumns(self.matrix.select(rows), self.columns)


@dataclass(frozen=True)
class LanguageRows:
    """Activations of one model, by language."""

    name: str
    by_language: Mapping[str, Activations]
    layers: tuple[int, ...]

    @property
    def manifest(self) -> dict[str, Any]:
        """How the activations came about."""
        return next(iter(self.by_language.values())).manifest

    @cached_property
    def widths(self) -> list[int]:
        """Neurons of each layer."""
        widths = next(iter(self.by_language.values())).widths
        return [widths[n] for n in self.layers]

    @property
    def width(self) -> int:
        """Neurons of all layers."""
        return sum(self.widths)

    def matrix(self, language: str, rows: IntArray | None = None) -> JoinedLayers:
        """Rows × all neurons, layer after layer; nothing is read yet."""
        acts = self.by_language[language]
        joined = JoinedLayers([acts.layer(n) for n in self.layers])
        return joined if rows is None else joined.select(rows)

    def blocks(self, language: str, rows: IntArray | None = None) -> Iterator[tuple[slice, Array]]:
        """Some rows × all neurons, some thousand rows after the other. Raise at a number that no probe can read."""
        matrix = self.matrix(language, rows)
        for start in range(0, len(matrix), _BLOCK):
            here = slice(start, min(start + _BLOCK, len(matrix)))
            X = np.asarray(matrix[here])
            require_finite(X, self.name, quoted(language), self.layers, self.widths)
            yield here, X

    def require_finite(self, language: str) -> None:
        """Raise if there is a number that no probe can read among the rows of a language."""
        for _ in self.blocks(language):
            pass

    def columns(self, layers: Sequence[int]) -> IntArray:
        """The columns of some layers."""
        owner = np.repeat(self.layers, self.widths)
        return np.flatnonzero(np.isin(owner, layers))


@dataclass(frozen=True)
class AllLanguages:
    """The rows of all models in all languages, and what is to be known of them."""

    parallel: Parallel
    models: Sequence[LanguageRows]
    units: Mapping[str, Units]
    info: Mapping[str, Mapping[str, Any]]
    """Of each language: words that models lack, or whose tokens they do not know."""

    def split(self, language: str) -> tuple[IntArray, IntArray]:
        """Numbers of the rows of sentences that are fitted on, and of those that are held out."""
        held = self.parallel.held_out[self.units[language].sentence]
        return np.flatnonzero(~held), np.flatnonzero(held)


def open_languages(
    source: Source, parallel: Parallel, running: Running, work: Workspace
) -> AllLanguages:
    """Activations of every model in every language, cut down to the words that all models have."""
    stored = aligned_stores(source, parallel)
    by_model = _extracted(source, parallel, running, work) if stored is None else stored
    asked = "all" if stored is None else source.reading.layers
    units, info = {}, {}
    for language in parallel.languages:
        stores = [acts[language] for acts in by_model]
        info[language] = row_source(stores, parts=1).info
        for acts, cut in zip(by_model, common_units(stores), strict=True):
            acts[language] = cut
        units[language] = by_model[0][language].units
    first = [acts[parallel.languages[0]] for acts in by_model]
    models = [
        LanguageRows(name, acts, tuple(chosen_layers(one, asked)))
        for name, acts, one in zip(
            unique_names(a.name for a in first), by_model, first, strict=True
        )
    ]
    return AllLanguages(parallel, models, units, info)


def _extracted(
    source: Source, parallel: Parallel, running: Running, work: Workspace
) -> list[dict[str, Activations]]:
    """Of each model the activations of each language, read now."""
    reading = {k: v for k, v in asdict(source.reading).items() if v is not None}
    return [
        {
            language: extract_models([model], corpus, work, progress=running.progress, **reading)[0]
            for language, corpus in parallel.corpora.items()
        }
        for model in source.models
    ]
