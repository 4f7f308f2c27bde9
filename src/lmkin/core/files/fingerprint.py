"""Fingerprints: short names made of content, the same on every machine."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

SIZE = 16
"""Bytes of a fingerprint; 32 hexadecimal digits."""


def fingerprint(data: Any) -> str:
    """The fingerprint of text, bytes, an array, or plain data (as JSON with sorted keys).

    >>> fingerprint({"b": 1, "a": [2, None]}) == fingerprint({"a": [2, None], "b": 1})
    True
    """
    return hashlib.blake2b(_content(data), digest_size=SIZE).hexdigest()


def _content(data: Any) -> bytes:
    if isinstance(data, bytes):
        return data
    if isinstance(data, str):
        return data.encode()
    if isinstance(data, np.ndarray):
        array: NDArray[Any] = np.ascontiguousarray(data)
        return array.tobytes()
    return json.dumps(data, sort_keys=True, default=str).encode()
