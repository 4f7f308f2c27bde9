"""Strips: what the neurons of some clusters do over the words of a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import xarray as xr

from ....core import LmkinError
from ....results import ResultTable
from ...charts.heatmap import cells
from ...charts.style import INK, gradient, heading, layered, said
from ...charts.text import LETTER, ROOM, letters_of
from ...charts.values import tooltips
from ...names import one_line, rounded
from ...tables import table_of

_NEEDED = ("activation", "text", "cluster", "layer", "neuron", "sign", "size")
_MOST_WORDS = 60
_LONGEST = 16
_ROW = 16
_BESIDE = 180
"""Pixels that the names of neurons may take."""
_HEAD = 24
"""Pixels above the rows of a cluster, for its name."""
_FARTHEST = 3.0
"""Deviations at which the colour stops."""


def check_strips(strips: Sequence[xr.Dataset]) -> list[xr.Dataset]:
    """What was given, rows first. Raise if anything else is among them."""
    given = list(strips)
    for strip in given:
        missing = (
            [n for n in _NEEDED if n not in strip.variables]
            if isinstance(strip, xr.Dataset)
            else list(_NEEDED)
        )
        if missing:
            raise LmkinError(
                "strips are what lmkin.cluster_strips gives, one or a list of them. One of these lacks "
                f"{', '.join(missing)}."
            )
    return [s.transpose("row", "word") for s in given]


def neuron_names(strip: xr.Dataset) -> list[str]:
    """Rows as people call them; a minus where the neuron was turned round."""
    places = zip(strip["layer"].values, strip["neuron"].values, strip["sign"].values, strict=True)
    return [
        f"layer {int(layer)}, neuron {int(neuron)}" + (" (−)" if sign < 0 else "")
        for layer, neuron, sign in places
    ]


def words_of(strip: xr.Dataset) -> tuple[list[str], int]:
    """The words that there is room for, long ones cut; and how many more there are."""
    texts = [one_line(str(word)) for word in strip["text"].values]
    return [_cut(word) for word in texts[:_MOST_WORDS]], max(0, len(texts) - _MOST_WORDS)


def _cut(word: str) -> str:
    """A word as far as there is room for it."""
    return word if len(word) <= _LONGEST else word[: _LONGEST - 1] + "…"


def clusters_of(strip: xr.Dataset) -> list[tuple[int, int, int, int]]:
    """Cluster, its size, and from which row to which it is shown."""
    numbers = [int(c) for c in strip["cluster"].values]
    starts = [r for r, c in enumerate(numbers) if r == 0 or c != numbers[r - 1]]
    ends = [*starts[1:], len(numbers)]
    return [
        (numbers[a], int(strip["size"].values[a]), a, b) for a, b in zip(starts, ends, strict=True)
    ]


def cluster_name(number: int, size: int, shown: int) -> str:
    """What stands above the rows of a cluster."""
    text = f"cluster {number}: {size:,} neuron{'s' * (size != 1)}"
    return text if shown == size else f"{text}, {shown} shown"


def farthest(strips: Sequence[xr.Dataset]) -> float:
    """Where the colour stops: the same in all strips, and on both sides of 0."""
    tables = [np.zeros(0), *(np.ravel(s["activation"].values) for s in strips)]
    values = np.abs(np.concatenate(tables))
    finite = values[np.isfinite(values)]
    most = float(finite.max()) if finite.size else 0.0
    return min(_FARTHEST, most) or 1.0


def strip_chart(
    strip: xr.Dataset, *, top: float = _FARTHEST, width: int | str = "container"
) -> alt.LayerChart:
    """A row a neuron, cluster by cluster; a column a word."""
    words, _ = words_of(strip)
    names, groups = neuron_names(strip), clusters_of(strip)
    n, longest = len(words), max(map(letters_of, words))
    at: list[int] = []
    heads = []
    place = 0
    for number, size, first, last in groups:
        heads.append({"at": place + _HEAD - 6, "name": cluster_name(number, size, last - first)})
        place += _HEAD
        at += [place + _ROW * k for k in range(last - first)]
        place += _ROW * (last - first)
    values = np.asarray(strip["activation"].values[:, :n], np.float64)
    rows = [
        {"i": i, "j": j, "v": rounded(float(values[i, j]))}
        for i in range(len(names))
        for j in range(n)
    ]
    base = alt.Chart().transform_calculate(
        y0="at[datum.i]",
        y1=f"at[datum.i] + {_ROW}",
        x0="datum.j",
        x1="datum.j + 1",
        neuron="names[datum.i]",
        word="words[datum.j]",
        value="isValid(datum.v) ? format(datum.v, '+.2f') : 'not defined'",
        spoken="datum.neuron + ', ' + datum.word + ': ' + datum.value",
    )
    style: dict[str, Any] = {"title": None, "grid": False, "labelOverlap": False, "labelPadding": 5}
    x = alt.X(
        "x0:Q",
        scale=alt.Scale(domain=[0, n], nice=False, zero=False),
        axis=alt.Axis(
            orient="top",
            labelAngle=alt.expr("flat ? 0 : -90"),
            labelAlign=alt.expr("flat ? 'center' : 'left'"),
            labelBaseline=alt.expr("flat ? 'bottom' : 'middle'"),
            values=[j + 0.5 for j in range(n)],
            # Words that would touch are left out, every second or third is shown.
            labelExpr="floor(datum.value) % step == 0 ? words[floor(datum.value)] : ''",
            labelLimit=120,
            labelFontSize=11,
            # Whichever words are shown, the title stays where it is.
            minExtent=alt.expr(f"flat ? 0 : {min(120, 6.5 * longest)}"),
            **style,
        ),
    )
    middles = [a + _ROW / 2 for a in at]
    y: dict[str, Any] = {
        "scale": alt.Scale(domain=[place, 0], nice=False, zero=False),
        "axis": alt.Axis(
            values=middles,
            labelExpr="names[indexof(middles, datum.value)]",
            labelLimit=170,
            labelFontSize=11,
            **style,
        ),
    }
    colour = alt.Color(
        "v:Q",
        scale=alt.Scale(domain=[-top, top], clamp=True, scheme="redblue"),
        legend=gradient(labelExpr="datum.value ? format(datum.value, '+.1~f') : '0'"),
    )
    tooltip = tooltips(neuron="neuron", word="word", value="deviations")
    spot = {"x": x, "x2": alt.X2("x1:Q"), "y": alt.Y("y0:Q", **y), "y2": alt.Y2("y1:Q")}
    above = (
        alt.Chart(alt.InlineData(values=heads))
        .mark_text(align="left", baseline="bottom", fontSize=12, color=INK, tooltip=None, x=-100)
        .encode(y=alt.Y("at:Q", **y), text=alt.Text("name:N"))
    )
    return layered(
        [*cells(base, spot, colour, tooltip, line="cell < 9 ? 0.2 : 0.6"), above],
        rows,
        {
            "at": at,
            "middles": middles,
            "names": names,
            "words": words,
            "cell": alt.expr(f"width / {n}"),
            "step": alt.expr("max(1, ceil(12 / cell))"),
            "flat": alt.expr(f"({ROOM} - {_BESIDE}) / {n} > {(longest + 1) * LETTER:.0f}"),
        },
        width=width,
        height=place,
        title=heading(f"Clusters at {threshold_of(strip)} over a sentence", said(model_of(strip))),
    )


def model_of(strip: xr.Dataset) -> str:
    """The name of the model."""
    return one_line(str(strip.attrs.get("model", ""))) or "(no name)"


def threshold_of(strip: xr.Dataset) -> str:
    """The threshold."""
    return f"{float(strip.attrs.get('threshold', float('nan'))):g}"


def strip_table(strip: xr.Dataset) -> ResultTable:
    """A line a neuron, a column a word."""
    words, _ = words_of(strip)
    values = np.asarray(strip["activation"].values, np.float64)
    clusters = [int(c) for c in strip["cluster"].values]
    lines = []
    for number, name, line in zip(clusters, neuron_names(strip), values, strict=True):
        cells = [
            f"{v:+.2f}".replace("-", "−") if np.isfinite(v) else "–" for v in line[: len(words)]
        ]
        lines.append([str(number), name, *cells])
    return table_of("strip", [(name, "text") for name in ("cluster", "neuron", *words)], lines)
