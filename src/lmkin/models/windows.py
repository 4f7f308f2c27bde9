"""Sentences longer than a model reads: overlapping windows, and which window a token is taken from."""

from __future__ import annotations

from ..core import LmkinError
from .rule import UnitRule


def cut(length: int, size: int | None, rule: UnitRule) -> list[tuple[int, int]]:
    """Token ranges (start, end) of the windows for a sentence of ``length`` tokens."""
    if size is None or length <= size:
        return [(0, length)]
    if rule.long == "truncate":
        return [(0, size)]
    overlap = max(1, size // 4) if rule.overlap is None else rule.overlap
    if overlap > max(1, size // 2):
        raise LmkinError(
            f"An overlap of {overlap} tokens is more than half of a window of {size}: the same text would be read many "
            f"times. Choose at most {max(1, size // 2)}."
        )
    step = size - overlap
    starts = [*range(0, length - size, step), length - size]
    return [(start, start + size) for start in starts]


def owners(length: int, windows: list[tuple[int, int]], *, causal: bool) -> list[int]:
    """The window in which each token sees most context; -1 for a token in none.

    A causal model sees to the left only: the first window that holds the token has most of it. Otherwise
    what counts is the nearer edge, where the sentence's own ends do not count as edges.
    """
    if len(windows) == 1:
        start, end = windows[0]
        return [0 if start <= t < end else -1 for t in range(length)]
    best = [-1] * length
    context = [-1] * length
    for number, (start, end) in enumerate(windows):
        for token in range(start, end):
            left = token - start if start > 0 else length
            right = end - 1 - token if end < length else length
            seen = token - start if causal else min(left, right)
            if seen > context[token]:
                best[token], context[token] = number, seen
    return best
