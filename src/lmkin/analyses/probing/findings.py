"""What came out of probes, in sentences: no more than the intervals carry."""

from __future__ import annotations

import xarray as xr

from ...results import say_interval, say_value
from .tables import ProbeCells

_NAMES = {"accuracy": "accuracy", "pearson": "Pearson correlation"}


def probe_findings(dataset: xr.Dataset) -> list[str]:
    """Of each model and task: the oracle beside the baseline, the lowest layers that do, and what the control says.

    Of an untrained twin, how far it is behind its model.
    """
    cells = ProbeCells(dataset)
    sentences = []
    models = cells.labels["model"]
    twins = {_twin_of(model, models) for model in models}
    for model in (m for m in models if m not in twins):
        for task in cells.labels["task"]:
            sentences.append(_oracle(cells, model, task))
            sentences += _layers(cells, model, task)
            sentences += _control(cells, model, task)
            sentences += _twin(cells, model, task)
    return sentences


def _said(cells: ProbeCells, name: str, **at: str) -> str:
    value, se = cells.get(name, **at), cells.get(f"{name}_se", **at)
    low, high = cells.get(f"{name}_low", **at), cells.get(f"{name}_high", **at)
    return f"{say_value(value, se) if value is not None else '–'}{say_interval(low, high, float(cells.attrs['level']))}"


def _oracle(cells: ProbeCells, model: str, task: str) -> str:
    main = cells.main(task)
    at = {"model": model, "task": task, "probe": "all"}
    score = _said(cells, main, **at, split="test")
    said = f"From all layers of {model}, a linear probe predicts {task} with a test {_NAMES[main]} of {score}"
    base = cells.get("word_majority", task=task, split="test")
    if base is not None:
        return f"{said}; the most frequent tag of each word alone gives {base:.3f}."
    base = cells.get("majority", task=task, split="test")
    return f"{said}." if base is None else f"{said}; the majority class gives {base:.3f}."


def _layers(cells: ProbeCells, model: str, task: str) -> list[str]:
    """The lowest single layer, and the lowest layers together, that keep the oracle's score."""
    tolerance = 100 * float(cells.attrs["tolerance"])
    at = {"model": model, "task": task}
    sentences = []
    for kind in ("each", "upto"):
        names = cells.probes(model, task, kind)
        if not names:
            continue
        kept = [p for p in names if cells.get("redundant", **at, probe=p)]
        if not kept and kind == "each":
            sentences.append(
                f"No single layer of {model} keeps the score of all layers on {task} within {tolerance:g} %, on dev."
            )
        if not kept or cells.kinds[kept[0]] != kind:
            continue
        one = kind == "each"
        subject = f"Layer {kept[0]} of {model} is" if one else f"Layers {kept[0]} of {model} are"
        count = f"; {len(kept)} of {len(names)} single layers are" if one else ""
        sentences.append(
            f"{subject} enough for {task}: within {tolerance:g} % of all layers on dev, and behind them by "
            f"{_said(cells, 'behind', **at, probe=kept[0])} on test{count}."
        )
    return sentences


def _control(cells: ProbeCells, model: str, task: str) -> list[str]:
    """How much of the oracle's score a probe has for random tags, too."""
    at = {"model": model, "task": task, "probe": "all", "split": "test"}
    if cells.get("selectivity", **at) is None:
        return []
    control = cells.get("control", **at)
    return [
        f"On the control task (random tags by word type) the probe of all layers of {model} has {control:.3f}: a "
        f"selectivity of {_said(cells, 'selectivity', **at)} on {task}."
    ]


def _twin(cells: ProbeCells, model: str, task: str) -> list[str]:
    """How much of the score an untrained twin has, too."""
    twin = _twin_of(model, cells.labels["model"])
    if twin is None:
        return []
    main, at = cells.main(task), {"task": task, "probe": "all", "split": "test"}
    own, other = (cells.get(main, model=m, **at) for m in (model, twin))
    if own is None or other is None:
        return []
    return [
        f"From the untrained twin the same probe has {other:.3f} on {task}: training is worth {own - other:+.3f}."
    ]


def _twin_of(model: str, models: list[str]) -> str | None:
    """The untrained twin of a model, if it is there."""
    named = (f"untrained {model}", f"untrained:{model}@0")
    return next((name for name in named if name in models), None)
