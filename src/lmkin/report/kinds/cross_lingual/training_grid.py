"""How well the words that were fitted are predicted: one's own models, and those of the thesis."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from ....results import ResultTable, published
from ...charts.heatmap import cell_numbers, cells
from ...charts.style import (
    gradient,
    heading,
    layered,
    name_axis,
    name_lines,
    row_height,
    signal_text,
)
from ...charts.values import calculations, column, tooltips
from ...names import plain_names, rounded
from ...page import Chapter, Figure, Option, Switch, Table
from ...tables import SAME
from .beside_thesis import WORDS, english
from .view import TransferView

_LEAST = 0.5
"""The accuracy that the palest colour stands for."""


def training_chart(view: TransferView, *, width: int | str = "container") -> alt.LayerChart:
    """Accuracy on the words that were fitted: a row a model, one's own and the thesis's; a column a threshold."""
    known = published("thesis2022/tableC.1").attrs["names"]
    theirs = [known.get(str(m), str(m)) for m in view.dataset["published_train_model"].values]
    names = [*view.names["model"], *(f"thesis: {name}" for name in plain_names(theirs))]
    cuts, tasks = view.cuts, training_tasks(view)
    labels = ["all", *(view.names["neurons"][k] for k in cuts[1:])]
    rows: list[dict[str, Any]] = [
        {"r": r, "j": j, "read": view.set_name(k), "model": name}
        for r, name in enumerate(names)
        for j, k in enumerate(cuts)
    ]
    for t, key, _ in tasks:
        own = view.values("train_accuracy", "model", "neurons", task=t, source=english(view))
        figures = view.values("published_train", "published_train_model", "neurons", task=t)
        assert own is not None
        assert figures is not None
        both = np.concatenate([own, figures])[:, cuts]
        for row, value in zip(rows, both.ravel(), strict=True):
            row[column(key, "train")] = rounded(float(value))
    base = alt.Chart().transform_calculate(
        **calculations("'.4f'"),
        spoken="datum.model + ', ' + datum.read + ': ' + datum.value",
        label=f"width / {len(cuts)} >= 30 && isValid(datum.v) ? format(datum.v, '.2f') : ''",
    )
    x = alt.X(
        "j:O",
        title="threshold (distance 1\u00a0−\u00a0|r|)",
        scale=alt.Scale(domain=list(range(len(cuts))), paddingInner=0, paddingOuter=0),
        axis=alt.Axis(
            labelExpr="labels[datum.value]",
            labelAngle=0,
            labelOverlap="greedy",
            labelSeparation=4,
            labelPadding=4,
        ),
    )
    y = alt.Y(
        "r:O",
        scale=alt.Scale(domain=list(range(len(names))), paddingInner=0, paddingOuter=0),
        axis=name_axis(grid=False),
    )
    place = {"x": x, "y": y}
    tooltip = tooltips(model="model", read="neurons", value="accuracy")
    # Most of these are above one half: colours begin there.
    scale = alt.Scale(domain=[_LEAST, 1], clamp=True, scheme="blues")
    colour = alt.Color("v:Q", scale=scale, legend=gradient(".0%", values=[_LEAST, 0.75, 1]))
    layers = cells(base, place, colour, tooltip, line="0.6")
    layers.append(cell_numbers(base, place, dark="datum.v > 0.78", size="11"))
    signals: dict[str, Any] = {
        "task": tasks[0][1],
        "measure": alt.expr("task"),
        "scaling": "train",
        "labels": labels,
        "name_lines": name_lines(names),
    }
    return layered(
        layers,
        rows,
        signals,
        width=width,
        height=row_height(names, 24) * len(names),
        title=heading(
            "Accuracy on the words that were fitted, in English",
            signal_text({key: name for _, key, name in tasks}, "task"),
        ),
    )


def training_tasks(view: TransferView) -> list[tuple[int, str, str]]:
    """Place, key and name of the tasks that the thesis has training accuracies of."""
    figures = view.dataset["published_train"]
    there = figures.notnull().any([d for d in figures.dims if d != "task"]).values
    tasks = zip(range(len(there)), view.keys["task"], view.names["task"], strict=True)
    return [task for task, known in zip(tasks, there, strict=True) if known]


def training_switches(view: TransferView) -> list[Switch]:
    """A switch between tasks, where there are several."""
    options = [Option(key, name) for _, key, name in training_tasks(view)]
    return [Switch("task", WORDS["task"], options)] if len(options) > 1 else []


def training_chapter(view: TransferView, table: ResultTable) -> Chapter:
    """One's own models beside those of the thesis."""
    return Chapter(
        "The words that were fitted, beside the thesis",
        paragraphs=[
            "How well probes predict the very words that they were fitted on, in English: what is low here was not "
            "learned, whatever comes over. The thesis has these figures for ten models."
        ],
        figures=[
            Figure(
                training_chart(view),
                caption="Other words (the thesis fitted on a larger treebank), other probes, and other clusters: what "
                "can be compared is how accuracy goes with the threshold. Palest: 50 % and less.",
                name="cross-lingual-thesis-training",
            )
        ],
        switches=training_switches(view),
        tables=[Table(table, folded=SAME)],
    )
