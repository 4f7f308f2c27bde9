"""Dependency of models on each other: how much of every one the others explain, and which could be switched off."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ....results import ResultTable, listed
from ...charts.text import key_of
from ...names import counted
from ...page import Chapter, Figure, Option, Switch, Table
from ...tables import SAME
from .. import Charts, ReportKind, report_kind
from ..layer_pairs import Scaling, definitions
from .explained import group_chart, group_table, length_chart, length_table
from .pairs import pair_heatmap, pair_table, pairs_size, shown_pairs
from .portfolio import portfolio_chapters
from .portions import drop_chart, unique_chart
from .view import DependencyView

_PAIRS = ("rho_pair", "r2_pair")
_SPLITS = {
    "test": "Test rows were neither fitted on nor chosen on: these are the figures to quote.",
    "validation": "Validation rows were not fitted on, but choices were made on them.",
    "train": "Train rows were fitted on: R² is too high, the more so the fewer rows there are.",
}


@report_kind
class DependencyReport(ReportKind):
    """How much of every model all others explain."""

    kind = "dependency"

    def title(self, result: Any) -> str:
        """Which models are written in terms of each other."""
        return f"How much do {listed(_view(result).models)} explain of each other?"

    def facts(self, result: Any) -> list[tuple[str, str]]:
        """Models, corpus, lengths, rows, intervals."""
        return _facts(_view(result))

    def chapters(self, result: Any) -> list[Chapter]:
        """R² by all others, by length of the text, of pairs, what could go, what none explains."""
        view = _view(result)
        chapters = [_group_chapter(view)]
        if len(view.lengths) > 1:
            chapters.append(_length_chapter(view))
        if any(name in result.dataset for name in _PAIRS):
            chapters.append(_pair_chapter(view))
        return [*chapters, *portfolio_chapters(result.portfolio or {})]

    def charts(self, result: Any) -> Charts:
        """``dependency-rho-test-512`` …, of the rows to believe: those of the test split, one for each length."""
        view = _view(result)
        split = view.scored
        part = result.dataset.sel(split=[split.name])
        charts: Charts = {}

        for length in view.lengths:
            some = part.sel(length=[int(length.name)]) if "length" in part.dims else part
            one = DependencyView(some, result.published)
            ending = "-".join(p for p in (split.key, length.key) if p)
            charts[f"dependency-group-{ending}"] = partial(group_chart, one, width=640)
            for name in _PAIRS:
                if name in result.dataset:
                    short = name.removesuffix("_pair")
                    charts[f"dependency-{short}-{ending}"] = partial(pair_heatmap, one, name)
        if len(view.lengths) > 1:
            whole = DependencyView(part, result.published)
            charts[f"dependency-lengths-{split.key}"] = partial(length_chart, whole, width=640)
        portfolio = result.portfolio or {}
        for name, draw in (("drop_order", drop_chart), ("unique", unique_chart)):
            if name in portfolio:
                key = f"dependency-{name.replace('_', '-')}"
                charts[key] = partial(draw, portfolio[name], width=640)
        return charts

    def definitions(self, result: Any) -> ResultTable:
        """What R² and ρ are."""
        return definitions(_view(result).measures)

    def details(self, result: Any) -> list[tuple[str, Any]]:
        """The ridge, and the width of each model."""
        view, attrs = _view(result), result.attrs
        ridge = {
            "rule": attrs.get("rule", ""),
            "ridge": attrs.get("ridge", ""),
            "reason": attrs.get("ridge_reason", ""),
            "neurons": {m: int(n) for m, n in zip(view.raw_models, _widths(view), strict=True)},
        }
        return [("Ridge, and neurons of each model", ridge)]


def _view(result: Any) -> DependencyView:
    return DependencyView(result.dataset, result.published)


def _facts(view: DependencyView) -> list[tuple[str, str]]:
    attrs = view.dataset.attrs
    widths = _widths(view)
    models = [
        f"{m} ({counted(int(w), 'neuron')})" for m, w in zip(view.models, widths, strict=True)
    ]
    lines = [("Models", "; ".join(models) if len(models) <= 20 else counted(len(models), "layer"))]
    if attrs.get("corpus"):
        lines.append(("Corpus", str(attrs["corpus"])))
    if view.longest.name:
        lines.append(("Length", f"{', '.join(n.name for n in view.lengths)} tokens"))
    if "n" in view.dataset:
        unit = str(attrs.get("units", "row"))
        sizes = [f"{_rows(view, split)} {split.name}" for split in reversed(view.splits)]
        lines.append((f"{unit[:1].upper()}{unit[1:]}s".replace("ss", "s"), ", ".join(sizes)))
    lines.append(("Intervals", view.level if "r2_group_se" in view.dataset else "none"))
    return lines


def _rows(view: DependencyView, split: Scaling) -> str:
    """How many rows a split has; from the fewest to the most, where lengths differ."""
    sizes = [view.values("n", split, length) for length in view.lengths]
    numbers = sorted({int(n) for n in sizes if n is not None and np.isfinite(n)}) or [0]
    return f"{numbers[0]:,}" + (f" to {numbers[-1]:,}" if len(numbers) > 1 else "")


def _widths(view: DependencyView) -> Any:
    widths = view.values("width", view.scored, view.longest)
    return np.zeros(len(view.models), int) if widths is None else widths


def _switches(view: DependencyView, *, lengths: bool = True, said: bool = False) -> list[Switch]:
    made = []
    if len(view.splits) > 1:
        options = [Option(s.key, s.name, _SPLITS.get(s.name, "") * said) for s in view.splits]
        made.append(Switch("split", "Rows:", options))
    if lengths and len(view.lengths) > 1:
        options = [Option(n.key, n.name) for n in view.lengths]
        made.append(Switch("length", "Tokens of a text:", options, start=view.longest.key))
    return made


def _ways(view: DependencyView) -> list[tuple[Scaling, Scaling]]:
    return [(split, length) for split in view.splits for length in view.lengths]


def _group_chapter(view: DependencyView) -> Chapter:
    paragraphs = [
        "How much of a model is known to the others: each is written as a linear function of all others at once. At 1 "
        "the others say all that the model says, so that it adds nothing; at 0 they say nothing of it. Below 0 the fit "
        "is worse than a constant. Models are sorted, the one that the others explain best first."
    ]
    caption = (
        "Grey: the permutation baseline, the same with the rows of each model shuffled; on train rows above 0 by as "
        "much as a fit overfits, on test rows below 0 by what that costs. "
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
                folded=SAME,
                when=_when(split, length),
            )
            for split, length in _ways(view)
        ],
    )


def _when(split: Scaling, length: Scaling) -> dict[str, str]:
    return {"split": split.key, "length": length.key}


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
            Table(length_table(view, split), folded=SAME, when={"split": split.key})
            for split in view.splits
        ],
    )


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
                square=pairs_size(view),
                key=key_of(view.models),
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
