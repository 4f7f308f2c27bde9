"""The rows of each model, by split: what a probe is fitted on, what chooses its penalty, and what it is scored on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...activations import Activations, JoinedLayers, common_units
from ...analysis import Running, Source
from ...core import LmkinError, MeasureError, quoted, unique_names
from ...corpus import Units
from ...rows import Workspace, row_source
from ..redundancy import chosen_layers, extract_models, open_store
from .read_alike import require_same_splits
from .splits import SPLITS, parts_of_corpus, split_sentences

IntArray = NDArray[np.int64]
_CHUNK = 4096
"""Rows that are looked at together where they are on disk."""


@dataclass(frozen=True)
class ModelRows:
    """Activations of one model, by split; the rows of all models stand for the same words."""

    name: str
    by_split: Mapping[str, Activations]
    layers: tuple[int, ...]

    @property
    def manifest(self) -> dict[str, Any]:
        """How the activations came about."""
        return self.by_split["train"].manifest

    @cached_property
    def widths(self) -> list[int]:
        """Neurons of each layer."""
        widths = self.by_split["train"].widths
        return [widths[n] for n in self.layers]

    def matrix(self, split: str, rows: IntArray, *, resident: bool) -> Any:
        """Some rows × all neurons, layer after layer: an array, or what reads them from disk at each pass."""
        acts = self.by_split[split]
        joined = JoinedLayers([acts.layer(n) for n in self.layers]).select(rows)
        if resident:
            X = np.ascontiguousarray(joined[:], np.float32)
            require_finite(X, self.name, split, self.layers, self.widths)
            return X
        for start in range(0, len(joined), _CHUNK):
            block = joined[start : start + _CHUNK]
            require_finite(block, self.name, split, self.layers, self.widths)
        return joined

    def columns(self, first: int, end: int) -> slice:
        """The columns of some neighbouring layers, by their place."""
        edges = np.cumsum([0, *self.widths])
        return slice(int(edges[first]), int(edges[end]))


def require_finite(
    X: Any, model: str, where: str, layers: Sequence[int], widths: Sequence[int]
) -> None:
    """Raise if there is a number that no probe can read; ``X`` is rows × the neurons of some layers, side by side."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(X.sum(0, dtype=np.float64)).all():
            return
    bad = np.argwhere(~np.isfinite(X))
    if not len(bad):
        return  # finite, though their sum is not
    column = int(bad[0, 1])
    edges = np.cumsum(widths)
    place = int(np.searchsorted(edges, column, "right"))
    neuron = column - int(edges[place - 1] if place else 0)
    raise MeasureError(
        f"{model} has NaN or infinite values in {where}: {len(bad):,} of them, the first in layer {layers[place]}, "
        f"neuron {neuron}. Extract these activations again (float16 overflows above 65,504), or leave out such rows."
    )


def some_layers(matrix: Any, rows: ModelRows, first: int, end: int) -> Any:
    """The columns of some neighbouring layers of what `ModelRows.matrix` gave; nothing is copied."""
    if isinstance(matrix, JoinedLayers):
        return matrix.part(first, end)
    return matrix[:, rows.columns(first, end)]


@dataclass(frozen=True)
class AllRows:
    """The rows of all models, and what the splits are."""

    models: Sequence[ModelRows]
    units: Mapping[str, Units]
    split_from: str
    """How the splits came about, in words."""
    lost: Mapping[str, int]
    """Units that some model could not represent, by split."""
    info: Mapping[str, Any]
    """Of the corpus and the models, as alerts and provenance need it."""


def open_rows(source: Source, running: Running, work: Workspace) -> AllRows:
    """Activations of all models by split, from stores, or from models that read the corpus now."""
    whole = _stores(source) if source.corpus is None else _extracted(source, running, work)
    names = list(whole[0])
    info = row_source([acts[names[0]] for acts in whole], parts=1).info
    given = (
        parts_of_corpus(source)
        if source.corpus is not None
        else {
            name: (acts.units.corpus, np.unique(acts.units.sentence).astype(np.int64))
            for name, acts in whole[0].items()
        }
    )
    before = {name: max(len(acts[name]) for acts in whole) for name in names}
    for name in names:
        cut = common_units([acts[name] for acts in whole])
        for acts, mine in zip(whole, cut, strict=True):
            acts[name] = mine
    lost = {name: before[name] - len(whole[0][name]) for name in names}
    units = {name: acts.units for name, acts in whole[0].items()}
    drawn = split_sentences(given, next(iter(units.values())).kind, running.seed)
    split = {name: drawn.rows(name, units) for name in SPLITS}
    models = []
    for title, acts in zip(unique_names(a[names[0]].name for a in whole), whole, strict=True):
        by_split = {name: acts[origin].select(rows) for name, (origin, rows) in split.items()}
        layers = "all" if source.corpus is not None else source.reading.layers
        chosen = {tuple(chosen_layers(some, layers)) for some in acts.values()}
        if len(chosen) > 1:
            raise LmkinError("The splits hold different layers: extract the same layers of each.")
        models.append(ModelRows(title, by_split, chosen.pop()))
    units = {name: some.units for name, some in models[0].by_split.items()}
    return AllRows(models, units, drawn.said, lost, info)


def _extracted(source: Source, running: Running, work: Workspace) -> list[dict[str, Activations]]:
    """Activations of the whole corpus, of each model, cut into its splits."""
    reading = {k: v for k, v in asdict(source.reading).items() if v is not None}
    stores = extract_models(
        source.models, source.sentences, work, progress=running.progress, **reading
    )
    given = parts_of_corpus(source)
    if source.corpora is None:
        return [{"": acts} for acts in stores]
    cut = []
    for acts in stores:
        rows = {
            name: np.flatnonzero(np.isin(acts.units.sentence, mine))
            for name, (_, mine) in given.items()
        }
        cut.append({name: acts.select(mine) for name, mine in rows.items()})
        for name, some in cut[-1].items():
            if not len(some):
                raise LmkinError(f"{quoted(name)} has no {some.units.kind}s: nothing can be read.")
    return cut


def _stores(source: Source) -> list[dict[str, Activations]]:
    """Stored activations; of each the layers that were asked for."""
    by_split = source.stores_by_split
    if by_split is not None:
        require_same_splits(by_split)
        return [dict(by_split)]
    if isinstance(source.given, Mapping):
        raise LmkinError(
            "Probes read stored activations, or models with a corpus, which know their words and tags. For arrays "
            "there is lmkin.Probe: Probe().fit(X, y)."
        )
    return [{"": open_store(spec)} for spec in source.specs]
