"""A folder with everything a comparison says: results for programs, tables and pictures, and the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import xarray as xr

from ..errors import LmkinError
from ..interchange.atomic import replacing
from ..progress import progress_bar
from ..results import average_similarity, localization, save_result
from .attention import attention_report, count_charts, save_attention_charts
from .charts import unchecked
from .dependency import dependency_charts, dependency_report, save_dependency_charts
from .page import Chapter
from .portfolio import KINDS, check_portfolio, portfolio_of
from .redundancy import redundancy_charts, redundancy_report, save_redundancy_charts
from .redundant import save_layers
from .similarity import save_charts, similarity_report
from .strips import check_strips, save_strips

_OF_HEADS = (
    "nearest",
    "nearest_js",
    "elsewhere",
    "elsewhere_js",
    "group",
    "stays",
    "sink_share",
)


@unchecked()
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
    names = ("similarity.nc", "similarity.csv", "averages.csv", "localization.csv")
    folder = _prepared(folder, names, ("heatmap", "averages", "localization"))
    local = _localized(result)
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


@unchecked()
def write_attention(
    result: xr.Dataset,
    folder: str | Path,
    *,
    heads: xr.Dataset | None = None,
    sentence: xr.DataArray | None = None,
    title: str | None = None,
    charts: bool = True,
    progress: bool | None = None,
) -> Path:
    """Write results (netCDF, CSV), charts (PNG, SVG) and ``report.html`` into a folder; the path of the report.

    ``heads`` is what `lmkin.attention_heads` gives, made here if it is not given; ``sentence`` what
    `lmkin.sentence_attention` gives, to be drawn.
    """
    heads = _heads(result) if heads is None else heads
    page = attention_report(result, heads, sentence, title)
    folder = _prepared(
        folder, ("attention.nc", "attention.csv", "heads.csv"), ("attention", "heads")
    )
    save_result(result, folder / "attention.nc")
    save_result(result, folder / "attention.csv")
    if heads is not None:
        save_heads(heads, folder / "heads.csv")
    path = folder / "report.html"
    page.write(path)
    if charts:
        count = count_charts(result, heads, sentence)
        with progress_bar("charts", count, "charts", show=progress) as advance:
            save_attention_charts(result, heads, sentence, folder / "charts", advance=advance)
    return path


@unchecked()
def write_dependency(
    folder: str | Path,
    result: xr.Dataset,
    portfolio: Mapping[str, xr.Dataset] | None = None,
    *,
    published: xr.DataArray | None = None,
    title: str | None = None,
    charts: bool = True,
    command: str | None = None,
    progress: bool | None = None,
) -> Path:
    """Write results (netCDF, CSV), charts (PNG, SVG) and ``report.html`` into a folder; the path of the report.

    ``result`` is ``data`` of a `lmkin.Dependency`, or several of them along ``length``; ``portfolio`` what its methods
    ``drop_order``, ``best_subsets``, ``unique`` and ``unexplained`` gave, by these names; ``published`` what
    `lmkin.published_dependency` gives; ``command`` how the same is got again.
    """
    if command:
        result = result.assign_attrs(command=command)
    found = check_portfolio(portfolio)
    page = dependency_report(result, found, published, title)
    names = ("dependency.nc", "r2_group.csv", "r2_pair.csv", *(f"{kind}.csv" for kind in KINDS))
    folder = _prepared(folder, names, ("dependency",))
    save_result(result, folder / "dependency.nc")
    pairs = [name for name, table in result.items() if "basis" in table.dims]
    save_result(result.drop_vars([*pairs, "basis", "target"]), folder / "r2_group.csv")
    if pairs:
        save_result(result[pairs], folder / "r2_pair.csv")
    for name, table in found.items():
        save_result(table, folder / f"{name}.csv")
    path = folder / "report.html"
    page.write(path)
    if charts:
        drawn = dependency_charts(result, found, published)
        with progress_bar("charts", len(drawn), "charts", show=progress) as advance:
            save_dependency_charts(drawn, folder / "charts", advance=advance)
    return path


@unchecked()
def write_redundancy(
    folder: str | Path,
    tables: xr.Dataset,
    layers: xr.Dataset | None = None,
    strips: xr.Dataset | Sequence[xr.Dataset] = (),
    *,
    title: str | None = None,
    charts: bool = True,
    command: str | None = None,
    progress: bool | None = None,
) -> Path:
    """Write results (netCDF, CSV), charts (PNG, SVG) and ``report.html`` into a folder; the path of the report.

    ``tables`` is what ``tables()`` of a `lmkin.Clustering` gives, ``layers`` what `lmkin.layer_redundancy` gives,
    ``strips`` what `lmkin.cluster_strips` gives, one or several; ``command`` how the same is got again.
    """
    if command:
        tables = tables.assign_attrs(command=command)
    strips = check_strips(strips)
    page = redundancy_report(tables, layers, strips, title)
    own = ("redundancy.nc", "left.csv", "left_by_layer.csv", "spans.csv")
    more = ("layers.nc", "layers.csv", "strips.csv")
    folder = _prepared(folder, (*own, *more), ("redundancy",))
    save_result(tables, folder / "redundancy.nc")
    of_left = [name for name in ("left", "share", "largest") if name in tables]
    save_result(tables[of_left], folder / "left.csv")
    save_result(tables[["left_by_layer", "width"]], folder / "left_by_layer.csv")
    save_result(tables[["clusters", "neurons_in"]], folder / "spans.csv")
    if layers is not None:
        save_result(layers, folder / "layers.nc")
        save_layers(layers, folder / "layers.csv")
    if strips:
        save_strips(strips, folder / "strips.csv")
    path = folder / "report.html"
    page.write(path)
    if charts:
        drawn = redundancy_charts(tables, layers, strips)
        with progress_bar("charts", len(drawn), "charts", show=progress) as advance:
            save_redundancy_charts(drawn, folder / "charts", advance=advance)
    return path


def save_heads(heads: xr.Dataset, path: Path) -> None:
    """Write what `lmkin.attention_heads` gives as CSV: one line a head."""
    columns = {
        "model": heads["model"],
        "layer": heads["layer"],
        "head": heads["number"],
        **{name: heads[name] for name in _OF_HEADS},
        "map_x": heads["map"].isel(axis=0),
        "map_y": heads["map"].isel(axis=1),
    }
    flat = xr.Dataset({name: ("line", column.values) for name, column in columns.items()})
    with replacing(path) as temporary:
        flat.to_dataframe().to_csv(temporary, index=False)


@unchecked()
def report(result: Any, out: str | Path, **options: Any) -> Path:
    """Write the report of a comparison: one HTML file, or, where ``out`` is no ``.html``, a folder with everything.

    ``result`` is what `lmkin.similarities`, `lmkin.attention_similarities`, `lmkin.decompose` or
    `lmkin.cluster_neurons` gives. ``options``: ``title``; for attention ``heads`` (of `lmkin.attention_heads`) and
    ``sentence`` (of `lmkin.sentence_attention`); for a decomposition ``published`` (of `lmkin.published_dependency`)
    and ``portfolio``, see `write_dependency`; for clusters of neurons ``layers`` (of `lmkin.layer_redundancy`) and
    ``strips`` (of `lmkin.cluster_strips`); for a folder ``charts=False``.
    """
    path, title = Path(out), options.get("title")
    if _is_clustering(result):
        result = result.tables()
    if _is_dependency(result):
        if options.get("portfolio") is None:
            options["portfolio"] = portfolio_of(result, progress=options.get("progress"))
        result = result.data
    if not isinstance(result, xr.Dataset):
        raise LmkinError(
            "A report shows what lmkin.similarities, lmkin.attention_similarities, lmkin.decompose or "
            "lmkin.cluster_neurons gives: a Dataset, a Dependency or a Clustering."
        )
    dependency, redundancy = "r2_group" in result, "left_by_layer" in result
    attention = bool({"sink", "head_name"} & set(result.dims))
    if path.suffix != ".html":
        if dependency:
            return write_dependency(path, result, **options)
        if redundancy:
            return write_redundancy(path, result, **options)
        write = write_attention if attention else write_similarity
        return write(result, path, **options)
    if dependency:
        page = dependency_report(result, options.get("portfolio"), options.get("published"), title)
    elif redundancy:
        if options.get("command"):
            result = result.assign_attrs(command=options["command"])
        page = redundancy_report(result, options.get("layers"), options.get("strips") or (), title)
    elif attention:
        heads = options.get("heads")
        heads = _heads(result) if heads is None else heads
        page = attention_report(result, heads, options.get("sentence"), title)
    else:
        page = similarity_report(
            result, _localized(result), average_similarity(result), title=title
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    page.write(path)
    return path


def _is_dependency(result: Any) -> bool:
    from ..dependency import Dependency

    return isinstance(result, Dependency)


def _is_clustering(result: Any) -> bool:
    from ..redundancy import Clustering

    return isinstance(result, Clustering)


def _localized(result: xr.Dataset) -> xr.Dataset | None:
    return localization(result) if "neuronsim" in result and "svsim" in result else None


def _heads(result: xr.Dataset) -> xr.Dataset | None:
    """Single heads, if they were compared."""
    if "js_heads" not in result or "sink" not in result["js_heads"].dims:
        return None
    from ..attention import attention_heads

    return attention_heads(result)


def _prepared(folder: str | Path, names: Sequence[str], kinds: Sequence[str]) -> Path:
    """The folder, without what an earlier comparison wrote here: old charts beside new numbers would mislead."""
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise LmkinError(f"{folder} is a file; give the name of a folder to write results to.")
    folder.mkdir(parents=True, exist_ok=True)
    charts = [path for kind in kinds for path in (folder / "charts").glob(f"{kind}*.[ps][nv]g")]
    for path in [*(folder / name for name in (*names, "report.html")), *charts]:
        path.unlink(missing_ok=True)
    if (folder / "charts").is_dir() and not any((folder / "charts").iterdir()):
        (folder / "charts").rmdir()
    return folder


def measure_names(result: xr.Dataset) -> list[str]:
    """The measures of a result."""
    return [str(name) for name, table in result.items() if "summary" in table.attrs]
