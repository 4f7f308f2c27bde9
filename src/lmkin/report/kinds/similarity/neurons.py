"""Neurons of two models that go up and down together: the pairs with the largest correlations."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import xarray as xr

from ....results import ResultTable
from ...page import Chapter, Option, Switch, Table
from ...tables import table_of
from ..layer_pairs import LayerPairs
from ..layer_pairs.view import PLACE

MATCH, CORRELATION = "neuronsim_match", "neuronsim_match_r"
MOST = 20
"""Pairs of neurons that a table has."""


def neurons_chapter(view: LayerPairs) -> Chapter | None:
    """For each pair of models, the neurons that are best matched; None where single neurons were not kept."""
    dataset = view.dataset
    if MATCH not in dataset or CORRELATION not in dataset or len(view.models) < 2:
        return None
    options, tables = [], []
    for key, a, b in _directions(view):
        options.append(Option(key, f"{view.models[a]} in {view.models[b]}"))
        tables.append(Table(neuron_table(dataset, a, b), when={"pair": key}))
    return Chapter(
        "Neurons best matched across models",
        paragraphs=[
            "For every neuron of the first model, the neuron of the second that it correlates with most, in any layer: "
            f"the {MOST} pairs with the largest |r|, over all units. A neuron of a later layer may be the one of an "
            "earlier layer, passed on by a residual connection."
        ],
        switches=[Switch("pair", "Neurons of:", options)],
        tables=tables,
    )


def _directions(view: LayerPairs) -> Iterator[tuple[str, int, int]]:
    count = len(view.models)
    for a in range(count):
        for b in range(count):
            if a != b:
                yield f"{a}-{b}", a, b


def neuron_table(dataset: xr.Dataset, a: int, b: int) -> ResultTable:
    """The best matched neurons of two models: a line a neuron of the first, with its best match in any layer."""
    one = {"model_x": a, "model_y": b}
    match, r = (dataset[name].isel(one) for name in (MATCH, CORRELATION))
    for dimension in set(r.dims) - {*PLACE, "neuron"}:  # what does not see the scaling is the same
        match, r = (v.isel({dimension: 0}) if dimension in v.dims else v for v in (match, r))
    order = ("layer_x", "neuron", "layer_y")
    partners = np.asarray(match.transpose(*order).values)
    values = np.abs(np.asarray(r.transpose(*order).values, np.float64))
    values = np.where((partners >= 0) & np.isfinite(values), values, -1.0)
    best = values.argmax(-1)  # the layer of the second model, for each neuron of the first
    top = np.take_along_axis(values, best[..., None], -1)[..., 0]
    ranked = np.argsort(-top.ravel(), kind="stable")[:MOST]
    xs, ys = (dataset[name].values for name in ("layer_x", "layer_y"))
    lines: list[list[object]] = []
    for layer, neuron in zip(*np.unravel_index(ranked, top.shape), strict=True):
        if top[layer, neuron] < 0:
            break
        other = best[layer, neuron]
        partner = int(partners[layer, neuron, other])
        place = [int(xs[layer]), int(neuron), int(ys[other]), partner]
        lines.append([len(lines) + 1, *place, float(top[layer, neuron])])
    columns = [
        ("rank", "count"),
        ("layer", "count"),
        ("neuron", "plain"),
        ("layer of its match", "count"),
        ("neuron", "plain"),
        ("|r|", "number"),
    ]
    return table_of("neurons", columns, lines)
