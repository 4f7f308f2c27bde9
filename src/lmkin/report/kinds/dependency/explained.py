"""R² of every model by all others: a row a model, and lines against the length of the text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from ....results import ResultTable
from ...charts.lines import line_chart
from ...charts.points import Kind, point_rows
from ...charts.style import (
    layered,
    model_marks,
    name_axis,
    name_lines,
    number_axis,
    r2_scale,
    row_height,
    zero_line,
)
from ...charts.values import ERRORS, calculations, column, tooltips
from ...names import FloatArray, rounded
from ...tables import interval_text, table_of
from ..layer_pairs import Scaling
from .view import DependencyView, rows_title, signals, way

KINDS = {
    "": Kind("by all other models", "#0072b2", "circle", -7),
    "_beyond_length": Kind("without the length of the text", "#d55e00", "diamond", 2),
    "published": Kind("as published", "#009e73", "triangle-up", 10),
    "_null": Kind("permutation baseline", "#6b7782", "square", 10),
}
"""What a row of the chart shows."""


def group_chart(view: DependencyView, *, width: int | str = "container") -> alt.LayerChart:
    """A row a model: R² by all others with its interval, the permutation baseline, and text length taken out."""
    tables = _tables(view)
    main = view.values("r2_group", view.scored, view.longest)
    assert main is not None
    order = [int(i) for i in np.argsort(-np.nan_to_num(main, nan=-np.inf), kind="stable")]
    rows = [
        {"i": i, "model": view.models[i], "kind": KINDS[kind].label}
        | {key: rounded(float(table[i])) for key, table in mine.items()}
        for kind, mine in tables.items()
        for i in order
    ]
    every, lows = (
        [t for mine in tables.values() for key, t in mine.items() if key.endswith(ending)]
        for ending in ("|", "|_low")
    )
    x: dict[str, Any] = {"title": "R²", "scale": r2_scale(every, lows), "axis": number_axis()}
    layers = [zero_line(x=alt.X("zero:Q", **x))]
    layers += point_rows(
        {kind: KINDS[kind] for kind in tables},
        x=x,
        y=alt.Y("i:O", scale=alt.Scale(domain=order), axis=name_axis()),
        tooltip=tooltips(view.level * bool(lows), model="model", kind="R²", value="value"),
        calculate=calculations("'.4f'"),
        beside=view.models,
        bars=[kind for kind in tables if f"r2_group{kind}_low" in view.dataset],
    )
    above = rows_title(view, "R² by all other models")
    return layered(
        layers,
        rows,
        signals(view, "r2_group") | {"name_lines": name_lines(view.models)},
        width=width,
        height=row_height(view.models, 38) * len(order),
        title=above,
    )


def _tables(view: DependencyView) -> dict[str, dict[str, FloatArray]]:
    """What there is of each kind, by column of the chart's data."""
    tables: dict[str, dict[str, FloatArray]] = {}
    for kind in KINDS:
        for split in view.splits:
            for length in view.lengths:
                names = {e: f"r2_group{kind}{e}" for e in ("", *ERRORS)}
                mine = {e: view.values(name, split, length) for e, name in names.items()}
                if kind == "published" and split.name == "test":
                    mine = {"": view.as_published(length)}
                for ending, table in mine.items():
                    if table is not None:
                        key = column("r2_group", way(split, length), ending)
                        tables.setdefault(kind, {})[key] = table
    return tables


def length_chart(view: DependencyView, *, width: int | str = "container") -> alt.LayerChart:
    """R² of every model by all others against the number of tokens: lines with bands, dashed what was published."""
    rows: list[dict[str, Any]] = [
        {"i": i, "model": name, "tokens": int(length.name)}
        for i, name in enumerate(view.models)
        for length in view.lengths
    ]
    shown: list[FloatArray | None] = []
    lows: list[FloatArray | None] = []
    for split in view.splits:
        for ending in ("", *ERRORS):
            tables = [view.values(f"r2_group{ending}", split, n) for n in view.lengths]
            known = [table for table in tables if table is not None]
            if len(known) < len(tables):
                continue
            table = np.stack(known, axis=1)
            (lows if ending == "_low" else shown if not ending else []).append(table)
            for row, value in zip(rows, table.ravel(), strict=True):
                row[column("r2_group", split.key, ending)] = rounded(float(value))
    tokens = [int(length.name) for length in view.lengths]
    paper = _paper_rows(view, tokens)
    shown.append(np.array([row["p"] for row in paper], dtype=np.float64))
    x = alt.X(
        "tokens:Q",
        title="tokens of a text",
        scale=alt.Scale(
            type="log", base=2, domain=[min(tokens), max(tokens)], nice=False, padding=12
        ),
        axis=alt.Axis(values=tokens, format="d", grid=False, labelOverlap=True),
    )
    y: dict[str, Any] = {
        "title": "R² by all others",
        "scale": r2_scale(shown, lows),
        "axis": number_axis(),
    }
    return line_chart(
        rows,
        view.models,
        x=x,
        y=y,
        tooltip=tooltips(view.level * bool(lows), model="model", tokens="tokens", value="value"),
        title=rows_title(view, "R² by all other models", lengths=False),
        calculate=calculations("'.4f'"),
        params=signals(view, "r2_group", lengths=False),
        more=_paper_layers(view, paper, x, y),
        width=width,
        height=360,
    )


def _paper_layers(
    view: DependencyView, paper: Sequence[dict[str, Any]], x: alt.X, y: dict[str, Any]
) -> list[alt.Chart]:
    if not paper:
        return []
    colour, shape = model_marks(view.models)
    theirs = alt.Chart(alt.InlineData(values=list(paper))).transform_filter("split == 'test'")
    place = {"x": x, "y": alt.Y("p:Q", **y), "color": colour}
    points = theirs.mark_point(filled=False, size=35, strokeWidth=1.5)
    tooltip = tooltips(model="model", tokens="tokens", p="as published")
    return [
        theirs.mark_line(strokeWidth=1.5, strokeDash=[5, 4], tooltip=None).encode(**place),
        points.encode(**place, shape=shape, tooltip=tooltip),
    ]


def _paper_rows(view: DependencyView, tokens: Sequence[int]) -> list[dict[str, Any]]:
    if view.published is None:
        return []
    table = view.published
    return [
        {"i": i, "model": name, "tokens": int(n), "p": rounded(float(table.values[i, k]))}
        for i, name in enumerate(view.models)
        for k, n in enumerate(table["length"].values)
        if min(tokens) <= int(n) <= max(tokens) and np.isfinite(table.values[i, k])
    ]


def group_table(view: DependencyView, split: Scaling, length: Scaling) -> ResultTable:
    """A line a model, the best explained first: R² by all others, interval, baseline, length, what was published."""
    columns = {
        "permutation baseline": view.values("r2_group_null", split, length),
        "length taken out": view.values("r2_group_beyond_length", split, length),
        "by length alone": view.values("r2_length", split, length),
        "as published": view.as_published(length) if split.name == "test" else None,
        "ridge": view.values("ridge_group", split, length),
    }
    known = {title: values for title, values in columns.items() if values is not None}
    value, error, low, high = (
        view.values(f"r2_group{e}", split, length) for e in ("", "_se", "_low", "_high")
    )
    assert value is not None
    interval = low is not None and high is not None
    heads = [("model", "text"), ("R² by all others", "±")]
    heads += [(f"{view.level} interval", "text")] * interval
    heads += [(title, "text" if title == "ridge" else "number") for title in known]
    lines = []
    for i in np.argsort(-np.nan_to_num(value, nan=-np.inf), kind="stable"):
        line: list[Any] = [view.models[i], (value[i], None if error is None else error[i])]
        if low is not None and high is not None:
            line.append(interval_text(low[i], high[i]))
        line += [f"{v[i]:.3g}" if title == "ridge" else v[i] for title, v in known.items()]
        lines.append(line)
    return table_of("r2_group", heads, lines)


def length_table(view: DependencyView, split: Scaling) -> ResultTable:
    """A line a model and a column a length; the mean of all; under a model what was published, on test rows."""
    names = [("r2_group", i, model) for i, model in enumerate(view.models)]
    if "rho_group" in view.dataset:
        names.append(("rho_group", 0, "mean of all (ρ)"))
    lines: list[list[Any]] = []
    for name, i, model in names:
        line: list[Any] = [model]
        for length in view.lengths:
            value, error = (view.values(name + e, split, length) for e in ("", "_se"))
            assert value is not None
            line.append((value.flat[i], None if error is None else error.flat[i]))
        lines.append(line)
        if view.published is not None and split.name == "test" and name == "r2_group":
            tables = [view.as_published(length) for length in view.lengths]
            paper = [np.nan if t is None else t[i] for t in tables]
            if np.isfinite(paper).any():
                lines.append([f"{model}, as published", *paper])
    lengths = [(length.name, "±") for length in view.lengths]
    return table_of("lengths", [("model", "text"), *lengths], lines)
