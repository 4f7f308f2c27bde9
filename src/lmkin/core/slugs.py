"""Names that can stand in a file name."""

from __future__ import annotations

import re
from collections.abc import Sequence


def slugs(names: Sequence[str]) -> list[str]:
    """Names that can stand in a file name, no two alike.

    >>> slugs(["a/b", "a b", "…", "__proto__"])
    ['a-b', 'a-b-2', 'nameless', 'proto']
    """
    apart: list[str] = []
    for name in names:
        # No underscore at the ends: __proto__ is no key for a script.
        plain = re.sub(r"\W+", "-", name).strip("-_")[:60] or "nameless"
        candidate, count = plain, 1
        while candidate in apart:
            count += 1
            candidate = f"{plain}-{count}"
        apart.append(candidate)
    return apart
