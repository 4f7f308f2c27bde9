"""What came out of cross-lingual transfer, in sentences: no more than the intervals carry."""

from __future__ import annotations

import xarray as xr

from ...results import say_interval, say_value
from .cells import EVERYWHERE, HELD_OUT, TransferCells, said_of

_LEAST = 0.01
"""Mean accuracy over the other languages that may be lost where a set of neurons is said to be enough."""


def transfer_findings(dataset: xr.Dataset) -> list[str]:
    """Of each model, language of training and task: languages, families, neurons; then models beside the first."""
    cells = TransferCells(dataset)
    sentences = []
    if len(cells.labels["source"]) > 1:
        return [
            sentence
            for model in cells.labels["model"]
            for task in cells.labels["task"]
            for sentence in _sources(cells, {"model": model, "task": task})
        ]
    for run in cells.runs():
        sentences.append(_languages(cells, run))
        sentences += _words(cells, run)
        sentences += _families(cells, run)
        sentences += _neurons(cells, run)
        sentences += _models(cells, run)
    return sentences


def _sources(cells: TransferCells, run: dict[str, str]) -> list[str]:
    """Of several languages of training, those from which most and least comes over; and the nearest pair."""
    sources, at = cells.labels["source"], {**run, "neurons": "all", "test": HELD_OUT}
    means = {s: cells.get("mean_accuracy", **at, source=s) or 0.0 for s in sources}
    best, worst = max(means, key=lambda s: means[s]), min(means, key=lambda s: means[s])
    pairs = {
        (s, name): cells.get("accuracy", **at, source=s, language=name) or 0.0
        for s in sources
        for name in cells.labels["language"]
        if name != s
    }
    source, name = max(pairs, key=lambda pair: pairs[pair])
    high, low = (_said(cells, "mean_accuracy", **at, source=s) for s in (best, worst))
    return [
        f"Of {len(sources)} languages that probes of all neurons of {run['model']} were fitted on for {run['task']}, "
        f"{best} gives the highest mean accuracy over all others, {high}, and {worst} the lowest, {low} (held-out "
        f"sentences).",
        f"From one language to another, {run['model']} does best on {run['task']} from {source} to {name}: "
        f"{_said(cells, 'accuracy', **at, source=source, language=name)}.",
    ]


def _said(cells: TransferCells, name: str, **at: str) -> str:
    """A number with its error and interval."""
    value, se = cells.get(name, **at), cells.get(f"{name}_se", **at)
    low, high = cells.get(f"{name}_low", **at), cells.get(f"{name}_high", **at)
    level = float(cells.attrs["level"])
    return f"{say_value(value, se) if value is not None else '–'}{say_interval(low, high, level)}"


def _gained(cells: TransferCells, name: str, **at: str) -> str:
    """The same of the difference the other way round."""
    turned = {n: cells.get(f"{name}{n}", **at) for n in ("", "_high", "_low")}
    value, low, high = (None if v is None else -v for v in turned.values())
    said = say_value(value, cells.get(f"{name}_se", **at)) if value is not None else "–"
    return f"{said}{say_interval(low, high, float(cells.attrs['level']))}"


def _subject(run: dict[str, str]) -> str:
    return f"fitted on {run['source']}, a probe of all neurons of {run['model']}"


def _languages(cells: TransferCells, run: dict[str, str]) -> str:
    at = {**run, "neurons": "all", "test": HELD_OUT}
    scores = {name: cells.get("accuracy", **at, language=name) or 0.0 for name in cells.others(run)}
    best, worst = max(scores, key=lambda n: scores[n]), min(scores, key=lambda n: scores[n])
    own = _said(cells, "accuracy", **at, language=run["source"])
    subject = _subject(run)
    said = f"{subject[0].upper()}{subject[1:]} predicts {run['task']} with an accuracy of {own} in {run['source']}"
    said += " itself"
    said += f"; of {_said(cells, 'accuracy', **at, language=best)} in {best}"
    if worst != best:
        said += f", the best of {len(scores)} other languages" * (len(scores) > 2)
        said += f", and of {_said(cells, 'accuracy', **at, language=worst)} in {worst}"
        said += ", the worst" * (len(scores) > 2)
    return f"{said} (held-out sentences)."


def _words(cells: TransferCells, run: dict[str, str]) -> list[str]:
    """In how many languages a probe is better than the tags that words have in the language of training."""
    better = []
    for name in cells.others(run):
        at = {**run, "language": name, "test": HELD_OUT}
        low = cells.get("over_words_low", **at)
        ahead = cells.get("over_words", **at) if low is None else low
        if ahead is not None and ahead > 0:
            better.append(name)
    count = len(cells.others(run))
    said = "1 other language" if count == 1 else f"{count} other languages"
    return [
        f"In {len(better)} of {said} the probe of {run['model']} is better on {run['task']} than the tag that the word "
        f"has most often in {run['source']}{f' ({_listed(better)})' if better else ''}."
    ]


def _families(cells: TransferCells, run: dict[str, str]) -> list[str]:
    at = {**run, "neurons": "all", "test": HELD_OUT}
    means = {
        f: cells.get("family_accuracy", **at, family=f) for f in cells.labels.get("family", [])
    }
    known = {f: v for f, v in means.items() if v is not None}
    if len(known) < 2:
        return []
    best, worst = max(known, key=lambda f: known[f]), min(known, key=lambda f: known[f])
    high, low = (_said(cells, "family_accuracy", **at, family=family) for family in (best, worst))
    return [
        f"By family, {run['model']}, fitted on {run['source']}, does best on {run['task']} in {best}, with a mean of "
        f"{high}, and worst in {worst}, with {low}."
    ]


def _neurons(cells: TransferCells, run: dict[str, str]) -> list[str]:
    """The highest threshold whose neurons lose no more than a point, and what the sets of layers lose."""
    enough = []
    for label in cells.sets(run, "threshold"):
        at = {**run, "neurons": label, "test": EVERYWHERE}
        lost = cells.get("mean_behind_high", **at)
        lost = cells.get("mean_behind", **at) if lost is None else lost
        if lost is None or lost > _LEAST:
            break
        enough.append(label)
    width = cells.get("width", **run, neurons="all") or 0
    sentences = []
    if enough:
        at = {**run, "neurons": enough[-1]}
        left = cells.get("width", **at) or 0
        at |= {"test": EVERYWHERE}
        behind = (cells.get("mean_behind", **at) or 0) >= 0
        who = "all neurons are ahead of them" if behind else "they are ahead of all neurons"
        said = (_said if behind else _gained)(cells, "mean_behind", **at)
        sentences.append(
            f"Clusters found on {run['source']} leave {left:,.0f} of {width:,.0f} neurons of {run['model']} at "
            f"{enough[-1]}; on {run['task']} {who} by {said} in mean accuracy over the other languages"
            + (": no more than one point." if behind else ".")
        )
    losses: dict[str, float] = {}
    for label in cells.sets(run, "layers"):
        at = {**run, "neurons": label, "test": EVERYWHERE}
        lost, low = cells.get("mean_behind", **at), cells.get("mean_behind_low", **at)
        if lost is not None and (lost if low is None else low) > 0:
            losses[label] = lost
    if losses:
        worst = max(losses, key=lambda s: losses[s])
        at = {**run, "neurons": worst, "test": EVERYWHERE}
        sentences.append(
            f"Of the sets of layers of {run['model']}, {said_of(worst, 'layers')} loses most on {run['task']} over the "
            f"other languages: {_said(cells, 'mean_behind', **at)}."
        )
    return sentences


def _models(cells: TransferCells, run: dict[str, str]) -> list[str]:
    """Whether a model is behind the first, or ahead of it, over all other languages."""
    at = {**run, "neurons": "all", "test": HELD_OUT}
    difference = cells.get("mean_difference", **at)
    if difference is None:
        return []
    first, name = cells.labels["model"][0], run["model"]
    low, high = cells.get("mean_difference_low", **at), cells.get("mean_difference_high", **at)
    said = f"{_said(cells, 'mean_difference', **at)} on {run['task']}, fitted on {run['source']} (held-out sentences)"
    if low is not None and high is not None and low <= 0 <= high:
        return [
            f"Over the other languages, {first} and {name} cannot be told apart: a difference of {said}."
        ]
    ahead = "ahead of" if difference > 0 else "behind"
    return [f"Over the other languages, {first} is {ahead} {name}: a difference of {said}."]


def _listed(names: list[str]) -> str:
    return ", ".join(names)
