"""`lmkin similarity`: how alike all layers of some models are, into a folder with a report."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import LmkinError
from .machine import limit_threads, remove_unfinished, require_folder
from .measures import Load, load_files
from .options import (
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
from .output import format_seconds, print_json, print_table, say, say_warning, set_verbosity
from .planning import say_plan
from .sources import read_source, refuse_unused
from .tables import similarity_data, similarity_table

_MEASURE = "Measures"
_RUN = "Run"
_SCALINGS = {"raw": False, "standardized": True, "both": "both"}
_UNFINISHED = "unfinished"


def command(
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL...",
            help="Hugging Face names or folders, untrained:SPEC[@seed], package:PACKAGE/FOLDER, files of activations; "
            "or, without --corpus, folders that lmkin extract wrote, or one file of moments.",
        ),
    ],
    corpus: Annotated[str | None, corpus_option] = None,
    out: Annotated[Path | None, out_option] = None,
    measures: Annotated[
        str,
        typer.Option(
            "--measures",
            "-m",
            help="Names with commas, or all: see lmkin measures. Default: the five of Wu et al. 2020.",
            rich_help_panel=_MEASURE,
        ),
    ] = "ckasim,neuronsim,mixedsim,svsim,pwsim",
    intervals: Intervals = True,
    parts: Parts = 10,
    level: Level = 0.95,
    neurons: Annotated[
        str,
        typer.Option(
            help="raw, standardized (each divided by its standard deviation), or both.",
            rich_help_panel=_MEASURE,
        ),
    ] = "both",
    held_out: Annotated[
        bool,
        typer.Option(
            "--held-out",
            help="Fit regressions and canonical correlations without a part, and score them on it.",
            rich_help_panel=_MEASURE,
        ),
    ] = False,
    set_options: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="An option of the measures, e.g. variance=0.95, estimator=biased, released=true. May be repeated.",
            rich_help_panel=_MEASURE,
        ),
    ] = None,
    null: Annotated[
        int,
        typer.Option(
            min=0,
            help="So many permutations of the words: a p-value for every pair of layers. They take their time.",
            rich_help_panel=_MEASURE,
        ),
    ] = 0,
    load: Load = None,
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
    memory: Memory = None,
    route: Annotated[
        str | None,
        typer.Option(
            help="panels, joint, pairs or dual. Default: the planner's choice.",
            rich_help_panel=_RUN,
        ),
    ] = None,
    batch_tokens: BatchTokens = None,
    threads: Threads = None,
    seed: Annotated[
        int, typer.Option(help="For sampled words and permutations.", rich_help_panel=_RUN)
    ] = 0,
    charts: Charts = True,
    dry_run: DryRun = False,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Compare all layers of all MODELs on the same words, and write results and a report into a folder.

    Models run side by side over the corpus once; activations are not stored. A run that is broken off goes on where it
    stopped when the same command is given again.

        lmkin similarity bert-base-cased roberta-base --corpus en_ewt-ud-dev.conllu -o bert-roberta
    """
    set_verbosity(verbose)
    if out is None and not dry_run:
        raise LmkinError("Where to? Give a folder with -o DIR, or --dry-run to see what it takes.")
    if neurons not in _SCALINGS:
        raise LmkinError(f"--neurons is one of {', '.join(_SCALINGS)}; got {neurons!r}.")
    load_files(load)
    from ..measures import similarities
    from ..measures.registry import check_options, choose_measures

    own = format_options(set_options, "--set")
    chosen = choose_measures(measures)
    check_options(chosen, own)
    begun = time.perf_counter()
    model_options: dict[str, Any] = {
        "device": device,
        "dtype": model_dtype,
        "revision": revision,
        "side": side,
        "trust_remote_code": trust_remote_code,
    }
    rule: dict[str, Any] = {
        "layers": layers,
        "units": units,
        "pooling": pooling,
        "first_token": first_token,
        "special_tokens": special_tokens,
        "long": long,
        "overlap": overlap,
        "max_length": max_length,
        "batch_tokens": batch_tokens,
    }
    if out is not None and not dry_run:
        require_folder(out)
    if corpus is None:
        refuse_unused(
            {"--limit": limit, "--format": format, "--option": option, "--names": names, "--pooling": pooling,
             "--max-length": max_length, "--overlap": overlap, "--special-tokens": special_tokens,
             "--batch-tokens": batch_tokens, "--untrained": untrained or None,
             "--units": None if units == "word" else units, "--long": None if long == "window" else long}
        )  # fmt: skip
    if threads is not None:
        limit_threads(threads)
    source = read_source(
        models, corpus, untrained, names, limit, format, format_options(option), model_options, rule,
        parts if intervals or held_out else 1,
    )  # fmt: skip
    if dry_run:
        count = parts if intervals or held_out else 1
        say_plan(source, chosen, own, count, neurons, memory, route, null, as_json)
        return
    assert out is not None
    unfinished = out / _UNFINISHED
    result = similarities(
        source,
        [m.name for m in chosen],
        intervals=intervals,
        level=level,
        standardize=_SCALINGS[neurons],
        held_out=held_out,
        null=null,
        memory=memory,
        route=route,
        seed=seed,
        checkpoint=unfinished,
        say=lambda text: say(text if text.startswith("Going on") else f"Plan: {text}"),
        **own,
    )
    from ..report import write_similarity

    result.attrs["command"] = shlex.join(["lmkin", *(sys.argv[1:] or ["similarity"])])
    report = write_similarity(result, out, charts=charts)
    remove_unfinished(unfinished)
    seconds = time.perf_counter() - begun
    alerts = result.attrs["alerts"]
    if as_json:
        print_json(
            {
                **similarity_data(result),
                "alerts": alerts,
                "report": str(report),
                "seconds": round(seconds, 1),
            }
        )
        return
    print_table(similarity_table(result))
    for alert in alerts:
        say_warning(alert)
    say(f"Written to {out} in {format_seconds(seconds)}; open {report} in a browser.")
