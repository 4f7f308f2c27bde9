"""Strips: what the neurons of some clusters do over the words of a sentence."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import altair as alt
import numpy as np
import xarray as xr

from ..errors import LmkinError
from .charts import INK, one_line
from .decomposed import heading
from .heatmap import UNDEFINED
from .neuronsleft import gradient
from .redundant import save_lines
from .view import rounded

_NEEDED = ("activation", "text", "cluster", "layer", "neuron", "sign", "size")
_MOST_WORDS = 60
_LONGEST = 16
_ROW = 16
_HEAD = 24
"""Pixels above the rows of a cluster, for its name."""
_FARTHEST = 3.0
"""Deviations at which the colour stops."""


def check_strips(strips: xr.Dataset | Sequence[xr.Dataset]) -> list[xr.Dataset]:
    """What was given, as a list."""
    given = [strips] if isinstance(strips, xr.Dataset) else list(strips)
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
    return [shortened(word) for word in texts[:_MOST_WORDS]], max(0, len(texts) - _MOST_WORDS)


def shortened(word: str) -> str:
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
    n = len(words)
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
            labelAngle=-90,
            values=[j + 0.5 for j in range(n)],
            # Words that would touch are left out, every second or third is shown.
            labelExpr="floor(datum.value) % step == 0 ? words[floor(datum.value)] : ''",
            labelLimit=120,
            labelFontSize=11,
            # Whichever words are shown, the title stays where it is.
            minExtent=min(120, 6.5 * max(map(len, words))),
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
        legend=gradient("+.1~f"),
    )
    tooltip = [
        alt.Tooltip("neuron:N"),
        alt.Tooltip("word:N"),
        alt.Tooltip("value:N", title="deviations"),
    ]
    line: dict[str, Any] = {"stroke": "white", "strokeWidth": alt.expr("cell < 9 ? 0.2 : 0.6")}
    spot = {"x": x, "x2": "x1:Q", "y": alt.Y("y0:Q", **y), "y2": "y1:Q", "tooltip": tooltip}
    known = base.transform_filter("isValid(datum.v)").mark_rect(**line)
    unknown = base.transform_filter("!isValid(datum.v)").mark_rect(**line, color=UNDEFINED)
    above = (
        alt.Chart(alt.InlineData(values=heads))
        .mark_text(align="left", baseline="bottom", fontSize=12, color=INK, tooltip=None, x=0)
        .encode(y=alt.Y("at:Q", **y), text="name:N")
    )
    chart = alt.layer(
        known.encode(**spot, color=colour, description="spoken:N"), unknown.encode(**spot), above
    ).add_params(
        alt.param("at", value=at),
        alt.param("middles", value=middles),
        alt.param("names", value=names),
        alt.param("words", value=words),
        alt.param("cell", expr=f"width / {n}"),
        alt.param("step", expr="max(1, ceil(12 / cell))"),
    )
    title = heading(
        f"Clusters at {threshold_of(strip)} over a sentence", json.dumps(model_of(strip))
    )
    chart = chart.properties(width=width, height=place, title=title)
    chart.data = alt.InlineData(values=rows)
    return cast(alt.LayerChart, chart)


def model_of(strip: xr.Dataset) -> str:
    """The name of the model."""
    return one_line(str(strip.attrs.get("model", ""))) or "(no name)"


def threshold_of(strip: xr.Dataset) -> str:
    """The threshold."""
    return f"{float(strip.attrs.get('threshold', float('nan'))):g}"


def strip_table(strip: xr.Dataset) -> list[list[str]]:
    """A line a neuron, a column a word."""
    words, _ = words_of(strip)
    values = np.asarray(strip["activation"].values, np.float64)
    clusters = [int(c) for c in strip["cluster"].values]
    rows = [["cluster", "neuron", *words]]
    for number, name, line in zip(clusters, neuron_names(strip), values, strict=True):
        cells = [
            f"{v:+.2f}".replace("-", "−") if np.isfinite(v) else "–" for v in line[: len(words)]
        ]
        rows.append([str(number), name, *cells])
    return rows


def save_strips(strips: Sequence[xr.Dataset], path: Path) -> None:
    """Write strips as CSV: a line a neuron and word, all words of the sentence."""
    of_row = ("cluster", "size", "layer", "neuron", "sign")
    names = ["strip", "model", "threshold", *of_row, "word", "text", "activation"]
    lines = []
    for number, strip in enumerate(strips, start=1):
        first = [number, strip.attrs.get("model", ""), strip.attrs.get("threshold", "")]
        texts = [str(text) for text in strip["text"].values]
        rows = zip(*(strip[name].values.tolist() for name in of_row), strict=True)
        for row, values in zip(rows, strip["activation"].values.tolist(), strict=True):
            for word, (text, value) in enumerate(zip(texts, values, strict=True)):
                lines.append([*first, *row, word, text, value])
    save_lines(names, lines, path)
