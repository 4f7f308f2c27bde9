"""Changes of safetensors files: their header, the JSON that lmkin keeps in it, and the arrays, name by name."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fuzz.json_mutators import changed, drawn, filled

Step = list[Any]
Header = dict[str, Any]
_DTYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1", "U8": "u1",
    "BOOL": "?", "U16": "<u2", "U32": "<u4", "U64": "<u8",
}  # fmt: skip
_SPECIAL = (0, 1, -1, 2, 1e300, -1e300, 1e-300, "nan", "inf", 2**31, 2**62, -(2**63), 10**6)
_LENGTHS = (0, 1, 7, 2**16, 10**8, 10**8 + 1, 2**31, 2**62, 2**64 - 1)


def split(data: bytes) -> tuple[Header, bytes, int]:
    """The header as plain data, the bytes of the arrays, and how long the header was."""
    length = int.from_bytes(data[:8], "little")
    return json.loads(data[8 : 8 + length]), data[8 + length :], length


def join(header: Header | str, body: bytes, length: int) -> bytes:
    """The file again; the header as long as it was, where that will do."""
    text = filled(
        header if isinstance(header, str) else json.dumps(header, separators=(",", ":"))
    ).encode()
    text = text.ljust(length if len(text) <= length else -8 * (-len(text) // 8))
    return len(text).to_bytes(8, "little") + text + body


def arrays_of(data: bytes) -> dict[str, NDArray[Any]]:
    """The arrays by name; those of types that numpy does not have are left out."""
    header, body, _ = split(data)
    found = {}
    for name, about in header.items():
        if name != "__metadata__" and about["dtype"] in _DTYPES:
            start, stop = about["data_offsets"]
            flat = np.frombuffer(body[start:stop], _DTYPES[about["dtype"]])
            found[name] = flat.reshape(about["shape"]).copy()
    return found


def packed(data: bytes, arrays: dict[str, NDArray[Any]]) -> bytes:
    """The file with other arrays and the same metadata."""
    old, _, length = split(data)
    names = {np.dtype(v): k for k, v in _DTYPES.items()}
    header: Header = {"__metadata__": old["__metadata__"]} if "__metadata__" in old else {}
    body = b""
    for name, array in arrays.items():
        raw = np.ascontiguousarray(array).tobytes()
        header[name] = {
            "dtype": names[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [len(body), len(body) + len(raw)],
        }
        body += raw
    return join(header, body, length)


def change_tensors(data: bytes, part: str, *step: Any) -> bytes:
    """A safetensors file after one step."""
    if part == "length":
        return int(step[0]).to_bytes(8, "little") + data[8:]
    header, body, length = split(data)
    if part == "header":
        return join(changed(json.dumps(header), step), body, length)
    if part == "lmkin":
        header["__metadata__"]["lmkin"] = changed(header["__metadata__"]["lmkin"], step)
        return join(header, body, length)
    arrays = arrays_of(data)
    name, action, *more = step
    _change_array(arrays, name, action, *more)
    return packed(data, arrays)


def _change_array(arrays: dict[str, NDArray[Any]], name: str, action: str, *more: Any) -> None:
    array = arrays[name]
    if action == "drop":
        del arrays[name]
    elif action == "value":
        with np.errstate(all="ignore"):
            # To float and back, so that what does not fit wraps or saturates instead of raising.
            array.reshape(-1)[more[0]] = np.asarray(float(more[1])).astype(array.dtype)
    elif action == "fill":
        with np.errstate(all="ignore"):
            array[...] = np.asarray(float(more[0])).astype(array.dtype)
    elif action == "type":
        with np.errstate(all="ignore"):
            arrays[name] = array.astype(_DTYPES[more[0]])
    elif action == "flat":
        arrays[name] = array.reshape(-1)
    elif action == "deep":
        arrays[name] = array[None]
    elif action == "short":
        arrays[name] = array[:-1]
    elif action == "long":
        arrays[name] = np.concatenate([array, array])
    elif action == "none":
        arrays[name] = array[:0]
    elif action == "reverse":
        arrays[name] = array[::-1]
    elif action == "shuffle":
        np.random.default_rng(0).shuffle(array)
    elif action == "rename":
        arrays["../" + name] = arrays.pop(name)
    elif action == "add":
        arrays[f"{name}0"] = array
    elif action == "swap":
        arrays[name], arrays[more[0]] = arrays[more[0]], array


_ACTIONS = ("drop", "value", "value", "value", "fill", "type", "flat", "deep", "short", "long", "none", "reverse",
            "shuffle", "rename", "add", "swap")  # fmt: skip


def draw_tensors(data: bytes, chance: random.Random) -> Step:
    """A step for a safetensors file."""
    header, _, _ = split(data)
    inner = header.get("__metadata__", {}).get("lmkin")
    try:
        plain = None if inner is None else json.loads(inner)
    except ValueError:
        plain = None
    part = chance.choice(
        ("header", "array", "array", "array", *(["lmkin"] * 4 if isinstance(plain, dict) else []))
    )
    if chance.random() < 0.04:
        return ["tensors", "length", chance.choice(_LENGTHS)]
    if part == "header":
        return ["tensors", part, *drawn(header, chance)]
    if part == "lmkin":
        return ["tensors", part, *drawn(plain, chance)]
    arrays = arrays_of(data)
    name, action = chance.choice(list(arrays)), chance.choice(_ACTIONS)
    more: Step = []
    if action == "value" and arrays[name].size:
        more = [chance.randrange(arrays[name].size), chance.choice(_SPECIAL)]
    elif action == "fill":
        more = [chance.choice(_SPECIAL)]
    elif action == "type":
        more = [chance.choice(list(_DTYPES))]
    elif action == "swap":
        more = [chance.choice(list(arrays))]
    return ["tensors", "array", name, action, *more]
