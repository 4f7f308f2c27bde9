"""`redundancy`: clusters of neurons, what layers add, clusters over a sentence; each kept when it is finished."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Unpack

import numpy as np
import xarray as xr

from ...activations import Activations, extract, finished_key, open_activations
from ...core import (
    PARTS,
    Alert,
    AlertKind,
    MeasureError,
    __version__,
    check_intervals,
    check_seed,
    quoted,
    slugs,
    unique_names,
)
from ...corpus import Corpus, read_corpus
from ...models import LanguageModel, ReadingOptions, check_reading, load_model
from ...results import load_result, save_result
from ...rows import Workspace
from .clustering import Clustering
from .clusters import THRESHOLDS, Linkage, Representative, cluster_neurons
from .layers import layer_redundancy
from .result import Redundancy, usual_threshold
from .sentence_rows import Shown, read_sentence, stored_sentence
from .strips import cluster_strips

_log = logging.getLogger("lmkin")


def redundancy(
    source: Any,
    corpus: Corpus | str | Path | None = None,
    *,
    thresholds: float | Sequence[float] = THRESHOLDS,
    linkage: Linkage = "average",
    representative: Representative = "random",
    keep_at: float | Sequence[float] | None = None,
    sentence: str | int | None = None,
    strips_at: float | None = None,
    clusters: int = 3,
    layer_regressions: bool = True,
    ridge: str | float = "auto",
    intervals: bool = True,
    level: float = 0.95,
    parts: int = PARTS,
    store_dtype: Literal["float32", "float16"] = "float32",
    keep_activations: bool = False,
    memory: float | str | None = None,
    seed: int = 0,
    workspace: str | Path | None = None,
    progress: bool | None = None,
    **reading: Unpack[ReadingOptions],
) -> Redundancy:
    """Find redundant neurons, by correlation clustering, and redundant layers, by regression: of every model by itself.

    Parameters
    ----------
    source
        Activations (or folders of them), one or several; models with a ``corpus``; or a dict of arrays
        ``{"model/layer": units × neurons}``.
    corpus
        What models are to read; not for arrays and activations.
    thresholds, linkage, representative
        As for :func:`lmkin.cluster_neurons`.
    keep_at
        Thresholds at which members of clusters, and masks of the neurons that are kept, are written. By default 0.3, or
        the threshold nearest to it.
    sentence
        Show what the largest clusters do over a sentence: a text, or its number in the corpus, from 1.
    strips_at
        The threshold of these clusters; by default 0.3, or the nearest.
    clusters
        How many of them.
    layer_regressions
        Also how much of every layer a linear regression on the one before explains, see
        :func:`lmkin.layer_redundancy`.
    ridge
        Of these regressions.
    intervals
        Standard errors and confidence intervals of what is said of layers, by a jackknife.
    level
        Confidence level of the intervals.
    parts
        How many blocks of whole documents the jackknife leaves out in turn.
    store_dtype
        Of activations that models are run for.
    keep_activations
        Leave them in ``workspace``, as ``NAME.acts``.
    memory
        A budget such as ``"8GB"`` for the peak of the whole process.
    seed
        Of random representatives, and of the rows that regressions are fitted on.
    workspace
        A folder for unfinished work, with the activations: the same call goes on from there after a kill.
    progress
        Show progress bars; by default where there is a terminal or a notebook.
    reading
        How models read the corpus, as for :func:`lmkin.extract`; of activations, ``layers``.
    """
    check_reading(reading, redundancy)
    check_intervals(intervals, level, parts)
    check_seed(seed)
    work = Workspace(workspace)
    if keep_activations and (work.folder is None or corpus is None):
        raise MeasureError(
            "Activations that models are run for are kept in the folder of unfinished work: give models, a corpus and "
            "workspace=…, or leave out keep_activations."
        )
    layers: Any = reading.get("layers", "all")
    shown: list[Shown] = []
    if corpus is not None:
        models = _models(source)
        texts = read_corpus(corpus) if isinstance(corpus, str | Path) else corpus
        if sentence is not None:
            shown = read_sentence(models, sentence, texts, reading)
        rows: Any = extract_models(
            models,
            texts,
            work,
            keep=work.folder if keep_activations else None,
            dtype=store_dtype,
            progress=progress,
            **reading,
        )
        layers = "all"
    else:
        rows = _rows(source)
        if sentence is not None:
            shown = stored_sentence(rows, sentence)
    return compute_redundancy(
        rows,
        thresholds=thresholds,
        linkage=linkage,
        representative=representative,
        keep_at=keep_at,
        shown=shown,
        strips_at=strips_at,
        clusters=clusters,
        layer_regressions=layer_regressions,
        ridge=ridge,
        intervals=intervals,
        parts=parts,
        level=level,
        layers=layers,
        memory=memory,
        seed=seed,
        work=work,
        progress=progress,
    )


def compute_redundancy(
    source: Any,
    *,
    thresholds: float | Sequence[float] = THRESHOLDS,
    linkage: Linkage = "average",
    representative: Representative = "random",
    keep_at: float | Sequence[float] | None = None,
    shown: Sequence[Shown] = (),
    strips_at: float | None = None,
    clusters: int = 3,
    layer_regressions: bool = True,
    ridge: str | float = "auto",
    intervals: bool = True,
    parts: int = PARTS,
    level: float = 0.95,
    layers: Any = "all",
    memory: float | str | None = None,
    seed: int = 0,
    work: Workspace | None = None,
    progress: bool | None = None,
) -> Redundancy:
    """Clusters of every model, what its layers add, and some clusters over a sentence, of rows that are there.

    ``shown``: for every model activations and the number of the sentence in them, see `read_sentence`; ``work``: where
    clusters and layers are kept when they are finished. The rest is as for `redundancy`.
    """
    kept = _numbers(keep_at)
    every = sorted({*_numbers(thresholds), *kept, *_numbers(strips_at)})
    identity = _identity(source)
    # Arrays say nothing of whether they are the same: of them nothing is kept.
    work = Workspace() if work is None or identity is None else work
    work = work.within(
        lmkin=__version__, activations=identity, layers=str(layers), seed=seed, memory=memory
    )
    clustering = work.within(thresholds=every, linkage=linkage, representative=representative).step(
        "clusters",
        lambda: cluster_neurons(
            source,
            thresholds=every,
            linkage=linkage,
            representative=representative,
            seed=seed,
            layers=layers,
            memory=memory,
            progress=progress,
        ),
        Clustering.save,
        Clustering.load,
    )
    by_layer = None
    if layer_regressions:
        by_layer = work.within(ridge=ridge, parts=parts if intervals else 0, level=level).step(
            "layers",
            lambda: layer_redundancy(
                source,
                ridge=ridge,
                intervals=intervals,
                parts=parts,
                level=level,
                seed=seed,
                layers=layers,
                memory=memory,
                progress=progress,
            ),
            save_result,
            load_result,
            ending="nc",
        )
    strips, alerts = make_strips(clustering, shown, strips_at, clusters)
    return Redundancy.of(
        clustering, by_layer, strips, keep_at=None if keep_at is None else kept, alerts=alerts
    )


def make_strips(
    clustering: Clustering, shown: Sequence[Shown], threshold: float | None, clusters: int
) -> tuple[list[xr.Dataset], list[Alert]]:
    """The largest clusters of every model over the sentence; and why there are none."""
    if not shown:
        return [], []
    at = usual_threshold(clustering.thresholds) if threshold is None else float(threshold)
    if at not in clustering.thresholds:
        text = (
            f"Clusters were not reached at {at:g}, where they were to be shown over the sentence."
        )
        return [], [Alert(AlertKind.NO_STRIPS, text)]
    strips, alerts = [], []
    for name, (acts, number) in zip(clustering.models, shown, strict=True):
        if clustering.sizes(at, name).max() < 2:
            text = (
                f"At {at:g} every neuron of {name} is alone. Take a higher threshold (strips_at)."
            )
            alerts.append(Alert(AlertKind.NO_STRIPS, text, name))
            continue
        strip = cluster_strips(acts, number, clustering, at, clusters=clusters, model=name)
        strip.attrs["model"] = name
        strips.append(strip)
    return strips, alerts


# -- activations --------------------------------------------------------------------------------------


def extract_models(
    models: Sequence[LanguageModel],
    corpus: Corpus,
    work: Workspace,
    *,
    keep: Path | None = None,
    **options: Any,
) -> list[Activations]:
    """Activations of one model after another; each model is let go when it has read everything.

    They are stored in ``work``, or in ``keep`` as ``NAME.acts``; in memory, where there is neither.
    """
    waiting = list(models)
    activations = []
    for slug in slugs(unique_names(m.name for m in waiting)):
        model = waiting.pop(0)
        store = None
        if keep is not None:
            store = keep / f"{slug}.acts"
        elif work.keeps:
            plain = re.sub(r"[^a-z0-9_-]", "-", slug.lower())
            store = work.within(model=model.identity(), corpus=corpus.hash).path(plain, "acts")
        earlier = None if store is None else finished_key(store)
        acts = extract(model, corpus, store, overwrite=store is not None, **options)
        if earlier == acts.manifest["key"]:
            _log.info("Going on: activations of %s are there from an earlier run.", acts.name)
        activations.append(acts)
        del model
    return activations


def _models(source: Any) -> list[LanguageModel]:
    if isinstance(source, Mapping | Activations):
        raise MeasureError(
            "A corpus is for models to read; arrays and activations are rows that were made before: leave it out."
        )
    several = isinstance(source, Sequence) and not isinstance(source, str)
    specs: Sequence[Any] = source if several else [source]
    return [m if isinstance(m, LanguageModel) else load_model(m) for m in specs]


def _rows(source: Any) -> Any:
    """A list of activations, opened; a dict of arrays as it is."""
    if isinstance(source, Mapping):
        return source
    one = isinstance(source, Activations | str | Path)
    stores = [source] if one else list(source)
    return [open_activations(s) if isinstance(s, str | Path) else s for s in stores]


def _identity(source: Any) -> list[Any] | None:
    """What activations are known by; None for arrays, of which nothing is known."""
    if isinstance(source, list) and all(isinstance(a, Activations) for a in source):
        return [[a.name, a.manifest["key"]] for a in source]
    return None


def _numbers(given: float | Sequence[float] | None) -> list[float]:
    if given is None:
        return []
    try:
        numbers = np.unique(np.asarray(given, np.float64).reshape(-1)).tolist()
    except (TypeError, ValueError):
        numbers = []
    if not numbers or not all(0 <= t <= 1 for t in numbers):
        raise MeasureError(f"Thresholds are numbers from 0 to 1, such as 0.3; got {quoted(given)}.")
    return [float(t) for t in numbers]
