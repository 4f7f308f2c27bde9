"""Scores that are finished, on disk: a run that is killed does not compute them again."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core import LmkinError, load_tensors, save_tensors
from ..rows import Workspace

EVERY = 20.0
"""Seconds of work that a kill may cost, about."""
_NAME = "scores"
Tables = Mapping[tuple[str, bool], Any]
BoolArray = NDArray[np.bool_]


class KeptScores:
    """Which pairs of layers are done in every round of `evaluate`, and their scores; saved now and then.

    Parameters
    ----------
    work
        Where they are kept; without a folder, nowhere.
    rounds, size
        How many replicates there are, plain and held out together, and how many layers.
    """

    def __init__(self, work: Workspace, rounds: int, size: int):
        self.work = work
        self.done: BoolArray = np.zeros((rounds, size, size), bool)
        self._saved = time.monotonic()

    def restore(self, scores: Tables) -> None:
        """Fill in what an earlier run has finished."""
        loaded = self.work.load(_NAME, lambda path: self._read(path, scores))
        if loaded is None:
            return
        self.done, values = loaded
        for key, (value, without, details) in values.items():
            scores[key].value[...] = value
            if without is not None:
                scores[key].without = without
            for name, arrays in details.items():
                scores[key].details.setdefault(name, {}).update(arrays)

    def keep(self, scores: Tables, *, now: bool = False) -> None:
        """Save what is done, if the last time is long ago, or ``now``; while nothing is being computed."""
        if not self.work.keeps or not (now or time.monotonic() - self._saved > EVERY):
            return
        arrays: dict[str, NDArray[Any]] = {"done": self.done}
        detailed = []
        for k, score in enumerate(scores.values()):
            arrays[f"{k}.value"] = score.value
            if score.without is not None:
                arrays[f"{k}.without"] = score.without
            for name, details in score.details.items():
                for number, ((i, j), detail) in enumerate(details.items()):
                    arrays[f"{k}.{name}.{number}"] = np.asarray(detail)
                    detailed.append([k, name, number, i, j])
        assert self.work.folder is not None
        self.work.folder.mkdir(parents=True, exist_ok=True)
        save_tensors(self.work.path(_NAME), arrays, {"details": detailed}, kind=_NAME)
        self._saved = time.monotonic()

    def _read(self, path: Path, scores: Tables) -> tuple[BoolArray, dict[Any, Any]]:
        arrays, head = load_tensors(path, kind=_NAME)
        try:
            done = arrays["done"]
            if done.shape != self.done.shape:
                raise ValueError("it is of another shape")
            keys: Sequence[Any] = list(scores)
            values: dict[Any, Any] = {
                key: (arrays[f"{k}.value"].reshape(done.shape[1:]), arrays.get(f"{k}.without"), {})
                for k, key in enumerate(keys)
            }
            for k, name, number, i, j in head["details"]:
                values[keys[k]][2].setdefault(name, {})[i, j] = arrays[f"{k}.{name}.{number}"]
        except (KeyError, ValueError, TypeError, IndexError) as error:
            raise LmkinError(f"{path} is damaged: {error}.") from None
        return done.astype(bool), values
