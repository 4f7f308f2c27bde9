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
from safetensors.numpy import save_file

from ..errors import ActivationsError
from ..interchange.atomic import replacing

_DTYPES = {"F16": np.float16, "F32": np.float32, "F64": np.float64}


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


def write_shard(
    path: Path, layers: Mapping[int, NDArray[Any]], *, key: str, start: int, stop: int
) -> str:
    """Write a shard atomically; returns its checksum."""
    crc = checksum(layers)
    metadata = {"lmkin": key, "start": str(start), "stop": str(stop), "crc32": crc}
    tensors = {tensor_name(n): np.ascontiguousarray(a) for n, a in layers.items()}
    with replacing(path) as temporary:
        try:
            save_file(tensors, temporary, metadata=metadata)
        except OSError:
            raise
        except Exception as error:  # safetensors has one exception class for everything
            raise _as_os_error(error) from error
    return crc


def _as_os_error(error: Exception) -> Exception:
    """Safetensors wraps the system's errors in text: "… (os error 28)"."""
    text = str(error)
    if "os error " in text:
        number = text.rpartition("os error ")[2].split(")")[0]
        return OSError(int(number), text)
    return error


def read_shard(path: Path) -> Shard:
    """Map a shard into memory; an error says what is wrong with it."""
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
