"""Texts in lines: Vega cannot break them itself, so they are broken here, for several widths of a chart."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from string import ascii_uppercase
from typing import Any

# Not the width of the plot, which is not yet known while the room for labels is reckoned; it stands here so that the
# number changes when the window does. A picture has no page around it.
ROOM = (
    "(isFinite(containerSize()[0]) && containerSize()[0] > 0"
    " ? containerSize()[0] + 0 * width : max(width + 40, 200))"
)
"""A Vega expression: how many pixels wide a chart may be."""
LETTER = 6.9
"""Pixels of a letter of a label, in a wide font."""
LINE = 14
"""Pixels from one line of a label to the next."""
_WIDTHS = (*range(4, 33), 35, 38, 42, 46, 51, 56, 62, 70, 80, 90)
"""Letters of a line for which texts are broken."""
_JOINTS = re.compile(r".+?(?:[-/_.:]+|$)")
_INHERITED = re.compile(
    r'"(constructor|toString|toLocaleString|valueOf|hasOwnProperty|isPrototypeOf|propertyIsEnumerable|__\w+__)"(?!:)'
)
"""What every object of a script has, as a text but not as a key."""


def literal(data: Any) -> str:
    """Texts, lists of them or texts by key as a Vega expression, whatever they hold."""
    # ASCII JSON is a literal of Vega's expression language too. But Vega looks texts up among the members of an
    # object, and breaks on a model called "constructor", unless a space is there that nobody sees.
    return _INHERITED.sub(r'"\1 "', json.dumps(data))


def letters_of(text: str) -> int:
    """How wide a text is, in letters: Chinese, Japanese and Korean ones are twice as wide, accents have no width."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


@lru_cache(maxsize=4096)
def lines_of(text: str, letters: int) -> list[str]:
    """A text in lines of at most so many letters, much alike in length.

    It is broken between words, a word that is too long at its joints or anywhere.
    """
    lines = _filled(text, letters)
    units = [
        unit
        for word in text.split()
        for unit in ([word] if letters_of(word) <= letters else _JOINTS.findall(word))
    ]
    whole = max((n for n in map(letters_of, units) if n <= letters), default=1)
    return next(
        (even for n in range(whole, letters) if len(even := _filled(text, n)) == len(lines)), lines
    )


def _filled(text: str, letters: int) -> list[str]:
    lines = [""]
    for word in text.split():
        glue = " " * bool(lines[-1])
        for piece in [word] if letters_of(word) <= letters else _pieces(word, letters):
            if lines[-1] and letters_of(lines[-1] + glue + piece) > letters:
                lines.append(piece)
            else:
                lines[-1] += glue + piece
            glue = ""
    return lines


def _pieces(word: str, letters: int) -> Iterator[str]:
    for piece in _JOINTS.findall(word):
        part = ""
        for letter in piece:
            if part and letters_of(part + letter) > letters:
                yield part
                part = ""
            part += letter
        yield part


def by_room(
    broken: Callable[[int], str], room: str = ROOM, *, letter: float = LETTER, least: int = 8
) -> str:
    """A Vega expression of texts broken into lines that fit into ``room`` pixels, an expression too.

    ``broken`` gives for a number of letters the expression of texts whose lines are no longer.
    """
    widths = [n for n in _WIDTHS if n >= least]
    text = wider = broken(widths[-1])
    for letters, next_letters in reversed([*pairwise(widths)]):
        narrow = broken(letters)
        if narrow != wider:
            text, wider = f"{room} < {next_letters * letter:.0f} ? {narrow} : {text}", narrow
    return f"({text})"


def few_lines(text: str, most: int) -> int:
    """Letters of a line for a text to have no more lines than these, broken at its joints."""
    longest = max(letters_of(text), 1)
    return next(n for n in range(1, longest + 1) if len(lines_of(text, n)) <= most)


def short_names(count: int) -> list[str]:
    """Letters, or numbers where there are too few letters."""
    return (
        list(ascii_uppercase[:count])
        if count <= len(ascii_uppercase)
        else [*map(str, range(1, count + 1))]
    )


def key_of(names: Sequence[str]) -> str:
    """Which name each letter stands for."""
    return (
        "; ".join(
            f"{letter}: {name}" for letter, name in zip(short_names(len(names)), names, strict=True)
        )
        + "."
    )


def no_room(plot: str, needed: float) -> str:
    """A Vega expression: whether a page (not a picture) is too narrow for a plot of the width that names need."""
    return f"isFinite(containerSize()[0]) && containerSize()[0] > 0 && {plot} < {needed:.0f}"


def lines_by_room(texts: Sequence[str], room: str = ROOM) -> str:
    """A Vega expression: a list of lines for each of the texts."""
    return by_room(lambda letters: literal([lines_of(text, letters) for text in texts]), room)
