"""Changes of JSON: keys that are gone, values of other types, nesting and numbers without measure."""

from __future__ import annotations

import json
import random
import re
from typing import Any

Step = list[Any]
VALUES = {
    "null": "null", "true": "true", "zero": "0", "one": "1", "minus one": "-1", "thousand": "1000",
    "million": "1000000", "2**31": str(2**31), "2**40": str(2**40), "2**63": str(2**63), "2**64": str(2**64),
    "5,000 digits": "9" * 5000, "half": "0.5", "1e400": "1e400", "1e300": "-1e300", "NaN": "NaN",
    "infinity": "-Infinity", "empty text": '""', "text": '"x"', "digit": '"7"', "long text": '"' + "x" * 100_000 + '"',
    "long number": '"' + "1" * 5000 + '"', "surrogate": '"a\\ud800b"', "NUL": '"a\\u0000b"', "lines": '"a\\nb\\u2028c"',
    "above": '"../x"', "absolute": '"/etc/passwd"', "hex": '"' + "0" * 32 + '"', "braces": '"{0.__class__} %s %n"',
    "empty list": "[]", "list": "[1, 2]", "pairs": "[[0, 1], [1, 2]]", "texts": '["a", "b"]', "list of none": "[null]",
    "many": "[" + "0," * 20_000 + "0]", "deep": "[" * 2000 + "]" * 2000, "deeper": "[" * 200_000 + "]" * 200_000,
    "empty mapping": "{}", "mapping": '{"a": 1}',
    "code": '{"AutoConfig": "evil.Evil", "AutoModel": "evil.Evil", "AutoTokenizer": ["evil.Evil", null]}',
    "deep mapping": '{"a":' * 900 + "1" + "}" * 900,
}  # fmt: skip
"""Texts of JSON that may stand in the place of any value, by name."""
_KEYS = ("more", "", "auto_map", "__class__", "../x", "7", "\ud800")
"""New keys: among them those by which some libraries find code to run."""
_MARK = "@fuzz@"
_MARKED = re.compile(f'"{_MARK}([^"]*){_MARK}"')


def change_json(data: bytes, *step: Any) -> bytes:
    """A JSON text after one step."""
    return changed(data.decode("utf-8", "surrogatepass"), step).encode("utf-8", "surrogatepass")


def change_line(data: bytes, number: int, *step: Any) -> bytes:
    """JSON lines after one step in one of them."""
    lines = data.split(b"\n")
    lines[number] = change_json(lines[number], *step)
    return b"\n".join(lines)


def draw_json(data: bytes, chance: random.Random) -> Step:
    """A step for a JSON text."""
    return ["json", *drawn(json.loads(data), chance)]


def draw_line(data: bytes, chance: random.Random) -> Step:
    """A step for a line of JSON lines."""
    lines = data.split(b"\n")
    number = chance.choice([i for i, line in enumerate(lines) if line.strip()])
    return ["line", number, *drawn(json.loads(lines[number]), chance)]


def drawn(data: Any, chance: random.Random) -> Step:
    """``[action, path, …]`` for plain data: values of any depth are met alike."""
    path = chance.choice(_paths(data))
    value = _at(data, path)
    action = chance.choice(("set", "set", "set", "drop", "twice", "near", "add", "rename", "swap"))
    if action == "swap":
        return ["swap", path, chance.choice(_paths(data))]
    if action == "near" and isinstance(value, int) and not isinstance(value, bool):
        return [
            "number",
            path,
            chance.choice((value + 1, value - 1, -value, 2 * value, value + 2**32)),
        ]
    if action == "add" and isinstance(value, dict | list):
        return ["add", path, chance.choice(list(VALUES)), chance.choice(_KEYS)]
    if action in ("drop", "twice", "rename") and path:
        return [action, path]
    return ["set", path, chance.choice(list(VALUES))]


def changed(text: str, step: Any) -> str:
    """A JSON text after ``[action, path, …]``."""
    action, path, *more = step
    data = json.loads(text)
    if not path and action == "set":
        return VALUES[more[0]]
    holder, key = (_at(data, path[:-1]), path[-1]) if path else (None, None)
    if action == "set":
        holder[key] = _MARK + more[0] + _MARK
    elif action == "number":
        holder[key] = more[0]
    elif action == "drop":
        del holder[key]
    elif action == "twice":
        _double(holder, key)
    elif action == "rename":
        _rename(holder, key)
    elif action == "add":
        _add(_at(data, path), _MARK + more[0] + _MARK, more[1])
    elif action == "swap":
        other = more[0]
        a, b = _at(data, path), _at(data, other)
        holder[key] = b
        _at(data, other[:-1])[other[-1]] = a
    return filled(json.dumps(data))


def filled(text: str) -> str:
    """JSON in which the names of `VALUES` stand, with the values themselves."""
    return _MARKED.sub(lambda mark: VALUES[mark[1]], text)


def _double(holder: Any, key: Any) -> None:
    if isinstance(holder, list):
        holder.insert(key, holder[key])
    else:
        holder[f"{key} "] = holder[key]


def _rename(holder: Any, key: Any) -> None:
    if isinstance(holder, list):
        holder.append(holder.pop(key))
    else:
        holder["../" + key] = holder.pop(key)


def _add(value: Any, new: Any, key: str) -> None:
    if isinstance(value, list):
        value.append(new)
    else:
        value[key] = new


def _at(data: Any, path: list[Any]) -> Any:
    for key in path:
        data = data[key]
    return data


def _paths(data: Any, most: int = 400) -> list[list[Any]]:
    """Every place of plain data, the outer ones first."""
    found: list[list[Any]] = [[]]
    for path in found:
        value = _at(data, path)
        if isinstance(value, dict):
            found += [[*path, key] for key in value]
        elif isinstance(value, list):
            found += [[*path, i] for i in range(min(len(value), 6))]
        if len(found) > most:
            break
    return found
