"""Single heads in the report: a map of all of them, those that could go, and the pairs that are most alike."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
import xarray as xr

from ....results import ResultTable, format_value
from ...charts.style import GRID, SOFT, heading, layered, model_marks
from ...charts.values import tooltips
from ...names import FloatArray, rounded
from ...tables import table_of
from ..layer_pairs import LayerPairs


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

    def __init__(self, view: LayerPairs, heads: xr.Dataset):
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
        members: dict[tuple[int, int], list[int]] = {}
        for k, (head, group) in enumerate(zip(self.all, self.heads["group"].values, strict=True)):
            members.setdefault((head.model, int(group)), []).append(k)
        for (model, _), places in sorted(members.items()):
            yield model, places

    def pairs(self) -> list[tuple[int, int, float]]:
        """Pairs of which one is the nearest of the other, the most similar first: of two models, if there are two."""
        nearest: dict[tuple[int, int], float] = {}
        for k, (name, value) in enumerate(self.kin):
            if name in self.place:
                pair = (min(k, self.place[name]), max(k, self.place[name]))
                nearest.setdefault(pair, value)
        ordered = sorted(nearest.items(), key=lambda item: (-item[1], item[0]))
        return [(a, b, value) for (a, b), value in ordered]


def _near(heads: xr.Dataset, kind: str) -> list[tuple[str, float]]:
    names, values = heads[kind].values, heads[f"{kind}_js"].values
    return [(str(name), float(value)) for name, value in zip(names, values, strict=True)]


def heads_of(view: LayerPairs, labelled: Any) -> list[Head]:
    """The heads of a Dataset or array with the coordinates head, model and layer."""
    names = [str(name) for name in labelled["head"].values]
    models = dict(zip(view.raw_models, range(len(view.models)), strict=True))
    heads = []
    for name, model, layer in zip(
        names, labelled["model"].values, labelled["layer"].values, strict=True
    ):
        place, number = models.get(str(model), -1), int(name.rpartition("/")[2])
        called = view.models[place] if place >= 0 else str(model)
        heads.append(
            Head(name, place, int(layer), number, f"{called}, layer {int(layer)}, head {number}")
        )
    return heads


def head_map(about: HeadView, *, size: int = 600) -> alt.LayerChart:
    """All heads in two dimensions: a colour and a shape for each model, paler the more goes to the sink."""
    places = np.asarray(about.heads["map"].values, dtype=np.float64)
    shares = [float(s) for s in about.heads["map_share"].values]
    colour, shape = model_marks(about.view.models, legend=len(about.view.models) > 1)
    middle = (places.max(0) + places.min(0)) / 2
    # The same on both axes, so that distances are distances.
    reach = float(np.ptp(places, axis=0).max()) * 0.53 or 0.5

    def axis(name: str, k: int) -> dict[str, Any]:
        ends = [float(middle[k]) - reach, float(middle[k]) + reach]
        return {
            "title": f"{name} axis ({shares[k]:.0%})",
            "scale": alt.Scale(domain=ends, nice=False, zero=False),
            "axis": alt.Axis(tickCount=5, gridColor=GRID),
        }

    other = {"elsewhere": "in another model"} if about.several else {}
    tooltip = tooltips(label="head", nearest="nearest", **other, sink="to the sink", group="group")
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
            description=alt.Description("label:N"),
        )
    )
    return layered(
        [points],
        _rows(about, places),
        {"names": about.view.models},
        width=size,
        height=size,
        title=heading(f"All heads (sink {about.sink})", offset=4),
    )


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
            "i": head.model,
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
    return f"{label} ({format_value(similarity)})" if label else "none"


def model_table(about: HeadView) -> ResultTable:
    """For each model: heads, groups, and how many heads could go."""
    lines = []
    for number, name in enumerate(about.view.models):
        mine = [k for k, head in enumerate(about.all) if head.model == number]
        groups = sum(model == number for model, _ in about.groups())
        go = sum(not about.stays[k] for k in mine)
        lines.append([name, len(mine), groups, go, f"{go / max(len(mine), 1):.0%}"])
    names = ("heads", "groups", "could go")
    columns = [("model", "text"), *((name, "count") for name in names), ("fraction", "text")]
    return table_of("models", columns, lines)


def group_table(about: HeadView, similarity: FloatArray) -> ResultTable:
    """Groups of more than one head, the largest first: which stays, which could go, and how far apart they are."""
    several = [(model, members) for model, members in about.groups() if len(members) > 1]
    lines = []
    for model, members in sorted(several, key=lambda group: -len(group[1])):
        apart = 1 - float(similarity[np.ix_(members, members)].min())
        stay, go = (
            ", ".join(about.all[k].short for k in members if bool(about.stays[k]) is kept)
            for kept in (True, False)
        )
        lines.append([about.view.models[model], len(members), stay, go, max(apart, 0.0)])
    columns = [
        ("model", "text"),
        ("heads", "count"),
        ("stays", "text"),
        ("could go", "text"),
        ("largest divergence", "number"),
    ]
    return table_of("groups", columns, lines)


def nearest_table(about: HeadView, *, most: int = 10) -> ResultTable:
    """The pairs that are most alike."""
    lines = [
        [
            about.all[a].label,
            about.all[b].label,
            value,
            f"{about.share[a]:.0%} and {about.share[b]:.0%}",
        ]
        for a, b, value in about.pairs()[:most]
    ]
    columns = [
        ("head", "text"),
        ("nearest", "text"),
        ("similarity", "number"),
        ("to the sink", "text"),
    ]
    return table_of("nearest", columns, lines)
