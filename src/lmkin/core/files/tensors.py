"""Arrays and plain data in one safetensors file: written whole, with a checksum, the same bytes each time."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from ..errors import LmkinError
from .atomic import replacing
from .plain_data import Unfit, checked, parse_json
from .safe_files import require_file

_HEAD = "lmkin"
"""The only key of the metadata: with several, the library writes them in another order each time."""
_OUTER = {"kind": str, "format": int, "data": {str: Any}, "checksum": str}


def save_tensors(
    path: Path,
    arrays: Mapping[str, NDArray[Any]],
    data: Mapping[str, Any],
    *,
    kind: str,
    version: int = 1,
    error: type[LmkinError] = LmkinError,
) -> None:
    """Write arrays, and plain data about them, as a file of some kind. Raise if there is no room."""
    plain = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    stored = json.loads(json.dumps(data))  # as it will be read
    checksum = _checksum(kind, version, stored, plain)
    head = {"kind": kind, "format": version, "data": stored, "checksum": checksum}
    metadata = {_HEAD: json.dumps(head)}
    try:
        with replacing(path) as temporary:
            save_file(plain, temporary, metadata=metadata)
    except (OSError, SafetensorError) as problem:
        raise error(f"Cannot write {path}: {problem}. Is there room on the disk?") from problem


def tensors_kind(path: Path) -> str | None:
    """The kind of a safetensors file that lmkin wrote; None for one of another tool. Raise if it is damaged."""
    head = _head(path, _open(path, LmkinError), LmkinError)
    return None if head is None else str(head["kind"])


def load_tensors(
    path: Path,
    *,
    kind: str,
    schema: Any = None,
    version: int = 1,
    what: str = "",
    error: type[LmkinError] = LmkinError,
) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """What `save_tensors` wrote: arrays, and plain data that fit the schema.

    Raise if the file is not there, of another kind or a newer version, or if one bit is not as it was written.
    """
    what = what or kind
    file = _open(path, error)
    head = _head(path, file, error)
    if head is None or head["kind"] != kind:
        said = "lmkin did not write it" if head is None else f"it holds {head['kind']}"
        raise error(f"{path} is a safetensors file, but holds no {what}: {said}.")
    if head["format"] > version:
        raise error(f"{path} was written by a newer lmkin; update lmkin to read it.")
    try:
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        intact = _checksum(kind, head["format"], head["data"], arrays) == head["checksum"]
        if not intact:
            raise Unfit("its checksum is not the one that it was written with")
        data = checked(head["data"], {str: Any} if schema is None else schema)
    except (OSError, SafetensorError, ValueError, TypeError, MemoryError) as problem:
        raise error(f"{path} is damaged: {problem}. Make it again.") from None
    return arrays, data


def _open(path: Path, error: type[LmkinError]) -> Any:
    require_file(path, error)
    try:
        return safe_open(path, framework="numpy").__enter__()  # type: ignore[no-untyped-call]
    except (OSError, SafetensorError, MemoryError) as problem:
        raise error(f"{path} is no safetensors file, or is damaged: {problem}.") from None


def _head(path: Path, file: Any, error: type[LmkinError]) -> dict[str, Any] | None:
    """What a file says of itself, checked; None where lmkin did not write it."""
    text = (file.metadata() or {}).get(_HEAD)
    if text is None:
        return None
    try:
        head: dict[str, Any] = checked(parse_json(text), _OUTER)
    except Unfit as problem:
        raise error(f"{path} is damaged: {problem}. Make it again.") from None
    return head


def _checksum(kind: str, version: int, data: Any, arrays: Mapping[str, NDArray[Any]]) -> str:
    """Of everything: kind, plain data, and the name, type, shape and bytes of every array."""
    digest = hashlib.blake2b(
        json.dumps([kind, version, data], sort_keys=True).encode(), digest_size=16
    )
    for name, array in sorted(arrays.items()):
        digest.update(f"\0{name}\0{array.dtype}\0{array.shape}\0".encode())
        if array.size:
            digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()
