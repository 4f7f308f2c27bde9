"""What the charts and tables need of a decomposition, as plain arrays and labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import xarray as xr

from ....core import LmkinError, slugs
from ...charts.style import heading, signal_text
from ...names import FloatArray, plain_names
from ..layer_pairs import Measure, Scaling

_REFERENCE = "Zhang 2022, Language Model Decomposition"
MEASURES = {
    "r2_group": (
        "R² by all others",
        "Fraction of the variance of a model that a linear function of all other models explains.",
    ),
    "r2_pair": (
        "R² by one other",
        "Fraction of the variance of the target that a linear function of the basis explains.",
    ),
    "rho_pair": ("ρ of two models", "The mean of R² in both directions."),
    "rho_group": ("ρ of the group", "The mean of R² by all others, over all models."),
}
SYMMETRIC = ("rho_pair", "rho_group")


class DependencyView:
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

    @property
    def level(self) -> str:
        """The level of the intervals, as a percentage."""
        return f"{100 * float(self.dataset.attrs.get('level', 0.95)):g}%"

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
            "published is a table by model and length: give what lmkin.published returns."
        )
    known = [str(m) for m in published["model"].values if str(m) != "group"]
    # Models from a folder or by a shortened name carry the last part of the name on the hub.
    short = {name.rpartition("/")[2]: name for name in known}
    theirs = [m if m in known else short.get(m.rpartition("/")[2], "") for m in models]
    if not any(theirs):
        return None
    table = published.sel(model=known).reindex(model=[*known, ""])
    return table.sel(model=theirs).transpose("model", "length").sortby("length")


def way(split: Scaling, length: Scaling) -> str:
    """Split and length in one word: what the signal ``scaling`` holds."""
    return f"{split.key}-{length.key}"


def signals(view: DependencyView, measure: str, lengths: bool = True) -> dict[str, Any]:
    """The signals of a chart, set by the page's switches, and the names of the models."""
    return {
        "measure": measure,
        "split": view.scored.key,
        **({"length": view.longest.key} if lengths else {}),
        "scaling": alt.expr("split + '-' + length" if lengths else "split"),
        "names": view.models,
    }


def rows_title(view: DependencyView, text: str, *, lengths: bool = True) -> alt.TitleParams:
    """A title that says which rows, and texts of which length, are shown."""
    rows = signal_text({s.key: s.short for s in view.splits}, "split")
    if not lengths or not view.longest.name:
        return heading(text, rows)
    tokens = signal_text({s.key: s.short for s in view.lengths}, "length")
    return heading(text, lambda letters: f"{rows(letters)} + ', ' + {tokens(letters)}")
