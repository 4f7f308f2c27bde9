"""What a message quotes of the input: enough to know it by, however long it is."""

from __future__ import annotations

from pathlib import PurePath

import numpy as np

QUOTED = 60
"""Characters at most."""
QUOTED_PATH = 200
"""The same for paths, whose end tells most."""


def quoted(value: object, limit: int | None = None) -> str:
    """A value as a message quotes it: cut after ``limit`` characters, with its length.

    Texts and paths come in quotation marks, everything else as Python writes it.

    >>> quoted("short"), quoted("word " * 100, 12), quoted(np.float64(0.5))
    ("'short'", "'word word wo…' (500 characters)", '0.5')
    >>> quoted(list(range(1000)), 12)
    '[0, 1, 2, 3,… (4,890 characters)'
    """
    if isinstance(value, PurePath):
        return quoted(str(value), limit or QUOTED_PATH)
    limit = limit or QUOTED
    if isinstance(value, str):
        if len(value) <= limit:
            return repr(value)
        return f"{value[:limit] + '…'!r} ({len(value):,} characters)"
    whole = _written(value.item() if isinstance(value, np.generic) else value)
    if len(whole) <= limit:
        return whole
    return f"{whole[:limit]}… ({len(whole):,} characters)"


def _written(value: object) -> str:
    """A value on one line, as Python writes it; its type where it cannot be written, as a number of too many digits."""
    try:
        return " ".join(repr(value).split())
    except Exception:  # of whatever class a user's object comes from
        return f"a value of type {type(value).__name__}"
