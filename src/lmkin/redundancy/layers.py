"""Which layers are nearly copies of their neighbours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from .. import __version__
from ..activations import Activations, extract
from ..arguments import check_replicates
from ..corpus import Corpus
from ..dependency import decompose
from ..dependency.ridge import Ridge
from ..dependency.sources import starts_of
from ..dependency.splitting import make_split
from ..errors import MeasureError, did_you_mean
from ..measures import similarities
from ..moments import Group, Moments, row_source
from ..moments.parts import PARTS
from ..moments.planning import parse_memory
from ..moments.sources import SlicedSource
from ..progress import progress_bar
from ..results import average_similarity

_ROWS_A_NEURON = 20
"""With fewer rows to fit on, the ridge is chosen on validation rows."""
_PARTS = ("", "_se", "_low", "_high")


def layer_redundancy(
    source: Any,
    corpus: Corpus | str | Path | None = None,
    *,
    parts: int = PARTS,
    layers: Any = "all",
    units: str = "word",
    ridge: str | float = "auto",
    level: float = 0.95,
    seed: int = 0,
    memory: float | str | None = None,
    progress: bool | None = None,
    say: Callable[[str], None] | None = None,
    **reading: Any,
) -> xr.Dataset:
    r"""Layers that are nearly copies of those before them, as candidates to drop.

    For every layer but the first: ``r2``, how much of it a linear map of the layer before explains, on words that the
    map was not fitted on; ``cka``, the (unbiased) CKA of the two; ``rank``, 1 for the layer that adds least, by
    ``r2``. For all pairs ``cka_all``, and ``average``, the mean CKA of a layer with all others of its model
    :math:`\sum_{j \ne l} \mathrm{cka}(l, j) / (m - 1)` (Dalvi et al. 2020). Each with ``_se``, ``_low``, ``_high``.

    Parameters
    ----------
    source, corpus
        Activations, or a list of them; a dict of arrays ``{"model/layer": units × neurons}``; or models with a corpus.
    parts, level
        Blocks of the corpus for the jackknife, and the level of the intervals.
    layers, units, reading
        As for :func:`lmkin.extract`.
    ridge
        As for :func:`lmkin.decompose`; but ``"auto"`` is the best on validation rows where there are fewer than 20 rows
        a neuron to fit on, for a map would learn them by heart.
    seed
        For the words that maps are fitted on (0.8) and scored on (0.1; the rest may choose the ridge).
    memory
        A budget such as ``"8GB"``.
    progress, say
        Show a progress bar; who is told how the work goes.
    """
    settings = {"ridge": ridge, "level": level, "parts": parts, "seed": seed, "memory": memory}
    _check(**settings)
    if corpus is not None:
        if isinstance(source, Mapping | Activations | Moments) or source is None:
            raise MeasureError(
                "A corpus is for models to read; arrays and activations are rows that were made before."
            )
        models = [source] if not isinstance(source, Sequence) or isinstance(source, str) else source
        source = [
            extract(m, corpus, layers=layers, units=units, progress=progress, **_known(reading))
            for m in models
        ]
        layers = "all"
        reading = {}
    rows = row_source(source, parts=parts, layers=layers, **reading)
    if not isinstance(rows, SlicedSource):
        raise MeasureError(
            "Layers are compared from activations or arrays, or from models with a corpus."
        )
    by_model: dict[str, list[Group]] = {}
    for group in rows.widths:
        by_model.setdefault(group.model, []).append(group)
    by_model = {name: sorted(groups, key=lambda g: g.layer) for name, groups in by_model.items()}
    for name, groups in by_model.items():
        if len(groups) < 2:
            raise MeasureError(
                f"{name} has one layer here, and layers are compared with each other: take two at least."
            )
    split = _split(rows, seed)
    found = []
    for name, groups in by_model.items():
        alike = similarities(
            _Chosen(rows, groups), "ckasim", intervals=parts > 1, level=level, memory=memory, seed=seed,
            progress=progress,
        )  # fmt: skip
        found.append(_of_cka(alike, name, groups))
    steps = sum(len(groups) - 1 for groups in by_model.values())
    with progress_bar("layers", steps, "maps", show=progress) as advance:
        for table, groups in zip(found, by_model.values(), strict=True):
            maps = [
                _map(rows, a, b, split, settings, table.attrs["alerts"], advance)
                for a, b in pairwise(groups)
            ]
            for part in maps[0]:
                table[f"r2{part}"] = (("layer",), np.array([np.nan, *(m[part] for m in maps)]))
            order = np.argsort(-table["r2"].values[1:], kind="stable")
            rank = np.full(len(groups), np.nan)
            rank[order + 1] = np.arange(1, len(groups))
            table["rank"] = (("layer",), rank)
    result = xr.concat(
        found, xr.DataArray(list(by_model), dims="model", name="model"), join="outer",
        combine_attrs="drop",
    )  # fmt: skip
    info = dict(rows.info)
    result.attrs = {
        "units": info.get("units", "row"),
        "corpus": info.get("corpus", ""),
        "n": int(rows.n),
        "level": level,
        "parts": parts,
        "alerts": list(dict.fromkeys(a for t in found for a in t.attrs["alerts"])),
        "provenance": {"lmkin": __version__, "source": info, "seed": seed, "ridge": ridge},
    }
    return result


def _check(ridge: Any, level: Any, parts: Any, seed: Any, memory: Any) -> None:
    """Errors for options, before a model runs."""
    Ridge.make(ridge, "relative", released=False)
    check_replicates(level, parts, seed)
    parse_memory(memory)


def _known(reading: dict[str, Any]) -> dict[str, Any]:
    known = (
        "pooling",
        "first_token",
        "special_tokens",
        "long",
        "overlap",
        "max_length",
        "batch_tokens",
    )
    for name in reading:
        if name not in known:
            raise MeasureError(f"Unknown option {name!r}. {did_you_mean(name, known)}")
    return reading


def _split(rows: SlicedSource, seed: int) -> dict[str, Any]:
    """Rows to fit on and to score on, by whole documents or sentences where they are known."""
    try:
        made = make_split(rows.n, seed=seed, parts=1, starts=starts_of(rows))
    except MeasureError:
        raise MeasureError(
            f"{rows.n} {rows.unit}s are too few to fit maps between layers on some and score them on others. Take more "
            f"text; or leave the maps out (on the command line --no-layer-maps)."
        ) from None
    return {name: made.rows(name) for name in made.parts}


class _Chosen(SlicedSource):
    """Some groups of a source."""

    def __init__(self, rows: SlicedSource, groups: Sequence[Group]):
        self.arrays = {g: rows.arrays[g] for g in groups}
        self.widths = {g: rows.widths[g] for g in groups}
        self.part, self.info = rows.part, rows.info
        self.resident, self.double = rows.resident, rows.double
        self.unit, self.units = rows.unit, rows.units


def _of_cka(alike: xr.Dataset, name: str, groups: Sequence[Group]) -> xr.Dataset:
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
    found = xr.Dataset(variables, coords={"layer": layers, "other": layers})
    found.attrs["alerts"] = list(alike.attrs.get("alerts", []))
    return found


def _map(
    rows: SlicedSource,
    before: Group,
    after: Group,
    split: dict[str, Any],
    settings: dict[str, Any],
    alerts: list[str],
    advance: Callable[[int], None],
) -> dict[str, float]:
    """R² of a layer by the one before, on test rows; an alert of a kind that is new goes to ``alerts``."""
    pair = {f"layer {g.layer}": rows.arrays[g] for g in (before, after)}
    few = len(split["train"]) < _ROWS_A_NEURON * rows.widths[before]
    ridge = "validation" if few and settings["ridge"] == "auto" else settings["ridge"]
    found = decompose(
        pair, split=split, intervals=settings["parts"] > 1, null=False, progress=False,
        **settings | {"ridge": ridge},
    )  # fmt: skip
    known = {a.partition(":")[0] for a in alerts}
    alerts += [a for a in found.alerts if a.partition(":")[0] not in known | {"repeats"}]
    basis, target = pair
    chosen = found.data.sel(split="test", basis=basis, target=target)
    advance(1)
    return {p: float(chosen[f"r2_pair{p}"]) for p in _PARTS if f"r2_pair{p}" in chosen}
