"""The command line: parses, calls the library, prints, writes.

Exit codes: 0 done; 1 something about the input or the machine that the message explains; 2 wrong usage;
70 a bug in lmkin; 130 interrupted.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import typer

from .. import __version__
from ..errors import LmkinError, LmkinWarning
from . import (
    attention,
    demo,
    dependency,
    export,
    extract,
    inspect,
    measures,
    redundancy,
    similarity,
)
from .output import say_error, say_warning

app = typer.Typer(
    name="lmkin",
    help="How alike are language models, how redundant, and what is the smallest part that does a task.",
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
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version."
    ),
) -> None:
    pass


app.command("extract")(extract.command)
app.command("inspect")(inspect.command)
app.command("export")(export.command)
app.command("similarity")(similarity.command)
app.command("attention")(attention.command)
app.command("dependency")(dependency.command)
app.command("redundancy")(redundancy.command)
app.command("measures")(measures.command)
app.command("demo")(demo.command)


_INTERRUPTED = "Interrupted. What was finished is kept; run the same command again to go on."


def run(arguments: list[str] | None = None) -> None:
    """The entry point: errors that a user can mend become one paragraph, not a traceback."""
    warnings.showwarning = _show_warning  # type: ignore[assignment]
    verbose = any(a in ("-v", "--verbose") for a in arguments or sys.argv[1:])
    try:
        app(args=arguments)
    except LmkinError as error:
        if verbose:
            raise
        say_error(str(error))
        sys.exit(1)
    except KeyboardInterrupt:
        say_error(_INTERRUPTED)
        sys.exit(130)
    except SystemExit as end:
        if end.code == 130:  # typer has caught the key before us
            say_error(_INTERRUPTED)
        raise
    except BrokenPipeError:
        sys.exit(1)
    except MemoryError:
        say_error("The memory is full. Lower --batch-tokens, or keep fewer --layers.")
        sys.exit(1)
    except OSError as error:
        if verbose:
            raise
        say_error(f"{error.strerror or error}: {error.filename or 'a file'}.")
        sys.exit(1)
    except Exception:
        import traceback

        traceback.print_exc()
        say_error("This is a bug in lmkin. Please report it with the lines above.")
        sys.exit(70)


def _show_warning(message: Any, category: type[Warning], *rest: Any) -> None:
    if issubclass(category, LmkinWarning):
        say_warning(str(message))
