"""Published figures, to be shown beside one's own: one loader; each work adds files beside this one, nothing else.

A table is two files: ``work/table.csv`` and ``work/table.json``. In the JSON, ``rows`` names the dimension, or the list
of dimensions, whose labels are the first columns of the CSV, and ``columns`` the one whose labels are the rest of its
head. ``name`` is what the figures are; everything else becomes attributes. A cell that is empty is not a number (NaN).
"""

from __future__ import annotations

import csv
import json
from contextlib import suppress
from importlib.resources import files
from typing import Any

import numpy as np
import xarray as xr

from ..core import LmkinError, did_you_mean, quoted

_FOLDER = files(__package__ or "") / "published"


def published_names() -> list[str]:
    """Names of all figures that are here, as ``work/table``."""
    works = [work for work in _FOLDER.iterdir() if work.is_dir()]
    return sorted(
        f"{work.name}/{table.name.removesuffix('.csv')}"
        for work in works
        for table in work.iterdir()
        if table.name.endswith(".csv")
    )


def published(name: str) -> xr.DataArray:
    """Figures as published, such as ``zhang2022/table2``, labelled, with what is to be known in the attributes.

    Attributes: ``title``, ``reference``, ``note`` (what the figures are, what was changed, what is doubtful, how they
    differ from what lmkin computes), ``names`` (what the work calls the models that are here under their names on the
    hub), and more. A cell that is not printed is NaN. An unknown name lists the tables of its work, or all works.

    >>> float(published("zhang2022/table2").sel(model="xlnet-base-cased", length=16))
    0.3412
    >>> published("dalvi2020/table6-neurons").dims
    ('model', 'threshold', 'task')
    """
    known = published_names()
    if name not in known:
        raise LmkinError(
            f"There are no published figures {quoted(name)}. {_near(str(name), known)}"
        )
    work, _, table = name.partition("/")
    folder = _FOLDER / work
    notes: dict[str, Any] = json.loads((folder / f"{table}.json").read_text("utf-8"))
    head, *lines = csv.reader((folder / f"{table}.csv").read_text("utf-8").splitlines())
    dims: list[str] = [*np.atleast_1d(notes.pop("rows")).tolist(), notes.pop("columns")]
    k = len(dims) - 1
    # Labels in the order in which they come first.
    labels = [list(dict.fromkeys(line[i] for line in lines)) for i in range(k)] + [head[k:]]
    values = np.full([len(along) for along in labels], np.nan)
    for line in lines:
        cell = tuple(along.index(label) for along, label in zip(labels[:k], line[:k], strict=True))
        values[cell] = [float(text) if text else np.nan for text in line[k:]]
    return xr.DataArray(
        values,
        dims=dims,
        coords={dim: _labels(along) for dim, along in zip(dims, labels, strict=True)},
        name=notes.pop("name"),
        attrs=notes,
    )


def _labels(texts: list[str]) -> list[Any]:
    """Whole numbers where all are, else numbers where all are, else the texts themselves."""
    for number in (int, float):
        with suppress(ValueError):
            return [number(text) for text in texts]
    return texts


def _near(name: str, known: list[str]) -> str:
    """What helps after an unknown name: the tables of its work; the works, where there is no such work."""
    work = name.partition("/")[0]
    tables = [k for k in known if k.startswith(f"{work}/")]
    works = dict.fromkeys(k.partition("/")[0] for k in known)
    return f"{did_you_mean(name, tables or works)} lmkin.results.published_names() gives all names."
