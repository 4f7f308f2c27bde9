"""Chapters of probes: layers, layers together, models, classes, tasks, code length, and what needs no model."""

from __future__ import annotations

from typing import Any

import altair as alt

from ....analyses.probing import baseline_table, published_table
from ...charts.lines import layer_axis, line_chart
from ...charts.style import heading, number_axis, signal_text
from ...charts.values import calculations, column, tooltips
from ...page import Chapter, Figure, Option, Switch, Table
from ...tables import SAME
from .grids import AMOUNTS, MOST_CLASSES, class_grid, class_table, classes_of, task_grid, task_table
from .layer_curves import TITLES, VIEWS, layer_chart, layer_table, models_chart
from .view import SPLITS, ProbeView, ends_of, switches, when

_TEXTS = {
    "each": "How well a linear probe does that reads one layer alone. Dashed and dark: all layers together, "
    "which a single layer need not equal to be enough.",
    "upto": "How well a linear probe does that reads the embeddings and all layers up to one, side by side. Where the "
    "curve is flat, what comes above adds nothing that such a probe needs: a model that is cut there will do.",
}


def layer_chapter(view: ProbeView, kind: str) -> Chapter:
    """A score against layers, by themselves or all up to one."""
    caption = (
        f"Rings: within {view.tolerance} of all layers on dev, so redundant for the task. "
        + (f"The band is the {view.level} interval of test. " if view.has_intervals else "")
        + "Train above test: what was memorized."
    )
    if view.known("control"):
        caption += (
            " Control task: random tags by word type; what a probe has of them it has by memory."
        )
    paragraphs = [_TEXTS[kind]]
    tables = [
        Table(layer_table(view, m, t, kind), folded=SAME, when=when(view, m, t))
        for m, t in view.pairs()
    ]
    if kind == "each" and view.published is not None:
        paragraphs.append(
            f"As published: {view.published.attrs['title']}. Those are other models, and for some tasks other texts: "
            "compare how accuracy goes with the layers, not its level."
        )
        tables.append(
            Table(published_table(view.published), folded="What was published, as a table")
        )
    show = Switch("shown", "Show:", [Option(key, text) for key, text in VIEWS.items()])
    return Chapter(
        TITLES[kind],
        paragraphs,
        figures=[Figure(layer_chart(view, kind), caption=caption, name=f"probe-{kind}")],
        switches=[*switches(view), show],
        tables=tables,
    )


def models_chapter(view: ProbeView) -> Chapter:
    """All models beside each other."""
    caption = f"Bands are {view.level} intervals." if view.has_intervals else ""
    rows = Switch("rows", "Rows:", [Option(s, s) for s in SPLITS])
    return Chapter(
        "Models beside each other",
        ["Single layers of all models, on the same words. Layers are counted from the embeddings, which are 0."],
        figures=[Figure(models_chart(view), caption=caption, name="probe-models")],
        switches=[*switches(view, model=False), rows],
    )  # fmt: skip


def class_chapter(view: ProbeView) -> Chapter:
    """Classes × layers."""
    cut = [
        f"{view.tasks[t]} has {len(view.cells.classes(view.raw_tasks[t]))} classes: the {MOST_CLASSES} most frequent "
        "are shown, classes.csv has all."
        for t in range(len(view.tasks))
        if len(view.cells.classes(view.raw_tasks[t])) > MOST_CLASSES
    ]
    return Chapter(
        "Classes",
        [
            "Some classes are there in the lowest layers, others come later. Classes that are rare in train, at the "
            "bottom, say little.",
            *cut,
        ],
        figures=[
            Figure(
                class_grid(view),
                caption="F1 on test, the most frequent class in train at the top; grey: neither in test nor predicted. "
                "Point at a cell for its value.",
                name="probe-classes",
            )
        ],
        switches=switches(view),
        tables=[
            Table(class_table(view, m, t), folded=SAME, when=when(view, m, t))
            for m, t in view.pairs()
            if classes_of(view, t)
        ],
    )


def task_chapter(view: ProbeView) -> Chapter:
    """Tasks × layers."""
    amounts = Switch("amount", "Show:", [Option(key, text) for key, text in AMOUNTS.items()])
    return Chapter(
        "Tasks and layers",
        ["Which layers do for which task: a task that the lowest layers do needs little of the model."],
        figures=[
            Figure(
                task_grid(view),
                caption=f"A dot: the layer keeps the score of all layers within {view.tolerance}, on dev.",
                name="probe-tasks",
            )
        ],
        switches=[*switches(view, task=False), amounts],
        tables=[
            Table(task_table(view, m), folded=SAME, when=when(view, m))
            for m in range(len(view.models))
        ],
    )  # fmt: skip


def code_chart(view: ProbeView, *, width: int | str = "container") -> alt.LayerChart:
    """Compression of the labels by layer, a line a model, for the chosen task."""
    rows: list[dict[str, Any]] = []
    for m, name in enumerate(view.models):
        for layer in view.layers(m):
            row: dict[str, Any] = {"i": m, "model": name, "layer": layer}
            for t, key in enumerate(view.task_keys):
                probe = view.probes(m, t, "each").get(layer)
                if probe is not None:
                    row |= view.columns("compression", m, t, probe, key, "")
            rows.append(row)
    ends = {}
    for key in view.task_keys:
        values = [row[column(key)] for row in rows if row.get(column(key)) is not None]
        ends[key] = [0.0, max(ends_of([*values, 1.0], zero=True))]
    return line_chart(
        rows,
        view.models,
        x=layer_axis(view.all_layers()),
        y={
            "title": "times shorter than a uniform code",
            "scale": alt.Scale(domain=[0, alt.expr("ends[task][1]")], nice=True),
            "axis": number_axis(),
        },
        tooltip=tooltips(model="model", layer="layer", value="compression"),
        title=heading(
            "Compression of the labels by layer",
            signal_text(dict(zip(view.task_keys, view.tasks, strict=True)), "task"),
        ),
        calculate=calculations("'.3f'"),
        params={
            "task": view.task_keys[0], "ends": ends, "measure": alt.expr("task"), "scaling": "",
        },
        bands=False,
        legend=len(view.models) > 1,
        width=width,
        height=300,
    )  # fmt: skip


def code_chapter(view: ProbeView) -> Chapter:
    """Online code length."""
    return Chapter(
        "Code length",
        [
            "How many bits it takes to send the labels of train to someone who has the layer (online code, Voita & "
            "Titov 2020): the more easily a probe learns them from few words, the fewer. Unlike accuracy it tells "
            "layers apart that all do well in the end."
        ],
        figures=[Figure(code_chart(view), caption="The higher the better.", name="probe-code")],
        switches=switches(view, model=False),
    )


def baseline_chapter(view: ProbeView) -> Chapter:
    """What needs no model."""
    table = baseline_table(view.dataset)
    return Chapter("What needs no model", [table.caption], tables=[Table(table)])
