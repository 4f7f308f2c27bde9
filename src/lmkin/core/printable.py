"""Texts that can be written: what no encoding can hold is shown as a question mark."""

from __future__ import annotations


def printable(text: str) -> str:
    """The text, with a replacement for lone surrogates: of file names that are not UTF-8, or halves of a character.

    >>> printable("naïve"), printable("a" + chr(0xDCFF))
    ('naïve', 'a�')
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return "".join("�" if 0xD800 <= ord(c) <= 0xDFFF else c for c in text)
    return text
