"""One shard: a safetensors file with a tensor a layer, written whole, read by memory map."""

from __future__ import annotations

import json
import os
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core import ActivationsError, open_file, replacing
from .direct_io import aligned_memory, round_up, write_file

_DTYPES: dict[str, np.dtype[Any]] = {"F16": np.dtype(np.float16), "F32": np.dtype(np.float32)}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}
_CRC = re.compile(rb'"crc32":"([0-9a-f]{8})"')


@dataclass(frozen=True)
class Shard:
    """A finished shard."""

    path: Path
    crc32: str
    layers: Mapping[int, NDArray[Any]]

    def verify(self) -> None:
        """Compare the checksum: a flipped bit anywhere in the numbers is found."""
        if checksum(self.layers) != self.crc32:
            raise ActivationsError(
                f"{self.path} is damaged: its checksum is not the one it was written with. "
                f"Delete this file and extract again; the other shards are kept."
            )


def tensor_name(layer: int) -> str:
    """The name of a layer inside a shard."""
    return f"layer_{layer:03d}"


def checksum(layers: Mapping[int, NDArray[Any]]) -> str:
    """CRC-32 of all numbers in the order of the layers."""
    value = 0
    for layer in sorted(layers):
        value = zlib.crc32(np.ascontiguousarray(layers[layer]).data, value)
    return f"{value:08x}"


class ShardImage:
    """The bytes of a shard file in memory: a header, then one layer after another.

    Layers are computed straight into it, and it is written as it is. The format is simple enough to be written by
    hand; the library would copy every layer first.
    """

    def __init__(self, widths: Mapping[int, int], rows: int, dtype: np.dtype[Any]):
        self.widths = dict(sorted(widths.items()))
        self.dtype = dtype
        self._header = round_up(1024 + 192 * len(self.widths))
        self._memory = aligned_memory(
            self._header + rows * sum(self.widths.values()) * dtype.itemsize
        )

    def layers(self, rows: int) -> dict[int, NDArray[Any]]:
        """Every layer of a shard of so many rows, to be filled."""
        arrays: dict[int, NDArray[Any]] = {}
        position = self._header
        for number, width in self.widths.items():
            flat = np.frombuffer(self._memory, self.dtype, rows * width, position)
            arrays[number] = flat.reshape(rows, width)
            position += flat.nbytes
        return arrays

    def write(self, path: Path, *, key: str, start: int, stop: int) -> str:
        """Write the shard atomically; returns its checksum."""
        layers = self.layers(stop - start)
        crc = checksum(layers)
        text = header_of(ShardPlan(key, start, stop, self.widths, self.dtype), crc)
        end = sum(array.nbytes for array in layers.values())
        self._memory[: self._header] = len(text).to_bytes(8, "little") + text
        with replacing(path) as temporary, memoryview(self._memory) as data:
            write_file(temporary, data[: self._header + end])
        return crc


@dataclass(frozen=True)
class ShardPlan:
    """What a shard must be: whose, which rows, and the width of every layer."""

    key: str
    start: int
    stop: int
    widths: Mapping[int, int]
    dtype: np.dtype[Any]


def header_of(plan: ShardPlan, crc: str) -> bytes:
    """The header of a shard, padded to whole pages: nothing in it is left open."""
    size = round_up(1024 + 192 * len(plan.widths)) - 8
    rows, end = plan.stop - plan.start, 0
    header: dict[str, Any] = {
        "__metadata__": {
            "lmkin": plan.key,
            "start": str(plan.start),
            "stop": str(plan.stop),
            "crc32": crc,
        }
    }
    for number, width in sorted(plan.widths.items()):
        length = rows * width * plan.dtype.itemsize
        header[tensor_name(number)] = {
            "dtype": _NAMES[plan.dtype],
            "shape": [rows, width],
            "data_offsets": [end, end + length],
        }
        end += length
    return json.dumps(header, separators=(",", ":")).encode().ljust(size)


def read_shard(path: Path, plan: ShardPlan, crc: str | None = None) -> Shard:
    """A shard, mapped into memory. Raise if it is another one, or damaged, saying how.

    The header is compared byte by byte with the one that such a shard has; only its checksum is taken from it, where
    the manifest does not know it yet.
    """
    again = "Delete this file and extract again; the other shards are kept."
    if not path.exists() and not path.is_symlink():
        raise ActivationsError(f"{path} is missing. Extract again; the other shards are kept.")
    with open_file(path, links=False, error=ActivationsError) as file:
        size = os.fstat(file.fileno()).st_size
        wanted = header_of(plan, crc or "0" * 8)
        head = file.read(8 + len(wanted))
        said = _CRC.search(head) if crc is None else None
        if said:
            wanted = header_of(plan, said[1].decode())
        rows = plan.stop - plan.start
        length = 8 + len(wanted) + rows * sum(plan.widths.values()) * plan.dtype.itemsize
        if size != length:
            raise ActivationsError(
                f"{path} belongs to another run or is damaged: it has {size:,} bytes, {length:,} were written. {again}"
            )
        if head != len(wanted).to_bytes(8, "little") + wanted:
            raise ActivationsError(
                f"{path} belongs to another run or is damaged: its header is not the one that the manifest asks for. "
                f"{again}"
            )
        data: Any = (
            np.memmap(file, np.uint8, mode="r") if size > len(head) else np.zeros(size, np.uint8)
        )
    layers, position = {}, len(head)
    for number, width in sorted(plan.widths.items()):
        end = position + rows * width * plan.dtype.itemsize
        layers[number] = data[position:end].view(plan.dtype).reshape(rows, width)
        position = end
    return Shard(path, (crc or (said[1].decode() if said else "")), layers)
