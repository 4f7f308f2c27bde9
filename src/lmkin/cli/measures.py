"""`lmkin measures`: what layers can be compared by."""

from __future__ import annotations

import importlib.util
import math
import sys
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from rich.markup import escape
from rich.table import Table

from ..core import MeasureError
from .flags import plain_parameter
from .output import print_json, print_table, set_verbosity

Load = Annotated[
    list[Path] | None,
    typer.Option(
        "--load",
        metavar="FILE.py",
        help="A Python file that registers measures of your own (@lmkin.measure). May be repeated.",
    ),
]


LOAD = plain_parameter(*("load", *get_args(Load)))


def command(
    load: Load = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Say what happens; show tracebacks.")
    ] = False,
) -> None:
    """List the measures: what they say, what they do not see, what they cost.

    lmkin measures --load my_measures.py
    """
    set_verbosity(verbose)
    load_files(load)
    from ..measures import measure_info, measure_names

    measures = [measure_info(name) for name in measure_names()]
    if as_json:
        print_json([_data(m) for m in measures])
        return
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 1, 0))
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    for m in measures:
        facts = [
            "symmetric" if m.symmetric else "not symmetric",
            f"range {_range(m.range)}",
            f"cost {m.cost}" if m.cost else "",
            "needs rows, so it is computed on a sample" if m.needs != "moments" else "",
            "0 on average for unrelated layers" if m.unbiased else "",
        ]
        lines = [
            f"[bold]{escape(m.title)}[/]",
            escape(m.summary),
            f"[dim]{escape('; '.join(f for f in facts if f))}[/]",
            f"[dim]does not see: {', '.join(sorted(m.invariances)) or 'none declared'}[/]",
            f"[dim]options: {', '.join(m.options) or 'none'}[/]",
            f"[dim]{escape(m.reference)}[/]" if m.reference else "",
        ]
        table.add_row(escape(m.name), "\n".join(line for line in lines if line))
    print_table(table)


def _range(ends: tuple[float, float]) -> str:
    low, high = (f"{e:g}" if math.isfinite(e) else "…" for e in ends)
    return f"{low} to {high}"


def _data(m: Any) -> dict[str, Any]:
    return {
        "name": m.name,
        "title": m.title,
        "summary": m.summary,
        "symmetric": m.symmetric,
        "range": [None if not math.isfinite(e) else e for e in m.range],
        "invariances": sorted(m.invariances),
        "unbiased": m.unbiased,
        "held_out": m.fitted,
        "needs": m.needs,
        "cost": m.cost,
        "reference": m.reference,
        "options": list(m.options),
    }


def load_files(files: list[Path] | None) -> None:
    """Run Python files, so that what they register is known."""
    for file in files or []:
        if not file.is_file():
            raise MeasureError(f"There is no file {file} to load measures from.")
        spec = importlib.util.spec_from_file_location(f"lmkin_user_{file.stem}", file)
        if spec is None or spec.loader is None:
            raise MeasureError(f"{file} is no Python file: measures are loaded from FILE.py.")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        try:
            spec.loader.exec_module(module)
        except MeasureError:
            raise
        except Exception as error:
            where = ""
            trace = error.__traceback__
            while trace is not None:
                if trace.tb_frame.f_code.co_filename == str(file):
                    where = f", line {trace.tb_lineno}"
                trace = trace.tb_next
            raise MeasureError(
                f"{file}{where}: {type(error).__name__}: {error}. Mend the file, or leave --load out."
            ) from error
