"""Which layers are nearly copies of their neighbours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import xarray as xr

from ...activations import Activations, extract
from ...core import (
    PARTS,
    Alert,
    AlertKind,
    LayerId,
    MeasureError,
    Ridge,
    as_data,
    check_intervals,
    check_seed,
    make_split,
    parse_memory,
    progress_bar,
    to_numpy,
)
from ...corpus import Corpus
from ...models import ReadingOptions, check_reading
from ...moments import Moments
from ...results import average_similarity, make_provenance
from ...rows import SlicedSource, owners_of, row_source
from ..dependency import decompose_rows
from ..similarity import Similarity, similarity, ungrouped_alert

_PARTS = ("", "_se", "_low", "_high")


def layer_redundancy(
    source: Any,
    corpus: Corpus | str | Path | None = None,
    *,
    intervals: bool = True,
    parts: int = PARTS,
    ridge: str | float = "auto",
    level: float = 0.95,
    seed: int = 0,
    memory: float | str | None = None,
    progress: bool | None = None,
    **reading: Unpack[ReadingOptions],
) -> xr.Dataset:
    r"""Rank layers by how little they add to the layer before: candidates to prune.

    For every layer but the first: ``r2``, how much of it a linear regression on the layer before explains, on held-out
    words; ``cka``, the (unbiased) CKA of the two; ``drop_rank``, 1 for the layer that adds least, by
    ``r2`` (:func:`lmkin.ranked_layers` is the table in that order). For all pairs ``cka_all``, and ``average``, the
    mean CKA of a layer with all others of its model
    :math:`\sum_{j \ne l} \mathrm{cka}(l, j) / (m - 1)` (Dalvi et al. 2020). Each with ``_se``, ``_low``, ``_high``.

    Parameters
    ----------
    source, corpus
        Activations, or a list of them; a dict of arrays ``{"model/layer": units × neurons}``; or models with a corpus.
    intervals
        Standard errors and confidence intervals of every value, by a jackknife.
    parts
        How many blocks of whole documents the jackknife leaves out in turn.
    level
        Confidence level of the intervals.
    ridge
        As for :func:`lmkin.decompose`.
    seed
        For the words that maps are fitted on (0.8) and scored on (0.1; the rest may choose the ridge).
    memory
        A budget such as ``"8GB"``.
    progress
        Show progress bars; by default where there is a terminal or a notebook.
    reading
        How models read the corpus, as for :func:`lmkin.extract`; of activations, ``layers``.
    """
    Ridge.make(ridge)
    check_intervals(intervals, level, parts)
    check_seed(seed)
    parse_memory(memory)
    settings = {
        "ridge": ridge,
        "intervals": intervals,
        "level": level,
        "parts": parts,
        "seed": seed,
        "memory": memory,
    }
    check_reading(reading, layer_redundancy)
    layers: Any = reading.get("layers", "all")
    if corpus is not None:
        if isinstance(source, Mapping | Activations | Moments) or source is None:
            raise MeasureError(
                "A corpus is for models to read; arrays and activations are rows that were made before."
            )
        models = [source] if not isinstance(source, Sequence) or isinstance(source, str) else source
        source = [extract(m, corpus, progress=progress, **reading) for m in models]
        layers = "all"
    rows = row_source(source, parts=parts if intervals else 1, layers=layers)
    if not isinstance(rows, SlicedSource):
        raise MeasureError(
            "Layers are compared from activations or arrays, or from models with a corpus."
        )
    by_model: dict[str, list[LayerId]] = {}
    for group in rows.widths:
        by_model.setdefault(group.model, []).append(group)
    by_model = {name: sorted(groups, key=lambda g: g.layer) for name, groups in by_model.items()}
    for name, groups in by_model.items():
        if len(groups) < 2:
            raise MeasureError(
                f"{name} has one layer here, and layers are compared with each other: take two at least."
            )
    split = _split(rows, seed)
    tables = []
    own_alerts: dict[str, list[Alert]] = {}
    for name, groups in by_model.items():
        alike = similarity(
            rows.only(groups), measures="ckasim", neurons="raw", intervals=intervals, level=level, memory=memory,
            seed=seed, progress=progress,
        )  # fmt: skip
        tables.append(_of_cka(alike, name, groups))
        own_alerts[name] = list(alike.alerts)
    steps = sum(len(groups) - 1 for groups in by_model.values())
    with progress_bar("layers", steps, "maps", show=progress) as advance:
        for table, (name, groups) in zip(tables, by_model.items(), strict=True):
            maps = [
                _map(rows, a, b, split, settings, own_alerts[name], advance)
                for a, b in pairwise(groups)
            ]
            for part in maps[0]:
                table[f"r2{part}"] = (("layer",), np.array([np.nan, *(m[part] for m in maps)]))
            order = np.argsort(-table["r2"].values[1:], kind="stable")
            rank = np.full(len(groups), np.nan)
            rank[order + 1] = np.arange(1, len(groups))
            table["drop_rank"] = (("layer",), rank)
    result = xr.concat(
        tables, xr.DataArray(list(by_model), dims="model", name="model"), join="outer",
        combine_attrs="drop",
    )  # fmt: skip
    info = dict(rows.info)
    result.attrs = {
        "units": info.get("units", "row"),
        "corpus": info.get("corpus", ""),
        "n": int(rows.n),
        "level": level,
        "parts": parts if intervals else 0,
        "models": list(by_model),
        "alerts": as_data([*(a for some in own_alerts.values() for a in some), *_ungrouped(rows)]),
        "provenance": make_provenance(
            analysis="redundancy",
            options={"ridge": ridge, "intervals": intervals, "parts": parts, "level": level},
            source=info,
            running={"memory": memory, "seed": seed},
        ),
    }
    return result


def _split(rows: SlicedSource, seed: int) -> dict[str, Any]:
    """Rows to fit on and to score on, by whole documents or sentences where they are known."""
    try:
        made = make_split(rows.n, seed=seed, parts=1, owner=owners_of(rows))
    except MeasureError:
        raise MeasureError(
            f"{rows.n} {rows.unit}s are too few to fit regressions between layers on some and score them on others. "
            f"Take more text; or leave them out (layer_regressions=False)."
        ) from None
    return {name: made.rows(name) for name in made.parts}


def _ungrouped(rows: SlicedSource) -> list[Alert]:
    return [ungrouped_alert()] if rows.units is None else []


def _of_cka(alike: Similarity, name: str, groups: Sequence[LayerId]) -> xr.Dataset:
    """CKA of all pairs, of neighbours, and on average."""
    layers = [g.layer for g in groups]
    pick = {"model_x": name, "model_y": name, "layer_x": layers, "layer_y": layers}
    average = average_similarity(alike).sel(model=name, layer=layers)
    variables: dict[str, Any] = {}
    for part in _PARTS:
        if f"ckasim{part}" not in alike:
            continue
        square = alike[f"ckasim{part}"].sel(pick).values
        variables[f"cka_all{part}"] = (("layer", "other"), square)
        before = np.concatenate([[np.nan], np.diagonal(square, 1)])
        variables[f"cka{part}"] = (("layer",), before)
        variables[f"average{part}"] = (("layer",), average[f"ckasim{part}"].values)
    return xr.Dataset(variables, coords={"layer": layers, "other": layers})


def _map(
    rows: SlicedSource,
    before: LayerId,
    after: LayerId,
    split: dict[str, Any],
    settings: dict[str, Any],
    alerts: list[Alert],
    advance: Callable[[int], None],
) -> dict[str, float]:
    """R² of a layer by the one before, on test rows; an alert of a kind that is new goes to ``alerts``."""
    # The split is made: what the rows stand for has done its part.
    pair = {f"layer {g.layer}": np.asarray(to_numpy(rows.arrays[g])) for g in (before, after)}
    decomposition = decompose_rows(
        pair,
        split=split,
        permutation_baseline=False,
        progress=False,
        **settings,
    )
    known = {a.kind for a in alerts} | {AlertKind.REPEATED}
    alerts += [a for a in decomposition.alerts if a.kind not in known]
    basis, target = pair
    fit = decomposition.dataset.sel(split="test", basis=basis, target=target)
    advance(1)
    return {p: float(fit[f"r2_pair{p}"]) for p in _PARTS if f"r2_pair{p}" in fit}
