"""Heatmap of all pairs of models in a decomposition: rows explain, columns are explained."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import altair as alt
import numpy as np

from ....results import ResultTable
from ...charts.heatmap import LABEL, cell_numbers, cells, square_rows, unit_colour
from ...charts.style import CENTRED, centred_lines, layered
from ...charts.text import LINE, ROOM, no_room, short_names
from ...charts.values import ERRORS, calculations, column, tooltips
from ...names import FloatArray
from ...tables import table_of
from ..layer_pairs import Scaling
from .view import MEASURES, SYMMETRIC, DependencyView, rows_title, signals, way

_MOST_NUMBERS = 150_000
_FEW = 20
"""More models than these have no numbers in the cells of a chart, and no table."""
_LETTERS = 18
"""Of a line of a model's name."""
_BESIDE = 180
"""Pixels that names and titles may take."""
_MOST_SIZE = 540


def shown_pairs(view: DependencyView) -> DependencyView:
    """The view, or as much of it as a page has room for: the rows that count, and the longest texts."""
    for change in (
        {"split": [view.scored.name]},
        {"length": [view.dataset.sizes.get("length", 1) - 1]},
    ):
        cells = len(view.models) ** 2 * len(view.splits) * len(view.lengths)
        if cells > _MOST_NUMBERS and next(iter(change)) in view.dataset.dims:
            part = (
                view.dataset.sel(change)
                if "split" in change
                else view.dataset.sortby("length").isel(change)
            )
            view = DependencyView(part)
    return view


def pair_heatmap(view: DependencyView, name: str, *, size: int = 460) -> alt.LayerChart:
    """All pairs of models, rows the basis and columns the target; a model by itself is left grey."""
    n = len(view.models)
    ways = len(view.splits) * len(view.lengths)
    endings: tuple[str, ...] = ("", *ERRORS)
    # The page must stay small: first the ends of the intervals go, then the errors.
    while len(endings) > 1 and n * n * ways * len(endings) > _MOST_NUMBERS:
        endings = ("", "_se") if len(endings) > 2 else ("",)
    base = alt.Chart().transform_calculate(
        **calculations("'.4f'"),
        basis="names[datum.i]",
        target="names[datum.j]",
        spoken="datum.basis + ', ' + datum.target + ': ' + datum.value",
        label=LABEL,
    )
    symmetric = name in SYMMETRIC
    domain = alt.Scale(domain=list(range(n)), paddingInner=0, paddingOuter=0)

    def axis(title: str, **more: Any) -> alt.Axis:
        # Not a part of the width: the page makes the plot as wide as labels leave room, and would never come to rest.
        return alt.Axis(
            title=title,
            labelExpr="lettered ? letters[datum.value] : name_lines[datum.value]",
            labelLineHeight=LINE / 2,
            labelOffset=alt.expr(f"lettered ? 0 : {CENTRED}"),
            labelLimit=0,
            labelOverlap=n > _FEW,
            labelFontSize=11,
            labelPadding=5,
            **more,
        )

    across = axis(
        "the other" if symmetric else "target: is explained",
        labelAngle=alt.expr("lettered ? 0 : -90"),
        labelAlign=alt.expr("lettered ? 'center' : 'right'"),
        labelBaseline=alt.expr("lettered ? 'top' : 'middle'"),
    )
    down = axis("one model" if symmetric else "basis: explains")
    place: dict[str, Any] = {
        "x": alt.X("j:O", scale=domain, axis=across),
        "y": alt.Y("i:O", scale=domain, axis=down),
    }
    errors = f"{name}_low" in view.dataset and len(endings) > 2
    tooltip = tooltips(
        view.level * errors,
        basis="first" if symmetric else "basis",
        target="second" if symmetric else "target",
        value="ρ" if symmetric else "R²",
    )
    layers = cells(base, place, unit_colour(), tooltip, silent=True)
    if n <= _FEW:
        layers.append(cell_numbers(base, place, size="clamp(cell * 0.36, 9, 13)"))
    lines = centred_lines(view.models, _LETTERS)
    needed = n * (len(lines[0]) + 1) * LINE / 2
    params = signals(view, name) | {
        "cell": alt.expr(f"width / {n}"),
        "name_lines": lines,
        "letters": short_names(n),
        "lettered": alt.expr(no_room(f"min({ROOM} - {_BESIDE}, {pairs_size(view)})", needed)),
    }
    title = rows_title(view, MEASURES[name][0])
    rows = square_rows(n, _tables(view, name, endings))
    return layered(layers, rows, params, width=size, height=size, title=title)


def pairs_size(view: DependencyView) -> int:
    """The side of the plot on a wide page."""
    return min(_MOST_SIZE, 120 + 60 * len(view.models))


def _tables(
    view: DependencyView, name: str, endings: tuple[str, ...]
) -> Iterator[tuple[str, FloatArray]]:
    """Columns of the chart's data; a model by itself has no value."""
    for split in view.splits:
        for length in view.lengths:
            for ending in endings:
                table = view.values(name + ending, split, length)
                if table is not None:
                    table = table.copy()
                    np.fill_diagonal(table, np.nan)
                    yield column(name, way(split, length), ending), table


def pair_table(view: DependencyView, split: Scaling, length: Scaling) -> ResultTable:
    """R² by one other: a line a basis, a column a target."""
    value, error = (view.values(f"r2_pair{e}", split, length) for e in ("", "_se"))
    assert value is not None
    lines = [
        [
            name,
            *(
                None if i == j else (value[i, j], None if error is None else error[i, j])
                for j in range(len(view.models))
            ),
        ]
        for i, name in enumerate(view.models)
    ]
    targets = [(name, "±") for name in view.models]
    return table_of("r2_pair", [("basis \\ target", "text"), *targets], lines)
