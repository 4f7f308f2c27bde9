"""What a decomposition is made from: moments by split, or rows and what is known of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from ..arguments import refuse_unused
from ..corpus import Corpus
from ..errors import MeasureError
from ..moments import Moments, RowSource
from .splitting import SPLITS

READING = (
    "units", "pooling", "first_token", "special_tokens", "long", "overlap", "max_length", "batch_tokens",
)  # fmt: skip
"""Options that say how models read a corpus."""


def require_corpus(corpus: Any) -> Any:
    """An error for what can be neither read nor is read already."""
    if not isinstance(corpus, Corpus):
        raise MeasureError(
            f"A corpus is a file, 'sample', or a lmkin.Corpus; got {type(corpus).__name__}. Texts of your own become "
            f"one with lmkin.Corpus([lmkin.Sentence(text), …])."
        )
    return corpus


def refuse_reading(corpus: Any, reading: Mapping[str, Any]) -> None:
    """An error for a corpus, or a way to read it, beside rows that are there already."""
    given = {k: v for k, v in reading.items() if v is not None and (k, v) != ("units", "sentence")}
    refuse_unused(
        {**({} if corpus is None else {"corpus": corpus}), **given},
        "Arrays and stored activations are rows that were made before",
    )


def chosen_layers(source: Any, layers: Any) -> Any:
    """A dict of arrays has the layers that it has."""
    arrays = isinstance(source, Mapping) and not any(
        hasattr(v, "manifest") for v in source.values()
    )
    return "all" if arrays and isinstance(layers, str) and layers == "last" else layers


def given_moments(source: Any, split: Mapping[str, Any] | None) -> Any:
    """Split → its parts, from moments of each split, or from one with a split of its parts."""
    if isinstance(source, Moments):
        source = {"all": source}
        if split is None or not source["all"].part_sizes:
            raise MeasureError(
                "One set of moments needs split={'train': [parts], 'test': [parts]}, by the names of its parts; or "
                "give {'train': Moments, 'test': Moments}."
            )
        known = source["all"].part_sizes
        found: dict[str, list[tuple[Moments, Hashable]]] = {}
        used: list[Any] = []
        for name, some in split.items():
            listed = list(some) if isinstance(some, Iterable) and not isinstance(some, str) else []
            if name not in SPLITS or not listed or any(p not in known for p in listed):
                raise MeasureError(
                    f"A split of moments lists parts of them under {', '.join(SPLITS)}; got {name!r}: {some!r:.60}. "
                    f"Parts: {', '.join(map(str, known))[:200]}."
                )
            twice = [p for k, p in enumerate(listed) if p in used or p in listed[:k]]
            if twice:
                raise MeasureError(
                    f"Part {twice[0]!r} is named twice: what is scored must not have been fitted on."
                )
            used += listed
            found[name] = [(source["all"], p) for p in listed]
        return _ordered(found)
    if split is not None:
        raise MeasureError(
            "Moments by split need no split=; that is for one set of moments with parts."
        )
    for name, given in source.items():
        if name not in SPLITS or not isinstance(given, Moments):
            raise MeasureError(
                f"Moments come by the names {', '.join(SPLITS)}; got {name!r}: {type(given).__name__}."
            )
    return _ordered({name: [(m, p) for p in m.part_sizes or (None,)] for name, m in source.items()})


def _ordered(found: Mapping[str, Any]) -> dict[str, Any]:
    if "train" not in found:
        raise MeasureError("There are no moments to fit on: give 'train', and 'test' to score on.")
    return {name: found[name] for name in SPLITS if name in found}


def starts_of(rows: RowSource) -> Any:
    """Rows at which a document begins, or, where there are none, a sentence."""
    if rows.units is None:
        return None
    documents = [s.document or "" for s in rows.units.corpus]
    owner = rows.units.sentence
    new = np.ones(len(documents), bool)
    new[1:] = [a != b for a, b in zip(documents[1:], documents[:-1], strict=True)]
    for firsts in (new, np.ones(len(documents), bool)):
        which = np.cumsum(firsts)[owner]
        starts = np.flatnonzero(np.diff(which, prepend=-1))
        if len(starts) >= 60:
            return starts
    return starts


def lengths_of(rows: RowSource, lengths: Any) -> Any:
    """Of every row: as given, or the characters of its text; None where all are alike, or nobody knows."""
    if lengths is not None:
        try:
            sizes = np.asarray(lengths).reshape(-1)
        except ValueError:  # lists of lists that differ in length
            sizes = np.zeros(0, object)
        if sizes.dtype.kind not in "iuf":
            raise MeasureError(f"lengths are numbers, one a row; got {lengths!r:.60}.")
        if len(sizes) != rows.n:
            raise MeasureError(
                f"lengths needs one number a row: {rows.n} rows, {len(sizes)} numbers."
            )
        return sizes
    if rows.units is None or rows.units.kind != "sentence":
        return None
    sizes = np.maximum(rows.units.end - rows.units.start, 1)
    return sizes if len(np.unique(sizes)) > 3 else None
