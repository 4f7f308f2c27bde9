"""The probes of a result, with the neurons that each reads: kept in a file beside the scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core import MeasureError, load_tensors, save_tensors
from ..probing import HEAD, FittedProbe, head_of

IntArray = NDArray[np.int64]
KIND = "probes of transfer"
FILE = "probes.safetensors"
Key = tuple[str, str, str, str]
"""Model, language of training, task, and set of neurons."""
_SCHEMA: dict[str, Any] = {"probes": [{"key": [str], **HEAD}]}


@dataclass(frozen=True)
class KeptProbe:
    """A probe, and the columns that it reads, of all layers side by side."""

    columns: IntArray
    fitted: FittedProbe

    def predict(self, X: Any) -> IntArray:
        """Numbers of classes, for rows × all neurons."""
        if self.columns[-1] >= X.shape[1]:
            raise MeasureError(
                f"The probe reads neuron {self.columns[-1]}, and there are {X.shape[1]}: this is another model."
            )
        return np.asarray(self.fitted.predict(np.asarray(X)[:, self.columns]))


def save_probes(probes: Mapping[Key, KeptProbe], path: Path) -> None:
    """Write weights, columns and numbers to a safetensors file."""
    tensors: dict[str, Any] = {}
    heads = []
    for number, (key, kept) in enumerate(probes.items()):
        tensors |= {f"{number}.{name}": a for name, a in kept.fitted.tensors().items()}
        tensors[f"{number}.columns"] = kept.columns.astype(np.int64)
        heads.append({"key": list(key), **head_of(kept.fitted)})
    save_tensors(path, tensors, {"probes": heads}, kind=KIND, version=1, error=MeasureError)


def load_probes(path: Path) -> dict[Key, KeptProbe]:
    """Read what `save_probes` wrote. Raise if it does not fit together."""
    tensors, head = load_tensors(path, kind=KIND, schema=_SCHEMA, version=1, error=MeasureError)
    probes: dict[Key, KeptProbe] = {}
    for number, about in enumerate(head["probes"]):
        key = tuple(about.pop("key"))
        own = f"{number}."
        mine = {n.removeprefix(own): a for n, a in tensors.items() if n.startswith(own)}
        columns = mine.pop("columns", np.zeros(0, np.int8))
        fitted = FittedProbe.of(mine, about, path)
        rising = columns.ndim == 1 and bool((np.diff(columns, prepend=-1) > 0).all())
        if (
            len(key) != 4
            or columns.dtype != np.int64
            or not rising
            or len(columns) != len(fitted.weights)
        ):
            raise MeasureError(
                f"{path} is damaged: its weights and neurons do not fit together. Run the analysis again."
            )
        probes[key] = KeptProbe(columns, fitted)
    return probes
