"""Activation files of other tools: one file a format, each reads and writes its own layout.

These modules see words and arrays only; models read through them, activations are exported through them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..core import ActivationsError, did_you_mean, quoted
from . import hdf5, jsonlines

FloatArray = NDArray[np.float32]
Record = tuple[list[str], FloatArray]
"""The words of a sentence, and their vectors: layers × words × neurons."""


@dataclass(frozen=True)
class Interchange:
    """A file format for activations."""

    name: str
    summary: str
    suffixes: tuple[str, ...]
    open: Callable[[Path], hdf5.PrecomputedFile | jsonlines.PrecomputedLines]
    write: Callable[[Path, Iterable[Record]], int]


ActivationFormat = Literal["contextual-repr", "neurox-hdf5", "neurox-json"]
FORMATS = {
    "contextual-repr": Interchange(
        "contextual-repr",
        "HDF5 of contextual-repr-analysis: one dataset a sentence, sentence_to_index",
        (".hdf5", ".h5"),
        hdf5.PrecomputedFile,
        hdf5.write_contextual_repr,
    ),
    "neurox-hdf5": Interchange(
        "neurox-hdf5",
        "HDF5 of NeuroX: the same layout, repeated sentences numbered",
        (".hdf5", ".h5"),
        hdf5.PrecomputedFile,
        hdf5.write_neurox,
    ),
    "neurox-json": Interchange(
        "neurox-json",
        "JSON lines of NeuroX: readable, 8 decimals, about three times the size",
        (".json", ".jsonl"),
        jsonlines.PrecomputedLines,
        jsonlines.write_neurox,
    ),
}


def find_format(path: Path, name: str | None = None) -> Interchange:
    """The format of a file by name, or by its extension."""
    if name is not None:
        if name not in FORMATS:
            raise ActivationsError(f"Unknown format {quoted(name)}. {did_you_mean(name, FORMATS)}")
        return FORMATS[name]
    for candidate in FORMATS.values():
        if path.suffix.lower() in candidate.suffixes:
            return candidate
    raise ActivationsError(
        f"Cannot tell the format from the extension {quoted(path.suffix)}. Name the file .hdf5 or "
        f".json, or give one of: {', '.join(FORMATS)}."
    )
