"""Changes of Arrow tables (Parquet, files, streams) and of gzip: what lies inside, made whole again."""

from __future__ import annotations

import gzip
import io
import json
import random
import zlib
from functools import cache
from typing import Any

import pyarrow as pa
from pyarrow import ipc, parquet

from fuzz.json_mutators import VALUES, changed, drawn
from fuzz.text_mutators import change_text, draw_text

Step = list[Any]
_HINTS = b"huggingface"
_TYPES: dict[str, Any] = {
    "numbers": lambda n: pa.array(range(n)),
    "none": lambda n: pa.nulls(n),
    "no text": lambda n: pa.nulls(n, pa.string()),
    "no lists": lambda n: pa.nulls(n, pa.list_(pa.string())),
    "bytes": lambda n: pa.array([b"\xff\xfe"] * n),
    "broken text": lambda n: pa.StringArray.from_buffers(
        n,
        pa.array([2 * i for i in range(n + 1)], pa.int32()).buffers()[1],
        pa.py_buffer(b"\xff\xc3" * n),
    ),
    "large text": lambda n: pa.array(["a b"] * n, pa.large_string()),
    "viewed text": lambda n: pa.array(["a b"] * n, pa.string_view()),
    "categories": lambda n: pa.array(["a b"] * n).dictionary_encode(),
    "empty text": lambda n: pa.array([""] * n),
    "NUL": lambda n: pa.array(["a\0b"] * n),
    "lists": lambda n: pa.array([["a", "b"]] * n),
    "empty lists": lambda n: pa.array([[]] * n, pa.list_(pa.string())),
    "lists of none": lambda n: pa.array([[None, "a"]] * n),
    "lists of lists": lambda n: pa.array([[["a"], ["b"]]] * n),
    "fixed lists": lambda n: pa.array([["a", "b"]] * n, pa.list_(pa.string(), 2)),
    "large lists": lambda n: pa.array([["a", "b"]] * n, pa.large_list(pa.string())),
    "mappings": lambda n: pa.array([{"a": 1}] * n),
    "pairs": lambda n: pa.array([[("a", 1)]] * n, pa.map_(pa.string(), pa.int32())),
    "times": lambda n: pa.array([2**62] * n, pa.timestamp("s")),
    "years": lambda n: pa.array([2**31 - 1] * n, pa.date32()),
    "durations": lambda n: pa.array([2**63 - 1] * n, pa.duration("s")),
    "not numbers": lambda n: pa.array([float("nan")] * n),
    "decimals": lambda n: pa.array([1] * n, pa.decimal128(38)),
    "huge classes": lambda n: pa.array([2**62] * n),
    "truth": lambda n: pa.array([True] * n),
}
"""Columns of other types, of so many rows."""
_ACTIONS = (
    "column",
    "column",
    "column",
    "drop",
    "rename",
    "twice",
    "rows",
    "metadata",
    "metadata",
    "hints",
    "wide",
)


def change_arrow(data: bytes, action: str, *more: Any) -> bytes:
    """A Parquet or Arrow file after one step, in the same container."""
    table = _table(data)
    if action == "column":
        name, kind = more
        column = _TYPES[kind](len(table))
        table = table.set_column(table.column_names.index(name), name, column)
    elif action == "drop":
        table = table.drop_columns([more[0]])
    elif action == "rename":
        table = table.rename_columns([more[1] if n == more[0] else n for n in table.column_names])
    elif action == "twice":
        table = table.append_column(more[0], table.column(more[0]))
    elif action == "rows":
        table = table.slice(0, 0) if more[0] == 0 else _many(table, more[0])
    elif action == "wide":
        table = pa.table({f"c{i}": pa.nulls(len(table)) for i in range(more[0])})
    elif action == "metadata":
        stored = (table.schema.metadata or {})[_HINTS].decode()
        table = table.replace_schema_metadata({_HINTS: changed(stored, more).encode()})
    elif action == "hints":
        table = table.replace_schema_metadata({_HINTS: VALUES[more[0]].encode()})
    return _written(table, data)


def _many(table: Any, rows: int) -> Any:
    """Rows without measure in few bytes: none of them holds anything."""
    return pa.table(
        {name: pa.nulls(rows, table.schema.field(name).type) for name in table.column_names}
    )


def _table(data: bytes) -> Any:
    if data[:4] == b"PAR1":
        return parquet.read_table(io.BytesIO(data))
    opened = ipc.open_file(data) if data[:6] == b"ARROW1" else ipc.open_stream(data)
    return opened.read_all()


def _written(table: Any, like: bytes) -> bytes:
    memory = io.BytesIO()
    if like[:4] == b"PAR1":
        parquet.write_table(table, memory)
    else:
        new = ipc.new_file if like[:6] == b"ARROW1" else ipc.new_stream
        with new(memory, table.schema) as file:
            file.write_table(table)
    return memory.getvalue()


def draw_arrow(data: bytes, chance: random.Random) -> Step:
    """A step for a Parquet or Arrow file."""
    table = _table(data)
    name = chance.choice(table.column_names)
    hints = (table.schema.metadata or {}).get(_HINTS)
    action = chance.choice(_ACTIONS)
    if action == "metadata" and hints is not None:
        return ["arrow", action, *drawn(json.loads(hints), chance)]
    if action in ("metadata", "hints"):
        return ["arrow", "hints", chance.choice(list(VALUES))]
    more: dict[str, Step] = {
        "column": [name, chance.choice(list(_TYPES))],
        "drop": [name],
        "rename": [
            name,
            chance.choice(
                ("tokens", "text", "label", "id", "../x", "", "x" * 5000, *table.column_names)
            ),
        ],
        "twice": [name],
        "rows": [0 if chance.random() < 0.7 else 3 * 10**6],
        "wide": [3000],
    }
    return ["arrow", action, *more[action]]


# -- gzip --------------------------------------------------------------------------------------------


@cache
def _member(size: int) -> bytes:
    return gzip.compress(b"a " * (size // 2), mtime=0)


def change_gzip(data: bytes, action: str, *more: Any) -> bytes:
    """A gzip file whose content was changed as a text; or that unpacks to gigabytes; or with a wrong trailer."""
    if action == "bomb":
        return _member(2**24) * (more[0] // 2**24)
    if action == "twice":
        return data * more[0]
    if action == "trailer":
        return data[:-8] + bytes.fromhex(more[0])
    if action == "raw":
        return zlib.compress(gzip.decompress(data))
    if action == "nested":
        return gzip.compress(data, mtime=0)
    if action == "rubbish":
        return data + b"rubbish"
    return gzip.compress(change_text(gzip.decompress(data), action, *more), mtime=0)


def draw_gzip(data: bytes, chance: random.Random) -> Step:
    """A step for a gzip file of text."""
    action = chance.choice(
        (
            "inside",
            "inside",
            "inside",
            "inside",
            "bomb",
            "twice",
            "trailer",
            "raw",
            "nested",
            "rubbish",
        )
    )
    if action == "inside":
        return ["gzip", *draw_text(gzip.decompress(data), chance)[1:]]
    more: dict[str, Step] = {
        "bomb": [chance.choice((2**26, 2**32))],
        "twice": [chance.choice((2, 500))],
        "trailer": [chance.randbytes(8).hex()],
    }
    return ["gzip", action, *more.get(action, [])]
