"""Stored activations under names of the user's own, such as languages: a dict, or NAME=FOLDER."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..activations import Activations, open_activations
from ..core import QUOTED_PATH, LmkinError, quoted

_PAIR = re.compile(r"(?P<name>[^\W\d_][\w-]*)=(?P<path>.+)", re.DOTALL)
"""NAME=FOLDER; a path with a = further on is none."""


def named_stores(
    given: Mapping[str, Any] | Sequence[Any],
) -> dict[str, list[Activations]] | None:
    """The stores of each name, opened: of a dict of stores, or of lists of them, or of ``NAME=FOLDER`` strings.

    A string's name may come again, for another model. None for what has no names. Raise if one is no store.
    """
    if isinstance(given, Mapping):
        by_name = {
            name: list(some) if isinstance(some, list | tuple) else [some]
            for name, some in given.items()
        }
    else:
        by_name = {}
        for spec in given:
            pair = _PAIR.fullmatch(spec) if isinstance(spec, str) else None
            if pair is None:
                return None
            by_name.setdefault(pair["name"], []).append(pair["path"])
    return {name: [_opened(store, name) for store in some] for name, some in by_name.items()}


def has_named_stores(given: Any) -> bool:
    """Whether stores by name are given, or what can only be meant as such."""
    if isinstance(given, Mapping):
        return True
    pairs = [_PAIR.fullmatch(s) for s in given if isinstance(s, str)] if _is_list(given) else []
    return any(pair is not None and is_store(pair["path"]) for pair in pairs)


def _is_list(given: Any) -> bool:
    return isinstance(given, Sequence) and not isinstance(given, str)


def is_store(spec: Any) -> bool:
    """Whether something is stored activations, or a folder that has some."""
    return isinstance(spec, Activations) or (
        isinstance(spec, str | Path) and (Path(spec) / "manifest.json").is_file()
    )


def _opened(store: Any, name: str) -> Activations:
    """Stored activations. Raise, with the name they were given under, if there are none."""
    if not is_store(store):
        said = quoted(store, QUOTED_PATH) if isinstance(store, str | Path) else type(store).__name__
        raise LmkinError(
            f"What is given as {quoted(name)} is no folder of activations, as lmkin extract writes it: {said}. Where "
            f"models are to read corpora, give the models, and the corpora by name (corpora)."
        )
    return store if isinstance(store, Activations) else open_activations(store)
