"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ..errors import LmkinError

Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Say what happens; show tracebacks.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Format = Annotated[
    str | None,
    typer.Option(
        help="Format of the corpus, if extension and content do not tell. An unknown name lists them.",
        rich_help_panel="Corpus",
    ),
]
Option = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="NAME=VALUE",
        help="An option of the corpus format, e.g. columns=word,pos or text=3. May be repeated.",
        rich_help_panel="Corpus",
    ),
]
Device = Annotated[
    str, typer.Option(help="auto, cpu, cuda, cuda:1, mps …", rich_help_panel="Model")
]
Revision = Annotated[
    str | None, typer.Option(help="Branch, tag or commit on the hub.", rich_help_panel="Model")
]
Side = Annotated[
    str,
    typer.Option(help="Side of an encoder-decoder: encoder or decoder.", rich_help_panel="Model"),
]
TrustRemoteCode = Annotated[
    bool,
    typer.Option(help="Run Python code that comes with the model.", rich_help_panel="Model"),
]

_UNITS = "Units"
_RUN = "Run"
Layers = Annotated[
    str, typer.Option(help="all, or e.g. 0,4-6,-1 (0: embeddings).", rich_help_panel=_UNITS)
]
Units = Annotated[str, typer.Option(help="word, token or sentence.", rich_help_panel=_UNITS)]
Pooling = Annotated[
    str | None,
    typer.Option(
        help="Words: last (default), first, mean. Sentences: mean (default), first, last, cls, max.",
        rich_help_panel=_UNITS,
    ),
]
FirstToken = Annotated[
    str,
    typer.Option(
        help="Position 0 of a decoder, an attention sink: drop or keep.", rich_help_panel=_UNITS
    ),
]
SpecialTokens = Annotated[
    str | None,
    typer.Option(
        help="CLS, SEP, BOS and the like: keep or drop. Default: keep for sentences, drop for tokens.",
        rich_help_panel=_UNITS,
    ),
]
Long = Annotated[
    str,
    typer.Option(
        help="Sentences longer than the model reads: window or truncate.", rich_help_panel=_UNITS
    ),
]
Overlap = Annotated[
    int | None,
    typer.Option(help="Tokens that windows share. Default: a quarter.", rich_help_panel=_UNITS),
]
MaxLength = Annotated[
    int | None,
    typer.Option(help="Tokens read at once, below the model's limit.", rich_help_panel=_UNITS),
]
Limit = Annotated[
    int | None,
    typer.Option(min=1, help="Only the first so many sentences.", rich_help_panel="Corpus"),
]
ModelDtype = Annotated[
    str | None,
    typer.Option(
        help="For the weights: float32 (default), float16, bfloat16, float64, or auto (as stored).",
        rich_help_panel="Model",
    ),
]
BatchTokens = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Tokens in a padded batch. Default: 1024 on a CPU, 4096 on a GPU.",
        rich_help_panel=_RUN,
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        help="A budget such as 8GB; the planner stays within it. Default: what is free.",
        rich_help_panel="Run",
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(min=1, help="CPU threads. Default: all cores.", rich_help_panel=_RUN),
]
_MEASURE = "Measures"
corpus_option = typer.Option(
    "--corpus",
    "-c",
    help="A corpus file or folder, or sample[:LANGUAGE] for the one built in.",
    rich_help_panel="Corpus",
)
out_option = typer.Option("--out", "-o", help="Folder for results, charts and report.html.")
Intervals = Annotated[
    bool,
    typer.Option(
        help="Standard errors and intervals, by a jackknife over parts of the corpus.",
        rich_help_panel=_MEASURE,
    ),
]
Parts = Annotated[
    int, typer.Option(min=2, help="Blocks of documents for intervals.", rich_help_panel=_MEASURE)
]
Level = Annotated[float, typer.Option(help="Of the intervals.", rich_help_panel=_MEASURE)]
Untrained = Annotated[
    bool,
    typer.Option(
        "--untrained", help="Add the untrained twin of every model.", rich_help_panel="Model"
    ),
]
Names = Annotated[
    str | None,
    typer.Option(
        help="What to call the models, with commas, in their order.", rich_help_panel="Model"
    ),
]
Charts = Annotated[
    bool, typer.Option(help="Also write every chart as PNG and SVG.", rich_help_panel=_RUN)
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Only say what it would take.", rich_help_panel=_RUN)
]


def format_options(pairs: list[str] | None, flag: str = "--option") -> dict[str, Any]:
    """``["text=3", "header=false"]`` → ``{"text": 3, "header": False}``."""
    options: dict[str, Any] = {}
    for pair in pairs or []:
        name, sign, value = pair.partition("=")
        if not sign:
            raise LmkinError(f"{flag} wants NAME=VALUE, e.g. {flag} text=3; got {pair!r}.")
        options[name] = _value(value)
    return options


def _value(text: str) -> Any:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text.replace("\\t", "\t")
