"""Character spans for tokenizers that give none: token strings are matched to the raw text."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Sequence

from ..corpus import Span


def spans_of_tokens(surfaces: Sequence[str | None], text: str) -> list[Span]:
    """The span of each token in ``text``; ``(i, i)`` where a token covers no character.

    Tokenizers lower-case, strip accents, normalise and drop characters, so both sides are compared in a
    folded form without white space. Unknown tokens (``None``) get what their neighbours leave.
    """
    folded_text, origin = _fold_with_origin(text)
    folded_tokens: list[str] = []
    owner: list[int] = []
    for index, surface in enumerate(surfaces):
        for character in _fold(surface or ""):
            folded_tokens.append(character)
            owner.append(index)
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for a, b, size in _matching_blocks("".join(folded_tokens), folded_text):
        for k in range(size):
            token, position = owner[a + k], origin[b + k]
            first.setdefault(token, position)
            last[token] = position + 1
    return _fill_gaps(surfaces, first, last, text)


def _matching_blocks(a: str, b: str) -> list[tuple[int, int, int]]:
    if a == b:
        return [(0, 0, len(a))]
    matcher = difflib.SequenceMatcher(None, a, b, autojunk=False)
    return [(m.a, m.b, m.size) for m in matcher.get_matching_blocks()]


def _fill_gaps(
    surfaces: Sequence[str | None], first: dict[int, int], last: dict[int, int], text: str
) -> list[Span]:
    """Spans in order; a run of unmatched tokens shares the text between its neighbours."""
    spans: list[Span] = []
    index = 0
    while index < len(surfaces):
        if index in first:
            spans.append((first[index], last[index]))
            index += 1
            continue
        run = index
        while run < len(surfaces) and run not in first:
            run += 1
        start = spans[-1][1] if spans else 0
        end = first[run] if run < len(surfaces) else len(text)
        spans += _pieces(text, start, end, list(surfaces[index:run]))
        index = run
    return spans


def _pieces(text: str, start: int, end: int, surfaces: list[str | None]) -> list[Span]:
    """Cut a gap at white space, one piece for each unknown token; blank tokens get nothing."""
    pieces: list[Span] = []
    position = start
    unknown = [s is None or bool(s.strip()) for s in surfaces]
    for k, real in enumerate(unknown):
        if not real:
            pieces.append((position, position))
            continue
        while position < end and text[position].isspace():
            position += 1
        stop = position
        if any(unknown[k + 1 :]):
            while stop < end and not text[stop].isspace():
                stop += 1
        else:
            stop = max(position, start + len(text[start:end].rstrip()))
        pieces.append((position, stop))
        position = stop
    return pieces


def _fold(text: str) -> str:
    """Lower case, compatibility-decomposed, without marks, white space and replacement signs."""
    decomposed = unicodedata.normalize("NFKD", text.lower())
    return "".join(
        c for c in decomposed if not (c.isspace() or unicodedata.combining(c) or c == "\ufffd")
    )


def _fold_with_origin(text: str) -> tuple[str, list[int]]:
    folded: list[str] = []
    origin: list[int] = []
    for position, character in enumerate(text):
        for c in _fold(character):
            folded.append(c)
            origin.append(position)
    return "".join(folded), origin
