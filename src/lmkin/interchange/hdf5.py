"""HDF5 as contextual-repr-analysis and NeuroX write it.

One dataset a sentence, named by its number: ``layers × words × neurons`` (or ``words × neurons`` for one
layer). The dataset ``sentence_to_index`` holds one JSON string that maps each sentence (its words joined by
spaces) to the name of its dataset. NeuroX numbers repeated sentences "… (Occurrence 2)".
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core import ActivationsError, quoted, replacing

FloatArray = NDArray[np.float32]
_INDEX = "sentence_to_index"
_OCCURRENCE = re.compile(r" \(Occurrence [0-9]+\)$")


def _h5py() -> Any:
    try:
        import h5py
    except ImportError:
        raise ActivationsError(
            "HDF5 files need the library h5py: pip install 'lmkin[hdf5]'."
        ) from None
    return h5py


class PrecomputedFile:
    """An HDF5 file of activations, read a sentence at a time."""

    def __init__(self, path: Path):
        self.path = path
        try:
            self._file = _h5py().File(path, "r")
        except OSError as error:
            raise ActivationsError(f"{path} is not a readable HDF5 file ({error}).") from None
        if _INDEX not in self._file:
            raise ActivationsError(
                f"{path} has no dataset {_INDEX!r}, which maps sentences to datasets. It was not "
                f"written by contextual-repr-analysis or NeuroX. It holds: {', '.join(list(self._file)[:8])}."
            )
        stored = self._file[_INDEX][()]
        text = stored if isinstance(stored, bytes | str) else stored.reshape(-1)[0]
        index: dict[str, str] = json.loads(text)
        self._names: dict[str, list[str]] = {}
        for sentence, name in sorted(index.items(), key=lambda item: int(item[1])):
            plain = _OCCURRENCE.sub("", sentence)
            # "(Occurrence 2)" is NeuroX's mark only if the bare sentence is there too.
            key = plain if plain in index else sentence
            if str(name) not in self._file:
                raise ActivationsError(
                    f"{path}: the dataset {quoted(name)} is missing; is it damaged?"
                )
            self._names.setdefault(key, []).append(str(name))
        if not self._names:
            raise ActivationsError(f"{path} holds no sentence.")

    @property
    def sentences(self) -> list[list[str]]:
        """The words of each sentence, in the file's order."""
        return [key.split(" ") for key, names in self._names.items() for _ in names]

    @property
    def widths(self) -> tuple[int, ...]:
        """Neurons of each layer."""
        first = self._array(next(iter(self._names.values()))[0])
        return (int(first.shape[2]),) * int(first.shape[0])

    def kept(self, words: list[str]) -> list[int] | None:
        """The words that have vectors: all of them, if the sentence is in the file."""
        names = self._names.get(" ".join(words))
        return list(range(self._file[names[0]].shape[-2])) if names else None

    def find(self, words: list[str], occurrence: int = 0) -> FloatArray:
        """``layers × words × neurons`` of a sentence; its n-th occurrence if there are several."""
        names = self._names[" ".join(words)]
        return self._array(names[min(occurrence, len(names) - 1)])

    def _array(self, name: str) -> FloatArray:
        array = np.asarray(self._file[name][()], dtype=np.float32)
        return array if array.ndim == 3 else array[None]


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
        stored[0] = json.dumps(index, ensure_ascii=False)
    return len(index)
