"""Rows that are kept as they are, and unfinished work on disk."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from ..errors import MomentsError
from ..moments import Group, Moments, RowSource
from ..moments.arrays import to_numpy
from ..moments.groups import as_group
from .splitting import Split

IntArray = NDArray[np.int64]
Blocks = dict[Group, Any]


class Kept:
    """Some rows of the test split as they are, with their numbers: for the inputs that weigh most."""

    def __init__(self, rows: IntArray):
        self.rows = rows
        self._found: dict[Group, list[Any]] = {}
        self._numbers: list[IntArray] = []

    def offer(self, numbers: IntArray, blocks: Blocks) -> None:
        """Take those of these rows that are wanted."""
        mine = np.isin(numbers, self.rows)
        if mine.any():
            self._numbers.append(numbers[mine])
            for group, block in blocks.items():
                self._found.setdefault(group, []).append(to_numpy(block)[mine])

    def tensors(self) -> dict[str, Any]:
        """What was found, by name."""
        numbers, rows = self.result()
        return {"": numbers, **{str(g): a for g, a in rows.items()}}

    def take(self, tensors: dict[str, Any]) -> None:
        """What `tensors` gave."""
        tensors = dict(tensors)
        self._numbers = [tensors.pop("")]
        self._found = {as_group(name): [array] for name, array in tensors.items()}

    def result(self) -> tuple[IntArray, dict[Group, NDArray[Any]]]:
        """Numbers and rows, in the order of the numbers."""
        if not self._numbers:
            return np.zeros(0, np.int64), {}
        numbers = np.concatenate(self._numbers)
        order = np.argsort(numbers)
        return numbers[order], {g: np.concatenate(b)[order] for g, b in self._found.items()}


class State:
    """Moments of the rows so far, on disk: a run that is killed goes on from there."""

    def __init__(
        self, folder: Path, source: RowSource, split: Split, settings: list[Any], null: bool
    ):
        self.folder = folder
        what = {
            "groups": [[*g, w] for g, w in source.widths.items()],
            "labels": hashlib.blake2b(split.labels.tobytes(), digest_size=16).hexdigest(),
            "units": source.info.get("units_hash"),
            "keys": [m.get("key") for m in source.info.get("manifests", {}).values()],
            "settings": settings,
        }
        text = json.dumps(what, sort_keys=True, default=str)
        self.key = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
        self.moments = Moments(rows=0)
        self.shuffled: Moments | None = None
        self._null = null

    def load(self, kept: Kept | None) -> int:
        """How many rows are done; the rows to keep among them go to ``kept``."""
        try:
            found = Moments.load(self.folder / "moments.safetensors")
            other = Moments.load(self.folder / "shuffled.safetensors") if self._null else None
        except MomentsError:
            return 0
        mine = [m for m in (found, other) if m is not None]
        if any(m.info.get("checkpoint") != self.key for m in mine):
            return 0
        if len({m.info["rows"] for m in mine}) > 1:
            return 0
        if kept is not None:
            try:
                with safe_open(self.folder / "kept.safetensors", "numpy") as file:
                    about = file.metadata() or {}
                    if about.get("rows") != str(found.info["rows"]):
                        return 0
                    names = list(file.keys())
                    kept.take({n.removeprefix("@"): file.get_tensor(n) for n in names})
            except (OSError, SafetensorError):
                return 0
        self.moments, self.shuffled = found, other
        return int(found.info["rows"])

    def save(
        self, rows: int, moments: Moments, shuffled: Moments | None, kept: Kept | None
    ) -> None:
        """Write down what there is."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if kept is not None:
            tensors = {f"@{name}": array for name, array in kept.tensors().items()}
            file = self.folder / "kept.safetensors"
            save_file(tensors, file.with_suffix(".part"), {"rows": str(rows)})
            file.with_suffix(".part").replace(file)
        for name, each in (("shuffled", shuffled), ("moments", moments)):
            if each is not None:
                each.info = {"checkpoint": self.key, "rows": rows}
                each.save(self.folder / f"{name}.safetensors")
