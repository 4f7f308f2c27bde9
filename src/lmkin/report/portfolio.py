"""Which models to keep, in the report: an order to switch off, best subsets, who knows what, what none explains."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ..errors import LmkinError, did_you_mean
from .charts import one_line
from .page import Chapter, Figure, Option, Switch, Table
from .portions import LEAST, MEAN, drop_chart, dropped, on_rows, unique_chart
from .view import plain_names, said, slugs

KINDS = ("drop_order", "best_subsets", "unique", "unexplained")
"""What a portfolio may hold, in the order of the chapters."""
_MOST_TEXTS = 5
_FEW = 8
"""Up to so many models a report tries all subsets by itself: 254 fits."""
_LONGEST = 120


def portfolio_of(dependency: Any, *, progress: bool | None = None) -> dict[str, xr.Dataset]:
    """All of a portfolio that a `lmkin.Dependency` can give; nothing if it was loaded from disk."""
    if not dependency.fitted:
        return {}
    few = len(dependency.models) <= _FEW
    return {
        "drop_order": dependency.drop_order(progress=progress),
        "best_subsets": dependency.best_subsets(exhaustive=few, progress=progress),
        "unique": dependency.unique(),
        "unexplained": dependency.unexplained(),
    }


def check_portfolio(portfolio: Mapping[str, xr.Dataset] | None) -> dict[str, xr.Dataset]:
    """What was given, in the order of the chapters."""
    given = dict(portfolio or {})
    for name in given:
        if name not in KINDS:
            raise LmkinError(
                f"A portfolio has no {name!r}. {did_you_mean(str(name), KINDS)}".rstrip()
            )
    return {name: given[name] for name in KINDS if given.get(name) is not None}


def portfolio_chapters(portfolio: Mapping[str, xr.Dataset]) -> list[Chapter]:
    """A chapter for each thing that is there."""
    chapters: dict[str, Callable[[xr.Dataset], Chapter]] = {
        "drop_order": _drop_chapter,
        "best_subsets": _subsets_chapter,
        "unique": _unique_chapter,
        "unexplained": _unexplained_chapter,
    }
    return [chapters[name](found) for name, found in portfolio.items()]


def chosen_on(found: xr.Dataset) -> str:
    """How honest the choice was."""
    chose, told = found.attrs.get("chosen_on"), found.attrs.get("reported_on")
    if not chose:
        return ""
    if chose == told:
        return f"Models are chosen on {chose} rows, and the figures are of the same rows: a little too good. "
    return f"Models are chosen on {chose} rows; the figures are of {told} rows. "


# -- switch off in this order -----------------------------------------------------------------------


def _drop_chapter(found: xr.Dataset) -> Chapter:
    models, stays = dropped(found)
    least = found["r2_least"].values
    return Chapter(
        "Switch off in this order",
        paragraphs=[
            "Read from the top: each time the model goes whose loss costs least, counting all that went before. "
            "The points say how much of what was switched off those that are left still explain, on average and "
            "for the model that suffers most. Where the line turns sharply to the left, stop.",
            f"{chosen_on(found)}First to go is {models[0]}: the others explain {said(float(found['r2'][0]))} of it. "
            f"With {stays} alone left, R² is {said(float(found['r2_dropped'][-1]))} on average and "
            f"{said(float(least[-1]))} at worst.",
        ],
        figures=[
            Figure(
                drop_chart(found),
                caption=f"R² {on_rows(found)}. {stays} stays. Point at a mark for its value.",
                name="dependency-drop-order",
            )
        ],
        tables=[Table(drop_table(found))],
    )


def drop_table(found: xr.Dataset) -> list[list[str]]:
    """A line a step, and the model that stays."""
    models, stays = dropped(found)
    rows = [["step", "switch off", "R² of it by those left", MEAN, LEAST]]
    for k, name in enumerate(models):
        values = [said(float(found[v].values[k])) for v in ("r2", "r2_dropped", "r2_least")]
        rows.append([str(k + 1), name, *values])
    return [*rows, ["stays", stays, "–", "–", "–"]]


# -- best subsets -----------------------------------------------------------------------------------


def _subsets_chapter(found: xr.Dataset) -> Chapter:
    greedy = found.attrs.get("method") == "greedy"
    how = (
        "One model was added at a time, the one that helps most; other sets may be a little better. "
        if greedy
        else "All sets of each size were tried. "
    )
    return Chapter(
        "If you keep so many models, keep these",
        paragraphs=[
            f"For every number of models, the set that explains the rest best. {how}{chosen_on(found)}".strip(),
            f"R² {on_rows(found)}: the mean over the models that are not kept, and the one of them that is explained "
            f"least.",
        ],
        tables=[Table(subset_table(found))],
    )


def subset_table(found: xr.Dataset) -> list[list[str]]:
    """A line a size: which to keep, how well the rest is explained, and what suffers most."""
    names = plain_names([str(m) for m in found["model"].values])
    rows = [["models", "keep", "mean R² of the rest", "explained least"]]
    for k, size in enumerate(found["size"].values):
        kept = np.asarray(found["kept"].values[k], bool)
        r2 = np.where(kept, np.inf, np.asarray(found["r2"].values[k], np.float64))
        worst = int(np.nanargmin(r2))
        rows.append(
            [
                str(int(size)),
                _set(names, kept),
                said(float(found["r2_rest"].values[k])),
                f"{names[worst]}: {said(float(r2[worst]))}",
            ]
        )
    return rows


def _set(names: Sequence[str], kept: NDArray[np.bool_]) -> str:
    """The names; where these are many, what is not among them."""
    some = [name for name, stays in zip(names, kept, strict=True) if stays]
    if len(some) > 3 and len(some) > len(names) / 2:
        return "all but " + ", ".join(name for name in names if name not in some)
    return ", ".join(some)


# -- unique, shared, unexplained --------------------------------------------------------------------


def _unique_chapter(found: xr.Dataset) -> Chapter:
    names = plain_names([str(m) for m in found["target"].values])
    caption = f"Shares of each model's variance, {on_rows(found)}. Point at a part for its value."
    if bool((found["unique"] < 0).any()) or bool((found["shared"] < 0).any()):
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
        figures=[Figure(unique_chart(found), caption=caption, name="dependency-unique")],
        tables=[Table(unique_table(found, names), folded="The same as a table")],
    )


def unique_table(found: xr.Dataset, names: Sequence[str]) -> list[list[str]]:
    """A line a model: what is lost without each of the others, what several share, what none explains."""
    unique = np.asarray(found["unique"].transpose("basis", "target").values, np.float64)
    rows = [["model", *(f"only {name}" for name in names), "several", "none"]]
    for i, name in enumerate(names):
        rest = [said(float(found[v].values[i])) for v in ("shared", "unexplained")]
        rows.append([name, *(said(float(value)) for value in unique[:, i]), *rest])
    return rows


# -- unexplained ------------------------------------------------------------------------------------


def _unexplained_chapter(found: xr.Dataset) -> Chapter:
    found = found if "model" in found.dims else found.expand_dims("model")
    raw = found["model"].values if "model" in found.coords else [found.attrs.get("model", "")]
    names = plain_names([str(m) for m in raw])
    keys = slugs(names)
    tables = []
    for k, key in enumerate(keys):
        mine = found.isel(model=k)
        tables.append(Table(direction_table(mine), when={"model": key}))
        if "weight" in found:
            tables.append(Table(input_table(mine), when={"model": key}))
    options = [Option(key, name) for key, name in zip(keys, names, strict=True)]
    things = "texts" if "text" in found else "rows"
    paragraphs = [
        "The part of a model that the others do not explain, in its main directions: each with its share of that part "
        f"and of the whole model, {on_rows(found)}."
    ]
    if "weight" in found:
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


def direction_table(found: xr.Dataset) -> list[list[str]]:
    """Directions of what is not explained of one model, with their shares."""
    rows = [["direction", "share of the unexplained", "share of the model"]]
    for d in _directions(found):
        shares = [float(found[name].values[d]) for name in ("share", "share_of_model")]
        rows.append([str(int(found["direction"].values[d])), *map(_percent, shares)])
    return rows


def input_table(found: xr.Dataset) -> list[list[str]]:
    """The texts that weigh most in each direction, shortened; row numbers where there is no text."""
    texts = "text" in found
    rows = [["direction", "weight", "text" if texts else "row"]]
    for d in _directions(found):
        inputs = found.isel(direction=d)
        first = str(int(found["direction"].values[d]))
        weights = np.asarray(inputs["weight"].values, np.float64)
        for k in np.flatnonzero(np.isfinite(weights))[:_MOST_TEXTS]:
            what = shortened(inputs["text"].values[k]) if texts else f"{int(inputs['input'][k]):,}"
            rows.append([first, f"{weights[k]:+#.3g}".replace("-", "−"), what])
            first = ""
    return rows


def _directions(found: xr.Dataset) -> list[int]:
    """Those that there are: a model with few neurons has fewer than others."""
    return [int(d) for d in np.flatnonzero(np.isfinite(found["share"].values))]


def _percent(share: float) -> str:
    return f"{share:.1%}" if share >= 0.0995 or share == 0 else f"{share:.2%}"


def shortened(text: Any) -> str:
    """A text on one line, cut where it is long."""
    plain = one_line(str(text))
    return (
        plain if len(plain) <= _LONGEST else plain[: _LONGEST - 1].rsplit(" ", 1)[0].rstrip() + " …"
    )
