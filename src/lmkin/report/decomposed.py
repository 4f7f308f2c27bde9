"""What the charts and tables need of a decomposition, as plain arrays and labels."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import xarray as xr

from ..errors import LmkinError
from .charts import chosen
from .view import FloatArray, Measure, Scaling, View, plain_names, slugs

_REFERENCE = "Zhang 2022, Language Model Decomposition"
MEASURES = {
    "r2_group": (
        "R² by all others",
        "Share of the variance of a model that a linear function of all other models explains.",
    ),
    "r2_pair": (
        "R² by one other",
        "Share of the variance of the target that a linear function of the basis explains.",
    ),
    "rho_pair": ("ρ of two models", "The mean of R² in both directions."),
    "rho_group": ("ρ of the group", "The mean of R² by all others, over all models."),
}
SYMMETRIC = ("rho_pair", "rho_group")
# Okabe and Ito's colours first; the others are as far from them, and from each other, as twelve models need.
COLOURS = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#4d4d4d",
    "#882255", "#332288", "#999933", "#ff6f61", "#117733", "#8c6d5a", "#a05cff",
)  # fmt: skip
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")
GRID = "#eef1f4"
_LABEL = 190
"""Pixels that a model's name may take beside a chart."""
_WORST = -0.25
"""An interval that reaches below this does not stretch the axis; its numbers are in the table."""


class DependencyView(View):
    """The models, splits and lengths of a decomposition, and its values as arrays."""

    def __init__(self, dataset: xr.Dataset, published: xr.DataArray | None = None):
        missing = [name for name in ("split", "model") if name not in dataset.dims]
        if "r2_group" not in dataset or missing:
            raise LmkinError(
                "A report of dependency shows what lmkin.decompose gives: a Dataset with r2_group by split and model. "
                f"This one has the variables {', '.join(map(str, dataset)) or 'none'}."
            )
        self.dataset = dataset
        self.raw_models = [str(m) for m in dataset["model"].values]
        self.models = plain_names(self.raw_models)
        self.measures = [
            Measure(
                name.replace("_", "-"),
                name,
                title,
                text,
                name in SYMMETRIC,
                -np.inf,
                1.0,
                _REFERENCE,
                {},
            )
            for name, (title, text) in MEASURES.items()
            if name in dataset
        ]
        names = [str(s) for s in dataset["split"].values]
        # Rows that were not fitted on come first: they are the ones to believe.
        order = sorted(names, key=lambda s: ("test", "validation", "train", s).index(s))
        self.splits = [
            Scaling(key, s, "split", short=f"{s} rows")
            for key, s in zip(slugs(order), order, strict=True)
        ]
        self.lengths = _lengths(dataset)
        self.published = _published(published, self.raw_models)
        self.scalings = [Scaling()]

    @property
    def scored(self) -> Scaling:
        """The split that counts: test rows, where there are some."""
        return self.splits[0]

    @property
    def longest(self) -> Scaling:
        """The largest number of tokens."""
        return self.lengths[-1]

    def values(self, name: str, split: Scaling, length: Scaling) -> FloatArray | None:
        """A variable on one split at one length, or None where it is not there."""
        if name not in self.dataset:
            return None
        values = self.dataset[name]
        if "split" in values.dims:
            values = values.sel(split=split.name)
        if "length" in values.dims:
            values = values.isel(length=_place(self.dataset, length))
        dims = [d for d in ("basis", "target", "model") if d in values.dims]
        return np.asarray(values.transpose(*dims).values, dtype=np.float64)

    def as_published(self, length: Scaling) -> FloatArray | None:
        """What was published of the same models at the same length."""
        if self.published is None or not length.name:
            return None
        known = self.published["length"].values.tolist()
        if int(length.name) not in known:
            return None
        return np.asarray(self.published.isel(length=known.index(int(length.name))).values)


def _lengths(dataset: xr.Dataset) -> list[Scaling]:
    if "length" in dataset.dims:
        numbers = sorted(int(n) for n in dataset["length"].values)
    elif str(dataset.attrs.get("length", "")).isdigit():
        numbers = [int(dataset.attrs["length"])]
    else:
        return [Scaling()]
    return [Scaling(str(n), str(n), "length", short=f"{n} tokens") for n in numbers]


def _place(dataset: xr.Dataset, length: Scaling) -> int:
    return [int(n) for n in dataset["length"].values].index(int(length.name))


def _published(published: xr.DataArray | None, models: Sequence[str]) -> xr.DataArray | None:
    """The published figures in the order of our models, NaN for those that the paper lacks; None if it lacks all."""
    if published is None:
        return None
    if not isinstance(published, xr.DataArray) or not {"model", "length"} <= set(published.dims):
        raise LmkinError(
            "published is a table by model and length: give what lmkin.published_dependency returns."
        )
    known = [str(m) for m in published["model"].values if str(m) != "group"]
    # Models from a folder or by a shortened name carry the last part of the name on the hub.
    short = {name.rpartition("/")[2]: name for name in known}
    found = [m if m in known else short.get(m.rpartition("/")[2], "") for m in models]
    if not any(found):
        return None
    table = published.sel(model=known).reindex(model=[*known, ""])
    return table.sel(model=found).transpose("model", "length").sortby("length")


def way(split: Scaling, length: Scaling) -> str:
    """Split and length in one word: what the signal ``scaling`` holds."""
    return f"{split.key}-{length.key}"


def signals(view: DependencyView, measure: str, splits: bool = True) -> list[Any]:
    """The signals of a chart, set by the page's switches."""
    return [
        alt.param("measure", value=measure),
        alt.param("split", value=view.scored.key),
        *([alt.param("length", value=view.longest.key)] if splits else []),
        alt.param("scaling", expr="split + '-' + length" if splits else "split"),
    ]


def title(view: DependencyView, text: str, *, lengths: bool = True) -> alt.TitleParams:
    """A title that says which rows, and texts of which length, are shown."""
    rows = chosen({s.key: s.short for s in view.splits}, "split")
    if lengths and view.longest.name:
        rows += " + ', ' + " + chosen({s.key: s.short for s in view.lengths}, "length")
    return heading(text, rows)


def heading(text: str, rows: str) -> alt.TitleParams:
    """A title, and under it which rows are shown (an expression): two lines, which have room on a phone too."""
    whole, limit = alt.expr(f"[{json.dumps(text)}, {rows}]"), alt.expr("max(width, 190)")
    return alt.TitleParams(text=whole, offset=6, frame="group", limit=limit)


def name_axis(**more: Any) -> alt.Axis:
    """Names of models beside a chart; what the axis holds are their numbers."""
    return alt.Axis(
        title=None,
        labelExpr="names[datum.value]",
        labelLimit=_LABEL,
        **{"grid": True, "gridColor": GRID, "tickBand": "extent", "labelPadding": 6, **more},
    )


def legend_columns(names: Sequence[str], beside: Sequence[str] = ()) -> Any:
    """In how many columns a legend of these names has room above a chart with names ``beside`` it.

    Reckoned from the page and not from the plot, whose width is not yet known when the height of the legend is.
    """
    each = min(max(map(len, names)), 32) * 7 + 36
    labels = min(max(map(len, beside), default=0) * 7, _LABEL) + 30
    page = "(isFinite(containerSize()[0]) && containerSize()[0] > 0 ? containerSize()[0] : 640)"
    # The width stands here so that the number changes when the window does.
    return alt.expr(f"clamp(floor(({page} + 0 * width - {labels}) / {each}), 1, {len(names)})")


def r2_scale(
    tables: Sequence[FloatArray | None], lows: Sequence[FloatArray | None] = ()
) -> alt.Scale:
    """From 0, or below it where R² is, to 1; the same for all switches. Intervals stretch it a little only."""
    shown = np.concatenate([np.zeros(1), *(t.ravel() for t in tables if t is not None)])
    ends = [np.maximum(t.ravel(), _WORST) for t in lows if t is not None]
    least = np.nanmin(np.concatenate([shown[np.isfinite(shown)], *ends]))
    return alt.Scale(domain=[float(least), 1.0], nice=bool(least < 0), zero=False)


def model_scales(view: DependencyView) -> tuple[alt.Color, alt.Shape]:
    """A colour and a shape for each number of a model, no two models alike; the legend above the chart."""
    numbers = list(range(len(view.models)))
    legend = alt.Legend(
        orient="top",
        title=None,
        labelExpr="names[datum.value]",
        labelLimit=240,
        symbolSize=70,
        symbolOpacity=1,
        columns=legend_columns(view.models),
    )
    colours = [COLOURS[k % len(COLOURS)] for k in numbers]
    # Where colours come round again, the shapes are others.
    shapes = [SHAPES[(k + k // len(COLOURS)) % len(SHAPES)] for k in numbers]
    return (
        alt.Color("i:N", legend=legend, scale=alt.Scale(domain=numbers, range=colours)),
        alt.Shape("i:N", legend=legend, scale=alt.Scale(domain=numbers, range=shapes)),
    )
