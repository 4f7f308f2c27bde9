"""A folder with everything a comparison says: results for programs, tables and pictures, and the report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import xarray as xr

from ..errors import LmkinError
from ..progress import progress_bar
from ..results import average_similarity, localization, save_result
from .page import Chapter
from .similarity import save_charts, similarity_report


def write_similarity(
    result: xr.Dataset,
    folder: str | Path,
    *,
    title: str | None = None,
    chapters: list[Chapter] | None = None,
    charts: bool = True,
    progress: bool | None = None,
) -> Path:
    """Write results (netCDF, CSV), charts (PNG, SVG) and ``report.html`` into a folder; the path of the report.

    ``chapters`` come before the last one, which says how to get the same again.
    """
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise LmkinError(f"{folder} is a file; give the name of a folder to write results to.")
    folder.mkdir(parents=True, exist_ok=True)
    _sweep(folder)
    local = localization(result) if "neuronsim" in result and "svsim" in result else None
    averages = average_similarity(result)
    save_result(result, folder / "similarity.nc")
    save_result(result, folder / "similarity.csv")
    save_result(averages, folder / "averages.csv")
    if local is not None:
        save_result(local, folder / "localization.csv")
    report = similarity_report(result, local, averages, title=title)
    report.chapters[-1:-1] = chapters or []
    path = folder / "report.html"
    report.write(path)
    if charts:
        count = len(measure_names(result)) * (2 if "scaling" in result.dims else 1)
        with progress_bar("charts", count, "charts", show=progress) as advance:
            save_charts(result, local, averages, folder / "charts", advance=advance)
    return path


def report(result: xr.Dataset, out: str | Path, **options: Any) -> Path:
    """Write the report of a comparison: one HTML file, or, where ``out`` is no ``.html``, a folder with everything.

    ``result`` is what `lmkin.similarities` gives. ``options``: ``title``, and for a folder ``charts=False``.
    """
    if not isinstance(result, xr.Dataset):
        raise LmkinError("A report shows what lmkin.similarities gives: a Dataset.")
    path = Path(out)
    if path.suffix != ".html":
        return write_similarity(result, path, **options)
    local = localization(result) if "neuronsim" in result and "svsim" in result else None
    page = similarity_report(result, local, average_similarity(result), title=options.get("title"))
    path.parent.mkdir(parents=True, exist_ok=True)
    page.write(path)
    return path


def _sweep(folder: Path) -> None:
    """Remove what an earlier comparison wrote here: old charts beside new numbers would mislead."""
    names = ("similarity.nc", "similarity.csv", "averages.csv", "localization.csv", "report.html")
    charts = [
        path
        for kind in ("heatmap", "averages", "localization")
        for path in (folder / "charts").glob(f"{kind}*.[ps][nv]g")
    ]
    for path in [*(folder / name for name in names), *charts]:
        path.unlink(missing_ok=True)
    if (folder / "charts").is_dir() and not any((folder / "charts").iterdir()):
        (folder / "charts").rmdir()


def measure_names(result: xr.Dataset) -> list[str]:
    """The measures of a result."""
    return [str(name) for name, table in result.items() if "summary" in table.attrs]
