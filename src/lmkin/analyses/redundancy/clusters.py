"""`cluster_neurons`: from activations or moments to clusters of neurons."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Unpack

import numpy as np

from ...core import (
    LayerId,
    MeasureError,
    as_data,
    check_seed,
    did_you_mean,
    progress_bar,
    quoted,
    refuse_unused,
)
from ...corpus import Corpus
from ...models import ReadingOptions, check_reading
from ...moments import Moments, accumulate, choose_precision
from ...results import make_provenance
from ...rows import SlicedSource, row_source
from .alerts import find_alerts
from .clustering import Clustering, Neurons
from .correlations import (
    Correlations,
    Matrix,
    Scale,
    matrix_of_moments,
    matrix_of_rows,
    tiles_of_rows,
)
from .linkage import LINKAGES, Tree, link
from .memory_plan import ClusterRoute, plan_clustering
from .neuron_mask import identity_of
from .tiled_linkage import TILE, grow

THRESHOLDS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
Linkage = Literal["average", "complete", "single"]
Representative = Literal["random", "medoid"]
REPRESENTATIVES = ("random", "medoid")
_log = logging.getLogger("lmkin")


def cluster_neurons(
    source: Any,
    corpus: Corpus | str | Path | None = None,
    *,
    thresholds: float | Sequence[float] = THRESHOLDS,
    linkage: Linkage = "average",
    representative: Representative = "random",
    seed: int = 0,
    precision: Literal["float32", "float64"] | None = None,
    memory: float | str | None = None,
    progress: bool | None = None,
    **reading: Unpack[ReadingOptions],
) -> Clustering:
    r"""Cluster the neurons of all layers of a model by correlation: those that say the same thing (Dalvi et al. 2020).

    Distance :math:`1 - |r|` with Pearson's r over the words, agglomerative clustering with average linkage, cut at
    thresholds from 0 (copies only) to 1. One tree serves every threshold. Several models are clustered each by itself.

    Parameters
    ----------
    source
        Activations, or a list of them; a dict of arrays ``{"model/layer": units × neurons}``; moments; or models with
        a ``corpus``.
    corpus
        What models are to read; not for activations, arrays and moments.
    thresholds
        Where the tree is cut: a cluster's merges all lie at or below.
    linkage
        ``average``, ``complete`` or ``single``.
    representative, seed
        Which neuron of a cluster is kept: ``random``, drawn with ``seed``, or ``medoid``, the one with the highest mean
        correlation with all others of the cluster.
    precision
        Of the correlations, ``float32`` or ``float64``; by default what suits the arrays and their width.
    memory
        A budget such as ``"8GB"``. Where the matrix of all correlations does not fit, clusters are found in connected
        components, from tiles: exact, too, up to the highest threshold; one that cannot be reached is left out, and
        an alert says so.
    progress
        Show progress bars; by default where there is a terminal or a notebook.
    reading
        How models read the corpus, as for :func:`lmkin.extract`; of activations, ``layers``.
    """
    check_reading(reading, cluster_neurons)
    cuts = _thresholds(thresholds)
    if linkage not in LINKAGES:
        raise MeasureError(
            f"Unknown linkage {quoted(linkage)}. {did_you_mean(str(linkage), LINKAGES)}"
        )
    if representative not in REPRESENTATIVES:
        known = did_you_mean(str(representative), REPRESENTATIVES)
        raise MeasureError(
            f"A representative is random or medoid; got {quoted(representative)}. {known}"
        )
    check_seed(seed)
    options = _Options(cuts, linkage, representative, seed, precision, memory, progress)
    if isinstance(source, Moments):
        if corpus is not None:
            raise MeasureError("Moments are sums: no corpus can be added to them.")
        unused = {"precision": precision} if precision is not None else {}
        refuse_unused({**unused, **reading}, "Moments are sums that were made before")
        rows: Any = source
    else:
        if corpus is not None and isinstance(source, Mapping):
            raise MeasureError(
                "Arrays are rows that were made before: no corpus can be added to them."
            )
        rows = row_source(source, corpus, parts=1, **reading)
    _require(rows)
    plans = _plans(rows, options)
    neurons: dict[str, Neurons] = {}
    for name in dict.fromkeys(g.model for g in rows.widths):
        groups = [g for g in rows.widths if g.model == name]
        mine = rows
        if not isinstance(rows, Moments | SlicedSource):  # models that run: sums of one at a time
            mine = accumulate(
                rows.only(groups),
                keep_parts=False,
                precision=precision,
                sample_rows=0,
                progress=progress,
            )
        neurons[name] = _cluster(mine, groups, plans[name], options)
    limit = min(m.tree.limit for m in neurons.values())
    reached = [t for t in cuts if t <= limit]
    if not reached:
        raise MeasureError(
            "Too many neurons hang together for the memory that there is: not even at the lowest threshold can they "
            "be clustered. Give more memory, or fewer layers."
        )
    info = dict(rows.info)
    attrs = {
        "units": info.get("units", "row"),
        "corpus": info.get("corpus", ""),
        "n": int(rows.n),
        "alerts": as_data(find_alerts(neurons, cuts, reached, int(rows.n), info)),
        "provenance": make_provenance(
            analysis="redundancy",
            options={
                "thresholds": cuts,
                "linkage": linkage,
                "representative": representative,
                "precision": precision,
            },
            source=info,
            running={"memory": memory, "seed": seed},
        ),
    }
    return Clustering(
        neurons, reached, linkage=linkage, representative=representative, seed=seed, attrs=attrs
    )


@dataclass(frozen=True)
class _Options:
    """What is the same for all models."""

    thresholds: Sequence[float]
    linkage: str
    representative: str
    seed: int
    precision: str | None
    memory: float | str | None
    progress: bool | None


def _thresholds(given: float | Sequence[float]) -> list[float]:
    try:
        numbers = np.unique(np.asarray(given, np.float64).reshape(-1)).tolist()
    except (TypeError, ValueError):
        numbers = []
    if not numbers or not all(0 <= t <= 1 for t in numbers):
        raise MeasureError(f"Thresholds are numbers from 0 to 1, such as 0.3; got {quoted(given)}.")
    return [float(t) for t in numbers]


def _require(rows: Any) -> None:
    if rows.n < 3:
        raise MeasureError(f"Correlations need three rows at least; there are {rows.n}.")


def _precision(rows: Any, width: int, options: _Options) -> str:
    if isinstance(rows, Moments):
        return str(rows.precision)
    return choose_precision(options.precision, double=rows.double, width=width)


def _plans(rows: Any, options: _Options) -> dict[str, ClusterRoute]:
    """How each model is clustered. Raise if one does not fit, before anything runs."""
    widths: dict[str, int] = {}
    for group, width in rows.widths.items():
        widths[group.model] = widths.get(group.model, 0) + width
    return {
        name: plan_clustering(
            width,
            rows.n if isinstance(rows, SlicedSource) else None,
            precision=_precision(rows, width, options),
            highest=options.thresholds[-1],
            memory=options.memory,
        )
        # The widest first: if it does not fit, that says what all need.
        for name, width in sorted(widths.items(), key=lambda item: -item[1])
    }


def _cluster(
    rows: Any, groups: Sequence[LayerId], plan: ClusterRoute, options: _Options
) -> Neurons:
    """The neurons of one model."""
    widths = [rows.widths[g] for g in groups]
    layer = np.repeat([g.layer for g in groups], widths)
    number = np.concatenate([np.arange(w) for w in widths])
    name, of_moments = groups[0].model, isinstance(rows, Moments)
    precision = _precision(rows, len(layer), options)
    _log.info("%s: %s neurons, %s rows. %s", name, f"{len(layer):,}", f"{rows.n:,}", plan)
    if of_moments:
        correlations: Correlations
        correlations, moves = matrix_of_moments(rows, groups)
    else:
        scale = Scale(rows, groups, precision)
        moves = scale.moves
        _require_moves(moves, name)
        make = matrix_of_rows if plan.route == "matrix" else tiles_of_rows
        with progress_bar(
            "correlations", rows.n, f"{rows.unit}s", show=options.progress
        ) as advance:
            correlations = make(scale, advance)
    _require_moves(moves, name)
    if isinstance(correlations, Matrix):
        D = np.subtract(1.0, correlations.R, dtype=np.float64)
        tree = link(D, linkage=options.linkage)
        del D
    else:
        tree = _grown(correlations, plan.most, options)
    places = np.flatnonzero(moves)
    reached = [t for t in options.thresholds if t <= tree.limit]
    medoids = {}
    if options.representative == "medoid":
        medoids = {t: places[_medoids(correlations, tree.labels(t))] for t in reached}
    turn = np.random.default_rng(options.seed).permutation(len(layer))
    identity = identity_of(rows.info.get("manifests", {}).get(name, {}).get("model"))
    neurons = Neurons(layer, number, moves, tree, turn, medoids, identity)
    order = np.cumsum(moves) - 1
    for t in reached:
        mine = neurons.representatives(t)[neurons.labels(t)[places]]
        neurons.signs[t] = np.ones(len(layer), np.int8)
        neurons.signs[t][places] = correlations.signs(np.arange(len(places)), order[mine])
    return neurons


def _require_moves(moves: Any, name: str) -> None:
    if not moves.any():
        raise MeasureError(f"All neurons of {name} are constant: there is nothing to cluster.")


def _grown(correlations: Correlations, most: int, options: _Options) -> Tree:
    """The tree up to the highest threshold, from tiles."""
    n = correlations.n
    with progress_bar("tiles", n * (n + 1) // 2, "pairs", show=options.progress) as advance:
        return grow(
            correlations,
            options.thresholds[-1],
            most=most,
            linkage=options.linkage,
            stops=options.thresholds,
            advance=advance,
        )


def _medoids(correlations: Correlations, labels: Any) -> Any:
    """Of every cluster the member with the highest mean |r| with all others; of equals the first."""
    order = np.argsort(labels, kind="stable")
    medoids = []
    for members in np.split(order, np.cumsum(np.bincount(labels))[:-1]):
        if len(members) < 3:
            medoids.append(members[0])
            continue
        total = np.zeros(len(members))
        strips = [slice(start, start + TILE) for start in range(0, len(members), TILE)]
        for some in strips:
            for others in strips:
                block = correlations.block(members[some], members[others])
                total[some] += block.sum(1, dtype=np.float64)
        medoids.append(members[int(np.argmax(total.round(6)))])
    return np.array(medoids)
