"""Activations into the files of other tools."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core import ActivationsError, LmkinWarning, as_path, progress_bar, require_new_file
from ..interchange import ActivationFormat, find_format
from .activations import Activations


def export_activations(
    acts: Activations,
    path: str | Path,
    format: ActivationFormat | None = None,
    *,
    overwrite: bool = False,
    progress: bool | None = None,
) -> int:
    """Write activations for contextual-repr-analysis or NeuroX; returns the number of sentences.

    ``format`` is ``contextual-repr``, ``neurox-hdf5`` or ``neurox-json``; by default it follows
    the extension. Words without a vector are not in the file: it holds the words that are. Raise if the file is there
    already, unless ``overwrite``.
    """
    if acts.units.kind != "word":
        raise ActivationsError(
            f"These formats hold words; the activations are of {acts.units.kind}s."
        )
    if len(set(acts.widths.values())) != 1:
        raise ActivationsError("These formats need all layers to have the same width.")
    target = as_path(path)
    require_new_file(target, overwrite=overwrite)
    _warn_of_what_is_lost(acts)
    file_format = find_format(target, format)
    total = len(np.unique(acts.units.sentence))
    with progress_bar(file_format.name, total, "sentences", show=progress) as advance:
        return file_format.write(target, _records(acts, advance))


def _warn_of_what_is_lost(acts: Activations) -> None:
    if acts.layers != tuple(range(len(acts.layers))):
        listed = ", ".join(map(str, acts.layers))
        warnings.warn(
            f"These formats do not number layers: {listed} become 0 to {len(acts.layers) - 1}.",
            LmkinWarning,
            stacklevel=3,
        )
    units = acts.manifest["units"]
    lost = units["offered"] - units["kept"]
    if lost:
        warnings.warn(
            f"{lost:,} words have no vector, and these formats cannot say so: their sentences are written with "
            f"the words that are left, and are found again only by those.",
            LmkinWarning,
            stacklevel=3,
        )


def _records(acts: Activations, advance: Any) -> Iterator[tuple[list[str], NDArray[np.float32]]]:
    views = [acts.layer(n) for n in acts.layers]
    for number in np.unique(acts.units.sentence):
        rows = acts.units.rows_of(int(number))
        words = acts.units.corpus[number].words
        kept = [words[i] for i in acts.units.index[rows]]
        yield kept, np.stack([view[rows] for view in views]).astype(np.float32)
        advance(1)
