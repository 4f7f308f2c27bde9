"""`lmkin attention`: how alike the attention heads of some models are, into a folder with a report."""

from __future__ import annotations

import re
import shlex
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import LmkinError
from .machine import limit_threads, remove_unfinished, require_folder
from .options import (
    AsJson,
    Charts,
    Device,
    Format,
    Intervals,
    Level,
    Limit,
    ModelDtype,
    Names,
    Option,
    Parts,
    Revision,
    Side,
    Threads,
    TrustRemoteCode,
    Untrained,
    Verbose,
    corpus_option,
    format_options,
    out_option,
)
from .output import busy, format_seconds, print_json, print_table, say, say_warning, set_verbosity
from .sources import read_models
from .tables import heads_data, heads_table, similarity_data, similarity_table

_MEASURE = "Measures"
_RUN = "Run"
_UNFINISHED = "unfinished"


def command(
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL...",
            help="Hugging Face names or folders, untrained:SPEC[@seed], package:PACKAGE/FOLDER.",
        ),
    ],
    corpus: Annotated[str, corpus_option],
    out: Annotated[Path, out_option],
    measures: Annotated[
        str,
        typer.Option(
            "--measures",
            "-m",
            help="Names with commas, or all: js, pearson and norm compare heads; svsim, pwsim and ckasim layers.",
            rich_help_panel=_MEASURE,
        ),
    ] = "all",
    sink: Annotated[
        str,
        typer.Option(
            help="What the table and the view of heads show: attention to special and first tokens dropped or kept. "
            "The report has both.",
            rich_help_panel=_MEASURE,
        ),
    ] = "dropped",
    threshold: Annotated[
        float,
        typer.Option(
            help="Heads that differ by at most so many bits count as doing the same.",
            rich_help_panel=_MEASURE,
        ),
    ] = 0.1,
    sentence: Annotated[
        str | None,
        typer.Option(
            help="The sentence that two heads are drawn on: a text, or its number in the corpus, from 1. Default: one "
            "of middling length.",
            rich_help_panel=_MEASURE,
        ),
    ] = None,
    intervals: Intervals = True,
    parts: Parts = 10,
    level: Level = 0.95,
    released: Annotated[
        bool,
        typer.Option(
            "--released",
            help="The conventions of the authors' code: natural logarithms, 1 − distance.",
            rich_help_panel=_MEASURE,
        ),
    ] = False,
    set_options: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="An option of svsim, pwsim or ckasim, e.g. variance=0.95. May be repeated.",
            rich_help_panel=_MEASURE,
        ),
    ] = None,
    untrained: Untrained = False,
    names: Names = None,
    layers: Annotated[
        str, typer.Option(help="all, or e.g. 1,4-6,-1.", rich_help_panel="Model")
    ] = "all",
    limit: Limit = None,
    format: Format = None,
    option: Option = None,
    device: Device = "auto",
    model_dtype: ModelDtype = None,
    revision: Revision = None,
    side: Side = "encoder",
    trust_remote_code: TrustRemoteCode = False,
    batch_tokens: Annotated[
        int, typer.Option(min=1, help="Tokens in a padded batch.", rich_help_panel=_RUN)
    ] = 2048,
    threads: Threads = None,
    charts: Charts = True,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Compare the attention heads of all MODELs on the same sentences, and write results and a report into a folder.

    Models run side by side over the corpus once; maps are not kept. Parts of the corpus that are finished are: after a
    kill, the same command goes on with the next.

        lmkin attention bert-base-cased roberta-base --corpus en_ewt-ud-dev.conllu -o heads
    """
    set_verbosity(verbose)
    if sink not in ("dropped", "kept"):
        raise LmkinError(f"--sink is dropped or kept; got {sink!r}.")
    from ..attention import (
        attention_heads,
        attention_similarities,
        check_threshold,
        choose_measures,
        sentence_attention,
    )
    from ..report import write_attention

    chosen = choose_measures(measures)
    check_threshold(threshold)
    own = format_options(set_options, "--set")
    begun = time.perf_counter()
    require_folder(out)
    if threads is not None:
        limit_threads(threads)
    model_options: dict[str, Any] = {
        "device": device,
        "dtype": model_dtype,
        "revision": revision,
        "side": side,
        "trust_remote_code": trust_remote_code,
        "attention": True,
    }
    loaded, sentences = read_models(
        models, corpus, untrained, names, limit, format, format_options(option), model_options
    )
    drawn = None
    if "js" in chosen:
        with busy("Drawing a sentence …"):
            shown = _choose_sentence(sentence, sentences)
            drawn = sentence_attention(loaded, shown, layers=layers)
    unfinished = out / _UNFINISHED
    result = attention_similarities(
        loaded,
        sentences,
        chosen,
        intervals=intervals,
        level=level,
        parts=parts,
        layers=layers,
        released=released,
        batch_tokens=batch_tokens,
        checkpoint=unfinished,
        say=say,
        **own,
    )
    heads = attention_heads(result, sink=sink, threshold=threshold) if "js" in chosen else None
    result.attrs["command"] = shlex.join(["lmkin", *(sys.argv[1:] or ["attention"])])
    report = write_attention(result, out, heads=heads, sentence=drawn, charts=charts)
    remove_unfinished(unfinished)
    seconds = time.perf_counter() - begun
    table = result.sel(sink=[sink])
    alerts = result.attrs["alerts"]
    if as_json:
        data = {**similarity_data(table), "alerts": alerts}
        data |= {} if heads is None else {"heads": heads_data(heads)}
        print_json({**data, "report": str(report), "seconds": round(seconds, 1)})
        return
    print_table(similarity_table(table))
    if heads is not None:
        print_table(heads_table(heads))
    for alert in alerts:
        say_warning(alert)
    say(f"Written to {out} in {format_seconds(seconds)}; open {report} in a browser.")


def _choose_sentence(asked: str | None, corpus: Any) -> Any:
    """A sentence by its number or text; else the first of 8 to 16 words, or the longest."""
    if asked is not None and re.fullmatch(r"\s*-?[0-9]+\s*", asked):
        number = int(asked)
        if not 1 <= number <= len(corpus):
            raise LmkinError(
                f"--sentence {number}: the corpus has sentences 1 to {len(corpus)}. A text is taken as it is."
            )
        return corpus[number - 1]
    if asked is not None:
        return asked
    fitting = (s for s in corpus if 8 <= len(s.words) <= 16)
    return next(fitting, None) or max(corpus, key=lambda s: min(len(s.words), 40))
