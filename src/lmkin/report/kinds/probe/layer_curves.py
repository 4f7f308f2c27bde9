"""A score against layers: train, dev, test and control of one model with what needs no model; and all models."""

from __future__ import annotations

from typing import Any

import altair as alt

from ....results import ResultTable
from ...charts.lines import layer_axis, line_chart
from ...charts.points import Kind, kind_marks
from ...charts.style import INK, heading, layered, number_axis, signal_text
from ...charts.values import calculations, column, expression, tooltips
from ...names import rounded
from ...tables import interval_text, table_of
from .view import SPLITS, ProbeView, ends_of, signals, titled

KINDS = {
    "test": Kind("test", "#0072b2", "circle"),
    "dev": Kind("dev", "#e69f00", "square"),
    "train": Kind("train", "#009e73", "triangle-up"),
    "control": Kind("control task (test)", "#cc79a7", "diamond"),
}
"""Lines over layers."""
RULES = {
    "oracle": Kind("all layers (test)", "#1b2733", "diamond"),
    "word_majority": Kind("most frequent tag of the word", "#8c6d5a", "triangle-down"),
    "majority": Kind("majority class", "#6b7782", "square"),
}
"""Levels that no layer changes."""
PAPER = ("#d55e00", "#882255")
"""Colours of published lines."""
TITLES = {
    "each": "Each layer by itself",
    "upto": "Layers 0 to l side by side",
}
AXES = {"each": "layer", "upto": "last layer"}
VIEWS = {"all": "with controls and baselines", "near": "close up"}
"""What the vertical axis may show."""


def layer_chart(
    view: ProbeView, kind: str = "each", *, shown: str = "all", width: int | str = "container"
) -> alt.LayerChart:
    """Train, dev, test and control of the chosen model and task over layers; baselines as dashed lines."""
    rows = _line_rows(view, kind)
    rules = _rule_rows(view)
    paper = _paper_rows(view) if kind == "each" else []
    known = {row["kind"] for row in (*rows, *rules, *paper) if _has_value(row)}
    marks = [k for k in (*KINDS.values(), *RULES.values(), *_paper_kinds(view)) if k.label in known]
    colour, shape = kind_marks(marks, beside=())
    layers = sorted({row["layer"] for row in (*rows, *paper)})
    x = layer_axis(layers).title(AXES[kind])
    calculated = {**calculations("'.4f'"), "kept": expression("kept")}
    y: dict[str, Any] = {
        "title": view.axis_title(),
        "scale": alt.Scale(
            domain=[alt.expr(f"ends[shown][measure + '|' + scaling][{k}]") for k in (0, 1)],
            nice=False,
            zero=False,
        ),
        "axis": number_axis(),
    }
    visible = "shown == 'all' || datum.near"
    base = alt.Chart().transform_filter(visible).transform_calculate(**calculated)
    present = base.transform_filter("isValid(datum.v)")
    place: dict[str, Any] = {"x": x, "y": alt.Y("v:Q", **y), "color": colour}
    tips = tooltips(view.level * view.has_intervals, kind="score", layer="layer", value="value")
    levels = alt.Chart(alt.InlineData(values=rules)).transform_filter(visible)
    levels = levels.transform_calculate(**calculated).transform_filter("isValid(datum.v)")
    above = {
        "y": alt.Y("v:Q", **y),
        "color": colour,
        "tooltip": tooltips(kind="score", value="value"),
    }
    area = base.transform_filter("isValid(datum.low) && datum.band").mark_area(
        opacity=0.15, clip=True, tooltip=None
    )
    ring = present.transform_filter("datum.kept == 1 && datum.band")
    drawn = [
        area.encode(x=x, y=alt.Y("low:Q", **y), y2=alt.Y2("high:Q"), color=colour),
        levels.mark_rule(strokeDash=[6, 4], strokeWidth=1.5, clip=True).encode(**above),
        levels.mark_point(filled=True, size=60, opacity=1, x=alt.expr("width"), clip=False).encode(
            **above, shape=shape
        ),
        present.mark_line(strokeWidth=2, tooltip=None, clip=True).encode(**place),
        ring.mark_point(
            filled=False, size=190, strokeWidth=1.6, color=INK, tooltip=None, clip=True
        ).encode(x=x, y=alt.Y("v:Q", **y)),
        present.mark_point(filled=True, size=55, opacity=1, clip=True).encode(
            **place, shape=shape, tooltip=tips
        ),
        *_paper_layers(paper, visible, place, shape),
    ]
    params = signals(view) | {"shown": shown, "ends": _ends(view, rows, rules, paper)}
    return layered(drawn, rows, params, width=width, height=360, title=titled(view, TITLES[kind]))


def _has_value(row: dict[str, Any]) -> bool:
    return any(key.endswith("|") and value is not None for key, value in row.items())


def _line_rows(view: ProbeView, kind: str) -> list[dict[str, Any]]:
    """A row a line and layer; a column a model and task."""
    rows: list[dict[str, Any]] = []
    for name, mark in KINDS.items():
        for layer in view.all_layers():
            row: dict[str, Any] = {
                "kind": mark.label, "layer": layer, "band": name == "test", "near": name != "control",
            }  # fmt: skip
            for m, t in view.pairs():
                probe = view.probes(m, t, kind).get(layer)
                if probe is None:
                    continue
                keys = view.keys[m], view.task_keys[t]
                split = name if name in SPLITS else "test"
                variable = view.score(t) if name in SPLITS else name
                row |= view.columns(variable, m, t, probe, *keys, split=split)
                if name == "test":
                    row[column(*keys, "kept")] = rounded(view.get("redundant", m, t, probe))
            if _has_value(row):
                rows.append(row)
    return rows


def _rule_rows(view: ProbeView) -> list[dict[str, Any]]:
    """A row a level; a column a model and task."""
    rows = []
    for name, mark in RULES.items():
        row: dict[str, Any] = {"kind": mark.label, "near": name == "oracle"}
        for m, t in view.pairs():
            value = (
                view.get(view.score(t), m, t, "all", split="test")
                if name == "oracle"
                else view.of_task(name, t)
            )
            row[column(view.keys[m], view.task_keys[t])] = rounded(value)
        rows.append(row)
    return rows


def _paper_names(view: ProbeView) -> list[str]:
    return [] if view.published is None else [str(m) for m in view.published["model"].values]


def _paper_kinds(view: ProbeView) -> list[Kind]:
    return [
        Kind(f"{name}, as published", PAPER[k % len(PAPER)], "cross")
        for k, name in enumerate(_paper_names(view))
    ]


def _paper_rows(view: ProbeView) -> list[dict[str, Any]]:
    """The layers of a paper's models on the same tasks."""
    rows: list[dict[str, Any]] = []
    if view.published is None:
        return rows
    for name, mark in zip(_paper_names(view), _paper_kinds(view), strict=True):
        mine = view.published.sel(model=name)
        for layer in (str(n) for n in mine["layer"].values if str(n) != "all"):
            row: dict[str, Any] = {"kind": mark.label, "layer": int(layer), "near": True}
            for m, t in view.pairs():
                if view.raw_tasks[t] in mine["task"].values:
                    value = float(mine.sel(layer=layer, task=view.raw_tasks[t]))
                    row[column(view.keys[m], view.task_keys[t])] = rounded(value)
            rows.append(row)
    return rows


def _paper_layers(
    rows: list[dict[str, Any]], visible: str, place: dict[str, Any], shape: alt.Shape
) -> list[alt.Chart]:
    if not rows:
        return []
    theirs = alt.Chart(alt.InlineData(values=rows)).transform_filter(visible)
    theirs = theirs.transform_calculate(**calculations("'.3f'"))
    theirs = theirs.transform_filter("isValid(datum.v)")
    tips = tooltips(kind="score", layer="layer", value="value")
    return [
        theirs.mark_line(strokeWidth=1.5, strokeDash=[5, 4], tooltip=None, clip=True).encode(
            **place
        ),
        theirs.mark_point(filled=True, size=30, opacity=1, clip=True).encode(
            **place, shape=shape, tooltip=tips
        ),
    ]


def _ends(view: ProbeView, *data: list[dict[str, Any]]) -> dict[str, dict[str, list[float]]]:
    """From where to where the axis goes, by what is shown, model and task."""
    ends: dict[str, dict[str, list[float]]] = {name: {} for name in VIEWS}
    for m, t in view.pairs():
        keys = view.keys[m], view.task_keys[t]
        for name in VIEWS:
            wanted = [row for rows in data for row in rows if name == "all" or row["near"]]
            values = [
                row[key]
                for row in wanted
                for key in (column(*keys), column(*keys, "_low"), column(*keys, "_high"))
                if row.get(key) is not None and (row.get("band") or key.endswith("|"))
            ]
            ends[name]["|".join(keys)] = ends_of(values, zero=name == "all")
    return ends


def layer_table(view: ProbeView, m: int, t: int, kind: str) -> ResultTable:
    """A line a set of layers: train, dev, test, and what they are compared with."""
    names = {
        "unseen words": ("accuracy_unseen", True),
        "control task": ("control", True),
        "selectivity": ("selectivity", True),
        "macro-F1": ("macro_f1", True),
        "Matthews": ("matthews", True),
        "Spearman": ("spearman", True),
        "compression": ("compression", False),
    }
    probes = {**view.probes(m, t, kind), -1: "all"}
    score = view.score(t)

    def value(name: str, probe: str, split: bool = True) -> float:
        at = {"split": "test"} if split else {}
        return view.get(name, m, t, probe, **at)

    shown = {
        title: (name, split)
        for title, (name, split) in names.items()
        if any(value(name, probe, split) == value(name, probe, split) for probe in probes.values())
    }
    heads = [(AXES[kind], "text"), ("train", "number"), ("dev", "number"), ("test", "±")]
    heads += [(f"{view.level} interval", "text")] * view.has_intervals
    heads += [("keeps", "text")] + [(title, "number") for title in shown]
    lines = []
    for layer, probe in probes.items():
        error = value(f"{score}_se", probe)
        line: list[Any] = [
            "all" if layer < 0 else str(layer),
            view.get(score, m, t, probe, split="train"),
            view.get(score, m, t, probe, split="dev"),
            (value(score, probe), error if error == error else None),
        ]
        if view.has_intervals:
            line.append(interval_text(value(f"{score}_low", probe), value(f"{score}_high", probe)))
        line.append("yes" if layer >= 0 and view.get("redundant", m, t, probe) == 1 else "")
        line += [value(name, probe, split) for name, split in shown.values()]
        lines.append(line)
    return table_of(f"layers_{kind}", heads, lines)


def models_chart(
    view: ProbeView, kind: str = "each", *, split: str = "test", width: int | str = "container"
) -> alt.LayerChart:
    """A line a model over layers, for the chosen task and split."""
    rows: list[dict[str, Any]] = []
    ends: dict[str, list[float]] = {}
    for m, name in enumerate(view.models):
        for layer in view.layers(m):
            row: dict[str, Any] = {"i": m, "model": name, "layer": layer}
            for t, key in enumerate(view.task_keys):
                probe = view.probes(m, t, kind).get(layer)
                for part in SPLITS if probe is not None else ():
                    row |= view.columns(view.score(t), m, t, str(probe), key, part, split=part)
            rows.append(row)
    for key in view.task_keys:
        for part in SPLITS:
            columns = tuple(column(key, part, e) for e in ("", "_low", "_high"))
            values = [row[c] for row in rows for c in columns if row.get(c) is not None]
            ends[f"{key}|{part}"] = ends_of(values, zero=False)
    return line_chart(
        rows,
        view.models,
        x=layer_axis(view.all_layers()),
        y={
            "title": view.axis_title(),
            "scale": alt.Scale(
                domain=[alt.expr(f"ends[task + '|' + rows][{k}]") for k in (0, 1)],
                nice=False,
                zero=False,
            ),
            "axis": number_axis(),
        },
        tooltip=tooltips(view.level * view.has_intervals, model="model", layer="layer", value="value"),
        title=heading(
            "All models",
            signal_text(dict(zip(view.task_keys, view.tasks, strict=True)), "task"),
            signal_text({s: f"{s} rows" for s in SPLITS}, "rows"),
        ),
        calculate=calculations("'.4f'"),
        params={
            "task": view.task_keys[0], "rows": split, "ends": ends,
            "measure": alt.expr("task"), "scaling": alt.expr("rows"),
        },
        width=width,
    )  # fmt: skip
