"""The report of a decomposition: how much of every model the others explain, and which could be switched off."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from .chapters import counted, listed, reproduction_chapter, texts
from .charts import save_picture
from .decomposed import DependencyView
from .explained import group_chart, length_chart
from .page import Chapter, Figure, Option, Report, Switch, Table
from .pairs import pair_heatmap, shown_pairs
from .portfolio import check_portfolio, portfolio_chapters
from .portions import portfolio_charts
from .view import Scaling, said

_PAIRS = ("rho_pair", "r2_pair")
_MOST_SQUARE = 540
_SPLITS = {
    "test": "Test rows were neither fitted on nor chosen on: these are the figures to quote.",
    "validation": "Validation rows were not fitted on, but choices were made on them.",
    "train": "Train rows were fitted on: R² is too high, the more so the fewer rows there are.",
}


def dependency_report(
    result: xr.Dataset,
    portfolio: Mapping[str, xr.Dataset] | None = None,
    published: xr.DataArray | None = None,
    title: str | None = None,
) -> Report:
    """The report: alerts, R² by all others, by length of the text, of pairs, what could go, what none explains.

    ``result`` is ``data`` of what `lmkin.decompose` gives, with a dimension ``length`` more where there are several;
    ``portfolio`` holds what its ``drop_order``, ``best_subsets``, ``unique`` and ``unexplained`` gave, by these names;
    ``published`` what `lmkin.published_dependency` gives. What is missing is left out.
    """
    view = DependencyView(result, published)
    chapters = [_group_chapter(view)]
    if len(view.lengths) > 1:
        chapters.append(_length_chapter(view))
    if any(name in result for name in _PAIRS):
        chapters.append(_pair_chapter(view))
    chapters += portfolio_chapters(check_portfolio(portfolio))
    ridges = {
        "rule": result.attrs.get("rule", ""),
        "ridge": result.attrs.get("ridge", ""),
        "neurons": {m: int(n) for m, n in zip(view.raw_models, _widths(view), strict=True)},
    }
    chapters.append(reproduction_chapter(view, ("Ridge, and neurons of each model", ridges)))
    return Report(
        title=title or f"How much do {listed(view.models)} explain of each other?",
        chapters=chapters,
        facts=_facts(view),
        alerts=texts(result.attrs.get("alerts", [])),
    )


def dependency_charts(
    result: xr.Dataset,
    portfolio: Mapping[str, xr.Dataset] | None = None,
    published: xr.DataArray | None = None,
) -> dict[str, Any]:
    """Every chart by the name of its picture, such as ``dependency-rho-test-512``; one for each length.

    Of the rows to believe, those of the test split; a report has switches for the others.
    """
    view = DependencyView(result, published)
    charts: dict[str, Any] = {}
    for split in view.splits[:1]:
        part = result.sel(split=[split.name])
        if len(view.lengths) > 1:
            one = DependencyView(part, published)
            charts[f"dependency-lengths-{split.key}"] = length_chart(one, width=640)
        for length in view.lengths:
            some = part.sel(length=[int(length.name)]) if "length" in part.dims else part
            one = DependencyView(some, published)
            ending = "-".join(p for p in (split.key, length.key) if p)
            charts[f"dependency-group-{ending}"] = group_chart(one, width=640)
            for name in _PAIRS:
                if name in result:
                    short = name.removesuffix("_pair")
                    charts[f"dependency-{short}-{ending}"] = pair_heatmap(one, name)
    return charts | portfolio_charts(check_portfolio(portfolio), width=640)


def save_dependency_charts(
    charts: Mapping[str, Any], folder: Path, *, advance: Callable[[int], None] | None = None
) -> list[Path]:
    """Write what `dependency_charts` gave as PNG and SVG; no browser is needed."""
    written: list[Path] = []
    for name, chart in charts.items():
        for ending in ("png", "svg"):
            written.append(Path(folder) / f"{name}.{ending}")
            save_picture(chart, written[-1])
        if advance is not None:
            advance(1)
    return written


def _facts(view: DependencyView) -> list[tuple[str, str]]:
    attrs = view.dataset.attrs
    widths = _widths(view)
    models = [
        f"{m} ({counted(int(w), 'neuron')})" for m, w in zip(view.models, widths, strict=True)
    ]
    found = [("Models", "; ".join(models) if len(models) <= 20 else counted(len(models), "layer"))]
    if attrs.get("corpus"):
        found.append(("Corpus", str(attrs["corpus"])))
    if view.longest.name:
        found.append(("Length", f"{', '.join(n.name for n in view.lengths)} tokens"))
    if "n" in view.dataset:
        unit = str(attrs.get("units", "row"))
        sizes = [f"{_rows(view, split)} {split.name}" for split in reversed(view.splits)]
        found.append((f"{unit[:1].upper()}{unit[1:]}s".replace("ss", "s"), ", ".join(sizes)))
    found.append(("Intervals", view.level if "r2_group_se" in view.dataset else "none"))
    return found


def _rows(view: DependencyView, split: Scaling) -> str:
    """How many rows a split has; from the fewest to the most, where lengths differ."""
    sizes = [view.values("n", split, length) for length in view.lengths]
    numbers = sorted({int(n) for n in sizes if n is not None and np.isfinite(n)}) or [0]
    return f"{numbers[0]:,}" + (f" to {numbers[-1]:,}" if len(numbers) > 1 else "")


def _widths(view: DependencyView) -> Any:
    widths = view.values("width", view.scored, view.longest)
    return np.zeros(len(view.models), int) if widths is None else widths


def _switches(view: DependencyView, *, lengths: bool = True, said: bool = False) -> list[Switch]:
    found = []
    if len(view.splits) > 1:
        options = [Option(s.key, s.name, _SPLITS.get(s.name, "") * said) for s in view.splits]
        found.append(Switch("split", "Rows:", options))
    if lengths and len(view.lengths) > 1:
        options = [Option(n.key, n.name) for n in view.lengths]
        found.append(Switch("length", "Tokens of a text:", options, start=view.longest.key))
    return found


def _ways(view: DependencyView) -> list[tuple[Scaling, Scaling]]:
    return [(split, length) for split in view.splits for length in view.lengths]


def _group_chapter(view: DependencyView) -> Chapter:
    rho, error = (_number(view, name) for name in ("rho_group", "rho_group_se"))
    place = f"On {view.scored.name} rows" + (
        f" of {view.longest.short}" if view.longest.name else ""
    )
    paragraphs = [
        "How much of a model is known to the others: each is written as a linear function of all others at once. At 1 "
        "the others say all that the model says, so that it adds nothing; at 0 they say nothing of it. Below 0 the fit "
        "is worse than a constant. Models are sorted, the one that the others explain best first."
    ]
    if np.isfinite(rho):
        mean = (
            f"{place} the others explain {said(rho, error)} of a model on average (ρ of the group)."
        )
        paragraphs.append(mean)
    caption = (
        "Grey: the same with the rows of each model shuffled; on train rows above 0 by what a fit learns by heart, on "
        "test rows below 0 by what that costs. "
    ) * ("r2_group_null" in view.dataset)
    if "r2_group_low" in view.dataset:
        caption += f"Bars are {view.level} intervals. "
    else:
        caption += "No intervals were computed. "
    if "r2_group_beyond_length" in view.dataset:
        caption += "Where the length of the text is taken out (orange), models that merely agree on it fall. "
    return Chapter(
        "How much of every model the others explain",
        paragraphs,
        figures=[
            Figure(
                group_chart(view),
                caption=caption + "Point at a mark for its value.",
                name="dependency-group",
            )
        ],
        switches=_switches(view, said=True),
        tables=[
            Table(
                group_table(view, split, length),
                folded="The same as a table",
                when=_when(split, length),
            )
            for split, length in _ways(view)
        ],
    )


def _number(view: DependencyView, name: str) -> float:
    value = view.values(name, view.scored, view.longest)
    return float("nan") if value is None else float(value)


def _when(split: Scaling, length: Scaling) -> dict[str, str]:
    return {"split": split.key, "length": length.key}


def group_table(view: DependencyView, split: Scaling, length: Scaling) -> list[list[str]]:
    """A line a model, the best explained first: R² by all others, interval, chance, length, and what was published."""
    columns = {
        "by chance": view.values("r2_group_null", split, length),
        "length taken out": view.values("r2_group_beyond_length", split, length),
        "by length alone": view.values("r2_length", split, length),
        "as published": view.as_published(length) if split.name == "test" else None,
        "ridge": view.values("ridge_group", split, length),
    }
    known = {title: values for title, values in columns.items() if values is not None}
    value, error, low, high = (
        view.values(f"r2_group{e}", split, length) for e in ("", "_se", "_low", "_high")
    )
    assert value is not None
    interval = low is not None and high is not None
    rows = [["model", "R² by all others", *([f"{view.level} interval"] * interval), *known]]
    for i in np.argsort(-np.nan_to_num(value, nan=-np.inf), kind="stable"):
        line = [view.models[i], said(value[i], None if error is None else error[i])]
        if low is not None and high is not None:
            line.append(f"{said(low[i])} to {said(high[i])}" if np.isfinite(low[i]) else "–")
        line += [f"{v[i]:.3g}" if title == "ridge" else said(v[i]) for title, v in known.items()]
        rows.append(line)
    return rows


def _length_chapter(view: DependencyView) -> Chapter:
    paragraphs = [
        "The same against the number of tokens of a text, one colour a model. A rising line: the longer the text, the "
        "more the models agree on it. Lines that lie apart at short texts and meet at long ones differ in what they "
        "make of a few words only."
    ]
    caption = (
        "The band is the " + view.level + " interval." if "r2_group_low" in view.dataset else ""
    )
    if view.published is not None:
        source = str(view.published.attrs.get("source", "")).strip().rstrip(".")
        paragraphs.append(
            f"Dashed: as published for the same checkpoints{f' ({source})' if source else ''}. Those were explained by "
            "eleven others, with a mean over padded tokens; other models or other texts give other figures."
        )
        caption += " Dashed lines are of test rows, and shown with these only."
    return Chapter(
        "By length of the text",
        paragraphs,
        figures=[Figure(length_chart(view), caption=caption.strip(), name="dependency-lengths")],
        switches=_switches(view, lengths=False),
        tables=[
            Table(
                length_table(view, split), folded="The same as a table", when={"split": split.key}
            )
            for split in view.splits
        ],
    )


def length_table(view: DependencyView, split: Scaling) -> list[list[str]]:
    """A line a model and a column a length; the mean of all; under a model what was published, on test rows."""
    rows = [["model", *(length.name for length in view.lengths)]]
    names = [("r2_group", i, model) for i, model in enumerate(view.models)]
    if "rho_group" in view.dataset:
        names.append(("rho_group", 0, "mean of all (ρ)"))
    for name, i, model in names:
        line = [model]
        for length in view.lengths:
            value, error = (view.values(name + e, split, length) for e in ("", "_se"))
            assert value is not None
            line.append(said(value.flat[i], None if error is None else error.flat[i]))
        rows.append(line)
        if view.published is not None and split.name == "test" and name == "r2_group":
            tables = [view.as_published(length) for length in view.lengths]
            paper = ["–" if t is None else said(t[i]) for t in tables]
            if any(cell != "–" for cell in paper):
                rows.append([f"{model}, as published", *paper])
    return rows


def _pair_chapter(whole: DependencyView) -> Chapter:
    view = shown_pairs(whole)
    captions = {
        "rho_pair": "The mean of both directions: the darker, the more two models say the same.",
        "r2_pair": "How much the row's model explains of the column's. A dark row: a model that explains many. A dark "
        "column: a model that many explain.",
    }
    more = " Point at a cell for its value" + (
        " ± standard error." if "r2_pair_se" in view.dataset else "."
    )
    if view is not whole:
        more += " Other rows and lengths had no room here; r2_pair.csv has them."
    size = min(_MOST_SQUARE, 120 + 60 * len(view.models))
    return Chapter(
        "One model explained by one other",
        paragraphs=[
            "Each cell is two models alone, without the help of the rest. One that explains another well, and is "
            "explained badly by it, holds what the other holds and more. Grey: a model by itself. The colour stops at "
            "0 and 1, the numbers do not."
        ],
        figures=[
            Figure(
                pair_heatmap(view, name),
                caption=captions[name] + more,
                name=f"dependency-{name.removesuffix('_pair')}",
                square=size,
            )
            for name in _PAIRS
            if name in view.dataset
        ],
        switches=_switches(view),
        tables=[
            Table(
                pair_table(view, split, length),
                folded="The pairs as a table",
                when=_when(split, length),
            )
            for split, length in _ways(view)
            if "r2_pair" in view.dataset and len(view.models) <= 20
        ],
    )


def pair_table(view: DependencyView, split: Scaling, length: Scaling) -> list[list[str]]:
    """R² by one other: a line a basis, a column a target."""
    value, error = (view.values(f"r2_pair{e}", split, length) for e in ("", "_se"))
    assert value is not None
    rows = [["basis \\ target", *view.models]]
    for i, name in enumerate(view.models):
        cells = [
            "–" if i == j else said(value[i, j], None if error is None else error[i, j])
            for j in range(len(view.models))
        ]
        rows.append([name, *cells])
    return rows
