"""From words to their character spans in a raw text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache

from ..core import CorpusError, did_you_mean, quoted
from .sentence import Span

WORD_RULES = ("whitespace", "punctuation")


@cache
def _word_rule(rule: str) -> re.Pattern[str]:
    if rule not in WORD_RULES:
        raise CorpusError(f"Unknown words={quoted(rule)}. {did_you_mean(rule, WORD_RULES)}")
    if rule == "whitespace":
        return re.compile(r"\S+")
    # \w knows neither marks (the vowels of Hindi, accents apart from their letter) nor the joiners.
    marks = "".join(c for c in map(chr, range(0x20000)) if unicodedata.category(c)[0] == "M")
    marks += "\u200c\u200d"
    run = rf"\w[\w{marks}]*"
    # A run of letters, digits and marks (with inner apostrophes and hyphens), or one other sign.
    return re.compile(rf"{run}(?:['’\-]{run})*|[^\w\s][{marks}]*")


def split_words(text: str, rule: str = "whitespace") -> tuple[Span, ...]:
    """Spans of the words of a text that nobody has tokenized.

    ``whitespace``: what stands between white space. ``punctuation``: punctuation stands alone.
    """
    return tuple(match.span() for match in _word_rule(rule).finditer(text))


def locate(words: Sequence[str], text: str, space_marks: str = "") -> tuple[Span, ...] | int:
    """Spans of ``words`` found one after another in ``text``; else the index that failed.

    White space may differ between the two (a word such as *10 000* may hold a plain space where
    the text has a no-break space); characters in ``space_marks`` stand for a space in a word.
    """
    spans: list[Span] = []
    position = 0
    for index, word in enumerate(words):
        while position < len(text) and text[position].isspace():
            position += 1
        end = _match(word, text, position, space_marks)
        if end is None or end == position:
            return index
        spans.append((position, end))
        position = end
    if text[position:].strip():
        return len(words)
    return tuple(spans)


def _match(word: str, text: str, position: int, space_marks: str) -> int | None:
    """Where ``word`` ends if it stands at ``position`` of ``text``."""
    if text.startswith(word, position):
        return position + len(word)
    for character in word:
        if character.isspace() or character in space_marks:
            if position < len(text) and text[position] == character:
                position += 1
            while position < len(text) and text[position].isspace():
                position += 1
        elif position < len(text) and text[position] == character:
            position += 1
        else:
            return None
    return position


def join_words(
    words: Sequence[str], space_after: Sequence[bool] | None = None
) -> tuple[str, tuple[Span, ...]]:
    """A text made of words, with a space after each where ``space_after`` says so, and the spans."""
    pieces: list[str] = []
    spans: list[Span] = []
    position = 0
    for index, word in enumerate(words):
        spans.append((position, position + len(word)))
        pieces.append(word)
        position += len(word)
        if index < len(words) - 1 and (space_after is None or space_after[index]):
            pieces.append(" ")
            position += 1
    return "".join(pieces), tuple(spans)
