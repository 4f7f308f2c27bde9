"""Changes of HDF5 files of activations: links out of the file, other types, shapes without measure, another index."""

from __future__ import annotations

import io
import json
import random
from typing import Any

import h5py
import numpy as np

from fuzz.json_mutators import VALUES, changed, drawn

Step = list[Any]
INDEX = "sentence_to_index"
_ACTIONS = (
    "drop", "group", "external link", "soft link", "loop", "external storage", "virtual", "giant", "giant chunks",
    "type", "special", "flat", "deep", "empty", "scalar", "squeezed", "short", "wide",
)  # fmt: skip
_TYPES = (
    "f2",
    "f8",
    "i8",
    "u1",
    "?",
    "c16",
    "S4",
    "text",
    "compound",
    "reference",
    "region",
    "enum",
    "ragged",
    ">f4",
)
_INDICES = (
    "scalar text",
    "bytes",
    "numbers",
    "no entry",
    "two entries",
    "group",
    "not UTF-8",
    "missing",
    "ragged",
)


def change_hdf5(data: bytes, action: str, *more: Any) -> bytes:
    """An HDF5 file after one step."""
    memory = io.BytesIO(data)
    with h5py.File(memory, "r+") as file:
        if action == "index":
            _set_index(file, changed(_index(file), more))
        elif action == "index value":
            _set_index(file, VALUES[more[0]])
        elif action == "index kind":
            _index_kind(file, more[0])
        else:
            _change(file, action, *more)
    return memory.getvalue()


def _index(file: Any) -> str:
    return str(file[INDEX].asstr()[0])


def _set_index(file: Any, text: str) -> None:
    del file[INDEX]
    stored = file.create_dataset(INDEX, (1,), dtype=h5py.string_dtype())
    stored[0] = text.encode("utf-8", "surrogatepass")


def _index_kind(file: Any, kind: str) -> None:
    text = _index(file)
    del file[INDEX]
    if kind == "scalar text":
        file.create_dataset(INDEX, data=text)
    elif kind == "bytes":
        file.create_dataset(INDEX, data=np.frombuffer(text.encode(), np.uint8))
    elif kind == "numbers":
        file.create_dataset(INDEX, data=np.arange(3.0))
    elif kind == "no entry":
        file.create_dataset(INDEX, (0,), dtype=h5py.string_dtype())
    elif kind == "two entries":
        file.create_dataset(INDEX, data=[text, "{}"], dtype=h5py.string_dtype())
    elif kind == "group":
        file.create_group(INDEX)
    elif kind == "not UTF-8":
        file.create_dataset(INDEX, data=np.void(text.encode() + b"\xff"))
    elif kind == "ragged":
        stored = file.create_dataset(INDEX, (1,), dtype=h5py.vlen_dtype(np.int32))
        stored[0] = np.arange(4)


def _change(file: Any, action: str, name: str, *more: Any) -> None:
    array = np.asarray(file[name][()])
    del file[name]
    if action == "group":
        file.create_group(name)
    elif action == "external link":
        file[name] = h5py.ExternalLink(more[0], "/0")
    elif action == "soft link":
        file[name] = h5py.SoftLink(more[0])
    elif action == "loop":
        file[name] = h5py.SoftLink("/" + name)
    elif action == "external storage":
        file.create_dataset(name, array.shape, array.dtype, external=[(more[0], 0, array.nbytes)])
    elif action == "virtual":
        layout = h5py.VirtualLayout(array.shape, array.dtype)
        layout[...] = h5py.VirtualSource(more[0], "0", array.shape)
        file.create_virtual_dataset(name, layout)
    elif action == "giant":
        file.create_dataset(name, (*array.shape[:-1], 2**33), array.dtype)
    elif action == "giant chunks":
        shape = tuple(more[0])
        file.create_dataset(
            name, shape, array.dtype, chunks=(1,) * (len(shape) - 1) + (16,), compression="gzip"
        )
    elif action == "type":
        _typed(file, name, array, more[0])
    else:
        file.create_dataset(
            name, data=_reshaped(array, action, *more)
        ) if action != "drop" else None


def _reshaped(array: Any, action: str, *more: Any) -> Any:
    if action == "special":
        array.reshape(-1)[more[0]] = float(more[1])
        return array
    return {
        "flat": lambda: array.reshape(-1),
        "deep": lambda: array[None],
        "empty": lambda: array[..., :0],
        "scalar": lambda: array.reshape(-1)[0],
        "squeezed": lambda: array[0],
        "short": lambda: array[:, :-1],
        "wide": lambda: np.concatenate([array, array], -1),
    }[action]()


def _typed(file: Any, name: str, array: Any, kind: str) -> None:
    if kind == "text":
        file.create_dataset(name, data=np.full(array.shape, "x", object), dtype=h5py.string_dtype())
    elif kind == "compound":
        file.create_dataset(name, array.shape, np.dtype([("a", "f4"), ("b", "i8")]))
    elif kind in ("reference", "region"):
        file.create_dataset(
            name, array.shape, h5py.ref_dtype if kind == "reference" else h5py.regionref_dtype
        )
    elif kind == "enum":
        file.create_dataset(name, array.shape, h5py.enum_dtype({"a": 0, "b": 1}, "i4"))
    elif kind == "ragged":
        file.create_dataset(name, array.shape, h5py.vlen_dtype(np.float32))
    elif kind == "S4":
        file.create_dataset(name, data=np.full(array.shape, b"abcd"))
    else:
        file.create_dataset(name, data=array.astype(kind))


def draw_hdf5(data: bytes, chance: random.Random) -> Step:
    """A step for an HDF5 file of activations."""
    with h5py.File(io.BytesIO(data), "r") as file:
        names = [n for n in file if n != INDEX]
        name = chance.choice(names)
        size, shape = file[name].size, file[name].shape
        text = _index(file)
    part = chance.random()
    if part < 0.2:
        return ["hdf5", "index", *drawn(json.loads(text), chance)]
    if part < 0.25:
        return ["hdf5", "index value", chance.choice(list(VALUES))]
    if part < 0.32:
        return ["hdf5", "index kind", chance.choice(_INDICES)]
    action = chance.choice(_ACTIONS)
    step: Step = ["hdf5", action, name]
    if action in ("external link", "external storage", "virtual"):
        step.append(
            chance.choice(("/etc/passwd", "../other.hdf5", "missing.hdf5", "a.hdf5", "/dev/zero"))
        )
    elif action == "soft link":
        step.append(chance.choice(("/", "/missing", "/" + names[0], "/" + INDEX)))
    elif action == "giant chunks":
        step.append(
            chance.choice(([*shape[:-1], 2**34], [10**6, *shape[1:]], [shape[0], 10**9, shape[2]]))
        )
    elif action == "type":
        step.append(chance.choice(_TYPES))
    elif action == "special":
        step += [chance.randrange(size), chance.choice(("nan", "inf", "-inf", "1e38", "0"))]
    return step
