"""Classes of the chosen task × languages: F1, precision or recall of probes of all neurons."""

from __future__ import annotations

from typing import Any

import altair as alt

from ....results import ResultTable
from ...charts.heatmap import cell_numbers, cells, unit_colour
from ...charts.style import layered, name_axis, row_height, signal_text
from ...charts.values import calculations, column, expression, tooltips
from ...names import plain_names, rounded
from ...page import Option, Switch
from ...tables import table_of
from .grids import language_axis
from .view import AXES, TransferView, run_signals, run_title

MOST_CLASSES = 30
"""Classes of a task that the grid shows, the most frequent first."""
AMOUNTS = {
    "f1": ("F1", "The harmonic mean of precision and recall."),
    "precision": ("precision", "Of the words that are predicted as the class, the share that is of it."),
    "recall": ("recall", "Of the words of the class, the share that is predicted as it."),
}  # fmt: skip
"""What a cell may show: its name, and what it is."""


def classes_of(view: TransferView, source: int, task: int) -> list[int]:
    """The places of the classes that the grid shows of a task: the most frequent of what is fitted first."""
    dataset = view.dataset
    mine = f"{dataset['task'].values[task]}/"
    fitted = dataset["train_support"].values[source]
    known = [
        k for k, c in enumerate(map(str, dataset["class"].values))
        if c.startswith(mine) and fitted[k] > 0
    ]  # fmt: skip
    return sorted(known, key=lambda k: -fitted[k])[:MOST_CLASSES]


def left_out(view: TransferView) -> list[str]:
    """Of tasks with more classes than the grid shows, how many there are."""
    texts = []
    for t, task in enumerate(view.names["task"]):
        mine = f"{view.dataset['task'].values[t]}/"
        count = sum(str(c).startswith(mine) for c in view.dataset["class"].values)
        if count > MOST_CLASSES:
            texts.append(
                f"{task} has {count} classes: the {MOST_CLASSES} most frequent are shown, class_scores.csv has all."
            )
    return texts


def class_names(view: TransferView, places: list[int]) -> list[str]:
    """The labels of some classes, without their task."""
    labels = [str(view.dataset["class"].values[k]) for k in places]
    return plain_names([label.partition("/")[2] for label in labels])


def class_chart(view: TransferView, *, width: int | str = "container") -> alt.LayerChart:
    """A column a language; a row a class of the chosen task, the most frequent at the top."""
    languages = view.names["language"]
    shown = {key: classes_of(view, at["source"], at["task"]) for key, at in view.runs()}
    most = max(map(len, shown.values()))
    rows: list[dict[str, Any]] = [
        {"r": r, "j": j, "language": language}
        for r in range(most)
        for j, language in enumerate(languages)
    ]
    for key, at in view.runs():
        for row in rows:
            row[column(key, "there")] = int(row["r"] < len(shown[key]))
        for test in view.tests:
            places = {**at, "test": view.names["test"].index(test)}
            for name in (*AMOUNTS, "support"):
                values = view.values(name, "class", "language", **places)
                assert values is not None
                for row in rows:
                    if row["r"] < len(shown[key]):
                        value = float(values[shown[key][row["r"]], row["j"]])
                        row[column(key, f"{test}~{name}")] = rounded(value)
    # As many for each run: rows that a task has not are left out only after their names were read.
    names = {
        key: [[name] for name in class_names(view, places)] + [[""]] * (most - len(places))
        for key, places in shown.items()
    }
    base = alt.Chart().transform_calculate(
        **calculations("'.3f'"),
        there="datum[measure + '|there|']",
        words="datum[measure + '|' + test + '~support|']",
        name="join(name_lines[datum.r], ' ')",
        spoken="join(name_lines[datum.r], ' ') + ', ' + datum.language + ': ' + datum.value",
        label=f"width / {len(languages)} >= 30 && isValid(datum.v) ? format(datum.v, '.2f') : ''",
        **{
            f"{name}_text": f"isValid({other}) ? format({other}, '.3f') : 'not defined'"
            for name in AMOUNTS
            for other in (expression("").replace("scaling", f"test + '~{name}'"),)
        },
    )
    base = base.transform_filter("datum.there == 1")
    y = alt.Y("r:O", scale=alt.Scale(paddingInner=0, paddingOuter=0), axis=name_axis(grid=False))
    place = {"x": language_axis(languages), "y": y}
    texts = {f"{name}_text": said for name, (said, _) in AMOUNTS.items()}
    tooltip = tooltips(name="class", language="language", words="words", **texts)
    layers = cells(base, place, unit_colour(".1f", values=[0, 0.5, 1]), tooltip, line="0.6")
    layers.append(cell_numbers(base, place, size="11"))
    shown_as = {name: said for name, (said, _) in AMOUNTS.items()}
    longest = [max((name for some in names.values() for (name,) in some), key=len)]
    signals = run_signals(view) | {
        "amount": "f1",
        "scaling": alt.expr("test + '~' + amount"),
        "names_of": names,
        "name_lines": alt.expr("names_of[measure]"),
        "languages": languages,
    }
    return layered(
        layers,
        rows,
        signals,
        width=width,
        height=row_height(longest, 24) * max(2, most),
        title=run_title(view, "Classes by language", more=[signal_text(shown_as, "amount")]),
    )


def amount_switch() -> Switch:
    """What the cells show."""
    return Switch("amount", "Show:", [Option(key, *texts) for key, texts in AMOUNTS.items()])


def class_score_lines(view: TransferView, name: str, places: dict[str, int]) -> ResultTable:
    """The numbers of the chart: a line a class, a column a language."""
    at = {axis: places[axis] for axis in (*AXES, "test")}
    values = view.values(name, "class", "language", **at)
    fitted = view.values("train_support", "class", source=places["source"])
    assert values is not None
    assert fitted is not None
    shown = classes_of(view, places["source"], places["task"])
    kind = "count" if name == "support" else "number"
    lines = [
        [label, fitted[k], *values[k].tolist()]
        for k, label in zip(shown, class_names(view, shown), strict=True)
    ]
    heads = [("class", "text"), ("in train", "count")]
    return table_of("classes", [*heads, *((n, kind) for n in view.names["language"])], lines)
