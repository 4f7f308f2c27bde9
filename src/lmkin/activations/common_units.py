"""Whether two activations have the same rows, and how to bring them to the same rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core import ActivationsError
from ..corpus import Units, first_difference
from .activations import Activations


def require_same_units(*activations: Activations) -> None:
    """Raise, naming the first difference, unless all have the same rows."""
    first, *others = activations
    for other in others:
        difference = first_difference(first.units, other.units)
        if difference is not None:
            remedy = "Extract both from the same corpus with the same units."
            if first.units.kind == other.units.kind == "token" and _same_texts(first, other):
                remedy = (
                    "Where their tokenizers cut the text differently, tokens cannot be compared: extract words "
                    "(units='word')."
                )
            elif _same_texts(first, other):
                remedy = (
                    "They are of the same corpus, but one model could not represent some units: bring them to the "
                    "units that all have with lmkin.common_units(a, b)."
                )
            raise ActivationsError(
                f"{first.name} and {other.name} cannot be compared row by row: {difference}. {remedy}"
            )


def shared_units(arrays: Mapping[Any, Any]) -> Units | None:
    """The units that layer views among some arrays carry; None if no array knows its own.

    Raise if two views stand for different units.
    """
    views = [
        (name, u) for name, a in arrays.items() if (u := getattr(a, "units", None)) is not None
    ]
    for name, units in views[1:]:
        first, known = views[0]
        difference = None if units is known else first_difference(known, units)
        if difference is not None:
            raise ActivationsError(
                f"The rows of {first} and {name} stand for different {known.kind}s, so they cannot be compared: "
                f"{difference}. Extract both from the same corpus; where a model lost some {known.kind}s, "
                f"lmkin.common_units(a, b) brings both to those they share."
            )
    return views[0][1] if views else None


def common_units(*given: Activations | Sequence[Activations]) -> tuple[Activations, ...]:
    """The same activations, each cut down to the units that all of them have; one after another, or in a list.

    A word that one model cannot represent is left out of all; ``len`` before and after says how many.
    They must come from the same sentences.
    """
    activations = [a for some in given for a in ([some] if isinstance(some, Activations) else some)]
    if not activations or not all(isinstance(a, Activations) for a in activations):
        raise ActivationsError(
            "Give activations, as lmkin.extract or lmkin.open_activations has them."
        )
    first = activations[0]
    for other in activations[1:]:
        if first.units.kind != other.units.kind or not _same_texts(first, other):
            require_same_units(first, other)
    keys = [_keys(a) for a in activations]
    shared = keys[0]
    for key in keys[1:]:
        shared = np.intersect1d(shared, key, assume_unique=True)
    if not len(shared):
        names = ", ".join(a.name for a in activations)
        raise ActivationsError(f"{names} have no unit in common.")
    cut = tuple(
        a if len(shared) == len(key) else a.select(np.flatnonzero(np.isin(key, shared)))
        for a, key in zip(activations, keys, strict=True)
    )
    require_same_units(*cut)
    return cut


def _same_texts(a: Activations, b: Activations) -> bool:
    x, y = a.units.corpus, b.units.corpus
    if x is y:
        return True
    return len(x) == len(y) and all(
        s.text == t.text and s.text_b == t.text_b and s.spans == t.spans
        for s, t in zip(x, y, strict=True)
    )


def _keys(acts: Activations) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """One number a unit: its sentence and its place there."""
    return acts.units.sentence.astype(np.int64) << 32 | acts.units.index.astype(np.int64)
