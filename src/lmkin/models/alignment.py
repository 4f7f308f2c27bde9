"""Which tokens make up which word: by overlap of character spans on the raw sentence."""

from __future__ import annotations

from collections.abc import Sequence

from ..corpus import Span


def tokens_of_words(words: Sequence[Span], tokens: Sequence[Span]) -> list[list[int]]:
    """For each word, the tokens that share at least one character with it, in order.

    A token that reaches into two words belongs to both; a word without tokens gets ``[]``.

    >>> tokens_of_words([(0, 2), (2, 5)], [(0, 3), (3, 4), (4, 5)])
    [[0], [0, 1, 2]]
    """
    # Token ends may not be sorted (bytes of one character share its span), so go by running maximum.
    reach: list[int] = []
    furthest = 0
    for _, end in tokens:
        furthest = max(furthest, end)
        reach.append(furthest)
    by_word: list[list[int]] = []
    low = 0
    previous = 0
    for start, end in words:
        if start < previous:
            low = 0  # words out of order: look from the beginning
        previous = start
        while low < len(tokens) and reach[low] <= start:
            low += 1
        mine: list[int] = []
        index = low
        while index < len(tokens) and tokens[index][0] < end:
            if tokens[index][1] > start and tokens[index][1] > tokens[index][0]:
                mine.append(index)
            index += 1
        by_word.append(mine)
    return by_word
