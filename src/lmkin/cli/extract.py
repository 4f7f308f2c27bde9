"""`lmkin extract`: activations of a model on a corpus, into a folder."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

import typer

from ..core import LmkinError, format_seconds, human_bytes
from ..models import Loading, Reading
from .descriptions import describe_losses, describe_store, describe_unknown
from .flags import (
    AS_JSON,
    DRY_RUN,
    FORMAT,
    FORMAT_OPTIONS,
    VERBOSE,
    name_value_pairs,
    parameters,
    plain_parameter,
    typer_command,
    values_of,
)
from .interruption import will_write
from .output import busy, say_warning, set_verbosity, show

_RUN: dict[str, Any] = {"rich_help_panel": "Run"}
_MODEL = "A Hugging Face name or folder, untrained:SPEC[@seed], package:PACKAGE/FOLDER, or a file of activations."
_CORPUS = "A corpus file or folder, or sample[:LANGUAGE] for the one built in."
_PARAMETERS = [
    plain_parameter("model", str, typer.Argument(help=_MODEL), ...),
    plain_parameter("corpus", str, typer.Argument(help=_CORPUS), ...),
    plain_parameter(
        "out",
        Path | None,
        typer.Option(
            "--out", "-o", help="Folder to store the activations in; needed unless --dry-run."
        ),
    ),
    *parameters(Reading, "reading"),
    plain_parameter(
        "limit",
        int | None,
        typer.Option(min=1, help="Only the first so many sentences.", rich_help_panel="Corpus"),
    ),
    plain_parameter("format", str | None, FORMAT),
    FORMAT_OPTIONS,
    *parameters(Loading, "loading"),
    plain_parameter(
        "name", str | None, typer.Option(help="What to call the model.", rich_help_panel="Model")
    ),
    plain_parameter(
        "dtype",
        Literal["float32", "float16"],
        typer.Option(help="Of the stored activations.", **_RUN),
        "float32",
    ),
    plain_parameter(
        "shard_mb", float, typer.Option(help="Size of a file of the store, in MB.", **_RUN), 64.0
    ),
    plain_parameter("threads", int | None, typer.Option(min=1, help="CPU threads.", **_RUN)),
    plain_parameter(
        "overwrite",
        bool,
        typer.Option("--overwrite", help="Replace activations of another run.", **_RUN),
        False,
    ),
    DRY_RUN,
    AS_JSON,
    VERBOSE,
]


def run_extract(given: dict[str, Any]) -> None:
    """Read, load, plan or extract, and say what is there now."""
    set_verbosity(given["verbose"])
    out: Path | None = given["out"]
    if out is None and not given["dry_run"]:
        raise LmkinError("Where to? Give a folder with -o DIR, or --dry-run to see what it takes.")
    if not 0 < given["shard_mb"] < 1e6:  # NaN fails this too
        raise LmkinError(f"--shard-mb must be a size in MB, such as 64; got {given['shard_mb']}.")
    from ..activations import check_store_folder, extract, finished_key
    from ..analysis import Running, Source
    from ..corpus import read_corpus
    from ..models import load_model

    reading = Reading(**values_of(Reading, "reading", given))
    source = Source(
        given["model"],
        given["corpus"],
        names=None if given["name"] is None else [given["name"]],
        reading=reading,
        loading=Loading(**values_of(Loading, "loading", given)),
    )
    source.check()
    if out is not None and not given["dry_run"]:
        check_store_folder(out)
    with busy(f"Reading {given['corpus']} …"):
        formatted = name_value_pairs(given["format_options"])
        sentences = read_corpus(given["corpus"], given["format"], **formatted)[: given["limit"]]
    Running(threads=given["threads"]).limit_threads()
    with busy(f"Loading {given['model']} …"):
        model = load_model(given["model"], name=given["name"], **source.loading.to_dict())
    storage = {"dtype": given["dtype"], "shard_bytes": max(1, int(given["shard_mb"] * 1e6))}
    if given["dry_run"]:
        _say_plan(model, sentences, reading, storage, as_json=given["as_json"])
        return
    assert out is not None
    earlier = finished_key(out)
    will_write(out)
    begun = time.perf_counter()
    acts = extract(
        model, sentences, out, overwrite=given["overwrite"], **storage, **asdict(reading)
    )
    seconds = time.perf_counter() - begun
    rows, data = describe_store(acts)
    rows["time"] = format_seconds(seconds)
    same = earlier == acts.manifest["key"]
    title = f"Already complete in {out}: nothing was computed" if same else f"Stored in {out}"
    show(title, rows, as_json=given["as_json"], data={**data, "seconds": round(seconds, 2)})
    for line in describe_losses(acts.manifest):
        say_warning(line)


def _say_plan(
    model: Any, sentences: Any, reading: Reading, storage: dict[str, Any], *, as_json: bool
) -> None:
    """What an extraction would take."""
    from ..activations import plan_extraction

    with busy("Timing a few batches …"):
        plan = plan_extraction(
            model,
            sentences,
            reading.rule(),
            layers=reading.layers,
            batch_tokens=reading.batch_tokens,
            **storage,
        )
    data = {"sentences": len(sentences), "words": sentences.n_words, **plan.to_dict()}
    layers = ", ".join(f"{n} × {model.widths[n]}" for n in plan.layers)
    rows = {
        "corpus": f"{sentences.name}: {len(sentences):,} sentences, {sentences.n_words:,} words",
        "rows": f"{plan.units:,} {reading.units}s ({plan.lost:,} lost)",
        "unknown": describe_unknown(plan.unknown, reading.units),
        "tokens": f"{plan.tokens:,} (padded {plan.padded_tokens:,})",
        "layers": f"{len(plan.layers)} of {model.n_layers}: {layers}",
        "on disk": human_bytes(plan.disk_bytes),
        "memory": f"about {human_bytes(plan.memory_bytes)}",
        "time": f"about {format_seconds(plan.seconds)}",
    }
    show(f"{model.name}: nothing is written", rows, as_json=as_json, data=data)


command = typer_command(
    run_extract,
    _PARAMETERS,
    """Run MODEL over CORPUS and store a vector for every word and layer in a folder.

    A run that is broken off goes on where it stopped when the same command is given again.

        lmkin extract bert-base-cased en_ewt-ud-dev.conllu -o bert.acts
    """,
)
