"""Mutants as plain data: a list of steps, each drawn from a seed, readable, and applied to bytes.

A step is ``[operation, *arguments]``. Steps say what they change (a key, a tensor, an offset), so that a recipe still
does the same when the file that it is applied to has changed a little.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

from fuzz import (
    hdf5_mutators,
    json_mutators,
    netcdf_mutators,
    packed_mutators,
    tensor_mutators,
    text_mutators,
)

Step = list[Any]
Operation = Callable[..., bytes]
Draw = Callable[[bytes, random.Random], Step]
INTEGERS = (
    0,
    1,
    0x7F,
    0xFF,
    0x7FFF,
    0xFFFF,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**40,
    2**63 - 1,
    2**63,
    2**64 - 1,
)
"""What lengths, offsets and counts are replaced by."""
MISHAPS = ("missing", "empty", "folder", "pipe", "endless", "loop", "elsewhere")
"""What may lie in the place of a file."""


# -- bytes -------------------------------------------------------------------------------------------


def flip(data: bytes, place: int, bit: int) -> bytes:
    """One bit."""
    return data[:place] + bytes([data[place] ^ (1 << bit)]) + data[place + 1 :]


def cut(data: bytes, start: int, length: int) -> bytes:
    """Without some bytes."""
    return data[:start] + data[start + length :]


def twice(data: bytes, start: int, length: int, times: int) -> bytes:
    """Some bytes again and again."""
    return data[: start + length] + data[start : start + length] * times + data[start + length :]


def insert(data: bytes, place: int, digits: str) -> bytes:
    """Bytes that were not there, as hexadecimal digits."""
    return data[:place] + bytes.fromhex(digits) + data[place:]


def put(data: bytes, place: int, digits: str) -> bytes:
    """Bytes in the place of others."""
    new = bytes.fromhex(digits)
    return data[:place] + new + data[place + len(new) :]


def swap(data: bytes, first: int, second: int, length: int) -> bytes:
    """Two blocks that do not overlap, each in the place of the other."""
    a, b = data[first : first + length], data[second : second + length]
    return data[:first] + b + data[first + length : second] + a + data[second + length :]


def zero(data: bytes, start: int, length: int) -> bytes:
    """A block of zeros, as a disk leaves it."""
    length = min(length, len(data) - start)
    return data[:start] + bytes(length) + data[start + length :]


def integer(data: bytes, place: int, size: int, order: str, value: int) -> bytes:
    """A whole number of 1 to 8 bytes, small or huge."""
    raw = (value % 2 ** (8 * size)).to_bytes(size, "big" if order == "big" else "little")
    return data[:place] + raw + data[place + size :]


def draw_flip(data: bytes, chance: random.Random) -> Step:
    """One bit anywhere."""
    return ["flip", chance.randrange(len(data)), chance.randrange(8)]


def draw_bytes(data: bytes, chance: random.Random) -> Step:
    """Any change of bytes that knows nothing of what they mean; half of them near the beginning, where headers lie."""
    size = len(data)
    place = chance.randrange(min(size, 4096) if chance.random() < 0.5 else size)
    length = min(chance.choice((1, 2, 4, 8, 64, 512, 4096)), size - place)
    new = chance.randbytes(chance.choice((1, 2, 4, 8, 40))).hex()
    kind = chance.choice(
        ("flip", "cut", "tail", "twice", "insert", "put", "swap", "zero", "integer", "integer")
    )
    if kind == "tail":
        return ["cut", place, size]
    if kind == "swap":
        first, second = sorted((place, chance.randrange(size)))
        length = max(1, min(length, second - first, size - second))
        return (
            ["swap", first, second, length] if second - first >= length else draw_flip(data, chance)
        )
    arguments: dict[str, Step] = {
        "flip": [place, chance.randrange(8)],
        "cut": [place, length],
        "twice": [place, length, chance.choice((1, 1, 3, 1000))],
        "insert": [place, new],
        "put": [place, new],
        "zero": [place, length],
        "integer": [
            place,
            chance.choice((1, 2, 4, 8)),
            chance.choice(("big", "little")),
            chance.choice(INTEGERS),
        ],
    }
    return [kind, *arguments[kind]]


# -- all together ------------------------------------------------------------------------------------

OPERATIONS: dict[str, Operation] = {
    "flip": flip, "cut": cut, "twice": twice, "insert": insert, "put": put, "swap": swap, "zero": zero,
    "integer": integer,
    "json": json_mutators.change_json, "line": json_mutators.change_line,
    "text": text_mutators.change_text,
    "tensors": tensor_mutators.change_tensors,
    "hdf5": hdf5_mutators.change_hdf5,
    "netcdf": netcdf_mutators.change_netcdf,
    "arrow": packed_mutators.change_arrow, "gzip": packed_mutators.change_gzip,
}  # fmt: skip
DRAWS: Mapping[str, Draw] = {
    "bytes": draw_bytes,
    "json": json_mutators.draw_json,
    "lines of json": json_mutators.draw_line,
    "text": text_mutators.draw_text,
    "tensors": tensor_mutators.draw_tensors,
    "hdf5": hdf5_mutators.draw_hdf5,
    "netcdf": netcdf_mutators.draw_netcdf,
    "arrow": packed_mutators.draw_arrow,
    "gzip": packed_mutators.draw_gzip,
}
"""By the form of a file."""


def apply(data: bytes, steps: list[Step]) -> bytes:
    """The bytes after all steps; a step that cannot be applied changes nothing."""
    for operation, *arguments in steps:
        try:
            data = OPERATIONS[operation](data, *arguments)
        except Exception:  # an earlier step broke what this one would change
            continue
    return data


def draw(data: bytes, form: str, chance: random.Random) -> list[Step]:
    """One to three steps for a file of some form; of the form's own kind more often than of bytes."""
    steps: list[Step] = []
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        if not data:
            break
        by_form = form != "bytes" and chance.random() < 0.7
        try:
            step = DRAWS[form](data, chance) if by_form else draw_bytes(data, chance)
        except Exception:  # an earlier step broke what this one would change
            step = draw_bytes(data, chance)
        data = apply(data, [step])
        steps.append(step)
    return steps
