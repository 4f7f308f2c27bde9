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
from ...core import LmkinError, make_split, quoted, unique_names
from ...corpus import Units
from ...rows import Workspace, owners_of_units, row_source
from ..redundancy import chosen_layers, extract_models, open_store

IntArray = NDArray[np.int64]
SPLITS = ("train", "dev", "test")
SHARES = {"train": 0.8, "validation": 0.1, "test": 0.1}
"""Of one corpus."""
_DEV = 0.1
"""Share of train that chooses the penalty, where no dev is given."""
_FEWEST = 60
"""With fewer documents it is sentences that stay whole."""


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
        return np.ascontiguousarray(joined[:], np.float32) if resident else joined

    def columns(self, first: int, end: int) -> slice:
        """The columns of some neighbouring layers, by their place."""
        edges = np.cumsum([0, *self.widths])
        return slice(int(edges[first]), int(edges[end]))


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
    before = {name: max(len(acts[name]) for acts in whole) for name in names}
    for name in names:
        cut = common_units([acts[name] for acts in whole])
        for acts, mine in zip(whole, cut, strict=True):
            acts[name] = mine
    lost = {name: before[name] - len(whole[0][name]) for name in names}
    split, said = split_rows({n: a.units for n, a in whole[0].items()}, running.seed)
    models = []
    for title, acts in zip(unique_names(a[names[0]].name for a in whole), whole, strict=True):
        by_split = {name: acts[origin].select(rows) for name, (origin, rows) in split.items()}
        layers = "all" if source.corpus is not None else source.reading.layers
        chosen = {tuple(chosen_layers(some, layers)) for some in acts.values()}
        if len(chosen) > 1:
            raise LmkinError("The splits hold different layers: extract the same layers of each.")
        models.append(ModelRows(title, by_split, chosen.pop()))
    units = {name: some.units for name, some in models[0].by_split.items()}
    return AllRows(models, units, said, lost, info)


def _extracted(source: Source, running: Running, work: Workspace) -> list[dict[str, Activations]]:
    """Activations of the whole corpus, of each model, cut into its splits."""
    reading = {k: v for k, v in asdict(source.reading).items() if v is not None}
    stores = extract_models(
        source.models, source.sentences, work, progress=running.progress, **reading
    )
    corpora = source.corpora
    if corpora is None:
        return [{"": acts} for acts in stores]
    ends = np.cumsum([len(c) for c in corpora.values()])
    cut = []
    for acts in stores:
        owner = np.searchsorted(ends, acts.units.sentence, "right")
        cut.append(
            {name: acts.select(np.flatnonzero(owner == k)) for k, name in enumerate(corpora)}
        )
        for name, some in cut[-1].items():
            if not len(some):
                raise LmkinError(f"{quoted(name)} has no {some.units.kind}s: nothing can be read.")
    return cut


def _stores(source: Source) -> list[dict[str, Activations]]:
    """Stored activations; of each the layers that were asked for."""
    by_split = source.stores_by_split
    if by_split is not None:
        names = {acts.name for acts in by_split.values()}
        if len(names) > 1:
            raise LmkinError(
                f"The splits are of different models: {', '.join(sorted(names))}. A probe that is fitted on one "
                f"says nothing on another."
            )
        return [dict(by_split)]
    if isinstance(source.given, Mapping):
        raise LmkinError(
            "Probes read stored activations, or models with a corpus, which know their words and tags. For arrays "
            "there is lmkin.Probe: Probe().fit(X, y)."
        )
    return [{"": open_store(spec)} for spec in source.specs]


def split_rows(
    units: Mapping[str, Units], seed: int
) -> tuple[dict[str, tuple[str, IntArray]], str]:
    """Of train, dev and test, from which of the given parts they come and which rows; and how, in words."""
    if "" in units:
        owner, groups = owners_of_units(units[""], _FEWEST)
        split = make_split(len(units[""]), SHARES, parts=1, seed=seed, owner=owner)
        rows = {name.replace("validation", "dev"): split.rows(name) for name in SHARES}
        said = f"80 % train, 10 % dev and 10 % test of the corpus, in whole {groups}, seed {seed}"
        return {name: ("", mine) for name, mine in rows.items()}, said
    every = {name: np.arange(len(some)) for name, some in units.items()}
    if "dev" in units and "test" in units:
        return {name: (name, every[name]) for name in SPLITS}, "as given"
    test = "test" if "test" in units else "dev"
    owner, groups = owners_of_units(units["train"], _FEWEST)
    drawn = make_split(
        len(units["train"]),
        {"train": 1 - _DEV, "validation": _DEV},
        parts=1,
        seed=seed,
        owner=owner,
    )
    said = f"dev is 10 % of train, in whole {groups}, seed {seed}"
    if test == "dev":
        said += "; what was given as dev is the test, for there is no other"
    return {
        "train": ("train", drawn.rows("train")),
        "dev": ("train", drawn.rows("validation")),
        "test": (test, every[test]),
    }, said
