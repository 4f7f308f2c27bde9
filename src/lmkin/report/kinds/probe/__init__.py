"""Probes: what layers know about a task."""

from __future__ import annotations

from functools import partial
from typing import Any

from ....results import ResultTable, listed
from ...names import counted
from ...page import Chapter
from ...tables import table_of
from .. import Charts, ReportKind, report_kind
from .chapters import (
    baseline_chapter,
    class_chapter,
    code_chapter,
    code_chart,
    layer_chapter,
    models_chapter,
    task_chapter,
)
from .grids import AMOUNTS, class_grid, task_grid
from .layer_curves import layer_chart, models_chart
from .neuron_chapters import neuron_chapters, neuron_charts
from .view import SPLITS, ProbeView

_KINDS = ("each", "upto")
_PICTURES = {"each": ("each", "all"), "each-near": ("each", "near"), "upto": ("upto", "near")}
"""Pictures of layers, and what their axes show: baselines are in one of them."""
_MEASURES = {
    "accuracy": ("accuracy", "Share of the rows whose class the probe predicts.", ""),
    "macro_f1": ("macro-F1", "Mean of F1 over the classes that occur or are predicted.", ""),
    "pearson": ("Pearson correlation", "Of predicted and true scores.", ""),
    "selectivity": (
        "selectivity", "Accuracy less that of a probe for random tags by word type.", "Hewitt & Liang 2019",
    ),
    "compression": (
        "compression", "Length of a uniform code of the labels over that of the online code.", "Voita & Titov 2020",
    ),
}  # fmt: skip


@report_kind
class ProbeReport(ReportKind):
    """What layers of models know about tasks."""

    kind = "probe"

    def title(self, result: Any) -> str:
        """Which models were probed for which tasks."""
        view = ProbeView(result.dataset)
        return f"What do the layers of {listed(view.models)} know of {listed(view.tasks)}?"

    def facts(self, result: Any) -> list[tuple[str, str]]:
        """Models, corpus, tasks, rows, split, penalty, intervals."""
        return _facts(ProbeView(result.dataset))

    def chapters(self, result: Any) -> list[Chapter]:
        """Layers, layers together, models, tasks, classes, code length, neurons, what needs no model."""
        view = ProbeView(result.dataset, result.published)
        chapters = [layer_chapter(view, kind) for kind in _KINDS if view.has(kind)]
        if len(view.models) > 1 and view.has("each"):
            chapters.append(models_chapter(view))
        if len(view.tasks) > 1 and view.has("each"):
            chapters.append(task_chapter(view))
        if view.known("f1"):
            chapters.append(class_chapter(view))
        if view.known("compression") and view.has("each"):
            chapters.append(code_chapter(view))
        return [*chapters, *neuron_chapters(result), baseline_chapter(view)]

    def charts(self, result: Any) -> Charts:
        """``probe-each-upos-MiniLM`` …: one for each model and task."""
        whole = ProbeView(result.dataset, result.published)
        charts: Charts = {}
        for m, t in whole.pairs():
            one = _only(whole, m, t)
            ending = f"{whole.task_keys[t]}-{whole.keys[m]}"
            for name, (kind, shown) in _PICTURES.items():
                if whole.has(kind):
                    charts[f"probe-{name}-{ending}"] = partial(
                        layer_chart, one, kind, shown=shown, width=640
                    )
            if whole.cells.classes(whole.raw_tasks[t]):
                charts[f"probe-classes-{ending}"] = partial(class_grid, one, width=640)
        for t, key in enumerate(whole.task_keys):
            one = _only(whole, None, t)
            if len(whole.models) > 1 and whole.has("each"):
                for split in SPLITS:
                    charts[f"probe-models-{key}-{split}"] = partial(
                        models_chart, one, split=split, width=640
                    )
            if one.known("compression") and whole.has("each"):
                charts[f"probe-code-{key}"] = partial(code_chart, one, width=640)
        if len(whole.tasks) > 1 and whole.has("each"):
            for m, key in enumerate(whole.keys):
                for amount in AMOUNTS:
                    charts[f"probe-tasks-{amount}-{key}"] = partial(
                        task_grid, whole.single(m), amount, width=640
                    )
        return charts | neuron_charts(result)

    def definitions(self, result: Any) -> ResultTable:
        """What scores are."""
        view = ProbeView(result.dataset)
        lines = [
            [title, name, text, reference or "–"]
            for name, (title, text, reference) in _MEASURES.items()
            if view.known(name)
        ]
        heads = ("score", "name in lmkin", "what it is", "reference")
        return table_of("measures", [(head, "text") for head in heads], lines)

    def details(self, result: Any) -> list[tuple[str, Any]]:
        """The penalties and certificates of all probes."""
        view = ProbeView(result.dataset)
        fits = [
            {
                "model": model, "task": task, "layers": probe,
                **{
                    name: view.cells.get(name, model=model, task=task, probe=probe)
                    for name in ("l1", "l2", "kkt", "iterations", "objective", "weights", "neurons")
                },
            }
            for model in view.raw_models
            for task in view.raw_tasks
            for probe in view.cells.probes(model, task)
        ]  # fmt: skip
        return [("Penalties and certificates of the fits", fits)]


def _only(view: ProbeView, m: int | None, t: int) -> ProbeView:
    """The same with one task, and one model or all."""
    dataset = view.dataset.isel(task=[t])
    if m is not None:
        dataset = dataset.isel(model=[m])
    return ProbeView(dataset, view.published)


def _facts(view: ProbeView) -> list[tuple[str, str]]:
    attrs = view.dataset.attrs
    models = []
    for m, name in enumerate(view.models):
        widths = attrs["probed"][view.raw_models[m]]["widths"]
        models.append(f"{name} ({counted(len(widths), 'layer')}, {counted(sum(widths), 'neuron')})")
    lines = [("Model" if len(models) == 1 else "Models", "; ".join(models))]
    if attrs.get("corpus"):
        lines.append(("Corpus", str(attrs["corpus"])))
    tasks = [
        f"{name} ({len(view.cells.classes(raw)):,} classes)"
        if view.cells.classes(raw)
        else f"{name} (a score)"
        for name, raw in zip(view.tasks, view.raw_tasks, strict=True)
    ]
    lines.append(("Task" if len(tasks) == 1 else "Tasks", "; ".join(tasks)))
    rows = ", ".join(f"{int(view.of_task('rows', 0, s)):,} {s}" for s in reversed(SPLITS))
    more = "" if len(tasks) == 1 else f" ({view.tasks[0]})"
    lines.append((f"{attrs.get('units', 'row')}s".capitalize(), rows + more))
    lines.append(("Split", str(attrs["split"])))
    lines.append(
        ("Intervals", f"{view.level}, by {attrs['parts_of']}" if view.has_intervals else "none")
    )
    return lines
