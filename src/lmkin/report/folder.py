"""A folder with everything a comparison says: results for programs, tables and pictures, and the report."""

from __future__ import annotations

from pathlib import Path

import xarray as xr

from ..progress import progress_bar
from ..results import average_similarity, localization, save_result
from .page import Chapter
from .similarity import save_charts, similarity_report


def write_similarity(
    result: xr.Dataset,
    folder: Path,
    *,
    title: str | None = None,
    chapters: list[Chapter] | None = None,
    charts: bool = True,
    progress: bool | None = None,
) -> Path:
    """Write results (netCDF, CSV), charts (PNG, SVG) and ``report.html`` into a folder; the path of the report.

    ``chapters`` come before the last one, which says how to get the same again.
    """
    folder.mkdir(parents=True, exist_ok=True)
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


def measure_names(result: xr.Dataset) -> list[str]:
    """The measures of a result."""
    return [str(name) for name, table in result.items() if "summary" in table.attrs]
