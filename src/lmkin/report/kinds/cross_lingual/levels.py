"""Of each language what a probe of another language reaches, beside what its own words and probes reach."""

from __future__ import annotations

from typing import Any

import altair as alt

from ...charts.points import Kind, point_rows
from ...charts.style import COLOURS, layered, name_axis, name_lines, number_axis, row_height
from ...charts.values import ERRORS, calculations, column, tooltips
from ...names import rounded
from .view import TransferView, run_signals, run_title

HELD_OUT = "held-out"
KINDS = {
    "accuracy": Kind("transfer, all neurons", COLOURS[0], "circle"),
    "ceiling": Kind("probe of the language itself", COLOURS[2], "diamond"),
    "word_own": Kind("tag of the word, own language", COLOURS[4], "triangle-up"),
    "word_source": Kind("tag of the word, language of training", COLOURS[1], "square"),
    "majority": Kind("majority class, language of training", COLOURS[6], "cross"),
}


def level_chart(view: TransferView, *, width: int | str = "container") -> alt.LayerChart:
    """A row a language: transfer on held-out sentences, and what it is compared with."""
    names = view.names["language"]
    kinds = {name: kind for name, kind in KINDS.items() if name in view.dataset}
    rows: list[dict[str, Any]] = []
    everything = {"neurons": view.kinds.index("all"), "test": view.names["test"].index(HELD_OUT)}
    for name, kind in kinds.items():
        mine: list[dict[str, Any]] = [
            {"i": i, "language": language, "kind": kind.label} for i, language in enumerate(names)
        ]
        for key, places in view.runs():
            for ending in ("", *ERRORS):
                found = view.values(name + ending, "language", **places, **everything)
                if found is not None:
                    for row, value in zip(mine, found, strict=True):
                        row[column(key, HELD_OUT, ending)] = rounded(float(value))
        rows += mine
    scale = alt.Scale(domain=[0, 1], nice=False)  # an interval that reaches further is in the table
    y = alt.Y("i:O", scale=alt.Scale(domain=list(range(len(names)))), axis=name_axis())
    layers = point_rows(
        kinds,
        x={"title": "accuracy", "scale": scale, "axis": number_axis()},
        y=y,
        tooltip=tooltips(view.level, language="language", kind="what", value="accuracy"),
        calculate=calculations("'.4f'"),
        bars=("accuracy", "ceiling"),
        beside=names,
    )
    signals = run_signals(view) | {"test": HELD_OUT, "name_lines": name_lines(names)}
    return layered(
        layers,
        rows,
        signals,
        width=width,
        height=row_height(names, 30) * len(names),
        title=run_title(view, "Transfer, and what needs no transfer", test=False),
    )
