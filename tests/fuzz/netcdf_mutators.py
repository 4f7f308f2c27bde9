"""Changes of netCDF files: variables, dimensions, values, and attributes, among them JSON."""

from __future__ import annotations

import io
import json
import random
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.io import netcdf_file

from fuzz.json_mutators import VALUES, changed, drawn

Step = list[Any]
_JSON = "json:"
_TEXTS = {"empty": "", "text": "x", "open JSON": "json:{", "no JSON": "json:", "NaN": "json:NaN", "above": "../x",
          "long": "x" * 100_000, "deep": "json:" + "[" * 100_000 + "]" * 100_000, "digits": "json:" + "9" * 5000,
          "surrogate": 'json:"\\ud800"', "null": "json:null", "list": "json:[1]"}  # fmt: skip
_SPECIAL = ("nan", "inf", "-inf", "-1", "0", "1e300", "2147483647", "5")
_ACTIONS = ("drop", "rename", "type", "special", "fill", "attribute", "drop attribute", "transpose", "flat", "swap",
            "scale", "units")  # fmt: skip


@dataclass
class Model:
    """A netCDF file in memory."""

    sizes: dict[str, Any]
    attributes: dict[str, Any]
    variables: dict[str, tuple[tuple[str, ...], Any, dict[str, Any]]]


def read(data: bytes) -> Model:
    """Everything in a file."""
    with netcdf_file(io.BytesIO(data), "r", mmap=False) as file:
        variables = {
            name: (
                tuple(v.dimensions),
                np.array(v[...] if v.shape else v.getValue()),
                dict(v._attributes),
            )
            for name, v in file.variables.items()
        }
        return Model(dict(file.dimensions), dict(file._attributes), variables)


def write(model: Model) -> bytes:
    """The file again; dimensions that a changed variable needs are added."""
    memory = io.BytesIO()
    file = netcdf_file(memory, "w", version=2)
    for name, size in model.sizes.items():
        file.createDimension(name, size)
    for key, value in model.attributes.items():
        setattr(file, key, value)
    for name, (dims, array, attributes) in model.variables.items():
        own = []
        for axis, (dim, size) in enumerate(zip(dims, array.shape, strict=False)):
            fits = model.sizes.get(dim) == size
            own.append(dim if fits else f"{name}_{axis}")
            if not fits:
                file.createDimension(own[-1], size)
        variable = file.createVariable(name, array.dtype, tuple(own))
        if array.shape:
            variable[...] = array
        else:
            variable.assignValue(array)
        for key, value in attributes.items():
            setattr(variable, key, value)
    file.flush()
    return memory.getvalue()


def change_netcdf(data: bytes, action: str, name: str, *more: Any) -> bytes:
    """A netCDF file after one step; the name "" is that of the file itself, which has attributes."""
    model = read(data)
    attributes = model.variables[name][2] if name else model.attributes
    if action == "attribute":
        attributes[more[0]] = _TEXTS[more[1]].encode()
    elif action == "number":
        attributes[more[0]] = np.array([float(x) for x in more[1]])
    elif action == "drop attribute":
        del attributes[more[0]]
    elif action == "json":
        text = attributes[more[0]].decode()
        attributes[more[0]] = (_JSON + changed(text.removeprefix(_JSON), more[1:])).encode()
    elif action == "json value":
        attributes[more[0]] = (_JSON + VALUES[more[1]]).encode()
    else:
        _change(model, action, name, *more)
    return write(model)


def _change(model: Model, action: str, name: str, *more: Any) -> None:
    dims, array, attributes = model.variables[name]
    if action == "drop":
        del model.variables[name]
    elif action == "rename":
        model.variables[more[0]] = model.variables.pop(name)
    elif action == "swap":
        model.variables[name], model.variables[more[0]] = (
            model.variables[more[0]],
            model.variables[name],
        )
    elif action == "special":
        with np.errstate(all="ignore"):
            array.reshape(-1)[more[0]] = _as(more[1], array.dtype)
    elif action == "fill":
        with np.errstate(all="ignore"):
            array[...] = _as(more[0], array.dtype)
    elif action == "type":
        with np.errstate(all="ignore"):
            model.variables[name] = (dims, array.astype(more[0]), attributes)
    elif action == "transpose":
        model.variables[name] = (dims[::-1], array.T, attributes)
    elif action == "flat":
        model.variables[name] = (("flat",), array.reshape(-1), attributes)
    elif action == "scale":
        attributes["scale_factor"] = np.array([float(more[0])])
    elif action == "units":
        attributes["units"] = more[0].encode()


def _as(text: str, dtype: Any) -> Any:
    return text[:1].encode() if dtype.kind == "S" else np.asarray(float(text)).astype(dtype)


def draw_netcdf(data: bytes, chance: random.Random) -> Step:
    """A step for a netCDF file."""
    model = read(data)
    whole = chance.random() < 0.4
    name = "" if whole else chance.choice(list(model.variables))
    attributes = model.attributes if whole else model.variables[name][2]
    keys = [k for k in attributes if isinstance(attributes[k], bytes)] or ["units"]
    action = chance.choice(
        ("attribute", "drop attribute", "json", "json", "number") if whole else _ACTIONS
    )
    key = chance.choice(keys)
    said = attributes.get(key, b"").decode("utf-8", "replace")
    if action == "json" and said.startswith(_JSON):
        return ["netcdf", "json", name, key, *drawn(json.loads(said.removeprefix(_JSON)), chance)]
    if action == "json":
        return ["netcdf", "json value", name, key, chance.choice(list(VALUES))]
    more: dict[str, Step] = {
        "attribute": [key, chance.choice(list(_TEXTS))],
        "number": [key, chance.choice((["nan"], ["1", "2"], ["1e300"], ["-1"]))],
        "drop attribute": [key],
        "rename": [chance.choice(("x", "../x", "layer_x", "model", "neuron"))],
        "type": [chance.choice((">f4", ">f8", ">i4", ">i2", "S1", "i1"))],
        "fill": [chance.choice(_SPECIAL)],
        "scale": [chance.choice(_SPECIAL)],
        "units": [
            chance.choice(("days since 2000-01-01", "seconds since 1-1-1", "days", "seconds"))
        ],
        "swap": [chance.choice(list(model.variables))],
    }
    if action == "special":
        size = max(1, model.variables[name][1].size)
        more["special"] = [chance.randrange(size), chance.choice(_SPECIAL)]
    return ["netcdf", action, name, *more.get(action, [])]
