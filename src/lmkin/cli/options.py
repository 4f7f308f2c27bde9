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


def format_options(pairs: list[str] | None) -> dict[str, Any]:
    """``["text=3", "header=false"]`` → ``{"text": 3, "header": False}``."""
    options: dict[str, Any] = {}
    for pair in pairs or []:
        name, sign, value = pair.partition("=")
        if not sign:
            raise LmkinError(f"--option wants NAME=VALUE, e.g. --option text=3; got {pair!r}.")
        if value.removeprefix("-").isdigit():
            options[name] = int(value)
        elif value.lower() in ("true", "false"):
            options[name] = value.lower() == "true"
        else:
            options[name] = value.replace("\\t", "\t")
    return options
