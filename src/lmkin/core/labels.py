"""Labels as they are given, before numpy makes texts of numbers that stand among texts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrays import to_numpy
from .errors import LmkinError
from .quotation import quoted

_KINDS = {
    "U": "text",
    "S": "bytes",
    "b": "True or False",
    "i": "a number",
    "u": "a number",
    "f": "a number",
}


def label_kind(label: Any) -> str:
    """What a label is: text, a number, True or False, or the name of its type.

    >>> label_kind("a"), label_kind(np.int64(1)), label_kind(True), label_kind((1,))
    ('text', 'a number', 'True or False', 'tuple')
    """
    if isinstance(label, str):
        return "text"
    if isinstance(label, bool | np.bool_):
        return "True or False"
    if isinstance(label, int | float | np.integer | np.floating):
        return "a number"
    return type(label).__name__


def is_missing(label: Any) -> bool:
    """Whether there is no label: None, or the NaN that tables have for it."""
    return label is None or (isinstance(label, float) and label != label)


def kinds_of_labels(labels: Iterable[Any]) -> dict[str, tuple[int, Any]]:
    """Of each kind of label the first: its place, and itself. What is missing does not count."""
    kinds: dict[str, tuple[int, Any]] = {}
    known: set[type] = set()
    for place, label in enumerate(labels):
        if type(label) not in known and not is_missing(label):
            known.add(type(label))
            kinds.setdefault(label_kind(label), (place, label))
    return kinds


def require_one_kind(
    labels: Iterable[Any], what: str, error: type[LmkinError] = LmkinError
) -> None:
    """Raise if some labels are numbers and others texts, or whatever else: which are the same cannot be told."""
    kinds = kinds_of_labels(labels)
    if len(kinds) > 1:
        said = ", and ".join(
            f"{kind} in row {row} ({quoted(v)})" for kind, (row, v) in kinds.items()
        )
        raise error(
            f"Labels of {what} are of several types: {said}. Write all of them as text, or all as numbers."
        )


def as_labels(labels: Any, what: str) -> NDArray[Any]:
    """Labels as an array. Raise if some are missing, or if they are of several types, of which numpy makes texts."""
    if hasattr(labels, "detach"):
        return to_numpy(labels)
    if isinstance(labels, np.ndarray) and labels.dtype != object:
        return labels
    plain = labels.tolist() if hasattr(labels, "tolist") else labels
    if isinstance(plain, list | tuple) and not any(isinstance(v, list | tuple) for v in plain):
        missing = [(row, label) for row, label in enumerate(plain) if is_missing(label)]
        if missing:
            row, label = missing[0]
            raise LmkinError(
                f"{len(missing):,} rows have no label ({label}), the first is row {row} of {what}. Leave these rows "
                f"and their labels out."
            )
        require_one_kind(plain, what)
    return np.asarray(labels)


def kind_of_array(labels: NDArray[Any]) -> str:
    """What labels of an array are, all of which are of one kind."""
    if labels.dtype != object:
        return _KINDS.get(labels.dtype.kind, str(labels.dtype))
    return next(iter(kinds_of_labels(labels.reshape(-1).tolist())), "")
