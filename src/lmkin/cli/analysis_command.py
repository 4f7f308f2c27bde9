"""The one runner of all analyses: a command is made of an analysis, its options and how models are read and run."""

from __future__ import annotations

import inspect
import re
import shlex
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand

from ..analysis import Analysis, Running, Source
from ..core import LmkinError, format_seconds, printable, quoted
from ..models import Loading, Reading
from .flags import (
    AS_JSON,
    DRY_RUN,
    FORMAT_OPTIONS,
    VERBOSE,
    name_value_pairs,
    parameters,
    plain_parameter,
    typer_command,
    values_of,
)
from .interruption import will_write
from .measures import LOAD, load_files
from .output import busy, print_json, print_table, say, say_warning, set_verbosity

_MODELS = "Hugging Face names or folders, untrained:SPEC[@seed], package:PACKAGE/FOLDER, files of activations"
CORPORA = "--corpora"
_PAIR = re.compile(r"[^\W\d_][\w-]*=.")
"""NAME=FILE; a path with a = further on is none."""
_STORED_BY_NAME = (
    "; or, without --corpora, folders that lmkin extract wrote, by language: en=FOLDER de=FOLDER"
)
_STORED = "; or, without --corpus, folders that lmkin extract wrote, or files of moments"


def analysis_command(analysis: Analysis[Any]) -> Callable[..., None]:
    """The typer command of an analysis."""
    doc = f"{analysis.summary}\n\n{analysis.description}"
    return typer_command(partial(run_command, analysis), _parameters(analysis), doc)


def _parameters(analysis: Analysis[Any]) -> list[inspect.Parameter]:
    reading = {name: getattr(analysis.reading, name) for name in Reading.__dataclass_fields__}
    stored = _STORED_BY_NAME if analysis.by_name else _STORED
    help_of_models = _MODELS + (stored if analysis.stored else "") + "."
    corpus = "A corpus file or folder, or sample[:LANGUAGE] for the one built in."
    run: dict[str, Any] = {"rich_help_panel": "Run"}
    return [
        plain_parameter("models", list[str], typer.Argument(metavar="MODEL...", help=help_of_models), ...),
        _named_corpora() if analysis.by_name else
        plain_parameter("corpus", str | None, typer.Option("--corpus", "-c", help=corpus, rich_help_panel="Corpus")),
        *(_split_parameters() if analysis.splits else []),
        plain_parameter(
            "out", Path | None, typer.Option("--out", "-o", help="Folder for results, charts and report.html.")
        ),
        *parameters(analysis.Options, "options"),
        *parameters(Source, "source"),
        FORMAT_OPTIONS,
        *parameters(Reading, "reading", without=analysis.unread, defaults=reading),
        *parameters(Loading, "loading"),
        *parameters(Running, "running"),
        LOAD,
        plain_parameter(
            "no_charts", bool, typer.Option("--no-charts", help="Do not write every chart as PNG and SVG.", **run),
            False,
        ),
        plain_parameter(
            "overwrite", bool, typer.Option("--overwrite", help="Replace the results of another run in DIR.", **run),
            False,
        ),
        DRY_RUN,
        AS_JSON,
        VERBOSE,
    ]  # fmt: skip


def _named_corpora() -> inspect.Parameter:
    """--corpora, in place of one corpus."""
    said = (
        "Corpora by language, each a file, a folder, or sample[:LANGUAGE]: en=FILE de=FILE. As many as wanted; may be "
        "repeated."
    )
    about = typer.Option(CORPORA, "-c", metavar="NAME=FILE...", help=said, rich_help_panel="Corpus")
    return plain_parameter("corpora", list[str] | None, about)


def one_flag_each(arguments: list[str]) -> list[str]:
    """The same arguments with ``--corpora`` before each of its values: the parser takes one value a flag.

    >>> one_flag_each(["M", "--corpora", "en=a", "de=b", "-o", "x=y"])
    ['M', '--corpora', 'en=a', '--corpora', 'de=b', '-o', 'x=y']
    """
    spread: list[str] = []
    for argument in arguments:
        after = len(spread) > 1 and spread[-2] == CORPORA
        spread += [CORPORA, argument] if after and _PAIR.match(argument) else [argument]
    return spread


class _SeveralCorpora(TyperCommand):
    """A command whose ``--corpora`` takes several values at once."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As any command, with a flag for each value."""
        return super().parse_args(ctx, one_flag_each(args))


def command_class(analysis: Analysis[Any]) -> type[TyperCommand]:
    """How the arguments of an analysis are parsed."""
    return _SeveralCorpora if analysis.by_name else TyperCommand


def _by_name(pairs: list[str] | None) -> dict[str, str] | None:
    """Files by language. Raise for what is no pair, or for a name that comes twice."""
    if not pairs:
        return None
    corpora: dict[str, str] = {}
    for pair in pairs:
        name, sign, path = pair.partition("=")
        if not sign or not name.strip() or not path:
            raise LmkinError(
                f"{CORPORA} wants NAME=FILE, such as {CORPORA} en=en.conllu de=de.conllu; got {quoted(pair)}."
            )
        if name.strip() in corpora:
            raise LmkinError(
                f"{CORPORA} names {quoted(name.strip())} twice: each language has one corpus."
            )
        corpora[name.strip()] = path
    return corpora


def _split_parameters() -> list[inspect.Parameter]:
    """--train, --dev and --test, in place of one corpus."""
    said = {
        "train": "Corpus that is fitted, in place of --corpus.",
        "dev": "Corpus that chooses. Default: a tenth of train.",
        "test": "Corpus that is scored. Default: what was given as --dev.",
    }
    return [
        plain_parameter(name, str | None, typer.Option(f"--{name}", help=text, rich_help_panel="Corpus"))
        for name, text in said.items()
    ]  # fmt: skip


def _corpus(given: dict[str, Any]) -> Any:
    """The corpus, or one for each split or name. Raise if both are given."""
    if "corpora" in given:
        return _by_name(given["corpora"])
    splits = {n: given[n] for n in ("train", "dev", "test") if given.get(n) is not None}
    if splits and given["corpus"] is not None:
        raise LmkinError(
            "Give one corpus (--corpus), which is split, or --train, --dev and --test; not both."
        )
    return splits or given["corpus"]


def run_command(analysis: Analysis[Any], given: dict[str, Any]) -> None:
    """Check, open, plan, run, write, and say what came out."""
    set_verbosity(given["verbose"])
    out, begun = given["out"], time.perf_counter()
    if out is None and not given["dry_run"]:
        raise LmkinError("Where to? Give a folder with -o DIR, or --dry-run to see what it takes.")
    load_files(given["load"])
    options = analysis.Options(**values_of(analysis.Options, "options", given))
    running = Running(**values_of(Running, "running", given))
    source = Source(
        given["models"],
        _corpus(given),
        **values_of(Source, "source", given),
        format_options=name_value_pairs(given["format_options"]),
        reading=replace(analysis.reading, **values_of(Reading, "reading", given)),
        loading=Loading(**values_of(Loading, "loading", given)),
        attention=analysis.attention,
        by_name=analysis.by_name,
    )
    if given["dry_run"]:
        _say_plan(analysis, source, options, running, as_json=given["as_json"])
        return
    from ..report import run_to_folder

    will_write(out)
    result, report = run_to_folder(
        analysis, source, options, running, out,
        charts=not given["no_charts"], overwrite=given["overwrite"],
        command=printable(shlex.join(["lmkin", *(sys.argv[1:] or [analysis.name])])),
    )  # fmt: skip
    seconds = time.perf_counter() - begun
    if given["as_json"]:
        about = {"alerts": [a.to_dict() for a in result.alerts], "findings": result.findings()}
        data = _with_paths(result.data(), out)
        print_json({**data, **about, "report": str(report), "seconds": round(seconds, 1)})
        return
    for table in result.tables():
        print_table(table.to_rich())
    for sentence in result.findings():
        say(sentence)
    for alert in result.alerts:
        say_warning(str(alert))
    say(f"Written to {out} in {format_seconds(seconds)}; open {report} in a browser.")


def _with_paths(data: Any, out: Path) -> Any:
    """The same, with the files of a result's folder as paths that can be opened from here."""
    if isinstance(data, list):
        return [_with_paths(item, out) for item in data]
    if not isinstance(data, dict):
        return data
    return {k: str(out / v) if k == "file" else _with_paths(v, out) for k, v in data.items()}


def _say_plan(
    analysis: Analysis[Any], source: Source, options: Any, running: Running, *, as_json: bool
) -> None:
    """What a run would take, for people or for machines."""
    analysis.check_run(source, options, running)
    running.limit_threads()
    with busy("Loading, tokenizing, and timing a few batches …"):
        plan = analysis.plan(source, options, running)
    if as_json:
        print_json(plan.to_dict())
        return
    for line in ("Nothing is computed.", *plan.lines()):
        say(line)
