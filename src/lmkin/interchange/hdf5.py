"""HDF5 as contextual-repr-analysis and NeuroX write it.

One dataset a sentence, named by its number: ``layers × words × neurons`` (or ``words × neurons`` for one
layer). The dataset ``sentence_to_index`` holds one JSON string that maps each sentence (its words joined by
spaces) to the name of its dataset. NeuroX numbers repeated sentences "… (Occurrence 2)".
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core import (
    ActivationsError,
    Text,
    Unfit,
    Whole,
    available_memory,
    checked,
    parse_json,
    quoted,
    replacing,
    require_file,
    to_json,
)

FloatArray = NDArray[np.float32]
_INDEX = "sentence_to_index"
_UNREADABLE = (OSError, RuntimeError, ValueError, KeyError, TypeError, OverflowError, MemoryError)
"""What h5py raises for a damaged file."""
_OCCURRENCE = re.compile(r" \(Occurrence [0-9]+\)$")


def _short(error: BaseException) -> str:
    return str(error).partition("\n")[0][:160]


def _h5py() -> Any:
    try:
        import h5py
    except ImportError:
        raise ActivationsError(
            "HDF5 files need the library h5py: pip install 'lmkin[hdf5]'."
        ) from None
    return h5py


_ASK = """
import sys, h5py
print("ready", flush=True)
with h5py.File(sys.argv[1], "r") as file:
    file[sys.argv[2]][()]
"""
PATIENCE = 4.0
"""Seconds for the list of sentences of a small file."""


def _require_answer(path: Path) -> None:
    """Raise if the HDF5 library never comes back from this file, or breaks on it: another process tries first.

    What it does with a damaged heap of texts cannot be interrupted.
    """
    _h5py()
    asked = subprocess.Popen(
        [sys.executable, "-c", _ASK, os.fsencode(path), _INDEX],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert asked.stdout is not None
    with asked:
        asked.stdout.readline()  # it has started, however busy the machine is
        try:
            # The end of what it prints is its own; to wait for that alone would be to look now and then.
            asked.communicate(timeout=PATIENCE + path.stat().st_size / 1e8)
        except subprocess.TimeoutExpired:
            asked.kill()
            raise ActivationsError(
                f"{path} is damaged: the HDF5 library does not come back from reading its list of sentences."
            ) from None
    if asked.returncode < 0:
        raise ActivationsError(f"{path} is damaged: the HDF5 library breaks when it reads it.")


class PrecomputedFile:
    """An HDF5 file of activations, read a sentence at a time."""

    def __init__(self, path: Path):
        self.path = path
        require_file(path, ActivationsError)
        _require_answer(path)
        try:
            self._file = _h5py().File(path, "r")
        except (OSError, RuntimeError, ValueError, KeyError) as error:
            raise ActivationsError(f"{path} is not a readable HDF5 file ({error}).") from None
        try:
            index = self._index()
        except _UNREADABLE as error:
            raise ActivationsError(
                f"{path}: the list of its sentences, {_INDEX}, cannot be read ({_short(error)})."
            ) from None
        self._names: dict[str, list[str]] = {}
        for sentence, name in sorted(index.items(), key=lambda item: int(item[1])):
            plain = _OCCURRENCE.sub("", sentence)
            # "(Occurrence 2)" is NeuroX's mark only if the bare sentence is there too.
            key = plain if plain in index else sentence
            self._names.setdefault(key, []).append(str(name))
        if not self._names:
            raise ActivationsError(f"{path} holds no sentence.")
        self._layers, _, self._width = self._shape(next(iter(self._names.values()))[0])

    def _index(self) -> dict[str, Any]:
        """Sentence → the name of its dataset."""
        if _INDEX not in self._file:
            raise ActivationsError(
                f"{self.path} has no dataset {_INDEX!r}, which maps sentences to datasets. It was not "
                f"written by contextual-repr-analysis or NeuroX. It holds: {quoted(', '.join(list(self._file)[:8]))}."
            )
        dataset = self._dataset(_INDEX)
        if dataset.size != 1:
            raise Unfit(f"it has {dataset.size} entries, one is expected")
        stored = dataset[()]
        text = stored if isinstance(stored, bytes | str) else stored.reshape(-1)[0]
        if not isinstance(text, bytes | str):
            raise Unfit("it holds no text")
        index: dict[str, Any] = checked(
            parse_json(text), {str: (Text(r"[0-9]{1,12}"), Whole(0, 10**12))}
        )
        return index

    def _dataset(self, name: str) -> Any:
        """A dataset of this file. Raise if it is a link, lies outside the file, or says to be larger than memory."""
        h5py = _h5py()
        if not isinstance(self._file.get(name, getlink=True), h5py.HardLink):
            raise Unfit(f"{quoted(name)} is a link, and lmkin follows none")
        dataset = self._file[name]
        if not isinstance(dataset, h5py.Dataset) or dataset.external or dataset.is_virtual:
            raise Unfit(f"{quoted(name)} is no dataset of this file itself")
        if (
            dataset.size is None
            or dataset.size * max(dataset.dtype.itemsize, 4) > available_memory() // 4
        ):
            raise Unfit(f"{quoted(name)} says to hold more than fits into memory")
        return dataset

    def _shape(self, name: str) -> tuple[int, int, int]:
        """Layers, words and neurons of a sentence. Raise if it has none, or other ones than the first sentence."""
        try:
            if name not in self._file:
                raise Unfit("it is missing; is the file damaged?")
            dataset = self._dataset(name)
            if dataset.dtype.kind not in "fiu" or dataset.ndim not in (2, 3) or not dataset.size:
                raise Unfit("layers × words × neurons of numbers are expected")
        except _UNREADABLE as error:
            raise ActivationsError(
                f"{self.path}: the dataset {quoted(name)} cannot be read ({_short(error)})."
            ) from None
        layers, words, width = ((1,) if dataset.ndim == 2 else ()) + tuple(dataset.shape)
        return int(layers), int(words), int(width)

    @property
    def sentences(self) -> list[list[str]]:
        """The words of each sentence, in the file's order."""
        return [key.split(" ") for key, names in self._names.items() for _ in names]

    @property
    def widths(self) -> tuple[int, ...]:
        """Neurons of each layer."""
        return (self._width,) * self._layers

    def kept(self, words: list[str]) -> list[int] | None:
        """The words that have vectors: all of them, if the sentence is in the file."""
        names = self._names.get(" ".join(words))
        return list(range(self._shape(names[0])[1])) if names else None

    def find(self, words: list[str], occurrence: int = 0) -> FloatArray:
        """``layers × words × neurons`` of a sentence; its n-th occurrence if there are several."""
        names = self._names[" ".join(words)]
        return self._array(names[min(occurrence, len(names) - 1)])

    def _array(self, name: str) -> FloatArray:
        layers, words, width = self._shape(name)
        if (layers, width) != (self._layers, self._width):
            raise ActivationsError(
                f"{self.path}: the dataset {quoted(name)} has {layers} layers of {width} neurons, and the first one "
                f"{self._layers} of {self._width}."
            )
        try:
            array = np.asarray(self._dataset(name)[()], dtype=np.float32)
        except _UNREADABLE as error:
            raise ActivationsError(
                f"{self.path}: the dataset {quoted(name)} cannot be read ({_short(error)})."
            ) from None
        return array.reshape(layers, words, width)


def write_contextual_repr(path: Path, records: Iterable[tuple[list[str], FloatArray]]) -> int:
    """Write sentences; of repeated ones only the first, as the format has one entry a sentence."""
    return _write(path, records, number_repeats=False)


def write_neurox(path: Path, records: Iterable[tuple[list[str], FloatArray]]) -> int:
    """Write sentences; repeated ones as "… (Occurrence 2)"."""
    return _write(path, records, number_repeats=True)


def _write(
    path: Path, records: Iterable[tuple[list[str], FloatArray]], *, number_repeats: bool
) -> int:
    h5py = _h5py()
    index: dict[str, str] = {}
    with replacing(path) as temporary, h5py.File(temporary, "w") as file:
        for words, vectors in records:
            sentence = " ".join(words)
            key, count = sentence, 1
            while key in index and number_repeats:
                count += 1
                key = f"{sentence} (Occurrence {count})"
            if key in index:
                continue
            name = str(len(index))
            file.create_dataset(name, data=np.asarray(vectors, np.float32))
            index[key] = name
        stored = file.create_dataset(_INDEX, (1,), dtype=h5py.string_dtype())
        stored[0] = to_json(index)
    return len(index)
