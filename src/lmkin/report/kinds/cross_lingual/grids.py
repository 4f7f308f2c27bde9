"""Heatmaps: languages × sets of neurons, and languages × languages of training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from ...charts.heatmap import cell_numbers, cells, unit_colour
from ...charts.style import layered, name_axis, name_lines, row_height
from ...charts.values import calculations, tooltips
from .view import AXES, TransferView, run_signals, run_title

_SHORT = 5
"""Letters of the name of a language that stands level below a chart."""


def language_axis(languages: Sequence[str]) -> alt.X:
    """A column a language, by its place ``j``; names that are short stand level."""
    return alt.X(
        "j:O",
        title="language",
        scale=alt.Scale(domain=list(range(len(languages))), paddingInner=0, paddingOuter=0),
        axis=alt.Axis(
            labelExpr="languages[datum.value]",
            labelAngle=0 if max(map(len, languages)) <= _SHORT else -90,
            labelLimit=0,
            labelOverlap=False,
            labelPadding=4,
        ),
    )


def grid_chart(
    view: TransferView, down: str = "neurons", *, width: int | str = "container"
) -> alt.LayerChart:
    """A column a language; a row a set of neurons, or, by all neurons, a language of training."""
    by = tuple(axis for axis in AXES if axis != down)
    languages = view.names["language"]
    if down == "neurons":
        names = [view.set_name(k) for k in range(len(view.kinds))]
        title = "Accuracy by neurons and language"
    else:
        names = [f"fitted on {name}" for name in view.names["source"]]
        title = "Accuracy by language of training and language, by all neurons"
    rows: list[dict[str, Any]] = [
        {"r": r, "j": j, "read": name, "language": language}
        for r, name in enumerate(names)
        for j, language in enumerate(languages)
    ]
    places = {} if down == "neurons" else {"neurons": view.kinds.index("all")}
    view.put(rows, "accuracy", (down, "language"), by, **places)
    columns = len(languages)
    base = alt.Chart().transform_calculate(
        **calculations("'.4f'"),
        spoken="datum.read + ', ' + datum.language + ': ' + datum.value",
        label=f"width / {columns} >= 30 && isValid(datum.v) ? format(datum.v, '.2f') : ''",
    )
    y = alt.Y(
        "r:O",
        scale=alt.Scale(domain=list(range(len(names))), paddingInner=0, paddingOuter=0),
        axis=name_axis(grid=False),
    )
    place = {"x": language_axis(languages), "y": y}
    tooltip = tooltips(view.level, read="neurons", language="language", value="accuracy")
    layers = cells(base, place, unit_colour(".0%", values=[0, 0.5, 1]), tooltip, line="0.6")
    layers.append(cell_numbers(base, place, size="11"))
    return layered(
        layers,
        rows,
        run_signals(view, by) | {"name_lines": name_lines(names), "languages": languages},
        width=width,
        height=row_height(names, 24) * len(names),
        title=run_title(view, title, by),
    )
