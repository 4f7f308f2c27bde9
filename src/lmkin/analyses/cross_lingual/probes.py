"""The probes of a result, with the neurons that each reads: kept in a file beside the scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core import MeasureError
from ..probing import FittedProbe, load_weights, save_weights

IntArray = NDArray[np.int64]
KIND = "probes of transfer"
FILE = "probes.safetensors"
Key = tuple[str, str, str, str]
"""Model, language of training, task, and set of neurons."""


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
    columns = {key: {"columns": kept.columns.astype(np.int64)} for key, kept in probes.items()}
    save_weights(path, KIND, {key: kept.fitted for key, kept in probes.items()}, columns)


def load_probes(path: Path) -> dict[Key, KeptProbe]:
    """Read what `save_probes` wrote. Raise if it does not fit together."""
    probes: dict[Key, KeptProbe] = {}
    for (model, source, task, neurons), (fitted, arrays) in load_weights(path, KIND, 4).items():
        columns = arrays.get("columns", np.zeros(0, np.int8))
        rising = columns.ndim == 1 and bool((np.diff(columns, prepend=-1) > 0).all())
        if columns.dtype != np.int64 or not rising or len(columns) != len(fitted.weights):
            raise MeasureError(
                f"{path} is damaged: its weights and neurons do not fit together. Run the analysis again."
            )
        probes[model, source, task, neurons] = KeptProbe(columns, fitted)
    return probes
