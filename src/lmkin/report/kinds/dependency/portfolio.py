"""Which models to keep, in the report: an order to switch off, best subsets, who knows what, what none explains."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ....core import slugs
from ....results import ResultTable, format_value
from ...names import one_line, plain_names, shortened
from ...page import Chapter, Figure, Option, Switch, Table
from ...tables import SAME, table_of
from .portions import LEAST, MEAN, drop_chart, dropped, on_rows, unique_chart

_MOST_TEXTS = 5
_LONGEST = 120
_NOT_ADVICE = (
    "The steps without a “yes” below were measured, and other texts may order them otherwise. "
)


def portfolio_chapters(portfolio: Mapping[str, xr.Dataset]) -> list[Chapter]:
    """A chapter for each thing that is there."""
    chapters: dict[str, Callable[[xr.Dataset], Chapter]] = {
        "drop_order": _drop_chapter,
        "best_subsets": _subsets_chapter,
        "unique": _unique_chapter,
        "unexplained": _unexplained_chapter,
    }
    return [make(portfolio[name]) for name, make in chapters.items() if name in portfolio]


def chosen_on(table: xr.Dataset) -> str:
    """How honest the choice was."""
    chose, told = table.attrs.get("chosen_on"), table.attrs.get("reported_on")
    if not chose:
        return ""
    if chose == told:
        return f"Models are chosen on {chose} rows, and the figures are of the same rows: a little too good. "
    return f"Models are chosen on {chose} rows; the figures are of {told} rows. "


# -- switch off in this order -----------------------------------------------------------------------


def _drop_chapter(table: xr.Dataset) -> Chapter:
    models, stays = dropped(table)
    least = table["r2_least"].values
    advised = models[: int(table["carried"].values.sum())]
    reason = one_line(str(table.attrs["no_order"]))
    if not advised:
        title, advice = "No order to switch off", f"No order: {reason}. "
    elif reason:
        title = "Switch off in this order, up to a point"
        advice = f"Switch off {', then '.join(advised)}. No order after that: {reason}. "
    else:
        title = "Switch off in this order"
        advice = f"First to go is {models[0]}: the others explain {format_value(float(table['r2'][0]))} of it. "
    return Chapter(
        title,
        paragraphs=[
            advice + (_NOT_ADVICE if reason else ""),
            "Read from the top: each time the model goes whose loss costs least, counting all that went before. "
            "The points say how much of what was switched off those that are left still explain, on average and "
            "for the model that suffers most. Where the line turns sharply to the left, stop.",
            f"{chosen_on(table)}With {stays} alone left, R² is {format_value(table['r2_dropped'][-1])} on average "
            f"and {format_value(least[-1])} at worst.",
        ],
        figures=[
            Figure(
                drop_chart(table),
                caption=f"R² {on_rows(table)}. {stays} stays. Point at a mark for its value.",
                name="dependency-drop-order",
            )
        ],
        tables=[Table(drop_table(table))],
    )


def drop_table(table: xr.Dataset) -> ResultTable:
    """A line a step, and the model that stays."""
    models, stays = dropped(table)
    lines: list[list[Any]] = [
        [
            str(k + 1),
            name,
            *(float(table[v].values[k]) for v in ("r2", "r2_dropped", "r2_least")),
            "yes" if bool(table["carried"][k]) else "no",
        ]
        for k, name in enumerate(models)
    ]
    lines.append(["stays", stays, None, None, None, "–"])
    values = ("R² of it by those left", MEAN, LEAST)
    columns = [("step", "text"), ("off", "text"), *((name, "number") for name in values)]
    return table_of("drop_order", [*columns, ("carried by its interval", "text")], lines)


# -- best subsets -----------------------------------------------------------------------------------


def _subsets_chapter(table: xr.Dataset) -> Chapter:
    greedy = table.attrs.get("method") == "greedy"
    how = (
        "One model was added at a time, the one that helps most; other sets may be a little better. "
        if greedy
        else "All sets of each size were tried. "
    )
    return Chapter(
        "Sets of models that explain the rest best",
        paragraphs=[
            f"For every number of models, the set that explains the rest best. {how}{chosen_on(table)}Nothing says "
            f"here by how much another set is worse: take it as a candidate.",
            f"R² {on_rows(table)}: the mean over the models that are not kept, and the one of them that is explained "
            f"least.",
        ],
        tables=[Table(subset_table(table))],
    )


def subset_table(table: xr.Dataset) -> ResultTable:
    """A line a size: which to keep, how well the rest is explained, and what suffers most."""
    names = plain_names([str(m) for m in table["model"].values])
    lines = []
    for k, size in enumerate(table["size"].values):
        kept = np.asarray(table["kept"].values[k], bool)
        r2 = np.where(kept, np.inf, np.asarray(table["r2"].values[k], np.float64))
        worst = int(np.nanargmin(r2))
        least = f"{names[worst]}: {format_value(float(r2[worst]))}"
        lines.append([int(size), _set(names, kept), float(table["r2_rest"].values[k]), least])
    columns = [
        ("models", "count"),
        ("keep", "text"),
        ("mean R² of the rest", "number"),
        ("explained least", "text"),
    ]
    return table_of("best_subsets", columns, lines)


def _set(names: Sequence[str], kept: NDArray[np.bool_]) -> str:
    """The names; where these are many, what is not among them."""
    some = [name for name, stays in zip(names, kept, strict=True) if stays]
    if len(some) > 3 and len(some) > len(names) / 2:
        return "all but " + ", ".join(name for name in names if name not in some)
    return ", ".join(some)


# -- unique, shared, unexplained --------------------------------------------------------------------


def _unique_chapter(table: xr.Dataset) -> Chapter:
    names = plain_names([str(m) for m in table["target"].values])
    caption = (
        f"Fractions of each model's variance, {on_rows(table)}. Point at a part for its value."
    )
    if bool((table["unique"] < 0).any()) or bool((table["shared"] < 0).any()):
        caption += (
            " A part to the left of zero is negative: the fit is better without that model on these rows, or models "
            "explain more together than apart."
        )
    return Chapter(
        "What only one model knows of another",
        paragraphs=[
            "Every bar is one model, as the others explain it. Coloured: what is lost if that one of the others goes, "
            "for none of the rest can give it. Dark grey: what at least two of them could give, so any one may go. "
            "Light grey: what none explains, and what is lost if this model itself goes."
        ],
        figures=[Figure(unique_chart(table), caption=caption, name="dependency-unique")],
        tables=[Table(unique_table(table, names), folded=SAME)],
    )


def unique_table(table: xr.Dataset, names: Sequence[str]) -> ResultTable:
    """A line a model: what is lost without each of the others, what several share, what none explains."""
    unique = np.asarray(table["unique"].transpose("basis", "target").values, np.float64)
    lines = [
        [name, *unique[:, i], *(float(table[v].values[i]) for v in ("shared", "unexplained"))]
        for i, name in enumerate(names)
    ]
    values = (*(f"only {name}" for name in names), "several", "none")
    return table_of("unique", [("model", "text"), *((v, "number") for v in values)], lines)


# -- unexplained ------------------------------------------------------------------------------------


def _unexplained_chapter(table: xr.Dataset) -> Chapter:
    table = table if "model" in table.dims else table.expand_dims("model")
    raw = table["model"].values if "model" in table.coords else [table.attrs.get("model", "")]
    names = plain_names([str(m) for m in raw])
    keys = slugs(names)
    tables = []
    for k, key in enumerate(keys):
        mine = table.isel(model=k)
        tables.append(Table(direction_table(mine), when={"model": key}))
        if "weight" in table:
            tables.append(Table(input_table(mine), when={"model": key}))
    options = [Option(key, name) for key, name in zip(keys, names, strict=True)]
    things = "texts" if "text" in table else "rows"
    paragraphs = [
        "The part of a model that the others do not explain, in its main directions: each with its fraction of that "
        f"part and of the whole model, {on_rows(table)}."
    ]
    if "weight" in table:
        paragraphs.append(
            f"Then the {things} that lie farthest along the direction, on one side (+) or the other (−). What those of "
            "one side have in common, and those of the other lack, is what this model sees and the others do not. "
            f"At most {_MOST_TEXTS} are shown; in a folder, unexplained.csv has more."
        )
    return Chapter(
        f"What the others do not explain{'' if len(names) > 1 else f' of {names[0]}'}",
        paragraphs,
        switches=[Switch("model", "Model:", options)] if len(options) > 1 else [],
        tables=tables,
    )


def direction_table(table: xr.Dataset) -> ResultTable:
    """Directions of what is not explained of one model, with their shares."""
    lines = [
        [
            int(table["direction"].values[d]),
            *(_percent(float(table[name].values[d])) for name in ("share", "share_of_model")),
        ]
        for d in _directions(table)
    ]
    shares = ("fraction of the unexplained", "fraction of the model")
    columns = [("direction", "count"), *((name, "text") for name in shares)]
    return table_of("directions", columns, lines)


def input_table(table: xr.Dataset) -> ResultTable:
    """The texts that weigh most in each direction, shortened; row numbers where there is no text."""
    texts = "text" in table
    lines = []
    for d in _directions(table):
        inputs = table.isel(direction=d)
        first = str(int(table["direction"].values[d]))
        weights = np.asarray(inputs["weight"].values, np.float64)
        for k in np.flatnonzero(np.isfinite(weights))[:_MOST_TEXTS]:
            row = f"{int(inputs['input'][k]):,}"
            what = shortened(inputs["text"].values[k], _LONGEST) if texts else row
            lines.append([first, f"{weights[k]:+#.3g}".replace("-", "−"), what])
            first = ""
    names = ("direction", "weight", "text" if texts else "row")
    return table_of("inputs", [(name, "text") for name in names], lines)


def _directions(table: xr.Dataset) -> list[int]:
    """Those that there are: a model with few neurons has fewer than others."""
    return [int(d) for d in np.flatnonzero(np.isfinite(table["share"].values))]


def _percent(share: float) -> str:
    return f"{share:.1%}" if share >= 0.0995 or share == 0 else f"{share:.2%}"
