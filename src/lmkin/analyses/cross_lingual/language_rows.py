"""The rows of each model in each language: words of the same sentences, the same words for all models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...activations import Activations, JoinedLayers, common_units
from ...analysis import Running, Source
from ...core import unique_names
from ...corpus import Units
from ...rows import Workspace, row_source
from ..redundancy import chosen_layers, extract_models
from .parallel import Parallel

Array = NDArray[Any]
IntArray = NDArray[np.int64]


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
    reading = {k: v for k, v in asdict(source.reading).items() if v is not None}
    names = unique_names(m.name for m in source.models)
    by_model: list[dict[str, Activations]] = [
        {
            language: extract_models([model], corpus, work, progress=running.progress, **reading)[0]
            for language, corpus in parallel.corpora.items()
        }
        for model in source.models
    ]
    units, info = {}, {}
    for language in parallel.languages:
        stores = [acts[language] for acts in by_model]
        info[language] = row_source(stores, parts=1).info
        for acts, cut in zip(by_model, common_units(stores), strict=True):
            acts[language] = cut
        units[language] = by_model[0][language].units
    models = [
        LanguageRows(name, acts, tuple(chosen_layers(next(iter(acts.values())), "all")))
        for name, acts in zip(names, by_model, strict=True)
    ]
    return AllLanguages(parallel, models, units, info)
