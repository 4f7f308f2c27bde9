"""Tables of the similarity report: pairs of models, and what the measures are."""

from __future__ import annotations

import json
import math

import numpy as np

from .view import FloatArray, Measure, Scaling, View, said


def pair_table(view: View, measure: Measure, scaling: Scaling) -> list[list[str]]:
    """For each pair of models: the mean over their layers, and the two layers that are most alike.

    A model is paired with itself too; its layers are then compared with its other layers only. Both directions of a
    pair have a row, unless the measure is symmetric. With a permutation null: what chance gives for those two layers.
    """
    whole, errors = view.table(measure, scaling), view.table(measure, scaling, "_se")
    assert whole is not None  # the measures are those that the Dataset has
    chance, p = (view.table(measure, scaling, suffix) for suffix in ("_null_mean", "_p_max"))
    rows = [["first model", "second model", "mean", "most alike", "their similarity"]]
    if chance is not None and p is not None:
        rows[0] += ["by chance", "p, of the best of all pairs"]
    for a, first in enumerate(view.models):
        for b, second in enumerate(view.models):
            if a > b and measure.symmetric:
                continue
            table = _block(view, whole, a, b)
            best = best_pair(table)
            if best is None:
                rows.append([first, second, *["–"] * (len(rows[0]) - 2)])
                continue
            i, j = (_own(view, model)[k] for model, k in zip((a, b), best, strict=True))
            rows.append(
                [
                    first,
                    second,
                    said(float(np.nanmean(table))),
                    f"{view.layers[i].number} and {view.layers[j].number}",
                    said(whole[i, j], None if errors is None else errors[i, j]),
                ]
            )
            if chance is not None and p is not None:
                rows[-1] += [said(chance[i, j]), f"{p[i, j]:.3g}"]
    return rows


def best_pair(table: FloatArray) -> tuple[int, int] | None:
    """Row and column of the largest value; the first of several; None where there is no value."""
    if not np.isfinite(table).any():
        return None
    i, j = np.unravel_index(int(np.nanargmax(table)), table.shape)
    return int(i), int(j)


def _own(view: View, model: int) -> list[int]:
    return [i for i, layer in enumerate(view.layers) if layer.model == model]


def _block(view: View, whole: FloatArray, a: int, b: int) -> FloatArray:
    """The values of two models; NaN for a layer with itself, and for what is not finite."""
    table: FloatArray = whole[np.ix_(_own(view, a), _own(view, b))]
    table[~np.isfinite(table)] = np.nan
    if a == b:
        np.fill_diagonal(table, np.nan)
    return table


def measure_table(view: View) -> list[list[str]]:
    """What each measure is: name, range, symmetry, options, reference."""
    rows = [["measure", "name in lmkin", "range", "symmetric", "options", "reference"]]
    for m in view.measures:
        options = m.options
        if isinstance(options, dict):
            said_options = ", ".join(
                f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in options.items()
            )
        else:
            said_options = str(options)
        rows.append(
            [
                m.title,
                m.name,
                f"{_end(m.low)} to {_end(m.high)}",
                "yes" if m.symmetric else "no",
                said_options or "–",
                m.reference or "–",
            ]
        )
    return rows


def _end(value: float) -> str:
    return f"{value:g}" if math.isfinite(value) else ("∞" if value > 0 else "−∞")
