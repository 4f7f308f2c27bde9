"""Single heads in the report: a map of all of them, those that could go, and the pairs that are most alike."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import altair as alt
import numpy as np
import xarray as xr

from .charts import SOFT
from .curves import model_marks
from .view import FloatArray, View, rounded, said


@dataclass(frozen=True)
class Head:
    """A head as the report speaks of it."""

    name: str
    model: int
    layer: int
    number: int
    label: str

    @property
    def short(self) -> str:
        """Inside its model: layer/head."""
        return f"{self.layer}/{self.number}"


class HeadView:
    """What `lmkin.attention_heads` gave, as plain lists."""

    def __init__(self, view: View, heads: xr.Dataset):
        self.view, self.heads = view, heads
        self.all = heads_of(view, heads)
        self.place = {head.name: k for k, head in enumerate(self.all)}
        self.sink = str(heads.attrs.get("sink", "dropped"))
        self.threshold = float(heads.attrs.get("threshold", 0.1))
        self.share = np.asarray(heads["sink_share"].values, dtype=np.float64)
        self.stays = np.asarray(heads["stays"].values, dtype=bool)
        self.nearest, self.elsewhere = (_near(heads, kind) for kind in ("nearest", "elsewhere"))

    @property
    def several(self) -> bool:
        """Whether there are heads of more than one model."""
        return len({head.model for head in self.all}) > 1

    def label(self, name: str) -> str:
        """What a head is called; nothing for no head."""
        return self.all[self.place[name]].label if name in self.place else ""

    @property
    def kin(self) -> list[tuple[str, float]]:
        """For each head the most similar one, of another model if there is one, and how similar it is."""
        return self.elsewhere if self.several else self.nearest

    def groups(self) -> Iterator[tuple[int, list[int]]]:
        """(model, places of its heads), the groups of each model in their order."""
        found: dict[tuple[int, int], list[int]] = {}
        for k, (head, group) in enumerate(zip(self.all, self.heads["group"].values, strict=True)):
            found.setdefault((head.model, int(group)), []).append(k)
        for (model, _), places in sorted(found.items()):
            yield model, places

    def pairs(self) -> list[tuple[int, int, float]]:
        """Pairs of which one is the nearest of the other, the most similar first: of two models, if there are two."""
        found: dict[tuple[int, int], float] = {}
        for k, (name, value) in enumerate(self.kin):
            if name in self.place:
                pair = (min(k, self.place[name]), max(k, self.place[name]))
                found.setdefault(pair, value)
        ordered = sorted(found.items(), key=lambda item: (-item[1], item[0]))
        return [(a, b, value) for (a, b), value in ordered]


def _near(heads: xr.Dataset, kind: str) -> list[tuple[str, float]]:
    names, values = heads[kind].values, heads[f"{kind}_js"].values
    return [(str(name), float(value)) for name, value in zip(names, values, strict=True)]


def heads_of(view: View, labelled: Any) -> list[Head]:
    """The heads of a Dataset or array with the coordinates head, model and layer."""
    names = [str(name) for name in labelled["head"].values]
    models = dict(zip(view.raw_models, range(len(view.models)), strict=True))
    found = []
    for name, model, layer in zip(
        names, labelled["model"].values, labelled["layer"].values, strict=True
    ):
        place, number = models.get(str(model), -1), int(name.rpartition("/")[2])
        called = view.models[place] if place >= 0 else str(model)
        found.append(
            Head(name, place, int(layer), number, f"{called}, layer {int(layer)}, head {number}")
        )
    return found


def head_map(about: HeadView, *, size: int = 600) -> alt.LayerChart:
    """All heads in two dimensions: a colour and a shape for each model, paler the more goes to the sink."""
    places = np.asarray(about.heads["map"].values, dtype=np.float64)
    shares = [float(s) for s in about.heads["map_share"].values]
    colour, shape = model_marks(about.view.models)
    middle = (places.max(0) + places.min(0)) / 2
    # The same on both axes, so that distances are distances.
    reach = float(np.ptp(places, axis=0).max()) * 0.53 or 0.5

    def axis(name: str, k: int) -> dict[str, Any]:
        ends = [float(middle[k]) - reach, float(middle[k]) + reach]
        return {
            "title": f"{name} axis ({shares[k]:.0%} of the squared distances)",
            "scale": alt.Scale(domain=ends, nice=False, zero=False),
            "axis": alt.Axis(tickCount=5, gridColor="#eef1f4"),
        }

    tooltip = [
        alt.Tooltip("label:N", title="head"),
        alt.Tooltip("nearest:N", title="nearest"),
        *([alt.Tooltip("elsewhere:N", title="in another model")] if about.several else []),
        alt.Tooltip("sink:N", title="to the sink"),
        alt.Tooltip("group:N", title="group"),
    ]
    points = (
        alt.Chart()
        .mark_point(filled=True, size=60)
        .encode(
            x=alt.X("x:Q", **axis("first", 0)),
            y=alt.Y("y:Q", **axis("second", 1)),
            color=colour,
            shape=shape,
            opacity=alt.Opacity(
                "share:Q",
                scale=alt.Scale(domain=[0, 1], range=[1, 0.15], clamp=True),
                legend=alt.Legend(
                    orient="bottom",
                    title="to the sink",
                    titleOrient="left",
                    titleFontWeight="normal",
                    titleFontSize=12,
                    direction="horizontal",
                    values=[0, 0.5, 1],
                    format=".0%",
                    symbolFillColor=SOFT,
                    symbolStrokeColor=SOFT,
                    symbolSize=70,
                ),
            ),
            tooltip=tooltip,
            description="label:N",
        )
    )
    title = alt.TitleParams(f"All heads (sink {about.sink})", offset=4, frame="group")
    chart = alt.layer(points).properties(width=size, height=size, title=title)
    chart.data = alt.InlineData(values=_rows(about, places))
    return cast(alt.LayerChart, chart)


def _rows(about: HeadView, places: FloatArray) -> list[dict[str, Any]]:
    groups = {}
    for _, members in about.groups():
        for k in members:
            fate = "stays" if about.stays[k] else "could go"
            groups[k] = "alone" if len(members) == 1 else f"{len(members)} heads; {fate}"
    return [
        {
            "x": rounded(places[k, 0]),
            "y": rounded(places[k, 1]),
            "model": about.view.models[head.model],
            "share": rounded(about.share[k]),
            "label": head.label,
            "nearest": _called(about, *about.nearest[k]),
            "elsewhere": _called(about, *about.elsewhere[k]),
            "sink": f"{about.share[k]:.0%}",
            "group": groups[k],
        }
        for k, head in enumerate(about.all)
    ]


def _called(about: HeadView, name: str, similarity: float) -> str:
    label = about.label(name)
    return f"{label} ({said(similarity)})" if label else "none"


def model_table(about: HeadView) -> list[list[str]]:
    """For each model: heads, groups, and how many heads could go."""
    rows = [["model", "heads", "groups", "could go", "share"]]
    for number, name in enumerate(about.view.models):
        mine = [k for k, head in enumerate(about.all) if head.model == number]
        groups = sum(model == number for model, _ in about.groups())
        go = sum(not about.stays[k] for k in mine)
        rows.append([name, str(len(mine)), str(groups), str(go), f"{go / max(len(mine), 1):.0%}"])
    return rows


def group_table(about: HeadView, result: xr.Dataset) -> list[list[str]]:
    """Groups of more than one head, the largest first: which stays, which could go, and how far apart they are."""
    similarity = np.asarray(result["js_heads"].sel(sink=about.sink).values, dtype=np.float64)
    rows = [["model", "heads", "stays", "could go", "largest divergence"]]
    several = [(model, members) for model, members in about.groups() if len(members) > 1]
    for model, members in sorted(several, key=lambda group: -len(group[1])):
        apart = 1 - float(similarity[np.ix_(members, members)].min())
        rows.append(
            [
                about.view.models[model],
                str(len(members)),
                ", ".join(about.all[k].short for k in members if about.stays[k]),
                ", ".join(about.all[k].short for k in members if not about.stays[k]),
                said(max(apart, 0.0)),
            ]
        )
    return rows


def nearest_table(about: HeadView, *, most: int = 10) -> list[list[str]]:
    """The pairs that are most alike."""
    rows = [["head", "nearest", "similarity", "to the sink"]]
    for a, b, value in about.pairs()[:most]:
        shares = f"{about.share[a]:.0%} and {about.share[b]:.0%}"
        rows.append([about.all[a].label, about.all[b].label, said(value), shares])
    return rows
