"""`lmkin redundancy`: which neurons and layers say the same thing, into a folder with a report."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from ...errors import LmkinError
from ..machine import limit_threads, require_folder
from ..options import (
    AsJson,
    BatchTokens,
    Charts,
    Device,
    DryRun,
    FirstToken,
    Format,
    Intervals,
    Layers,
    Level,
    Limit,
    Long,
    MaxLength,
    Memory,
    ModelDtype,
    Names,
    Option,
    Overlap,
    Parts,
    Pooling,
    Revision,
    Side,
    SpecialTokens,
    Threads,
    TrustRemoteCode,
    Units,
    Untrained,
    Verbose,
    corpus_option,
    format_options,
    out_option,
)
from ..output import format_seconds, print_json, print_table, say, say_warning, set_verbosity
from ..sources import read_models, ridge_of
from .reading import (
    Choice,
    check_models,
    open_stores,
    refuse_reading,
    refuse_without,
    sentence_number,
    sentence_rows,
    stored_sentence,
)
from .running import Folders, Found, compute, extract_all, remove_finished, write
from .tables import candidates_table, left_table, redundancy_data

_MEASURE = "Measures"
_RUN = "Run"


def command(
    context: typer.Context,
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL...",
            help="One or more: Hugging Face names or folders, untrained:SPEC[@seed], package:PACKAGE/FOLDER, files of "
            "activations; or, without --corpus, folders that lmkin extract wrote.",
        ),
    ],
    corpus: Annotated[str | None, corpus_option] = None,
    out: Annotated[Path | None, out_option] = None,
    thresholds: Annotated[
        str | None,
        typer.Option(
            help="Where clusters are cut, from 0 (copies) to 1: numbers with commas, or FROM:TO:STEP. "
            "Default: 0:0.9:0.1,0.95.",
            rich_help_panel=_MEASURE,
        ),
    ] = None,
    linkage: Annotated[
        str, typer.Option(help="average, complete or single.", rich_help_panel=_MEASURE)
    ] = "average",
    representative: Annotated[
        str,
        typer.Option(
            help="The neuron that stands for a cluster: random, or medoid (the one most like all others of it).",
            rich_help_panel=_MEASURE,
        ),
    ] = "random",
    keep_at: Annotated[
        str | None,
        typer.Option(
            help="Thresholds at which members.csv and masks of what is kept are written. Default: 0.3, or the "
            "threshold nearest to it.",
            rich_help_panel=_MEASURE,
        ),
    ] = None,
    sentence: Annotated[
        str | None,
        typer.Option(
            help="Show what the largest clusters do over a sentence: a text, or its number in the corpus, from 1.",
            rich_help_panel=_MEASURE,
        ),
    ] = None,
    strips_at: Annotated[
        float | None,
        typer.Option(
            help="The threshold of these clusters. Default: 0.3, or the threshold nearest to it.",
            rich_help_panel=_MEASURE,
        ),
    ] = None,
    clusters: Annotated[
        int,
        typer.Option(
            min=1, help="How many clusters are shown over the sentence.", rich_help_panel=_MEASURE
        ),
    ] = 3,
    layer_maps: Annotated[
        bool,
        typer.Option(
            help="Also how much of every layer the one before it explains, and CKA of all layers.",
            rich_help_panel=_MEASURE,
        ),
    ] = True,
    ridge: Annotated[
        str,
        typer.Option(
            help="Of the maps between layers: auto (1e-6; with few words, the best on validation words), validation, "
            "or a number.",
            rich_help_panel=_MEASURE,
        ),
    ] = "auto",
    intervals: Intervals = True,
    parts: Parts = 10,
    level: Level = 0.95,
    untrained: Untrained = False,
    names: Names = None,
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
    keep_activations: Annotated[
        bool,
        typer.Option(
            "--keep-activations",
            help="Leave the activations in DIR/NAME.acts. Default: they are removed at the end.",
            rich_help_panel=_RUN,
        ),
    ] = False,
    dtype: Annotated[
        str,
        typer.Option(help="float32 or float16, for the stored activations.", rich_help_panel=_RUN),
    ] = "float32",
    memory: Memory = None,
    batch_tokens: BatchTokens = None,
    threads: Threads = None,
    seed: Annotated[
        int,
        typer.Option(
            min=0,
            help="For random representatives, and for the words that maps are fitted on.",
            rich_help_panel=_RUN,
        ),
    ] = 0,
    charts: Charts = True,
    dry_run: DryRun = False,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Cluster the neurons of every MODEL that say the same thing, and rank its layers by what they add.

    Activations are stored while the command runs; results and a report go into a folder. After a kill, the same
    command goes on.

        lmkin redundancy bert-base-cased distilbert-base-cased --corpus en_ewt-ud-dev.conllu -o same
    """
    set_verbosity(verbose)
    if out is None and not dry_run:
        raise LmkinError("Where to? Give a folder with -o DIR, or --dry-run to see what it takes.")
    begun = time.perf_counter()
    refuse_without(context, "sentence", ("strips_at", "clusters"))
    if not layer_maps:
        refuse_without(context, "layer_maps", ("ridge", "parts", "level", "intervals"))
    choice = Choice.make(
        thresholds,
        keep_at,
        strips_at,
        linkage=linkage,
        representative=representative,
        seed=seed,
        memory=memory,
        clusters=clusters,
        layer_maps=layer_maps,
        ridge=ridge_of(ridge),
        parts=parts if intervals else 1,
        level=level,
    )
    number = sentence_number(sentence, units)
    folders = None if out is None else Folders(out, keep_activations)
    if folders is not None and not dry_run:
        require_folder(folders.out)
    if threads is not None:
        limit_threads(threads)
    if corpus is None:
        refuse_reading(context)
        acts = open_stores(models, layers, layer_maps)
        shown = None if sentence is None else stored_sentence(acts, number)
        choice = choice.of_layers(layers)
    else:
        model_options: dict[str, Any] = {
            "device": device,
            "dtype": model_dtype,
            "revision": revision,
            "side": side,
            "trust_remote_code": trust_remote_code,
        }
        rule: dict[str, Any] = {
            "units": units,
            "pooling": pooling,
            "first_token": first_token,
            "special_tokens": special_tokens,
            "long": long,
            "overlap": overlap,
            "max_length": max_length,
        }
        loaded, sentences = read_models(
            models, corpus, untrained, names, limit, format, format_options(option), model_options
        )
        check_models(loaded, layers, layer_maps)
        reading = {"layers": layers, "batch_tokens": batch_tokens, "dtype": dtype}
        if dry_run:
            from .planning import plan_models, say_plan

            say_plan(plan_models(loaded, sentences, rule, reading, choice), as_json=as_json)
            return
        shown = None
        if sentence is not None:
            text = sentence if number is None else sentences
            shown = sentence_rows(loaded, text, number, {**rule, "layers": layers})
        assert folders is not None
        acts = extract_all(loaded, sentences, folders, {**rule, **reading})
    if dry_run:
        from .planning import plan_stores, say_plan

        say_plan(plan_stores(acts, choice), as_json=as_json)
        return
    assert folders is not None
    found = compute(acts, shown, choice, folders)
    report = write(found, choice, folders, charts=charts)
    del acts
    remove_finished(folders)
    _show(found, report, folders, time.perf_counter() - begun, as_json=as_json)


def _show(found: Found, report: Path, folders: Folders, seconds: float, *, as_json: bool) -> None:
    """What a person reads in the terminal, or a program."""
    if as_json:
        data = redundancy_data(found.tables, found.layers, found.masks)
        alerts = {"alerts": found.alerts, "report": str(report), "seconds": round(seconds, 1)}
        print_json({**data, **alerts})
        return
    print_table(left_table(found.tables))
    if found.layers is not None:
        print_table(candidates_table(found.layers))
    for alert in found.alerts:
        say_warning(alert)
    took = format_seconds(seconds)
    say(f"Written to {folders.out} in {took}; open {report} in a browser.")
