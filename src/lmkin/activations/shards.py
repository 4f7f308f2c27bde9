"""One shard: a safetensors file with a tensor a layer, written whole, read by memory map."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core import ActivationsError, replacing
from .direct_io import aligned_memory, round_up, write_file

_DTYPES: dict[str, np.dtype[Any]] = {"F16": np.dtype(np.float16), "F32": np.dtype(np.float32)}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}


@dataclass(frozen=True)
class Shard:
    """A finished shard as its own header describes it."""

    path: Path
    key: str
    start: int
    stop: int
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
        header: dict[str, Any] = {
            "__metadata__": {"lmkin": key, "start": str(start), "stop": str(stop), "crc32": crc}
        }
        end = 0
        for number, array in layers.items():
            header[tensor_name(number)] = {
                "dtype": _NAMES[array.dtype],
                "shape": list(array.shape),
                "data_offsets": [end, end + array.nbytes],
            }
            end += array.nbytes
        text = json.dumps(header, separators=(",", ":")).encode().ljust(self._header - 8)
        self._memory[: self._header] = len(text).to_bytes(8, "little") + text
        with replacing(path) as temporary, memoryview(self._memory) as data:
            write_file(temporary, data[: self._header + end])
        return crc


def read_shard(path: Path) -> Shard:
    """A shard, mapped into memory. Raise if it is damaged, saying how."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if not 2 <= length <= size - 8:
                raise ValueError("its header is cut off")
            header = json.loads(file.read(length))
        metadata = header.pop("__metadata__")
        end = max(entry["data_offsets"][1] for entry in header.values())
        if size != 8 + length + end:
            raise ValueError(f"it has {size:,} bytes, {8 + length + end:,} were written")
        data = np.memmap(path, np.uint8, mode="r", offset=8 + length)
        layers = {}
        for name in sorted(header):
            entry = header[name]
            first, last = entry["data_offsets"]
            flat = data[first:last].view(_DTYPES[entry["dtype"]])
            layers[int(name.removeprefix("layer_"))] = flat.reshape(entry["shape"])
        return Shard(
            path,
            metadata["lmkin"],
            int(metadata["start"]),
            int(metadata["stop"]),
            metadata["crc32"],
            layers,
        )
    except FileNotFoundError:
        raise ActivationsError(
            f"{path} is missing. Extract again; the other shards are kept."
        ) from None
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise ActivationsError(
            f"{path} is damaged ({error}). Delete this file and extract again; the other shards "
            f"are kept."
        ) from None
