"""One's own curve in a language, and those of the thesis for multilingual models."""

from __future__ import annotations

from typing import Any

import altair as alt

from ....core import slugs
from ...charts.lines import line_chart
from ...charts.style import heading, number_axis, signal_text
from ...charts.values import ERRORS, calculations, column, tooltips
from ...names import plain_names, rounded
from ...page import Option, Switch
from .curves import threshold_axis
from .view import TransferView

BY = ("model", "task", "language")
WORDS = {"model": "Model:", "task": "Task:", "language": "Language:"}


def known_languages(view: TransferView) -> list[int]:
    """The places of the languages that the thesis has figures for."""
    figures = view.dataset["published"]
    there = figures.notnull().any([d for d in figures.dims if d != "language"]).values
    return [k for k, known in enumerate(there) if known]


def _choices(view: TransferView) -> dict[str, list[tuple[int, str, str]]]:
    """Place, key and name of everything that a switch chooses."""
    languages = known_languages(view)
    names = [view.names["language"][k] for k in languages]
    return {
        "model": list(zip(range(len(view.names["model"])), view.keys["model"], view.names["model"], strict=True)),
        "task": list(zip(range(len(view.names["task"])), view.keys["task"], view.names["task"], strict=True)),
        "language": list(zip(languages, slugs(names), names, strict=True)),
    }  # fmt: skip


def thesis_chart(view: TransferView, *, width: int | str = "container") -> alt.LayerChart:
    """Accuracy on all sentences of one language by threshold: one's own, and three models of the thesis."""
    theirs = plain_names([str(m) for m in view.dataset["published_model"].values])
    names, cuts, choices = ["here", *(f"thesis: {m}" for m in theirs)], view.cuts, _choices(view)
    rows: list[dict[str, Any]] = [
        {"i": i, "line": label, "k": k, "read": view.set_name(k)}
        for i, label in enumerate(names)
        for k in cuts
    ]
    source = english(view)
    test = view.names["test"].index("all")
    for m, model, _ in choices["model"]:
        for t, task, _ in choices["task"]:
            for n, language, _ in choices["language"]:
                key, at = f"{model}~{task}~{language}", {"task": t, "language": n}
                own = {
                    ending: view.values(
                        f"accuracy{ending}", "neurons", **at, model=m, source=source, test=test
                    )
                    for ending in ("", *ERRORS)
                }
                figures = view.values("published", "published_model", "neurons", **at)
                assert figures is not None
                for row in rows:
                    if row["i"]:
                        value = float(figures[row["i"] - 1, row["k"]])
                        row[column(key, "all")] = rounded(value)
                        continue
                    for ending, found in own.items():
                        if found is not None:
                            row[column(key, "all", ending)] = rounded(float(found[row["k"]]))
    texts = {axis: {key: name for _, key, name in some} for axis, some in choices.items()}
    signals: dict[str, Any] = {axis: some[0][1] for axis, some in choices.items()}
    signals |= {
        "measure": alt.expr(" + '~' + ".join(BY)),
        "scaling": "all",
        "labels": ["all", *(view.names["neurons"][k] for k in cuts[1:])],
    }
    return line_chart(
        rows,
        names,
        x=threshold_axis(cuts),
        y={
            "title": "accuracy",
            "scale": alt.Scale(domain=[0, 1], nice=False),
            "axis": number_axis(),
        },
        tooltip=tooltips(view.level, line="whose", read="neurons", value="accuracy"),
        title=heading(
            "Accuracy on all sentences, fitted on English",
            *(signal_text(texts[axis], axis) for axis in BY),
        ),
        calculate=calculations("'.4f'"),
        params=signals,
        width=width,
    )


def thesis_switches(view: TransferView) -> list[Switch]:
    """Switches between models, tasks and languages, where there are several."""
    return [
        Switch(axis, WORDS[axis], [Option(key, name) for _, key, name in some])
        for axis, some in _choices(view).items()
        if len(some) > 1
    ]


def english(view: TransferView) -> int:
    """The place of English among the languages of training: what the thesis fitted on."""
    return next(k for k, name in enumerate(view.names["source"]) if name.lower()[:2] == "en")
