"""Figures of the thesis on the same treebanks, for one's own to be seen beside."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import xarray as xr

from ...results import published

TABLES = {"upos": "thesis2022/tableB.1", "deprel": "thesis2022/tableB.2"}
FROM = "en"
"""What the thesis fitted on."""
_log = logging.getLogger("lmkin")


def published_transfer(
    languages: Sequence[str], sources: Sequence[str], tasks: Sequence[str], labels: Sequence[str]
) -> xr.DataArray | None:
    """Accuracies of the thesis by model, task, language and neurons; None, and a line in the log, where none is.

    Languages are known by their codes, as ``en``, ``en_pud`` or ``en-GB`` have them.
    """
    codes = {name: name.replace("-", "_").partition("_")[0].lower() for name in languages}
    mine = [task for task in tasks if task in TABLES]
    if not mine or FROM not in (codes[s] for s in sources):
        _log.info(
            "The thesis has figures for upos and deprel, fitted on English (en): none to show beside these."
        )
        return None
    tables = []
    for task in mine:
        figures = published(TABLES[task])
        known = {str(v).lower(): v for v in figures["language"].values}
        there = {name: known[code] for name, code in codes.items() if code in known}
        if not there:
            _log.info(
                "The thesis has figures for the languages %s: none is here.",
                ", ".join(sorted(known)),
            )
            return None
        places = {_label(t): t for t in figures["threshold"].values}
        shown = [label for label in labels if label in places]
        some = figures.sel(
            language=list(there.values()), threshold=[places[label] for label in shown]
        )
        some = some.assign_coords(language=list(there), threshold=shown)
        tables.append((some / 100).rename(threshold="neurons", model="published_model"))
    joined = xr.concat(tables, "task", join="outer", coords="minimal", compat="override")
    joined = joined.assign_coords(task=mine).rename("published")
    return joined.assign_attrs(
        long_name="accuracy on all sentences, of the thesis",
        reference=published(TABLES[mine[0]]).attrs["reference"],
    )


def _label(threshold: object) -> str:
    """The label of a set of neurons: ``all`` for None, else the number."""
    text = str(threshold)
    return "all" if text == "None" else f"{float(text):g}"
