"""Tables by set of neurons and by model, everything in one, and figures of the thesis."""

from __future__ import annotations

from typing import Any

import xarray as xr

from ...results import Column, ResultTable
from ..probing import ERRORS
from .cells import EVERYWHERE, HELD_OUT, TransferCells, run_columns, said_of
from .published import FROM, code_of


def neuron_rows(dataset: xr.Dataset) -> list[dict[str, Any]]:
    """A row for each model, language of training, task and set of neurons, as plain data."""
    cells, rows = TransferCells(dataset), []
    for run in cells.runs():
        for label in cells.sets(run):
            at = {**run, "neurons": label}
            layers = cells.attrs["layers_read"][run["model"]][label]
            row: dict[str, Any] = {
                **run, "neurons": label, "kind": cells.kinds[label], "read": said_of(label, cells.kinds[label]),
                "layers": _ranges([int(n) for n in layers]),
            }  # fmt: skip
            for name in ("width", "used", "train_accuracy", "l1", "kkt", "iterations"):
                row[name] = cells.get(name, **at)
            row |= cells.with_errors("own", "accuracy", **at, language=run["source"], test=HELD_OUT)
            row |= cells.with_errors("held_out", "mean_accuracy", **at, test=HELD_OUT)
            row |= cells.with_errors("everywhere", "mean_accuracy", **at, test=EVERYWHERE)
            row |= cells.with_errors("behind", "mean_behind", **at, test=EVERYWHERE)
            rows.append(row)
    return rows


def _ranges(numbers: list[int]) -> str:
    """``0-6``; numbers that do not follow each other with commas."""
    if len(numbers) > 1 and numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f"{numbers[0]}-{numbers[-1]}"
    return ",".join(map(str, numbers))


def neuron_table(dataset: xr.Dataset) -> ResultTable:
    """What is lost with fewer neurons, and with fewer layers."""
    shown = ("own", "held_out", "everywhere", "behind")
    return ResultTable(
        "neurons",
        [
            *run_columns(dataset),
            Column("read", "neurons"),
            Column("width", "number", kind="count"),
            Column("used", kind="count", help="Neurons with a weight that is not 0."),
            Column("train_accuracy", "train", kind="number"),
            Column("own", "own held-out", kind="number"),
            Column("held_out", "others, held-out", kind="number"),
            Column("everywhere", "others, all", kind="number"),
            Column("behind", "lost", kind="number", error="behind_se"),
            Column("layers"),
            *(Column(name, shown=False) for name in ("neurons", "kind", "l1", "kkt", "iterations")),
            *(
                Column(f"{n}{e}", shown=False)
                for n in shown
                for e in ERRORS
                if n + e != "behind_se"
            ),
        ],
        neuron_rows(dataset),
        title="Fewer neurons, and fewer layers",
        caption="Accuracy on train, on held-out sentences of the language of training, and the mean over all other "
        "languages. Lost: mean accuracy of all neurons less that of these, on all sentences of the other languages; "
        "± standard error of the difference.",
        group=("model", "source", "task"),
    )


def model_rows(dataset: xr.Dataset) -> list[dict[str, Any]]:
    """How far each further model lies behind the first, by language and set of neurons, as plain data."""
    cells, rows = TransferCells(dataset), []
    first = cells.labels["model"][0]
    for run in cells.runs():
        for label in cells.sets(run):
            if run["model"] == first:
                continue
            for language in [*cells.labels["language"], ""]:
                name = "model_difference" if language else "mean_difference"
                at = {**run, "neurons": label, "language": language}
                row: dict[str, Any] = {
                    **run,
                    "neurons": label,
                    "read": said_of(label, cells.kinds[label]),
                }
                row["language"] = language or "mean of others"
                row |= cells.with_errors("held_out", name, **at, test=HELD_OUT)
                row |= cells.with_errors("everywhere", name, **at, test=EVERYWHERE)
                if row["held_out"] is not None:
                    rows.append(row)
    return rows


def model_table(dataset: xr.Dataset) -> ResultTable:
    """Teacher against student: all neurons of each model against those of the first."""
    first = str(dataset["model"].values[0])
    rows = [row for row in model_rows(dataset) if row["neurons"] == "all"]
    return ResultTable(
        "models",
        [
            Column("model"),
            *run_columns(dataset)[1:],
            Column("language"),
            Column("held_out", "held-out", kind="number", error="held_out_se"),
            Column("everywhere", "all", kind="number", error="everywhere_se"),
            *(Column(name, shown=False) for name in ("neurons", "read")),
            *(
                Column(f"{n}{e}", shown=False)
                for n in ("held_out", "everywhere")
                for e in ("_low", "_high")
            ),
        ],
        rows,
        title=f"How far {first} is ahead of the others",
        caption="Accuracy of the first model less that of this one, by probes of all neurons; ± standard error of the "
        "difference, on the same words.",
        group=("model", "source", "task"),
    )


def transfer_rows(dataset: xr.Dataset) -> list[dict[str, Any]]:
    """A row for everything that was scored, as plain data."""
    cells, rows = TransferCells(dataset), []
    for run in cells.runs():
        for label in cells.sets(run):
            for language in cells.labels["language"]:
                for test in cells.labels["test"]:
                    at = {**run, "neurons": label, "language": language, "test": test}
                    row: dict[str, Any] = dict(at)
                    for name in ("accuracy", "macro_f1", "behind"):
                        row |= cells.with_errors(name, name, **at)
                    if row["accuracy"] is not None:
                        rows.append(row)
    return rows


def transfer_table(dataset: xr.Dataset) -> ResultTable:
    """Everything, a row a score: for a file."""
    names = ("model", "source", "task", "neurons", "language", "test")
    numbers = [n + e for n in ("accuracy", "macro_f1", "behind") for e in ("", *ERRORS)]
    columns = [*(Column(n) for n in names), *(Column(n, kind="number") for n in numbers)]
    return ResultTable(
        "transfer", columns, transfer_rows(dataset), title="Everything that was scored"
    )


def published_table(dataset: xr.Dataset) -> ResultTable:
    """Figures of the thesis beside one's own: all neurons, and the largest threshold of both."""
    cells = TransferCells(dataset)
    there = [str(m) for m in dataset["published_model"].values]
    rows: list[dict[str, Any]] = []
    for run in cells.runs():
        mine = {axis: run[axis] for axis in ("model", "source")}
        for language in cells.others(run):
            for label in (s for s in cells.sets(run) if cells.kinds[s] != "layers"):
                at = {"task": run["task"], "neurons": label, "language": language}
                theirs = {m: cells.get("published", published_model=m, **at) for m in there}
                if any(v is not None for v in theirs.values()):
                    ours = cells.get("accuracy", **at, **mine, test=EVERYWHERE)
                    rows.append(
                        {**run, "language": language, "neurons": label, "ours": ours, **theirs}
                    )
    return ResultTable(
        "published",
        [
            *run_columns(dataset),
            Column("language"),
            Column("neurons", "threshold"),
            Column("ours", "here", kind="number"),
            *(Column(m, kind="number") for m in there),
        ],
        [row for row in rows if code_of(row["source"]) == FROM],
        title="Beside the thesis",
        caption="Accuracy on all sentences, fitted on English: yours, and the thesis's figures (tables B.1 and B.2) "
        "for multilingual models on parallel treebanks. Its probes, and its clusters, were made otherwise.",
        group=("model", "task", "language"),
        most=24,
    )


def training_rows(dataset: xr.Dataset) -> list[dict[str, Any]]:
    """Accuracy on the words that were fitted: a row a task and model, own and published, a column a threshold."""
    cells, rows = TransferCells(dataset), []
    cuts = [label for label, kind in cells.kinds.items() if kind != "layers"]
    for task in cells.labels["task"]:
        theirs = [
            {"task": task, "model": f"thesis: {model}", "source": FROM}
            | {c: cells.get("published_train", published_train_model=model, task=task, neurons=c) for c in cuts}
            for model in cells.labels["published_train_model"]
        ]  # fmt: skip
        if all(row[c] is None for row in theirs for c in cuts):
            continue  # a task that the thesis has not
        rows += [
            run | {c: cells.get("train_accuracy", **run, neurons=c) for c in cuts}
            for run in cells.runs()
            if run["task"] == task and code_of(run["source"]) == FROM
        ]
        rows += theirs
    return rows


def training_table(dataset: xr.Dataset) -> ResultTable:
    """How well probes fit their own words, beside table C.1 of the thesis."""
    labels = zip(map(str, dataset["neurons"].values), dataset["kind"].values, strict=True)
    cuts = [label for label, kind in labels if kind != "layers"]
    return ResultTable(
        "published_training",
        [
            Column("task", shown=len(dataset["task"]) > 1),
            Column("model"),
            Column("source", "fitted on", shown=False),
            *(Column(label, kind="number") for label in cuts),
        ],
        training_rows(dataset),
        title="How well the words that were fitted are predicted, beside the thesis",
        caption="Accuracy by the threshold of the clustering, fitted on English (table C.1 of the thesis). Its words, "
        "its probes and its clusters are others.",
        group=("task",),
    )
