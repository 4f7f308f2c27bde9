"""Heatmaps over layers: classes × layers of one model and task, and tasks × layers of one model."""

from __future__ import annotations

from typing import Any

import altair as alt

from ....results import ResultTable
from ...charts.heatmap import cell_numbers, cells, unit_colour
from ...charts.style import INK, layered, name_axis, name_lines, row_height
from ...charts.values import calculations, column, expression, tooltips
from ...names import rounded
from ...tables import table_of
from .view import ProbeView, signals, titled

MOST_CLASSES = 40
"""Classes of a task that the grid shows, the most frequent first."""
AMOUNTS = {"score": "test score", "kept": "share of the score of all layers, on dev"}
"""What a cell of the grid of tasks may show."""


def classes_of(view: ProbeView, t: int) -> list[str]:
    """The classes of a task that a grid shows, the most frequent in train first."""
    task = view.raw_tasks[t]
    names = view.cells.classes(task)

    def rows(name: str) -> float:
        return view.cells.get("support", split="train", **{"class": f"{task}/{name}"}) or 0

    return sorted(names, key=lambda name: -rows(name))[:MOST_CLASSES]


def _columns(view: ProbeView, m: int) -> list[str]:
    """What stands beneath the columns of a grid: the layers of a model, and all of them."""
    return [*(str(n) for n in view.layers(m)), "all"]


def _f1(view: ProbeView, m: int, t: int, probe: str | None, name: str) -> float | None:
    task = view.raw_tasks[t]
    if probe is None:
        return None
    return view.cells.get(
        "f1", model=view.raw_models[m], probe=probe, **{"class": f"{task}/{name}"}
    )


def class_grid(view: ProbeView, *, width: int | str = "container") -> alt.LayerChart:
    """Classes × layers of the chosen model and task: F1 on test."""
    classes = [classes_of(view, t) for t in range(len(view.tasks))]
    most = max(map(len, classes))
    wide = max(len(view.layers(m)) for m in range(len(view.models))) + 1
    rows: list[dict[str, Any]] = []
    for c in range(most):
        for k in range(wide):
            row: dict[str, Any] = {"c": c, "k": k}
            for m, t in view.pairs():
                names = _columns(view, m)
                if c >= len(classes[t]) or k >= len(names):
                    continue
                probes = {**view.probes(m, t, "each"), -1: "all"}
                probe = probes.get(-1 if names[k] == "all" else int(names[k]))
                keys = view.keys[m], view.task_keys[t]
                row[column(*keys)] = rounded(_f1(view, m, t, probe, classes[t][c]) or 0.0)
                if _f1(view, m, t, probe, classes[t][c]) is None:
                    row[column(*keys)] = None
                row[column(*keys, "there")] = 1
            rows.append(row)
    # As many for each task: rows that a task has not are left out only after their names were read.
    named = {
        key: [[name] for name in classes[t]] + [[""]] * (most - len(classes[t]))
        for t, key in enumerate(view.task_keys)
    }
    longest = [max((c for some in classes for c in some), key=len)]
    params = signals(view) | {
        "layers": {key: _columns(view, m) for m, key in enumerate(view.keys)},
        "classes": named,
        "name_lines": alt.expr("classes[task]"),
        "cell": alt.expr("width / length(layers[model])"),
    }
    return _grid(
        view, rows, "c", params, longest, titled(view, "F1 of every class, by layer"), most, width
    )


def task_grid(
    view: ProbeView, amount: str = "score", *, width: int | str = "container"
) -> alt.LayerChart:
    """Tasks × layers of the chosen model: its score on test, or what it keeps of that of all layers."""
    wide = max(len(view.layers(m)) for m in range(len(view.models))) + 1
    rows: list[dict[str, Any]] = []
    for t in range(len(view.tasks)):
        for k in range(wide):
            row: dict[str, Any] = {"c": t, "k": k}
            for m, key in enumerate(view.keys):
                names = _columns(view, m)
                if k >= len(names):
                    continue
                probes = {**view.probes(m, t, "each"), -1: "all"}
                probe = probes.get(-1 if names[k] == "all" else int(names[k]))
                for name in AMOUNTS:
                    value = float("nan") if probe is None else _amount(view, m, t, probe, name)
                    row[column(key, name)] = rounded(value)
                    row[column(key, name, "there")] = 1
                    if probe not in (None, "all"):
                        row[column(key, name, "mark")] = rounded(
                            view.get("redundant", m, t, str(probe))
                        )
            rows.append(row)
    params = {
        "model": view.keys[0],
        "amount": amount,
        "measure": alt.expr("model"),
        "scaling": alt.expr("amount"),
        "layers": {key: _columns(view, m) for m, key in enumerate(view.keys)},
        "name_lines": name_lines(view.tasks),
        "cell": alt.expr("width / length(layers[model])"),
    }
    title = titled(view, "Tasks and layers", task=False)
    return _grid(view, rows, "c", params, view.tasks, title, len(view.tasks), width, named=True)


def _amount(view: ProbeView, m: int, t: int, probe: str, name: str) -> float:
    if name == "score":
        return view.get(view.score(t), m, t, probe, split="test")
    return view.get("kept", m, t, probe)


def _grid(
    view: ProbeView,
    rows: list[dict[str, Any]],
    row: str,
    params: dict[str, Any],
    names: list[str],
    title: Any,
    most: int,
    width: int | str,
    *,
    named: bool = False,
) -> alt.LayerChart:
    """Cells with names beside them and layers beneath; a frame where a layer keeps the score of all."""
    layer = "layers[model][datum.k]"
    base = alt.Chart().transform_calculate(
        **calculations("'.3f'"),
        there=expression("there"),
        mark=expression("mark"),
        name="join(name_lines[datum.c], ' ')",
        layer=f"({layer} == 'all' ? 'all layers' : 'layer ' + {layer})",
        spoken=f"join(name_lines[datum.c], ' ') + ', layer ' + {layer} + ': ' + datum.value",
        label="cell >= 34 && isValid(datum.v) ? format(datum.v, '.2f') : ''",
    )
    # Layers that the chosen model lacks, and classes of other tasks, are no cells.
    base = base.transform_filter("datum.there == 1")
    flat = alt.Scale(paddingInner=0, paddingOuter=0)
    y = alt.Y(f"{row}:O", scale=flat, axis=name_axis(grid=False))
    x = alt.X(
        "k:O",
        title="layer",
        scale=flat,
        axis=alt.Axis(
            labelExpr="layers[model][datum.value]",
            labelAngle=0,
            labelOverlap="greedy",
            labelSeparation=5,
            labelPadding=4,
        ),
    )
    place = {"x": x, "y": y}
    tooltip = tooltips(name="task" if named else "class", layer="layer", value="value")
    drawn = cells(base, place, unit_colour(".1f", values=[0, 0.5, 1]), tooltip, line="0.6")
    drawn.append(cell_numbers(base, place, size="11"))
    if named:
        frame = base.transform_filter("datum.mark == 1").mark_point(
            shape="circle", filled=True, size=26, color="white", stroke=INK, strokeWidth=1,
            opacity=1, yOffset=alt.expr("-bandwidth('y') / 2 + 6"), xOffset=alt.expr("-bandwidth('x') / 2 + 6"),
            tooltip=None,
        )  # fmt: skip
        drawn.append(frame.encode(**place))
    height = row_height(names, 24 if not named else 36) * max(2, most)
    return layered(drawn, rows, params, width=width, height=height, title=title)


def class_table(view: ProbeView, m: int, t: int) -> ResultTable:
    """A line a class, a column a layer: F1 on test."""
    task = view.raw_tasks[t]
    probes = {**view.probes(m, t, "each"), -1: "all"}
    heads = [("class", "text"), ("in train", "count"), ("in test", "count")]
    heads += [("all" if layer < 0 else str(layer), "number") for layer in probes]
    lines = []
    for name in classes_of(view, t):
        key = {"class": f"{task}/{name}"}
        line: list[Any] = [
            name, *(view.cells.get("support", split=s, **key) for s in ("train", "test"))
        ]  # fmt: skip
        for probe in probes.values():
            value = _f1(view, m, t, probe, name)
            line.append(float("nan") if value is None else value)
        lines.append(line)
    return table_of("classes", heads, lines)


def task_table(view: ProbeView, m: int) -> ResultTable:
    """A line a task, a column a layer: the score on test."""
    layers = view.layers(m)
    heads = [("task", "text"), ("score", "text"), *((str(n), "number") for n in layers)]
    heads.append(("all", "number"))
    lines = []
    for t, name in enumerate(view.tasks):
        probes = {**view.probes(m, t, "each"), -1: "all"}
        values = [
            float("nan") if n not in probes else _amount(view, m, t, probes[n], "score")
            for n in (*layers, -1)
        ]
        lines.append([name, view.score_title(t), *values])
    return table_of("tasks", heads, lines)
