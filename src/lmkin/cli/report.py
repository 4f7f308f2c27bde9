"""`lmkin report`: results that were written before, on one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..core import LmkinError, as_path, require_new_file
from .output import busy, say, set_verbosity


def command(
    results: Annotated[
        list[Path],
        typer.Argument(metavar="RESULT...", help="Folders that lmkin wrote, or their .nc files."),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The page to write.")] = Path(
        "report.html"
    ),
    title: Annotated[str | None, typer.Option(help="Of the page.")] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the page if it is there.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Say what happens; show tracebacks.")
    ] = False,
) -> None:
    """Put one or several RESULTs into one report, with a part for each.

    lmkin report twins heads kin -o everything.html
    """
    set_verbosity(verbose)
    require_new_file(as_path(out), overwrite=overwrite)
    from ..report import write_report
    from ..results import Result, load

    loaded = []
    with busy("Opening results …"):
        for path in results:
            thing = load(path)
            if not isinstance(thing, Result):
                raise LmkinError(
                    f"A report shows results; {path} holds {type(thing).__name__.lower()}. lmkin inspect {path} says "
                    f"what is in it."
                )
            loaded.append(thing)
    with busy("Drawing …"):
        write_report(*loaded, out=out, title=title, overwrite=overwrite)
    say(f"Written: open {out} in a browser.")
