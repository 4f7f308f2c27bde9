"""The command line: parses, calls the library, prints, writes.

Exit codes: 0 done; 1 something about the input or the machine that the message explains; 2 wrong usage;
70 a bug in lmkin; 130 interrupted.
"""

from __future__ import annotations

import io
import sys
import traceback
import warnings
from pathlib import Path
from typing import Any, NoReturn

import typer

from ..analysis import known_analyses
from ..core import (
    CorpusError,
    LmkinError,
    LmkinWarning,
    __version__,
    end_interrupted,
    interrupted,
    quoted,
    watched_interrupts,
)
from . import demo, export, extract, inspect, measures, report
from .analysis_command import analysis_command, command_class
from .interruption import forget_folders, interruption_text
from .messages import with_flags
from .output import say_error, say_warning, silence

app = typer.Typer(
    name="lmkin",
    help="Compare the internal representations of language models, and measure how redundant they are.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    epilog="First look: `lmkin demo`. Exit codes: 0 done, 1 bad input (explained), 2 wrong usage, 70 a bug, "
    "130 interrupted.",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(value: bool) -> None:
    if value:
        typer.echo(f"lmkin {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    context: typer.Context,
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version."
    ),
) -> None:
    context.call_on_close(silence)


app.command("extract")(extract.command)
for _name, _analysis in known_analyses().items():
    app.command(_name, cls=command_class(_analysis))(analysis_command(_analysis))
app.command("report")(report.command)
app.command("inspect")(inspect.command)
app.command("export")(export.command)
app.command("measures")(measures.command)
app.command("demo")(demo.command)


def run(arguments: list[str] | None = None) -> None:
    """The entry point: errors that a user can mend become one paragraph, not a traceback."""
    warnings.showwarning = _show_warning  # type: ignore[assignment]
    for stream in (
        sys.stdout,
        sys.stderr,
    ):  # a terminal that knows ASCII alone gets escapes, not a traceback
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    forget_folders()
    with watched_interrupts(lambda: f"Error: {interruption_text()}\n"):
        try:
            app(args=arguments)
        except BaseException as error:
            # An interrupt inside a compiled call, or inside a library, comes out as any error. typer turns
            # KeyboardInterrupt into an exit with 130.
            code = error.code if isinstance(error, SystemExit) else None
            if interrupted() or isinstance(error, KeyboardInterrupt) or code == 130:
                say_error(interruption_text())
                end_interrupted()
            verbose = any(a in ("-v", "--verbose") for a in arguments or sys.argv[1:])
            _explain(error, verbose)


def _explain(error: BaseException, verbose: bool) -> NoReturn:
    """Say what an error means to the user, and exit."""
    if isinstance(error, SystemExit):
        raise error
    if isinstance(error, BrokenPipeError):
        sys.exit(1)
    if isinstance(error, MemoryError):
        say_error("The memory is full. Lower --batch-tokens, or keep fewer --layers.")
        sys.exit(1)
    if isinstance(error, LmkinError | OSError):
        if verbose:
            raise error
        if isinstance(error, LmkinError):
            say_error(with_flags(str(error), of_corpus=isinstance(error, CorpusError)))
        else:
            place = quoted(Path(error.filename)) if error.filename else "a file"
            say_error(f"{error.strerror or error}: {place}.")
        sys.exit(1)
    traceback.print_exception(error)
    say_error("This is a bug in lmkin. Please report it with the lines above.")
    sys.exit(70)


def _show_warning(message: Any, category: type[Warning], *rest: Any) -> None:
    if issubclass(category, LmkinWarning):
        say_warning(str(message))
