"""Parts of the rows of a corpus: blocks of whole documents, or of sentences where documents are few."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import IntArray, blocks_of_owners, check_parts, parts_of_rows
from ..corpus import Units

if TYPE_CHECKING:
    from .row_source import RowSource


_DOCUMENTS = 60
"""With fewer documents, it is sentences that a split keeps whole."""


def parts_of_units(units: Units, parts: int | Sequence[Any]) -> tuple[IntArray, str]:
    """The part of each unit, and what parts are made of: documents, else sentences, of nearly equal size."""
    if not isinstance(parts, int | np.integer):
        return parts_of_rows(len(units), parts), "labels"
    count = check_parts(int(parts))
    owner, made_of = owners_of_units(units, 2 * count)
    return blocks_of_owners(owner, count), made_of


def owners_of_units(units: Units, fewest: int) -> tuple[IntArray, str]:
    """Of each unit the number of its document, if there are at least ``fewest`` documents, else of its sentence."""
    documents = np.array([s.document or "" for s in units.corpus], dtype=object)
    new = np.ones(len(documents), bool)
    new[1:] = documents[1:] != documents[:-1]
    owner = np.cumsum(new)[units.sentence].astype(np.int64)
    if len(np.unique(owner)) >= fewest:
        return owner, "documents"
    return units.sentence.astype(np.int64), "sentences"


def owners_of(rows: RowSource) -> Any:
    """Of each row the number of its document, or sentence where documents are few; None where nobody knows."""
    return None if rows.units is None else owners_of_units(rows.units, _DOCUMENTS)[0]
