"""Batches of windows of like length, and shards of sentences that lie together."""

from __future__ import annotations

from collections.abc import Sequence

from ..models import Window

_LEAST_FILLED = 0.85


def batches(windows: Sequence[Window], batch_tokens: int) -> list[list[Window]]:
    """Windows by falling length, so many at a time that a padded batch has ``batch_tokens`` tokens.

    The longest come first: if memory is too small for them, that is known at once. A window that is
    longer than ``batch_tokens`` runs alone. A batch that is half full ends early where it would be padded
    much.
    """
    ordered = sorted(windows, key=lambda w: -w.length)
    packed: list[list[Window]] = []
    for window in ordered:
        if packed:
            batch = packed[-1]
            longest = batch[0].length
            size = len(batch) * longest
            padded_much = window.length < _LEAST_FILLED * longest and size >= batch_tokens / 2
            if size + longest <= batch_tokens and not padded_much:
                batch.append(window)
                continue
        packed.append([window])
    return packed


def shard_ranges(rows_by_sentence: Sequence[int], rows_per_shard: int) -> list[tuple[int, int]]:
    """Cut the rows into (start, stop) ranges of about ``rows_per_shard``, at ends of sentences.

    >>> shard_ranges([3, 3, 3, 3], 5)
    [(0, 6), (6, 12)]
    """
    ranges: list[tuple[int, int]] = []
    start = stop = 0
    for count in rows_by_sentence:
        stop += count
        if stop - start >= rows_per_shard:
            ranges.append((start, stop))
            start = stop
    if stop > start:
        ranges.append((start, stop))
    return ranges
