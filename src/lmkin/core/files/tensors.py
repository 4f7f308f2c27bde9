"""Arrays and plain data in one safetensors file, written whole or not at all."""

from __future__ import annotations

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

_HEAD = "lmkin"


def save_tensors(path: Path, arrays: Mapping[str, NDArray[Any]], head: Mapping[str, Any]) -> None:
    """Write arrays, and plain data about them. Raise if there is no room."""
    plain = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    try:
        with replacing(path) as temporary:
            save_file(plain, temporary, metadata={_HEAD: json.dumps(head)})
    except (OSError, SafetensorError) as error:
        raise LmkinError(f"Cannot write {path}: {error}. Is there room on the disk?") from error


def load_tensors(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """What `save_tensors` wrote. Raise if the file is not there, or damaged."""
    try:
        with safe_open(path, framework="numpy") as file:
            head = json.loads((file.metadata() or {}).get(_HEAD, "null"))
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (OSError, SafetensorError, ValueError) as error:
        raise LmkinError(f"{path} cannot be read, or is damaged: {error}.") from None
    if not isinstance(head, dict):
        raise LmkinError(f"{path} is a safetensors file, but not one that lmkin wrote.")
    return arrays, head
