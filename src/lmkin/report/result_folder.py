"""A folder with everything that a result says: numbers for programs, tables, charts and the report."""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from ..analysis import Analysis, Running, Source
from ..core import (
    LmkinError,
    as_path,
    fingerprint,
    locked,
    progress_bar,
    release_memory,
    remove_left_behind,
)
from ..results import Files, Result, require_places, require_same_run, save_folder
from ..rows import UNFINISHED, Workspace
from .charts import save_picture, unchecked
from .combined import write_report
from .kinds import result_charts
from .page import Chapter

REPORT = "report.html"


def run_to_folder(
    analysis: Analysis[Any],
    source: Source,
    options: Any,
    running: Running,
    out: str | Path,
    *,
    charts: bool = True,
    overwrite: bool = False,
    command: str = "",
) -> tuple[Result, Path]:
    """Run an analysis into a folder; the result, and the path of the report.

    Everything is checked before anything is loaded; a folder that holds the results of another run is refused. What is
    finished is kept in ``unfinished``: the same call goes on after a kill.
    """
    analysis.check_run(source, options, running)
    folder = as_path(out)
    with removed_if_empty(folder):
        require_folder(folder)
        with locked(folder):
            remove_left_behind(folder)
            if (folder / UNFINISHED).is_symlink():
                raise LmkinError(
                    f"{folder / UNFINISHED} is a link; unfinished work is not kept through it. Remove it."
                )
            # What every run writes; the other names are known when there is a result.
            surely = (REPORT, f"{analysis.result.kind}.nc")
            require_places(folder, surely, overwrite=overwrite)
            running.limit_threads()
            run = fingerprint(analysis.key(source, options, running))
            require_same_run(folder, analysis.result.kind, run, overwrite=overwrite)
            work = Workspace(folder / UNFINISHED)
            begun = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
            work.describe(
                analysis=analysis.name, begun=begun, **({"command": command} if command else {})
            )
            try:
                result = analysis.run(source, options, running, work)
            except BaseException:
                work.clear_if_nothing_is_finished()
                raise
            result.attrs["run"] = run
            if command:
                result.attrs["command"] = command
            report = _write(
                result, folder, charts=charts, overwrite=overwrite, progress=running.progress
            )
            work.clear()
    return result, report


def write_result(
    result: Result,
    out: str | Path,
    *,
    title: str | None = None,
    chapters: Sequence[Chapter] = (),
    charts: bool = True,
    overwrite: bool = False,
    progress: bool | None = None,
) -> Path:
    """Write a result's files, its charts (PNG, SVG) and ``report.html`` into a folder; the path of the report.

    Raise if the folder holds the results of another run, unless ``overwrite``. Files of an earlier run that this one
    does not have are removed when all new ones are there. Files that lmkin did not write are never touched: raise if
    one of them has a name that the results need.
    """
    folder = as_path(out)
    require_folder(folder)
    run = result.attrs.get("run") or result.run_of_its_own()
    with locked(folder):
        require_same_run(folder, result.kind, run, overwrite=overwrite)
        require_places(folder, (REPORT, *result.files()), overwrite=overwrite)
        return _write(
            result, folder, title, chapters, charts=charts, overwrite=overwrite, progress=progress
        )


def _write(
    result: Result,
    folder: Path,
    title: str | None = None,
    chapters: Sequence[Chapter] = (),
    *,
    charts: bool,
    overwrite: bool,
    progress: bool | None,
) -> Path:
    """Write everything into a folder that nobody else writes to."""
    run = result.attrs.get("run") or result.run_of_its_own()
    release_memory()  # what the analysis took is free: charts need it
    files: Files = dict(result.files())
    files[REPORT] = lambda path: _write_page(result, path, title, chapters)
    with unchecked():
        drawn = result_charts(result) if charts else {}
        with progress_bar("charts", len(drawn), "charts", show=progress) as advance:
            for name, draw in drawn.items():
                files[f"charts/{name}.svg"] = partial(_save_chart, draw)
                files[f"charts/{name}.png"] = partial(_save_chart, draw, advance=advance)
            save_folder(result.kind, files, folder, run=run, overwrite=overwrite)
    return folder / REPORT


def _write_page(result: Result, path: Path, title: str | None, chapters: Sequence[Chapter]) -> None:
    write_report(result, out=path, title=title, chapters=chapters)


def _save_chart(
    draw: Callable[[], Any], path: Path, advance: Callable[[int], None] | None = None
) -> None:
    save_picture(draw(), path)
    if advance is not None:
        advance(1)


@contextmanager
def removed_if_empty(folder: Path) -> Iterator[None]:
    """Remove a folder that was made for results, and got none because of an error; one that was there before stays."""
    before = folder.exists()
    try:
        yield
    except BaseException:
        if not before and folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
        raise


def require_folder(folder: Path) -> None:
    """Make the folder. Raise if results cannot be written there."""
    if folder.exists() and not folder.is_dir():
        raise LmkinError(f"{folder} is a file; give the name of a folder (out=…).")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LmkinError(
            f"Cannot make the folder {folder}: {error.strerror}. Give another one (out=…)."
        ) from error
    if not os.access(folder, os.W_OK):
        raise LmkinError(f"Cannot write to {folder}: no permission. Give another folder (out=…).")
