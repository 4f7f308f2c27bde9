"""Chapters of layers: those that are nearly copies, and all against all."""

from __future__ import annotations

import numpy as np

from ....results import format_value
from ...page import Chapter, Figure, Table
from ...tables import SAME
from ..similarity.curves import layers_table
from .drop_layers import (
    before,
    cka_heatmap,
    cka_table,
    drop_layers_chart,
    drop_layers_table,
    layer_lines,
    ranked,
)
from .view import LayersView, model_switch, of_all

_MOST_SQUARE = 520
_MOST_LAYERS = 20
"""A table of more layers × layers than this is for programs."""


def _adds_least(view: LayersView, model: int) -> str:
    order = ranked(view, model)
    value, error = view.numbers("r2"), view.numbers("r2_se")
    assert value is not None
    if not order or not np.isfinite(value[model, order[0]]):
        return f"Of {view.models[model]} there is no layer to rank."
    k = order[0]
    told = format_value(value[model, k], None if error is None else error[model, k])
    return (
        f"In {view.models[model]}, layer {view.layer_numbers[k]} adds least: a linear regression on layer "
        f"{before(view, model, k)} explains {told} of it."
    )


def drop_chapter(view: LayersView) -> Chapter:
    """Candidates to drop, ranked."""
    notes = [_adds_least(view, m) for m in range(len(view.models))]
    known = any(view.has_intervals(n) for n in ("r2", "cka"))
    caption = (
        f"Bars are {view.level} intervals; where they overlap, the order may be chance. "
        if known
        else "No intervals were computed: how far the order is chance is not known. "
    )
    figures = []
    if any(ranked(view, m) for m in range(len(view.models))):
        figures.append(
            Figure(
                drop_layers_chart(view),
                caption=caption + "Point at a mark for its value.",
                name="redundancy-drop",
            )
        )
    if len(view.models) > 1:
        figures.append(
            Figure(
                layer_lines(view, "r2"),
                caption="The same R² in the order of the layers, all models beside each other.",
                name="redundancy-r2",
            )
        )
    return Chapter(
        "Layers that are nearly copies",
        paragraphs=[
            "Candidates to drop, the first one first: layers that a linear regression on the layer before explains "
            "best (R², on held-out words), and that are like it (CKA, which weighs directions of large variance more).",
            "This is linear agreement, not a test of a task: what a layer adds may be small, or not linear, and yet be "
            "what a task needs. Drop a layer, then measure.",
            *(notes if len(notes) == 1 else []),
        ],
        figures=figures,
        switches=model_switch(view, notes),
        tables=[
            Table(drop_layers_table(view, m), folded=SAME, when={"model": key})
            for m, key in enumerate(view.keys)
        ],
    )


def cka_chapter(view: LayersView) -> Chapter:
    """All layers against all, and the average of each."""
    size = min(_MOST_SQUARE, 120 + 40 * len(view.layer_numbers))
    caption = "The darker, the more alike. Point at a cell for its value"
    caption += " ± standard error." if view.has_intervals("cka_all") else "."
    average = "The mean of a layer's row, without itself."
    if view.has_intervals("average"):
        average += f" The band is the {view.level} interval."
    averages = of_all(view, "average")
    tables = [
        Table(
            layers_table(view.models, view.layer_numbers, averages[""], averages.get("_se")),
            folded="Average of every layer, as a table",
        )
    ]
    if len(view.layer_numbers) <= _MOST_LAYERS:
        tables += [
            Table(cka_table(view, m), folded="All layers with all, as a table", when={"model": key})
            for m, key in enumerate(view.keys)
        ]
    return Chapter(
        "All layers of a model against all",
        paragraphs=[
            "Blocks of dark cells are runs of layers that say much the same. A layer with a low average stands apart "
            "from the others."
        ],
        figures=[
            Figure(cka_heatmap(view), caption=caption, name="redundancy-cka", square=size),
            Figure(layer_lines(view, "average"), caption=average, name="redundancy-average"),
        ],
        switches=model_switch(view),
        tables=tables,
    )
