"""Scores of each class: in every language, and in short."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from ...results import Column, ResultTable
from ..probing import ERRORS
from .cells import HELD_OUT, TransferCells, run_columns

_MOST = 12
"""Classes that the terminal shows of each task."""
_SCORES = ("support", "precision", "recall", "f1")


def class_rows(dataset: xr.Dataset) -> list[dict[str, Any]]:
    """A row for each model, language of training, task, class, language and test, as plain data.

    The classes that are most frequent in what is fitted come first.
    """
    cells, rows = TransferCells(dataset), []
    for run in cells.runs():
        for label in classes_of(cells, run):
            key = {"class": f"{run['task']}/{label}"}
            fitted = cells.get("train_support", source=run["source"], **key)
            for language in cells.labels["language"]:
                for test in cells.labels["test"]:
                    at = {**run, **key, "language": language, "test": test}
                    row: dict[str, Any] = {
                        **run, "class": label, "train": fitted, "language": language, "test": test,
                    }  # fmt: skip
                    row |= {name: cells.get(name, **at) for name in _SCORES}
                    row |= {f"f1{ending}": cells.get(f"f1{ending}", **at) for ending in ERRORS}
                    if row["support"] is not None:
                        rows.append(row)
    return rows


def classes_of(cells: TransferCells, run: dict[str, str]) -> list[str]:
    """The classes of a task in a language of training, the most frequent of what is fitted first."""
    source, task = run["source"], run["task"]

    def fitted(label: str) -> float:
        return cells.get("train_support", source=source, **{"class": f"{task}/{label}"}) or 0

    known = [str(c) for c in cells.attrs["classes"][source][task]]
    return sorted(known, key=lambda label: -fitted(label))


def class_score_table(dataset: xr.Dataset) -> ResultTable:
    """Everything that was scored of classes, a row a class, language and test: for a file."""
    names = ("model", "source", "task", "class")
    counts = [Column("train", kind="count")]
    places = [Column("language"), Column("test"), Column("support", kind="count")]
    numbers = [
        Column(n, kind="number") for n in (*_SCORES[1:], *(f"f1{ending}" for ending in ERRORS))
    ]
    columns = [*(Column(n) for n in names), *counts, *places, *numbers]
    return ResultTable(
        "class_scores", columns, class_rows(dataset), title="Classes in every language"
    )


def class_table(dataset: xr.Dataset) -> ResultTable:
    """F1 of each class in the language of training and in the others, and where it is best and worst."""
    cells, rows = TransferCells(dataset), []
    for run in cells.runs():
        for label in classes_of(cells, run):
            at = {**run, "class": f"{run['task']}/{label}", "test": HELD_OUT}
            by_language = {
                name: f1
                for name in cells.others(run)
                if cells.get("support", **at, language=name)
                and (f1 := cells.get("f1", **at, language=name)) is not None
            }
            row: dict[str, Any] = {**run, "class": label, "train": cells.get("train_support", **at)}
            row["support"] = cells.get("support", **at, language=run["source"])
            row |= cells.with_errors("f1", "f1", **at, language=run["source"])
            row["languages"] = len(by_language)
            if by_language:
                best = max(by_language, key=lambda n: by_language[n])
                worst = min(by_language, key=lambda n: by_language[n])
                row["others"] = float(np.mean(list(by_language.values())))
                row |= {"best": by_language[best], "best_in": best}
                row |= {"worst": by_language[worst], "worst_in": worst}
            rows.append(row)
    several = len(dataset["language"]) > 2
    return ResultTable(
        "classes",
        [
            *run_columns(dataset),
            Column("class"),
            Column("train", "in train", kind="count"),
            Column("f1", "F1, own", kind="number", error="f1_se"),
            Column("others", "F1, others", kind="number"),
            Column("best", kind="number", shown=several),
            Column("best_in", "in", shown=several),
            Column("worst", kind="number", shown=several),
            Column("worst_in", "in", shown=several),
            *(Column(name, shown=False) for name in ("support", "languages", "f1_low", "f1_high")),
        ],
        rows,
        title="Classes, the most frequent first",
        caption="F1 on held-out sentences, by a probe of all neurons: in the language of training (own), and the mean "
        "over the other languages that have words of the class there. class_scores.csv has words, precision, recall "
        "and F1 of each class in each language.",
        group=("model", "source", "task"),
        most=_MOST,
    )
