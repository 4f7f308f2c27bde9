"""Tables by language and by family."""

from __future__ import annotations

from typing import Any

import xarray as xr

from ...results import Column, ResultTable
from .cells import EVERYWHERE, HELD_OUT, TransferCells, run_columns


def language_rows(dataset: xr.Dataset) -> list[dict[str, Any]]:
    """A row for each model, language of training, task and language, by all neurons, as plain data."""
    cells, rows = TransferCells(dataset), []
    for run in cells.runs():
        for language in cells.labels["language"]:
            at = {**run, "neurons": "all", "language": language}
            row: dict[str, Any] = {
                **run,
                "language": language,
                "family": cells.families[language] or None,
            }
            row |= cells.with_errors("held_out", "accuracy", **at, test=HELD_OUT)
            row |= cells.with_errors("everywhere", "accuracy", **at, test=EVERYWHERE)
            row |= cells.with_errors("gap", "gap", **at)
            row |= cells.with_errors("ceiling", "ceiling", **at)
            for name in ("majority", "word_source"):
                row[name] = cells.get(name, **at, test=HELD_OUT)
            row["word_own"] = cells.get("word_own", **at)
            row["macro_f1"] = cells.get("macro_f1", **at, test=HELD_OUT)
            row["rows_held_out"] = cells.get("rows", **at, test=HELD_OUT)
            row["rows"] = cells.get("rows", **at, test=EVERYWHERE)
            row["unseen"] = cells.get("unseen", **at, test=EVERYWHERE)
            row["missing"] = cells.get("missing", **at)
            row["unknown"] = cells.get("unknown", **at)
            rows.append(row)
    return rows


def language_table(dataset: xr.Dataset) -> ResultTable:
    """Accuracy in each language by all neurons, beside what needs no model."""
    rows = language_rows(dataset)
    there = {name for row in rows for name, v in row.items() if v is not None}
    errors = "; ± standard error over sentences" if "held_out_se" in there else ""
    optional = [
        Column("ceiling", "own probe", kind="number", error="ceiling_se"),
        Column("unknown", "unknown tokens", kind="percent"),
    ]
    hidden = [
        "macro_f1", "rows_held_out", "rows", "missing", "gap", "gap_se",
        *(f"{n}{e}" for n in ("held_out", "everywhere", "gap", "ceiling") for e in ("_low", "_high")),
    ]  # fmt: skip
    caption = [
        f"Accuracy of words by a probe of all neurons{errors}. Held-out: sentences whose translations were not fitted "
        f"on. All: all sentences, of most of which the translation was fitted on.",
        "Majority, tag of the word: what needs no model, from the language of training. Own words: the tag that the "
        "word has most often in its own language, on held-out sentences.",
    ]
    if "ceiling" in there:
        caption.append("Own probe: fitted on the language itself.")
    return ResultTable(
        "languages",
        [
            *run_columns(dataset),
            Column("language"),
            Column("family"),
            Column("held_out", "held-out", kind="number", error="held_out_se"),
            Column("everywhere", "all", kind="number", error="everywhere_se"),
            Column("majority", "majority", kind="number"),
            Column("word_source", "tag of the word", kind="number"),
            Column("word_own", "own words", kind="number"),
            *(c for c in optional if c.key in there),
            Column("unseen", "unseen labels", kind="count"),
            *(Column(name, shown=False) for name in hidden),
            *(Column(c.key, shown=False) for c in optional if c.key not in there),
        ],
        rows,
        title=title_of(dataset),
        caption=" ".join(caption),
        group=("model", "source", "task"),
        about={"level": float(dataset.attrs["level"])},
    )


def title_of(dataset: xr.Dataset) -> str:
    """What was fitted where, of how many sentences."""
    held = dataset["held_out"].values.astype(bool)
    sources = ", ".join(str(s) for s in dataset["source"].values)
    tasks = ", ".join(str(t) for t in dataset["task"].values)
    split = f"fitted on {int((~held).sum()):,} sentences, {int(held.sum()):,} held out"
    return f"Transfer of {tasks} from {sources}: {split}"


def family_rows(dataset: xr.Dataset) -> list[dict[str, Any]]:
    """A row for each model, language of training, task and family, by all neurons, as plain data."""
    cells, rows = TransferCells(dataset), []
    for run in cells.runs():
        for family in cells.labels.get("family", []):
            members = [n for n in cells.others(run) if cells.families[n] == family]
            if not members:
                continue
            at = {**run, "neurons": "all", "family": family}
            row: dict[str, Any] = {**run, "family": family, "languages": ", ".join(members)}
            row |= cells.with_errors("held_out", "family_accuracy", **at, test=HELD_OUT)
            row |= cells.with_errors("everywhere", "family_accuracy", **at, test=EVERYWHERE)
            rows.append(row)
    return rows


def family_table(dataset: xr.Dataset) -> ResultTable:
    """Mean accuracy over the languages of each family."""
    without = [
        n
        for n, f in zip(dataset["language"].values, dataset["family_of"].values, strict=True)
        if not str(f)
    ]
    caption = (
        "Mean over the languages of a family, without that of training, by a probe of all neurons. The error is over "
        "sentences; it says nothing of other languages of the family."
    )
    if without:
        caption += f" Without a family: {', '.join(map(str, without))} (families=… gives one)."
    return ResultTable(
        "families",
        [
            *run_columns(dataset),
            Column("family"),
            Column("languages"),
            Column("held_out", "held-out", kind="number", error="held_out_se"),
            Column("everywhere", "all", kind="number", error="everywhere_se"),
            *(
                Column(f"{n}{e}", shown=False)
                for n in ("held_out", "everywhere")
                for e in ("_low", "_high")
            ),
        ],
        family_rows(dataset),
        title="Families of languages",
        caption=caption,
        group=("model", "source", "task"),
    )
