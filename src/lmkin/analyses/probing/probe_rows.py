"""`ProbeRows`: the rows and labels that probes of one task on one model were fitted on, chosen by and scored on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core import LmkinError, as_labels, kind_of_array, make_split, quoted, to_numpy
from .model_rows import ModelRows

Array = NDArray[Any]
IntArray = NDArray[np.int64]
_DEV = 0.1
"""Share of the rows that choose, where no dev is given."""


@dataclass(frozen=True)
class ProbeRows:
    """Rows × neurons and their labels, by split: train is fitted, dev chooses, test is scored.

    ``read`` gives the matrix of a split when it is called, in memory or not; nothing is copied before.
    """

    read: Callable[[str], Any]
    target: Mapping[str, Array]
    """Numbers of classes, −1 for a label that train has not; or scores."""
    classes: int
    """0 for scores."""
    owner: IntArray | None = None
    """What each row of train belongs to, such as its sentence."""
    part: Mapping[str, IntArray | None] | None = None
    """Part of each row, for intervals."""
    room: int | None = None
    """Bytes that columns in memory may take; None: no bound, the rows are there themselves."""
    level: float = 0.95
    edges: tuple[int, ...] = ()
    """Where each layer begins among the columns, and where the last ends."""
    model: ModelRows | None = None
    """The model whose rows these are; None for rows that were given."""

    @property
    def splits(self) -> tuple[str, ...]:
        """Those that there are."""
        return tuple(self.target)

    def opened(self) -> ProbeRows:
        """The same with the matrices read once, for several fits."""
        matrices = {name: self.read(name) for name in self.splits}
        return replace(self, read=matrices.__getitem__)

    def only_layers(self, first: int, end: int) -> ProbeRows:
        """The same of some neighbouring layers, by their place."""
        if (first, end) == (0, len(self.edges) - 1):
            return self
        read, low, high = self.read, self.edges[first], self.edges[end]

        def part(name: str) -> Any:
            X = read(name)
            return X.part(first, end) if hasattr(X, "part") else X[:, low:high]

        edges = tuple(e - low for e in self.edges[first : end + 1])
        return replace(self, read=part, edges=edges)

    def half(self, rows: IntArray) -> ProbeRows:
        """The same, fitted on some rows of train."""
        read, cut = self.read, some_rows

        def part(name: str) -> Any:
            return cut(read(name), rows) if name == "train" else read(name)

        target = {**self.target, "train": self.target["train"][rows]}
        owner = None if self.owner is None else self.owner[rows]
        return replace(self, read=part, target=target, owner=owner)


def some_rows(X: Any, rows: IntArray) -> Any:
    """Some rows; of what lies on disk they stay there."""
    return X.select(rows) if hasattr(X, "select") else X[rows]


def given_rows(
    X: Any,
    y: Any,
    *,
    dev: tuple[Any, Any] | None,
    test: tuple[Any, Any] | None,
    groups: Any,
    width: int,
    labels: Array | None,
    seed: int,
) -> tuple[ProbeRows, Array]:
    """Rows that were given by keyword, and the labels of their classes (none for scores).

    ``labels`` are those of the probe, in the order of its outputs; None: those of ``y``, sorted, or scores where y is
    no list of classes. Where there is no dev it is a seeded tenth of the rows, in whole groups.
    """
    if X is None or y is None:
        raise LmkinError("Rows are given as X=… with their labels, y=….")
    matrices: dict[str, Any] = {"train": _matrix(X, width, "X")}
    given: dict[str, Array] = {"train": _labels_of(y, matrices["train"], "y")}
    for name, pair in (("dev", dev), ("test", test)):
        if pair is None:
            continue
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise LmkinError(f"{name} is a pair of rows and labels: {name}=(X, y).")
        matrices[name] = _matrix(pair[0], width, name)
        given[name] = _labels_of(pair[1], matrices[name], name)
    classes = labels
    if classes is None:
        classes = np.empty(0) if given["train"].dtype.kind == "f" else np.unique(given["train"])
    if len(classes) == 1:
        raise LmkinError("y has one class only: nothing tells neurons apart.")
    target = {name: _numbers(mine, classes, name) for name, mine in given.items()}
    owner = None
    if groups is not None:
        if len(groups) != len(target["train"]):
            raise LmkinError(
                f"There are {len(groups)} groups for {len(target['train'])} rows: one a row is needed."
            )
        owner = np.unique(np.asarray(groups), return_inverse=True)[1].reshape(-1).astype(np.int64)
    known = np.flatnonzero(target["train"] >= 0) if len(classes) else None
    if known is not None and len(known) < len(target["train"]):
        missing = len(target["train"]) - len(known)
        raise LmkinError(f"The probe has no class for the labels of {missing} rows of X.")
    if "dev" not in matrices:
        split = make_split(
            len(target["train"]), {"train": 1 - _DEV, "validation": _DEV}, parts=1, seed=seed,
            owner=owner,
        )  # fmt: skip
        rows, held = split.rows("train"), split.rows("validation")
        whole, y_all = matrices["train"], target["train"]
        matrices = {**matrices, "train": some_rows(whole, rows), "dev": some_rows(whole, held)}
        target = {**target, "train": y_all[rows], "dev": y_all[held]}
        owner = None if owner is None else owner[rows]
    return ProbeRows(matrices.__getitem__, target, len(classes), owner), classes


def _matrix(X: Any, width: int, name: str) -> Any:
    """Rows × neurons, checked for their shape; what lies on disk stays there."""
    if not hasattr(X, "select"):
        X = np.asarray(to_numpy(X))
    if len(X.shape) != 2 or X.shape[1] != width:
        shape = " × ".join(map(str, X.shape))
        raise LmkinError(
            f"{name} has the shape {shape}, and {width} neurons are ranked: one column a neuron is needed."
        )
    if isinstance(X, np.ndarray) and not np.isfinite(X).all():
        raise LmkinError(f"{name} holds NaN or infinite values. Leave out the rows that have some.")
    return X


def _labels_of(y: Any, X: Any, name: str) -> Array:
    labels = as_labels(y, name)
    if labels.ndim != 1 or len(labels) != X.shape[0]:
        raise LmkinError(
            f"There are {X.shape[0]} rows and labels of the shape {labels.shape} ({name}): one label a row is needed."
        )
    return labels


def _numbers(y: Array, classes: Array, name: str) -> Array:
    """Numbers of classes, −1 for others; or scores."""
    if not len(classes):
        try:
            scores = y.astype(np.float64)
        except ValueError:
            raise LmkinError(f"The labels of {name} are no numbers, and scores are.") from None
        if not np.isfinite(scores).all():
            raise LmkinError(f"A score of {name} is NaN or infinite. Leave such rows out.")
        return scores
    if kind_of_array(y) != kind_of_array(classes):
        raise LmkinError(
            f"The classes are such as {quoted(classes.tolist()[0])}, and the labels of {name} such as "
            f"{quoted(y.tolist()[0])}: give all as text, or all as numbers."
        )
    order = np.argsort(classes, kind="stable")
    place = np.minimum(np.searchsorted(classes[order], y), len(classes) - 1)
    return np.where(classes[order][place] == y, order[place], -1).astype(np.int64)
