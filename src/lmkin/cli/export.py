"""`lmkin export`: a store of activations as a file for another tool."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, get_args

import typer

from ..core import require_new_file
from ..interchange import ActivationFormat
from .output import set_verbosity, show


def command(
    store: Annotated[Path, typer.Argument(help="A store of activations.")],
    file: Annotated[Path, typer.Argument(help="The file to write, e.g. bert.hdf5 or bert.json.")],
    format: Annotated[
        ActivationFormat | None,
        typer.Option(
            metavar="WORD",
            help=f"One of {', '.join(get_args(ActivationFormat))}. Default: by the extension.",
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the file if it is there.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Say what happens; show tracebacks.")
    ] = False,
) -> None:
    """Write STORE as FILE for contextual-repr-analysis or NeuroX.

    The way back: give such a file to `lmkin extract` in the place of a model.

        lmkin export bert.acts bert.hdf5
    """
    set_verbosity(verbose)
    from ..activations import export_activations, open_activations
    from ..core import human_bytes

    require_new_file(file, overwrite=overwrite)
    acts = open_activations(store)
    count = export_activations(acts, file, format, overwrite=overwrite)
    lost = len(set(acts.units.sentence.tolist())) - count
    rows = {
        "sentences": f"{count:,}" + (f" ({lost:,} repeated ones share an entry)" if lost else ""),
        "size": human_bytes(file.stat().st_size),
    }
    data = {"file": str(file), "sentences": count, "bytes": file.stat().st_size}
    show(f"Wrote {file}", rows, as_json=as_json, data=data)
