"""Plain data from outside: JSON that is parsed with bounds, and checked against a schema before anything sees it.

A schema is plain data too: a type (``str``, ``int``, ``float``, ``bool``, ``None``), ``Any``, a tuple of alternatives,
a list with the schema of its items, a dict of keys (``"key?"`` may be missing, ``str`` is any other), or one of
`Whole`, `Number`, `Text` and `Choice`, which have bounds.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from ..errors import LmkinError
from ..quotation import quoted
from .safe_files import MANIFEST_BYTES, read_file

DEPTH = 60
"""Levels of nesting: more than anything here has, far fewer than would exhaust the stack."""


@dataclass(frozen=True)
class Whole:
    """A whole number between two bounds."""

    least: int = 0
    most: int = 2**53


@dataclass(frozen=True)
class Number:
    """A finite number between two bounds."""

    least: float = -math.inf
    most: float = math.inf


@dataclass(frozen=True)
class Text:
    """A text of at most so many characters that a pattern matches whole."""

    pattern: str = r"(?s).*"
    most: int = 1_000_000


@dataclass(frozen=True)
class Choice:
    """One of some values."""

    values: tuple[Any, ...]


class Unfit(ValueError):  # noqa: N818 (it never reaches a user by this name)
    """Data that do not fit a schema; says where, and what was expected."""


def parse_json(text: str | bytes) -> Any:
    """JSON as plain data. Raise `Unfit` if it is none, nested too deeply, or holds NaN or infinite numbers."""
    try:
        data = json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise Unfit("it is nested too deeply") from None
    except (ValueError, MemoryError) as error:
        raise Unfit(f"it is no JSON ({_short(error)})") from None
    _require_shallow(data, DEPTH)
    return data


def to_json(data: Any, indent: int | None = None) -> str:
    r"""JSON as text that any encoding can hold: characters of all scripts as they are, lone surrogates as escapes.

    >>> to_json({"a": "ä"}), to_json(chr(0xD800))
    ('{"a": "ä"}', '"\\ud800"')
    """
    text = json.dumps(data, ensure_ascii=False, indent=indent)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(data, indent=indent)
    return text


def _refuse_constant(name: str) -> NoReturn:
    raise Unfit(f"{name} is no number")


def _require_shallow(data: Any, left: int) -> None:
    if isinstance(data, dict | list):
        if left == 0:
            raise Unfit("it is nested too deeply")
        for item in data.values() if isinstance(data, dict) else data:
            if isinstance(item, dict | list):
                _require_shallow(item, left - 1)


def read_json(
    path: Path,
    schema: Any,
    *,
    what: str,
    remedy: str = "",
    limit: int = MANIFEST_BYTES,
    error: type[LmkinError] = LmkinError,
) -> Any:
    """A JSON file of lmkin's own, checked. Raise, with file and place, if it is not what the schema says."""
    data = read_file(path, limit, links=False, error=error)
    try:
        return checked(parse_json(data), schema)
    except Unfit as problem:
        raise error(
            f"{path} is no {what} that lmkin wrote, or is damaged: {problem}.{remedy}"
        ) from None


def checked(data: Any, schema: Any, where: str = "") -> Any:
    """The data, if they fit the schema. Raise `Unfit` with the place otherwise.

    >>> checked({"a": 3, "b": [1.5, 2]}, {"a": Whole(0, 9), "b": [Number()], "c?": str})
    {'a': 3, 'b': [1.5, 2]}
    >>> checked({"a": 30}, {"a": Whole(0, 9)})
    Traceback (most recent call last):
    ...
    lmkin.core.files.plain_data.Unfit: a: a whole number from 0 to 9 is expected, not 30
    """
    if isinstance(schema, tuple):
        return _any_of(data, schema, where)
    if isinstance(schema, list):
        _require(isinstance(data, list), data, "a list", where)
        for number, item in enumerate(data):
            checked(item, schema[0], f"{where}[{number}]")
    elif isinstance(schema, Mapping):
        _check_mapping(data, schema, where)
    else:
        _check_value(data, schema, where)
    return data


def _any_of(data: Any, schemas: tuple[Any, ...], where: str) -> Any:
    problems = []
    for schema in schemas:
        try:
            return checked(data, schema, where)
        except Unfit as problem:
            problems.append(problem)
    raise problems[0]


def _check_mapping(data: Any, schema: Mapping[Any, Any], where: str) -> None:
    _require(isinstance(data, dict), data, "a mapping", where)
    known = set()
    for key, inner in schema.items():
        if key is str:
            continue
        name = key.removesuffix("?")
        known.add(name)
        if name in data:
            checked(data[name], inner, f"{where}.{name}" if where else name)
        elif not key.endswith("?"):
            raise Unfit(f"{where + ': ' if where else ''}{name} is missing")
    for name in data.keys() - known:
        if str not in schema:
            raise Unfit(f"{where + ': ' if where else ''}{quoted(name)} is not expected")
        checked(data[name], schema[str], f"{where}.{quoted(name)}" if where else quoted(name))


def _check_value(data: Any, schema: Any, where: str) -> None:
    if schema is Any:
        return
    if schema is None:
        _require(data is None, data, "nothing", where)
    elif schema is bool:
        _require(isinstance(data, bool), data, "true or false", where)
    elif schema is str:
        _require(isinstance(data, str), data, "a text", where)
    elif isinstance(schema, Whole) or schema is int:
        bounds = schema if isinstance(schema, Whole) else Whole(-(2**63), 2**63)
        whole = isinstance(data, int) and not isinstance(data, bool)
        fits = whole and bounds.least <= data <= bounds.most
        _require(fits, data, f"a whole number from {bounds.least:,} to {bounds.most:,}", where)
    elif isinstance(schema, Number) or schema is float:
        limits = schema if isinstance(schema, Number) else Number()
        number = isinstance(data, int | float) and not isinstance(data, bool)
        fits = number and abs(data) < 1e300 and limits.least <= data <= limits.most
        _require(fits, data, "a number" + _between(limits), where)
    elif isinstance(schema, Text):
        fits = (
            isinstance(data, str)
            and len(data) <= schema.most
            and re.fullmatch(schema.pattern, data)
        )
        _require(bool(fits), data, "a text of another form", where)
    elif isinstance(schema, Choice):
        hashable = isinstance(data, str | int | float | bool | type(None))
        _require(
            hashable and data in schema.values,
            data,
            f"one of {', '.join(map(str, schema.values))}",
            where,
        )
    else:
        raise TypeError(f"no schema: {schema!r}")


def _between(limits: Number) -> str:
    finite = math.isfinite(limits.least) or math.isfinite(limits.most)
    return f" from {limits.least:g} to {limits.most:g}" if finite else ""


def _require(fits: bool, data: Any, expected: str, where: str) -> None:
    if not fits:
        raise Unfit(f"{where + ': ' if where else ''}{expected} is expected, not {quoted(data)}")


def _short(error: Exception) -> str:
    return str(error).partition(":")[0][:80]
