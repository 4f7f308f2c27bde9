"""One head at a time: its nearest kin, its place on a map of all heads, and the group that it repeats."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...core import MeasureError, quoted
from ...results import Result
from .maps import SINKS, Sink

THRESHOLD = 0.1
"""Divergence in bits up to which heads count as doing the same."""
FloatTable = NDArray[np.float64]


def attention_heads(
    result: xr.Dataset | Result, *, sink: Sink | None = None, threshold: float = THRESHOLD
) -> xr.Dataset:
    """Nearest heads, a map of all, and groups of redundant ones, from a result of `attention_similarity` with ``js``.

    For every head:

    - ``nearest`` and ``nearest_js``: the most similar other head, and how similar it is;
    - ``elsewhere`` and ``elsewhere_js``: the most similar head of *another model* (empty where there is one model);
    - ``map`` (head × 2): classical scaling of the Jensen-Shannon distance (the root of the divergence) of all heads;
      ``map_share`` is the fraction of the squared distances that each axis shows;
    - ``group``: heads of one model of which any two differ by at most ``threshold`` bits (complete linkage), the
      largest group first; ``stays`` is true for the head in the middle of its group, false for those that could go.

    "Could go" means: another head of the model looks at the same words. Whether a task can do without it, a test with
    that task must tell. ``sink`` is ``dropped`` or ``kept``; by default what the result shows first.
    """
    result = result.dataset if isinstance(result, Result) else result
    if "js_heads" not in result:
        raise MeasureError(
            "Single heads are compared by js: make the result with attention_similarity(…, measures='js'), or more."
        )
    shown_sink = sink or str(result.attrs.get("sink", result["sink"].values[0]))
    if shown_sink not in SINKS:
        raise MeasureError(f"sink is 'dropped' or 'kept'; got {quoted(sink)}.")
    check_threshold(threshold)
    similarity = result["js_heads"].sel(sink=shown_sink).values
    if np.isnan(similarity).any():
        raise MeasureError(
            "Without the sink there is nothing to compare here: the sentences are too short. Take sink='kept'."
        )
    divergence = np.maximum(_bits(similarity, result), 0)
    np.fill_diagonal(divergence, 0)
    names = [str(n) for n in result["head_name"].values]
    models = result["head_model"].values
    other = models[:, None] != models[None, :]
    nearest = _nearest(similarity, ~np.eye(len(names), dtype=bool))
    elsewhere = _nearest(similarity, other)
    places, shares = classical_scaling(divergence)
    group, stays = groups_of_heads(divergence, models, threshold)
    head = ("head",)
    return xr.Dataset(
        {
            "nearest": (head, _named(names, nearest)),
            "nearest_js": (head, _valued(similarity, nearest)),
            "elsewhere": (head, _named(names, elsewhere)),
            "elsewhere_js": (head, _valued(similarity, elsewhere)),
            "map": (("head", "axis"), places),
            "map_share": (("axis",), shares),
            "group": (head, group),
            "stays": (head, stays),
            "sink_share": (head, result["sink_share"].values),
        },
        coords={
            "head": names,
            "model": (head, models),
            "layer": (head, result["head_layer"].values),
            "number": (head, result["head_number"].values),
        },
        attrs={"sink": shown_sink, "threshold": threshold, **_kept(result.attrs)},
    )


def check_threshold(threshold: float) -> None:
    """Raise if a threshold is no divergence."""
    if not isinstance(threshold, Real) or not 0 <= threshold <= 1:
        raise MeasureError(
            f"threshold is a divergence in bits, from 0 to 1; got {quoted(threshold)}."
        )


def _bits(similarity: FloatTable, result: xr.Dataset) -> FloatTable:
    """Divergence in bits, also where the authors' natural units were asked for."""
    natural = bool(result["js"].attrs.get("released", 0))
    return (1 - similarity) / (np.log(2) if natural else 1.0)


def _nearest(similarity: FloatTable, allowed: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The most similar of those that are allowed; -1 where none is."""
    masked = np.where(allowed, similarity, -np.inf)
    return np.where(allowed.any(1), masked.argmax(1), -1)


def _named(names: list[str], numbers: NDArray[np.int64]) -> list[str]:
    return [names[k] if k >= 0 else "" for k in numbers]


def _valued(similarity: FloatTable, numbers: NDArray[np.int64]) -> FloatTable:
    values = similarity[np.arange(len(numbers)), numbers]
    return np.where(numbers >= 0, values, np.nan)


def _kept(attrs: dict[Any, Any]) -> dict[Any, Any]:
    return {k: attrs[k] for k in ("corpus", "n", "sentences", "models") if k in attrs}


def classical_scaling(squares: FloatTable, axes: int = 2) -> tuple[FloatTable, FloatTable]:
    """Points whose squared distances are as near as may be to ``squares`` (Torgerson 1952), and each axis's fraction.

    The sign of an axis is chosen so that its largest coordinate is positive.
    """
    n = len(squares)
    centred = squares - squares.mean(0)[None, :] - squares.mean(1)[:, None] + squares.mean()
    values, vectors = np.linalg.eigh(-centred / 2)
    order = np.argsort(values)[::-1][:axes]
    positive = np.maximum(values, 0)
    points = np.zeros((n, axes))
    shares = np.zeros(axes)
    for axis, k in enumerate(order):
        vector = vectors[:, k]
        vector = vector * (1 if vector[np.abs(vector).argmax()] > 0 else -1)
        points[:, axis] = vector * np.sqrt(positive[k])
        shares[axis] = positive[k] / positive.sum() if positive.sum() > 0 else 0.0
    return points, shares


def groups_of_heads(
    divergence: FloatTable, models: NDArray[Any], threshold: float
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Group of every head inside its model, and whether it is the one in the middle of it."""
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    group = np.zeros(len(models), np.int64)
    stays = np.zeros(len(models), bool)
    for model in dict.fromkeys(models.tolist()):
        mine = np.flatnonzero(models == model)
        D = divergence[np.ix_(mine, mine)]
        D = (D + D.T) / 2
        labels = np.ones(len(mine), int)
        if len(mine) > 1:
            tree = linkage(squareform(D, checks=False), "complete")
            labels = fcluster(tree, threshold + 1e-12, "distance")
        members = [np.flatnonzero(labels == k) for k in np.unique(labels)]
        members.sort(key=lambda m: (-len(m), m[0]))
        for number, some in enumerate(members):
            group[mine[some]] = number
            stays[mine[some[D[np.ix_(some, some)].sum(1).argmin()]]] = True
    return group, stays
