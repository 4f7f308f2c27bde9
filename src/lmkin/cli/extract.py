"""`lmkin extract`: activations of a model on a corpus, into a folder."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import LmkinError
from .options import (
    AsJson,
    BatchTokens,
    Device,
    DryRun,
    FirstToken,
    Format,
    Layers,
    Limit,
    Long,
    MaxLength,
    ModelDtype,
    Option,
    Overlap,
    Pooling,
    Revision,
    Side,
    SpecialTokens,
    Threads,
    TrustRemoteCode,
    Units,
    Verbose,
    format_options,
)
from .output import busy, format_seconds, say_warning, set_verbosity, show

_RUN = "Run"


def command(
    model: Annotated[
        str,
        typer.Argument(
            help="A Hugging Face name or folder, untrained:SPEC[@seed], package:PACKAGE/FOLDER, or a file of "
            "activations."
        ),
    ],
    corpus: Annotated[
        str,
        typer.Argument(help="A corpus file or folder, or sample[:LANGUAGE] for the one built in."),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Folder to store the activations in; needed unless --dry-run."
        ),
    ] = None,
    layers: Layers = "all",
    units: Units = "word",
    pooling: Pooling = None,
    first_token: FirstToken = "drop",
    special_tokens: SpecialTokens = None,
    long: Long = "window",
    overlap: Overlap = None,
    max_length: MaxLength = None,
    limit: Limit = None,
    format: Format = None,
    option: Option = None,
    device: Device = "auto",
    model_dtype: ModelDtype = None,
    revision: Revision = None,
    side: Side = "encoder",
    trust_remote_code: TrustRemoteCode = False,
    name: Annotated[
        str | None, typer.Option(help="What to call the model.", rich_help_panel="Model")
    ] = None,
    dtype: Annotated[
        str, typer.Option(help="float32 or float16, for the store.", rich_help_panel=_RUN)
    ] = "float32",
    batch_tokens: BatchTokens = None,
    shard_mb: Annotated[
        float, typer.Option(help="Size of a file of the store, in MB.", rich_help_panel=_RUN)
    ] = 64,
    threads: Threads = None,
    overwrite: Annotated[
        bool, typer.Option(help="Replace activations of another run.", rich_help_panel=_RUN)
    ] = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Run MODEL over CORPUS and store a vector for every word and layer in a folder.

    A run that is broken off goes on where it stopped when the same command is given again.

        lmkin extract bert-base-cased en_ewt-ud-dev.conllu -o bert.acts
    """
    set_verbosity(verbose)
    if out is None and not dry_run:
        raise LmkinError("Where to? Give a folder with -o DIR, or --dry-run to see what it takes.")
    from ..activations import extract
    from ..activations.resources import human_bytes
    from ..corpus import read_corpus
    from ..models import UnitRule, load_model

    with busy(f"Reading {corpus} …"):
        sentences = read_corpus(corpus, format, **format_options(option))
        if limit is not None:
            sentences = sentences[:limit]
    with busy(f"Loading {model} …"):
        if threads is not None:
            import torch

            torch.set_num_threads(threads)
        loaded = load_model(
            model,
            device=device,
            dtype=model_dtype,
            revision=revision,
            side=side,
            trust_remote_code=trust_remote_code,
            name=name,
        )
    rule: dict[str, Any] = {
        "units": units,
        "pooling": pooling,
        "first_token": first_token,
        "special_tokens": special_tokens,
        "long": long,
        "overlap": overlap,
        "max_length": max_length,
    }
    if not 0 < shard_mb < 1e6:  # NaN fails this too
        raise LmkinError(f"--shard-mb must be a size in MB, such as 64; got {shard_mb}.")
    shard_bytes = max(1, int(shard_mb * 1e6))
    if dry_run:
        from ..activations.planning import plan_extraction

        with busy("Timing a few batches …"):
            plan = plan_extraction(
                loaded,
                sentences,
                UnitRule.make(**rule),
                layers=layers,
                batch_tokens=batch_tokens,
                dtype=dtype,
                shard_bytes=shard_bytes,
            )
        data = {"sentences": len(sentences), "words": sentences.n_words, **plan.to_dict()}
        rows = {
            "corpus": f"{sentences.name}: {len(sentences):,} sentences, {sentences.n_words:,} words",
            "rows": f"{plan.units:,} {units}s ({plan.lost:,} lost)",
            "tokens": f"{plan.tokens:,} (padded {plan.padded_tokens:,})",
            "layers": f"{len(plan.layers)} of {loaded.n_layers}: "
            + ", ".join(f"{n} × {loaded.widths[n]}" for n in plan.layers),
            "on disk": human_bytes(plan.disk_bytes),
            "memory": f"about {human_bytes(plan.memory_bytes)}",
            "time": f"about {format_seconds(plan.seconds)}",
        }
        show(f"{loaded.name}: nothing is written", rows, as_json=as_json, data=data)
        return
    earlier = _finished_key(out)
    begun = time.perf_counter()
    acts = extract(
        loaded,
        sentences,
        out,
        layers=layers,
        batch_tokens=batch_tokens,
        dtype=dtype,
        shard_bytes=shard_bytes,
        overwrite=overwrite,
        **rule,
    )
    seconds = time.perf_counter() - begun
    from .inspect import describe_losses, describe_store

    rows, data = describe_store(acts)
    rows["time"] = format_seconds(seconds)
    same = earlier == acts.manifest["key"]
    title = f"Already complete in {out}: nothing was computed" if same else f"Stored in {out}"
    show(title, rows, as_json=as_json, data={**data, "seconds": round(seconds, 2)})
    for line in describe_losses(acts.manifest):
        say_warning(line)


def _finished_key(folder: Path | None) -> str | None:
    """The key of the run whose activations a folder holds, if they are complete."""
    from ..activations.store import read_manifest

    try:
        manifest = read_manifest(folder) if folder is not None else {}
    except LmkinError:
        return None
    return manifest.get("key") if manifest.get("status") == "complete" else None
