"""Changes of texts in lines and fields: CoNLL-U, columns, TSV, CSV, plain text."""

from __future__ import annotations

import random
from typing import Any

Step = list[Any]
FIELDS = {
    "empty": "", "blank": " ", "underscore": "_", "zero": "0", "minus one": "-1", "huge": str(2**64),
    "5,000 digits": "9" * 5000, "float": "1.5", "NaN": "nan", "infinity": "1e999", "range": "1-2", "wrong range": "9-3",
    "huge range": "1-99999999999", "empty node": "1.1", "quote": '"', "two quotes": 'a"b"c', "NUL": "a\0b",
    "byte order mark": "\ufeff", "line separator": "a\u2028b", "next line": "a\x85b", "return": "a\rb", "above": "../x",
    "long": "x" * 100_000, "longer": "word " * 40_000, "combining": "e" + "\u0301" * 1000, "right to left": "\u202eabc",
    "space after": "SpaceAfter=No", "start": "# text = other words", "no-break space": "\xa0", "zero width": "\u200b",
    "bars": "=|=|=", "superscript": "\u00b2", "Arabic digit": "\u0663",
}  # fmt: skip
"""What may stand in the place of a field, by name."""
_ENCODINGS = ("utf-16", "latin-1", "utf-8-sig", "utf-32", "cp1252")
_RAW = ("ff", "c3", "eda080", "f4908080", "00", "fffe", "feff", "1a", "1f8b")


def change_text(data: bytes, action: str, *more: Any) -> bytes:
    """A text after one step."""
    if action == "encoding":
        return data.decode().encode(more[0], "replace")
    if action == "newlines":
        return data.replace(b"\n", more[0].encode())
    lines = data.split(b"\n")
    number, *rest = more
    if action == "drop":
        del lines[number]
    elif action == "twice":
        lines[number:number] = [lines[number]] * rest[0]
    elif action == "join":
        lines[number : number + 2] = [b"".join(lines[number : number + 2])]
    elif action == "blank":
        lines.insert(number, b"")
    elif action == "raw":
        lines[number] += bytes.fromhex(rest[0])
    elif action == "wide":
        lines[number] = (lines[number] + rest[0].encode()) * 10_000
    else:
        lines[number] = _fields(lines[number], action, *rest)
    return b"\n".join(lines)


def _fields(line: bytes, action: str, separator: str, field: int, *more: Any) -> bytes:
    fields = line.split(separator.encode())
    if action == "field":
        fields[field] = FIELDS[more[0]].encode()
    elif action == "drop field":
        del fields[field]
    elif action == "add field":
        fields.insert(field, FIELDS[more[0]].encode())
    elif action == "swap fields":
        fields[field], fields[more[0]] = fields[more[0]], fields[field]
    return separator.encode().join(fields)


def draw_text(data: bytes, chance: random.Random) -> Step:
    """A step for a text."""
    lines = data.split(b"\n")
    number = chance.randrange(len(lines))
    separators = [s for s in ("\t", ",", " ", "=") if s.encode() in lines[number]]
    actions = ["field"] * 6 + ["drop field", "add field", "swap fields"] * 2
    actions += ["drop", "twice", "join", "blank", "raw", "wide", "encoding", "newlines"]
    action = chance.choice(actions)
    if action == "encoding":
        return ["text", action, chance.choice(_ENCODINGS)]
    if action == "newlines":
        return ["text", action, chance.choice(("\r\n", "\r", "\n\n", "", "\x85", "\n\t"))]
    if action == "twice":
        return ["text", action, number, chance.choice((1, 2, 2000))]
    if action == "raw":
        return ["text", action, number, chance.choice(_RAW)]
    if action == "wide":
        return ["text", action, number, chance.choice(("\t", ",", " ", ""))]
    if action in ("drop", "join", "blank"):
        return ["text", action, number]
    separator = chance.choice(separators) if separators else "\t"
    count = len(lines[number].split(separator.encode()))
    field = chance.randrange(count)
    last: Any = chance.randrange(count) if action == "swap fields" else chance.choice(list(FIELDS))
    return ["text", action, number, separator, field, *([] if action == "drop field" else [last])]
