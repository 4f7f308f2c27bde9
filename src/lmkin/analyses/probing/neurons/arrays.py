"""What a study of neurons keeps when it is finished: arrays by name, in one file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core import LmkinError, load_tensors, save_tensors
from ....rows import Workspace
from ..scored import Scored

Arrays = dict[str, NDArray[Any]]
KIND = "neurons of a probe"


def kept_arrays(
    work: Workspace, name: str, names: Sequence[str], compute: Callable[[], Arrays]
) -> Arrays:
    """The arrays of a step: loaded if it is finished, else computed and saved."""
    return work.step(name, compute, save_arrays, lambda path: load_arrays(path, names))


def save_arrays(arrays: Mapping[str, NDArray[Any]], path: Path) -> None:
    """Write arrays to a safetensors file."""
    save_tensors(path, dict(arrays), {}, kind=KIND, version=1, error=LmkinError)


def load_arrays(path: Path, names: Sequence[str]) -> Arrays:
    """Read what `save_arrays` wrote. Raise if one is missing."""
    tensors, _ = load_tensors(path, kind=KIND, schema={}, version=1, error=LmkinError)
    if set(tensors) != set(names):
        raise LmkinError(f"{path} is damaged: it does not hold what it should. Run again.")
    return dict(tensors)


def main_with_interval(scored: Sequence[Scored]) -> NDArray[np.float64]:
    """Of each the main score, its standard error, and the ends of its interval (NaN where there is none)."""
    return np.concatenate([with_interval(one.only(0)) for one in scored])


def with_interval(scored: Scored) -> NDArray[np.float64]:
    """Scores, their standard errors, and the ends of their intervals (NaN where there are none) side by side."""
    interval = scored.interval
    none = np.full_like(scored.value, np.nan)
    ends = [none] * 3 if interval is None else [interval.se, interval.low, interval.high]
    return np.stack([scored.value, *ends], axis=1)
