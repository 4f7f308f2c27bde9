"""What a user is told when something cannot be done, in one paragraph and without a traceback."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from itertools import accumulate
from pathlib import Path

from .quotation import quoted

LISTED = 350
"""Characters of a list of names in a message, about."""


class LmkinError(Exception):
    """A mistake that the user can mend; the message says what is wrong and what to do."""


class ArrayError(LmkinError, ValueError):
    """Arrays that cannot be fitted or predicted; a ValueError too, as scikit-learn's conventions ask for."""


class CorpusError(LmkinError):
    """A corpus that cannot be read, or that lacks what is asked of it."""


class ModelError(LmkinError):
    """A model that cannot be loaded, or that cannot give what is asked of it."""


class ActivationsError(LmkinError):
    """Activations that are damaged, half-written, too large, or not comparable."""


class MomentsError(LmkinError):
    """Moments that cannot be accumulated, merged or read, or that are of something else than what is asked."""


class MeasureError(LmkinError):
    """A measure that is not known, or not defined for what it is asked to compare."""


class LmkinWarning(UserWarning):
    """Something that does not stop the work but changes what its numbers mean."""


def near_files(path: Path) -> str:
    """After a path that is not there: the file beside it with the nearest name."""
    try:
        names = [p.name for p in path.parent.iterdir()]
    except OSError:
        return ""
    near = difflib.get_close_matches(path.name, names, n=1, cutoff=0.7)
    return f" Did you mean {quoted(path.parent / near[0])}?" if near else ""


def listed_names(names: Iterable[str]) -> str:
    """Names with commas, as many as a paragraph can hold.

    >>> listed_names(["a", "b"]), listed_names([f"column {n}" for n in range(100)])[-32:]
    ('a, b', 'column 30, column 31 and 68 more')
    """
    whole = list(names)
    lengths = accumulate(len(name) + 2 for name in whole)
    shown = max(1, sum(length <= LISTED for length in lengths))
    more = f" and {len(whole) - shown:,} more" if shown < len(whole) else ""
    return ", ".join(name[:LISTED] for name in whole[:shown]) + more


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """The sentence that helps after an unknown name: the nearest known one, and all of them."""
    names = list(known)
    lower = [n.lower() for n in names]
    near = difflib.get_close_matches(str(name)[:LISTED].lower(), lower, n=1, cutoff=0.5)
    guess = next((n for n in names if near and n.lower() == near[0]), None)
    listed = listed_names(names)
    return f"Did you mean {quoted(guess)}? Known: {listed}." if guess else f"Known: {listed}."
