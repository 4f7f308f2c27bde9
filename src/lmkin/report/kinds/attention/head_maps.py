"""What a head looks at in a sentence, drawn as a square: rows from, columns to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import altair as alt
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ....core import LmkinError, slugs
from ...charts.style import gradient, layered, signal_title
from ...charts.values import tooltips
from ...names import one_line
from ..layer_pairs import LayerPairs
from .heads import heads_of

# One letter a number, the more frequent small numbers in one byte; none that JSON or HTML would have to escape.
_LETTERS = "".join(
    chr(c) for c in (*range(0x21, 0x7F), *range(0x100, 0x250)) if chr(c) not in '"\\<'
)
_TOP = len(_LETTERS) - 1
_BLUES = ["#eff4f9", "#c0d8ed", "#6aaed6", "#2474b7", "#08306b"]
_MOST_WORDS = 40
_MOST_NUMBERS = 2_500_000
_GAP = 0.4
"""Between the last word and "elsewhere", in cells."""


@dataclass(frozen=True)
class Drawn:
    """Attention of some heads in a sentence, ready to be drawn."""

    words: list[str]
    """On the rows; the columns have one more, for what goes elsewhere."""
    left_out: int
    """Words that there was no room for; what goes to them is counted as elsewhere."""
    text: str
    names: list[str]
    """Of the heads, as the results call them."""
    keys: list[str]
    """Of the heads, as signals and files call them."""
    labels: list[str]
    """Of the heads, as people call them."""
    codes: list[str]
    """Numbers of each head, row by row."""

    def only(self, names: Sequence[str]) -> Drawn:
        """The same with some of the heads."""
        mine = [self.names.index(name) for name in names]
        return replace(
            self,
            names=[self.names[k] for k in mine],
            keys=[self.keys[k] for k in mine],
            labels=[self.labels[k] for k in mine],
            codes=[self.codes[k] for k in mine],
        )


def drawn(view: LayerPairs, sentence: xr.DataArray) -> Drawn:
    """What `lmkin.sentence_attention` gave, as text."""
    if not isinstance(sentence, xr.DataArray) or set(sentence.dims) != {"head", "word", "to"}:
        raise LmkinError(
            "The drawing of two heads needs the attention of a sentence: give what lmkin.sentence_attention returns."
        )
    weights = np.asarray(sentence.transpose("head", "word", "to").values, dtype=np.float64)
    heads, n, _ = weights.shape
    words = n
    while words > 1 and (words > _MOST_WORDS or heads * words * (words + 1) > _MOST_NUMBERS):
        words -= 1
    near = weights[:, :words, :words]
    elsewhere = weights[:, :words].sum(-1, keepdims=True) - near.sum(-1, keepdims=True)
    names = [str(name) for name in sentence["head"].values]
    return Drawn(
        words=[one_line(str(word).partition(":")[2]) for word in sentence["word"].values[:words]],
        left_out=n - words,
        text=one_line(str(sentence.attrs.get("text", ""))),
        names=names,
        keys=slugs(names),
        labels=[head.label for head in heads_of(view, sentence)],
        codes=coded(np.concatenate([near, elsewhere], axis=-1)),
    )


def coded(weights: NDArray[np.float64]) -> list[str]:
    """Each map as a text, a letter a number; letters stand for square roots, so that small numbers keep digits."""
    levels = np.rint(np.sqrt(np.clip(weights, 0, 1)) * _TOP).astype(int)
    letters = np.array(list(_LETTERS))
    return ["".join(row) for row in letters[levels.reshape(len(levels), -1)]]


def head_drawing(
    about: Drawn, signal: str, first: str, *, size: int = 420, fixed: bool = False
) -> alt.LayerChart:
    """The map of the head whose key the signal holds, to begin with ``first``.

    ``fixed``: the size does not change, as in a chart of several, where Vega's ``width`` is that of none of them.
    """
    n = len(about.words)
    width = str(size) if fixed else "width"
    cells = (
        alt.Chart()
        .transform_filter(f"datum.head == {signal}")
        .transform_calculate(k=f"sequence({n * (n + 1)})")
        .transform_flatten(["k"])
        .transform_calculate(**_calculations(n))
    )
    end = n + 1 + _GAP
    places = [k + 0.5 for k in range(n)]
    # Not Vega's own thinning, which would leave out other words of the rows than of the columns.
    label = f"floor(datum.value) == {n} || floor(datum.value) % step == 0 ? words[floor(datum.value)] : ''"
    axis: dict[str, Any] = {
        "title": None,
        "grid": False,
        "labelExpr": label,
        "labelLimit": 84,
        "labelOverlap": False,
        "labelPadding": 4,
        "labelFontSize": alt.expr("clamp(0.85 * step * cell, 8, 12)"),
    }
    across = alt.Axis(orient="top", labelAngle=-90, values=[*places, n + _GAP + 0.5], **axis)
    x = alt.X("x0:Q", scale=alt.Scale(domain=[0, end], nice=False, zero=False), axis=across)
    y = alt.Y(
        "y0:Q",
        scale=alt.Scale(domain=[n, 0], nice=False, zero=False),
        axis=alt.Axis(values=places, **axis),
    )
    colour = alt.Color(
        "v:Q",
        # Even steps of the square root.
        scale=alt.Scale(type="sqrt", domain=[0, 1 / 16, 1 / 4, 9 / 16, 1], range=_BLUES),
        legend=gradient(
            ".0%",
            orient="bottom",
            gradientLength=alt.expr(f"clamp({width}, 160, 220)"),
            values=[0, 0.1, 0.25, 0.5, 1],
            offset=8,
        ),
    )
    line = alt.expr("cell < 12 ? 0.2 : 0.5")
    layer = cells.mark_rect(stroke="white", strokeWidth=line).encode(
        x=x,
        x2=alt.X2("x1:Q"),
        y=y,
        y2=alt.Y2("y1:Q"),
        color=colour,
        tooltip=tooltips(**{"from": "from", "to": "to", "value": "attention"}),
        description=alt.Description("spoken:N"),
    )
    names = dict(zip(about.keys, about.labels, strict=True))
    rows = [{"head": k, "code": c} for k, c in zip(about.keys, about.codes, strict=True)]
    params = {
        signal: first,
        "words": [*about.words, "elsewhere"],
        "letters": _LETTERS,
        "cell": alt.expr(f"{width} / {end}"),
        "step": alt.expr("ceil(10 / cell)"),
    }
    title = signal_title(names, signal, offset=8)
    return layered([layer], rows, params, width=size, height=size, title=title)


def _calculations(n: int) -> dict[str, str]:
    return {
        "i": f"floor(datum.k / {n + 1})",
        "j": f"datum.k % {n + 1}",
        "v": f"pow(indexof(letters, datum.code[datum.k]) / {_TOP}, 2)",
        "x0": f"datum.j + (datum.j == {n} ? {_GAP} : 0)",
        "x1": "datum.x0 + 1",
        "y0": "datum.i",
        "y1": "datum.i + 1",
        "from": "words[datum.i]",
        "to": f"datum.j == {n} ? '(elsewhere)' : words[datum.j]",
        "value": "format(datum.v, datum.v < 0.1 ? '.1%' : '.0%')",
        "spoken": "datum.from + ' to ' + datum.to + ': ' + datum.value",
    }
