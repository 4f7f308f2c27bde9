"""The report of redundancy: which neurons, and which layers, say the same thing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from .chapters import counted, listed, reproduction_chapter, texts
from .charts import save_picture
from .clusterchapters import (
    by_layer_chapter,
    left_chapter,
    span_chapter,
    strip_chapters,
    strip_keys,
)
from .droplayers import cka_heatmap, drop_layers_chart, ranked
from .layerchapters import cka_chapter, drop_chapter
from .layerlines import layer_lines
from .neuronsleft import AMOUNTS, layer_heatmap, left_chart
from .page import Report
from .redundant import LayersView, RedundancyView
from .spans import KINDS, span_chart
from .strips import check_strips, farthest, strip_chart, words_of
from .view import json_of


def redundancy_report(
    tables: xr.Dataset,
    layers: xr.Dataset | None = None,
    strips: xr.Dataset | Sequence[xr.Dataset] = (),
    title: str | None = None,
) -> Report:
    """The report: alerts, neurons left, where, how far apart clusters reach, layers to drop, strips.

    ``tables`` is what ``tables()`` of a `lmkin.Clustering` gives, ``layers`` what `lmkin.layer_redundancy`, ``strips``
    what `lmkin.cluster_strips`. What is missing is left out.
    """
    view = RedundancyView(tables)
    chapters = [left_chapter(view), by_layer_chapter(view), span_chapter(view)]
    alerts = texts(tables.attrs.get("alerts", []))
    details: list[tuple[str, Any]] = [("Clustering", _clustering(view))]
    beside = None if layers is None else LayersView(layers, view.raw_models)
    if beside is not None:
        chapters += [drop_chapter(beside), cka_chapter(beside)]
        alerts += [a for a in texts(beside.dataset.attrs.get("alerts", [])) if a not in alerts]
        details.append(
            ("Provenance of the layers", json_of(beside.dataset.attrs.get("provenance", "{}")))
        )
        view.measures = [*view.measures, *beside.measures]
    chapters += strip_chapters(check_strips(strips))
    chapters.append(reproduction_chapter(view, *details))
    return Report(
        title=title or f"Which neurons of {listed(view.models)} say the same thing?",
        chapters=chapters,
        facts=_facts(view, beside),
        alerts=alerts,
    )


def redundancy_charts(
    tables: xr.Dataset,
    layers: xr.Dataset | None = None,
    strips: xr.Dataset | Sequence[xr.Dataset] = (),
) -> dict[str, Any]:
    """Every chart by the name of its picture, such as ``redundancy-layers-MiniLM``; one for each model."""
    view = RedundancyView(tables)
    charts: dict[str, Any] = {
        f"redundancy-left-{amount}": left_chart(view, amount, width=640) for amount in AMOUNTS
    }
    for m, key in enumerate(view.keys):
        one = view.only(m)
        charts[f"redundancy-layers-{key}"] = layer_heatmap(one, width=640)
        for kind in KINDS:
            charts[f"redundancy-spans-{kind}-{key}"] = span_chart(one, kind=kind, width=640)
    if len(view.models) > 1:
        for kind in KINDS:
            chart = span_chart(view, "model", kind, width=640)
            charts[f"redundancy-models-{kind}-{view.levels[view.usual]}"] = chart
    if layers is not None:
        beside = LayersView(layers, view.raw_models)
        for m, key in enumerate(beside.keys):
            single = beside.only(m)
            if ranked(single, 0):
                charts[f"redundancy-drop-{key}"] = drop_layers_chart(single, width=640)
            charts[f"redundancy-cka-{key}"] = cka_heatmap(single)
        for name in ("r2", "average"):
            charts[f"redundancy-{name}"] = layer_lines(beside, name, width=640)
    found = check_strips(strips)
    top = farthest(found)
    for key, strip in zip(strip_keys(found), found, strict=True):
        wide = max(640, 200 + 14 * len(words_of(strip)[0]))
        charts[f"redundancy-strip-{key}"] = strip_chart(strip, top=top, width=wide)
    return charts


def save_redundancy_charts(
    charts: Mapping[str, Any], folder: Path, *, advance: Callable[[int], None] | None = None
) -> list[Path]:
    """Write what `redundancy_charts` gave as PNG and SVG; no browser is needed."""
    written: list[Path] = []
    for name, chart in charts.items():
        for ending in ("png", "svg"):
            written.append(Path(folder) / f"{name}.{ending}")
            save_picture(chart, written[-1])
        if advance is not None:
            advance(1)
    return written


def _facts(view: RedundancyView, beside: LayersView | None) -> list[tuple[str, str]]:
    attrs, widths = view.dataset.attrs, view.numbers("width")
    models = [
        f"{name} ({counted(int(np.isfinite(widths[m]).sum()), 'layer')}, {counted(int(n), 'neuron')})"
        for m, (name, n) in enumerate(zip(view.models, view.numbers("neurons"), strict=True))
    ]
    found = [("Model" if len(models) == 1 else "Models", "; ".join(models))]
    if attrs.get("corpus"):
        found.append(("Corpus", str(attrs["corpus"])))
    if "n" in attrs:
        found.append(("Units", counted(int(attrs["n"]), str(attrs.get("units", "unit")))))
    if attrs.get("linkage"):
        found.append(("Linkage", str(attrs["linkage"])))
    if beside is not None:
        known = beside.has_intervals("r2") or beside.has_intervals("cka")
        found.append(("Intervals", f"{beside.level}, of layers" if known else "none"))
    return found


def _clustering(view: RedundancyView) -> dict[str, Any]:
    attrs = view.dataset.attrs
    found: dict[str, Any] = {
        name: attrs.get(name, "") for name in ("linkage", "representative", "seed")
    }
    found["thresholds"] = view.thresholds
    for name in ("neurons", "constant"):
        if name in view.dataset:
            found[name] = {
                m: int(n) for m, n in zip(view.raw_models, view.numbers(name), strict=True)
            }
    return found
