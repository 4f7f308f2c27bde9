"""`lmkin dependency`: how much of every model the others explain, into a folder with a report."""

from __future__ import annotations

import shlex
import sys
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
    Level,
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
from .published import compare_published
from .reading import (
    check_comparison,
    check_options,
    decompose_stored,
    lengths_of,
    reference,
    refuse_reading,
    require_two,
    split_of,
)
from .running import (
    Plan,
    check_sizes,
    decompose_all,
    limits_said,
    make_portfolio,
    remove_finished,
    subset_sizes,
)
from .tables import (
    dependency_data,
    dependency_table,
    drop_order_line,
    published_table,
)

_MEASURE = "Measures"
_RUN = "Run"
_UNFINISHED = "unfinished"


def command(
    context: typer.Context,
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL...",
            help="Two or more: Hugging Face names or folders, untrained:SPEC[@seed], package:PACKAGE/FOLDER, files of "
            "activations; or, without --corpus, folders that lmkin extract wrote, or files of moments as train=FILE "
            "test=FILE.",
        ),
    ],
    corpus: Annotated[str | None, corpus_option] = None,
    out: Annotated[Path | None, out_option] = None,
    lengths: Annotated[
        str | None,
        typer.Option(
            help="Cut the text into stretches of so many tokens, e.g. 16,32,64,128,256,512, and decompose each length. "
            "Default: the sentences of the corpus as they are.",
            rich_help_panel="Corpus",
        ),
    ] = None,
    reference_tokenizer: Annotated[
        str | None,
        typer.Option(
            help="The model whose tokens --lengths counts. Default: the first MODEL.",
            rich_help_panel="Corpus",
        ),
    ] = None,
    split: Annotated[
        str,
        typer.Option(
            help="Shares of the rows to fit on, to choose on, and to score on.",
            rich_help_panel=_MEASURE,
        ),
    ] = "train=0.8,validation=0.1,test=0.1",
    ridge: Annotated[
        str,
        typer.Option(
            help="What is added to the diagonal: auto (1e-6) or a number.", rich_help_panel=_MEASURE
        ),
    ] = "auto",
    ridge_rule: Annotated[
        str,
        typer.Option(
            help="relative (to the mean eigenvalue of each model), absolute, floor (of the smallest eigenvalue), or "
            "validation (the best on the validation rows).",
            rich_help_panel=_MEASURE,
        ),
    ] = "relative",
    released: Annotated[
        bool,
        typer.Option(
            "--released",
            help="The ridge of the authors' code: 1e-6, absolute.",
            rich_help_panel=_MEASURE,
        ),
    ] = False,
    intervals: Intervals = True,
    parts: Parts = 10,
    level: Level = 0.95,
    null: Annotated[
        bool,
        typer.Option(help="Also what chance gives: rows shuffled.", rich_help_panel=_MEASURE),
    ] = True,
    subsets: Annotated[
        str,
        typer.Option(
            help="Sizes of the best subsets: all, none, or e.g. 1,3-5. auto: all sizes; of more than 8 models one is "
            "added at a time.",
            rich_help_panel=_MEASURE,
        ),
    ] = "auto",
    compare: Annotated[
        bool,
        typer.Option(
            "--compare-published",
            help="Show the figures of the paper beside these, for its twelve checkpoints, by --lengths.",
            rich_help_panel=_MEASURE,
        ),
    ] = False,
    untrained: Untrained = False,
    names: Names = None,
    layers: Annotated[
        str,
        typer.Option(
            "--layers",
            "--layer",
            help="last, all, or e.g. 0,4-6,-1 (0: embeddings). In R² by all others a model's own layers do not "
            "explain each other; among the pairs they do.",
            rich_help_panel="Units",
        ),
    ] = "last",
    units: Units = "sentence",
    pooling: Pooling = None,
    first_token: FirstToken = "drop",
    special_tokens: SpecialTokens = None,
    long: Long = "window",
    overlap: Overlap = None,
    max_length: MaxLength = None,
    limit: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Only the first so many sentences; with --lengths, the first so many stretches of each length.",
            rich_help_panel="Corpus",
        ),
    ] = None,
    format: Format = None,
    option: Option = None,
    device: Device = "auto",
    model_dtype: ModelDtype = None,
    revision: Revision = None,
    side: Side = "encoder",
    trust_remote_code: TrustRemoteCode = False,
    memory: Memory = None,
    batch_tokens: BatchTokens = None,
    threads: Threads = None,
    seed: Annotated[
        int, typer.Option(min=0, help="For the split and for shuffled rows.", rich_help_panel=_RUN)
    ] = 0,
    charts: Charts = True,
    dry_run: DryRun = False,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Say how much of every MODEL the others explain linearly, and which could be switched off.

    Fitted on some texts and scored on others; results and a report go into a folder. Each length is written down when
    it is finished: after a kill, the same command goes on.

        lmkin dependency bert-base-uncased roberta-base albert-base-v2 --corpus wiki.txt --lengths 16,64,256 -o lmd
    """
    set_verbosity(verbose)
    if out is None and not dry_run:
        raise LmkinError("Where to? Give a folder with -o DIR, or --dry-run to see what it takes.")
    begun = time.perf_counter()
    wanted = lengths_of(lengths)
    if wanted and (max_length is not None or overlap is not None or long != "window"):
        raise LmkinError(
            "With --lengths each model reads so many tokens and no more: leave out --max-length, --long and --overlap."
        )
    if reference_tokenizer is not None and not wanted:
        raise LmkinError("--reference-tokenizer counts the tokens of --lengths; give both.")
    subset_sizes(subsets)
    if compare:
        check_comparison(corpus, wanted, units, layers)
    options: dict[str, Any] = {
        "split": split_of(split),
        "ridge": ridge_of(ridge),
        "rule": ridge_rule,
        "released": released,
        "intervals": intervals,
        "level": level,
        "parts": parts,
        "null": null,
        "layers": layers,
        "seed": seed,
        "memory": memory,
    }
    check_options(options, rows=corpus is not None)
    if out is not None and not dry_run:
        require_folder(out)
    if threads is not None:
        limit_threads(threads)
    if corpus is None:
        refuse_reading(context)
        if dry_run:
            raise LmkinError("What is stored is read in a moment: there is nothing to plan.")
        found = decompose_stored(models, options, subsets, context)
        result, portfolio, specs = found.data, make_portfolio(found, subsets), {}
    else:
        options |= {
            "units": units,
            "pooling": pooling,
            "first_token": first_token,
            "special_tokens": special_tokens,
            "batch_tokens": batch_tokens,
        }
        if not wanted:
            options |= {"long": long, "overlap": overlap, "max_length": max_length}
        model_options: dict[str, Any] = {
            "device": device,
            "dtype": model_dtype,
            "revision": revision,
            "side": side,
            "trust_remote_code": trust_remote_code,
        }
        require_two(models, untrained)
        check_sizes(subsets, len(models) * (1 + untrained))
        loaded, sentences = read_models(
            models, corpus, untrained, names, None if wanted else limit, format, format_options(option),
            model_options,
        )  # fmt: skip
        tokenizer = reference(reference_tokenizer, loaded, trust_remote_code) if wanted else None
        for line in limits_said(loaded, wanted):
            say(line)
        plan = Plan(loaded, sentences, wanted, tokenizer, limit, options, subsets)
        if dry_run:
            from .planning import say_plan

            say_plan(plan, as_json=as_json)
            return
        assert out is not None
        result, portfolio = decompose_all(plan, out / _UNFINISHED)
        every = [s for m in models for s in ([m, f"untrained:{m}"] if untrained else [m])]
        specs = {m.name: s for m, s in zip(loaded, every, strict=True)}
    assert out is not None
    published, beside = compare_published(result, specs) if compare else (None, [])
    _write(out, result, portfolio, published, charts)
    remove_finished(out / _UNFINISHED)
    seconds = time.perf_counter() - begun
    report = out / "report.html"
    alerts = list(result.attrs["alerts"])
    if as_json:
        data = dependency_data(result, portfolio)
        data |= {"published": beside} if compare else {}
        print_json({**data, "alerts": alerts, "report": str(report), "seconds": round(seconds, 1)})
        return
    print_table(dependency_table(result))
    if beside:
        print_table(published_table(beside))
    say(drop_order_line(portfolio["drop_order"]))
    for alert in alerts:
        say_warning(alert)
    say(f"Written to {out} in {format_seconds(seconds)}; open {report} in a browser.")


def _write(out: Path, result: Any, portfolio: Any, published: Any, charts: bool) -> None:
    from ...report.folder import write_dependency

    command = shlex.join(["lmkin", *(sys.argv[1:] or ["dependency"])])
    write_dependency(out, result, portfolio, published=published, charts=charts, command=command)
