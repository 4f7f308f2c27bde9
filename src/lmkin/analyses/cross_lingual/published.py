"""Figures of the thesis on the same treebanks, for one's own to be seen beside."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import xarray as xr

from ...results import published

TRAINING = "thesis2022/tableC.1"
NAMES = {"upos": "POS", "deprel": "DEP"}
"""What table C.1 calls the tasks."""
TABLES = {"upos": "thesis2022/tableB.1", "deprel": "thesis2022/tableB.2"}
FROM = "en"
"""What the thesis fitted on."""
_log = logging.getLogger("lmkin")


def published_figures(
    languages: Sequence[str], sources: Sequence[str], tasks: Sequence[str], labels: Sequence[str]
) -> dict[str, xr.DataArray]:
    """What the thesis has beside a run: ``published`` (transfer) and ``published_train``; a line in the log for none.

    Languages are known by their codes, as ``en``, ``en_pud`` or ``en-GB`` have them.
    """
    codes = {name: code_of(name) for name in languages}
    mine = [task for task in tasks if task in TABLES]
    if not mine or FROM not in (codes[s] for s in sources):
        _log.info(
            "The thesis has figures for upos and deprel, fitted on English (en): none to show beside these."
        )
        return {}
    figures = {"published_train": _training(mine, labels)}
    known = {str(v).lower(): v for v in published(TABLES[mine[0]])["language"].values}
    there = {name: known[code] for name, code in codes.items() if code in known}
    if there:
        figures["published"] = _transfer(there, mine, labels)
    else:
        _log.info(
            "The thesis has transfer to the languages %s: none is here.", ", ".join(sorted(known))
        )
    return figures


def code_of(language: str) -> str:
    """The code of a language, of a name that begins with it."""
    return language.replace("-", "_").partition("_")[0].lower()


def _transfer(
    languages: Mapping[str, Any], tasks: Sequence[str], labels: Sequence[str]
) -> xr.DataArray:
    """Accuracies by model, task, language and neurons."""
    tables = []
    for task in tasks:
        some = _by_neurons(published(TABLES[task]), labels).sel(language=list(languages.values()))
        some = some.assign_coords(language=list(languages))
        tables.append(some.rename(model="published_model"))
    joined = xr.concat(tables, "task", join="outer", coords="minimal", compat="override")
    return joined.assign_coords(task=list(tasks)).assign_attrs(
        long_name="accuracy on all sentences, of the thesis",
        reference=published(TABLES[tasks[0]]).attrs["reference"],
    )


def _training(tasks: Sequence[str], labels: Sequence[str]) -> xr.DataArray:
    """Accuracies on the words that were fitted, by model, task and neurons."""
    figures = published(TRAINING)
    some = _by_neurons(figures, labels).sel(task=[NAMES[task] for task in tasks])
    some = some.assign_coords(task=list(tasks)).rename(model="published_train_model")
    return some.assign_attrs(
        long_name="accuracy on the words that were fitted, of the thesis",
        reference=figures.attrs["reference"],
    )


def _by_neurons(figures: xr.DataArray, labels: Sequence[str]) -> xr.DataArray:
    """Fractions by the labels of sets of neurons, of those that are here."""
    places = {_label(t): t for t in figures["threshold"].values}
    shown = [label for label in labels if label in places]
    some = figures.sel(threshold=[places[label] for label in shown])
    return (some / 100).assign_coords(threshold=shown).rename(threshold="neurons")


def _label(threshold: object) -> str:
    """The label of a set of neurons: ``all`` for None, else the number."""
    text = str(threshold)
    return "all" if text == "None" else f"{float(text):g}"
