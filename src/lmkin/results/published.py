"""Published figures, to be shown beside one's own: one loader; each work adds files beside this one, nothing else."""

from __future__ import annotations

import csv
import json
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
    """Figures as published, such as ``zhang2022/table2``: rows × columns, with what is to be known in the attributes.

    Attributes: ``title``, ``reference``, ``note`` (in what they differ from what lmkin computes), ``names`` (what the
    work calls the models that are here under their names on the hub), and more. An unknown name lists all.

    >>> float(published("zhang2022/table2").sel(model="xlnet-base-cased", length=16))
    0.3412
    """
    known = published_names()
    if name not in known:
        raise LmkinError(
            f"There are no published figures {quoted(name)}. {did_you_mean(str(name), known)}"
        )
    work, _, table = name.partition("/")
    folder = _FOLDER / work
    notes: dict[str, Any] = json.loads((folder / f"{table}.json").read_text("utf-8"))
    lines = (folder / f"{table}.csv").read_text("utf-8").splitlines()
    head, *rows = csv.reader(lines)
    values = np.array([[float(cell) if cell else np.nan for cell in row[1:]] for row in rows])
    dims = (notes.pop("rows"), notes.pop("columns"))
    return xr.DataArray(
        values,
        dims=dims,
        coords={dims[0]: _labels([row[0] for row in rows]), dims[1]: _labels(head[1:])},
        name=notes.pop("name"),
        attrs=notes,
    )


def _labels(texts: list[str]) -> list[Any]:
    """Whole numbers where all are."""
    return [int(t) for t in texts] if all(t.isdigit() for t in texts) else texts
