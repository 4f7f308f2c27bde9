"""What a decomposition is made from: moments by split, or rows and what is known of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from ...core import SPLITS, MeasureError, quoted, refuse_unused
from ...corpus import Corpus
from ...moments import Moments
from ...rows import RowSource


def require_corpus(corpus: Any) -> Any:
    """Raise if a corpus can neither be read nor is read already."""
    if not isinstance(corpus, Corpus):
        raise MeasureError(
            f"A corpus is a file, 'sample', or a lmkin.Corpus; got {type(corpus).__name__}. Texts of your own become "
            f"one with lmkin.Corpus([lmkin.Sentence(text), …])."
        )
    return corpus


def refuse_reading(corpus: Any, reading: Mapping[str, Any]) -> None:
    """Raise if a corpus, or a way to read it, is given beside rows that are there already."""
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
        by_split: dict[str, list[tuple[Moments, Hashable]]] = {}
        used: list[Any] = []
        for name, some in split.items():
            listed = list(some) if isinstance(some, Iterable) and not isinstance(some, str) else []
            if name not in SPLITS or not listed or any(p not in known for p in listed):
                raise MeasureError(
                    f"A split of moments lists parts of them under {', '.join(SPLITS)}; got {quoted(name)}: "
                    f"{quoted(some)}. Parts: {', '.join(map(str, known))[:200]}."
                )
            twice = [p for k, p in enumerate(listed) if p in used or p in listed[:k]]
            if twice:
                raise MeasureError(
                    f"Part {quoted(twice[0])} is named twice: what is scored must not have been fitted on."
                )
            used += listed
            by_split[name] = [(source["all"], p) for p in listed]
        return _ordered(by_split)
    if split is not None:
        raise MeasureError(
            "Moments by split need no split=; that is for one set of moments with parts."
        )
    for name, given in source.items():
        if name not in SPLITS or not isinstance(given, Moments):
            raise MeasureError(
                f"Moments come by the names {', '.join(SPLITS)}; got {quoted(name)}: {type(given).__name__}."
            )
    return _ordered({name: [(m, p) for p in m.part_sizes or (None,)] for name, m in source.items()})


def _ordered(by_split: Mapping[str, Any]) -> dict[str, Any]:
    if "train" not in by_split:
        raise MeasureError("There are no moments to fit on: give 'train', and 'test' to score on.")
    return {name: by_split[name] for name in SPLITS if name in by_split}


def lengths_of(rows: RowSource, lengths: Any) -> Any:
    """Of every row: as given, or the characters of its text; None where all are alike, or nobody knows."""
    if lengths is not None:
        try:
            sizes = np.asarray(lengths).reshape(-1)
        except ValueError:  # lists of lists that differ in length
            sizes = np.zeros(0, object)
        if sizes.dtype.kind not in "iuf":
            raise MeasureError(f"row_lengths are numbers, one a row; got {quoted(lengths)}.")
        if len(sizes) != rows.n:
            raise MeasureError(
                f"row_lengths needs one number a row: {rows.n} rows, {len(sizes)} numbers."
            )
        return sizes
    if rows.units is None or rows.units.kind != "sentence":
        return None
    sizes = np.maximum(rows.units.end - rows.units.start, 1)
    return sizes if len(np.unique(sizes)) > 3 else None
