"""Accuracy over the thresholds of the clustering: a line a language, a family, or a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from ....results import ResultTable
from ...charts.lines import line_chart
from ...charts.style import number_axis, widened
from ...charts.values import calculations, tooltips
from ...tables import table_of
from .view import AXES, TransferView, run_signals, run_title

LINES = {
    "language": ("accuracy", "Accuracy by threshold, by language"),
    "family": ("family_accuracy", "Mean accuracy by threshold, by family"),
    "model": ("mean_accuracy", "Mean accuracy over the other languages, by model"),
}
"""What a line stands for: its variable, and the title of the chart."""


def chosen_by(lines: str) -> tuple[str, ...]:
    """What a switch chooses where these are the lines."""
    return tuple(axis for axis in AXES if axis != lines)


def threshold_chart(
    view: TransferView, lines: str = "language", *, width: int | str = "container"
) -> alt.LayerChart:
    """From all neurons, to what higher and higher thresholds leave."""
    name, title = LINES[lines]
    by, cuts = chosen_by(lines), view.cuts
    names = view.families if lines == "family" else view.names[lines]
    rows: list[dict[str, Any]] = [
        {"i": i, "line": label, "k": k, "read": view.set_name(k)}
        for i, label in enumerate(names)
        for k in range(len(view.kinds))
    ]
    view.put(rows, name, (lines, "neurons"), by)
    rows = [row for row in rows if row["k"] in cuts]
    labels = ["all", *(view.names["neurons"][k] for k in cuts[1:])]
    return line_chart(
        rows,
        names,
        x=threshold_axis(cuts),
        y={
            "title": "accuracy",
            "scale": alt.Scale(domain=[0, 1], nice=False),
            "axis": number_axis(),
        },
        tooltip=tooltips(view.level, line=lines, read="neurons", value="accuracy"),
        title=run_title(view, title, by),
        calculate=calculations("'.4f'"),
        params=run_signals(view, by) | {"labels": labels},
        width=width,
    )


def threshold_axis(cuts: Sequence[int]) -> alt.X:
    """All neurons, and thresholds, at equal distances."""
    return alt.X(
        "k:Q",
        title="threshold (distance 1\u00a0−\u00a0|r|)",
        scale=alt.Scale(domain=widened(cuts[0], cuts[-1]), nice=False, zero=False, padding=12),
        axis=alt.Axis(
            values=list(cuts),
            labelExpr="labels[datum.value]",
            grid=False,
            labelOverlap="greedy",
            labelSeparation=6,
            labelPadding=8,
        ),
    )


def threshold_table(view: TransferView, lines: str, places: dict[str, int]) -> ResultTable:
    """The numbers of a chart: a line a set of neurons, a column a language, family or model."""
    name, _ = LINES[lines]
    names = view.families if lines == "family" else view.names[lines]
    value = view.values(name, "neurons", lines, **places)
    error = view.values(f"{name}_se", "neurons", lines, **places)
    assert value is not None
    table = [
        [
            view.set_name(k),
            *(
                (value[k, i], None if error is None else error[k, i])
                for i in range(len(names))
            ),
        ]
        for k in range(len(view.kinds))
    ]  # fmt: skip
    return table_of(f"by_{lines}", [("neurons", "text"), *((n, "±") for n in names)], table)
