"""`Task`: what is predicted of each row; labels are numbered once, by the rows of train, before anything is fitted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core import CorpusError, quoted, require_one_kind
from ...corpus import Units
from .options import ProbeOptions

MISSING = ("_", "")
"""What stands in a column where a word has no tag."""
IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Task:
    """Labels of the rows of train, dev and test, and what they are of.

    ``target`` are numbers of ``classes``, by split, −1 for a label that train has not; or scores. ``rows`` are the
    numbers of the rows that have a label, among all of their split.
    """

    name: str
    classes: tuple[str, ...]
    """Empty for scores."""
    target: Mapping[str, NDArray[Any]]
    rows: Mapping[str, IntArray]
    missing: Mapping[str, int]
    """Rows without a label, which are left out, by split."""
    strange: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Labels of a split that train has not, the most frequent first."""

    @property
    def classifies(self) -> bool:
        """Whether labels are classes."""
        return bool(self.classes)

    @property
    def unseen(self) -> dict[str, int]:
        """Rows of a split whose label train has not: they can only be wrong."""
        if not self.classifies:
            return {}
        return {name: int((y < 0).sum()) for name, y in self.target.items()}

    @property
    def counts(self) -> IntArray:
        """Rows of train, by class."""
        return np.bincount(self.target["train"], minlength=len(self.classes))


def read_tasks(units: Mapping[str, Units], options: ProbeOptions) -> list[Task]:
    """The tasks that were asked for. Raise for labels that are not there, or that no probe can learn."""
    if options.label is not None:
        return [_label_task(units, options)]
    return [_tag_task(units, tag, options) for tag in options.tags()]


def _tag_task(units: Mapping[str, Units], tag: str, options: ProbeOptions) -> Task:
    labels: dict[str, list[str | None]] = {}
    for name, some in units.items():
        values = some.tags(tag)
        if not options.subtypes:
            values = [v and v.split(":", 1)[0] for v in values]
        labels[name] = [None if v in MISSING else v for v in values]
    return _class_task(tag, labels, options)


def _label_task(units: Mapping[str, Units], options: ProbeOptions) -> Task:
    labels: dict[str, list[Any]] = {}
    for name, some in units.items():
        if some.kind != "sentence":
            raise CorpusError(
                f"Labels are of sentences, and these units are {some.kind}s. Use units='sentence'."
            )
        labels[name] = [some.corpus[s].label for s in some.sentence]
    if not any(v is not None for values in labels.values() for v in values):
        raise CorpusError(
            "No sentence of the corpus has a label. Name the column that holds it when the corpus is read (format "
            "option label=COLUMN, see lmkin inspect), or predict a tag of the words."
        )
    if options.label == "score":
        return _score_task("label", labels, options)
    for name, values in labels.items():
        require_one_kind(values, name, CorpusError)
    texts = {
        name: [None if v is None or v == "" else _as_text(v) for v in values]
        for name, values in labels.items()
    }
    return _class_task("label", texts, options)


def _as_text(value: Any) -> str:
    """A label as the file has it: 1, not 1.0."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _class_task(
    name: str, labels: Mapping[str, Sequence[str | None]], options: ProbeOptions
) -> Task:
    rows = _labelled(labels, options)
    train = [labels["train"][i] for i in rows["train"]]
    counts = Counter(train)
    if len(counts) < 2:
        what = f"only {quoted(train[0])}" if counts else "none"
        raise CorpusError(
            f"Train has {what} as {quoted(name)}: a classifier needs two classes at least. Choose another tag, or "
            f"more text."
        )
    if len(counts) >= len(train):
        raise CorpusError(
            f"Train has {len(train):,} rows with {quoted(name)}, and as many different labels: nothing can be learned "
            f"from labels that occur once. Take fewer classes, or more text."
        )
    classes = tuple(sorted(counts, key=str))
    number = {label: k for k, label in enumerate(classes)}
    target = {
        split: np.array([number.get(labels[split][i], -1) for i in mine], np.int64)
        for split, mine in rows.items()
    }
    for split, y in target.items():
        if len(y) and (y < 0).all():
            some = quoted(labels[split][rows[split][0]])
            raise CorpusError(
                f"No label of {split} occurs in train ({quoted(name)}: {some} …, in train {quoted(classes[0])} …): "
                f"are they of the same task?"
            )
    strange = {
        split: Counter(labels[split][i] for i, k in zip(mine, target[split], strict=True) if k < 0)
        for split, mine in rows.items()
    }
    named = {s: tuple(str(label) for label, _ in c.most_common()) for s, c in strange.items()}
    return Task(name, classes, target, rows, _missing(labels), named)


def _score_task(name: str, labels: Mapping[str, Sequence[Any]], options: ProbeOptions) -> Task:
    rows = _labelled(labels, options)
    target = {}
    for split, mine in rows.items():
        try:
            y = np.array([float(labels[split][i]) for i in mine], np.float64)
        except ValueError:
            wrong = next(labels[split][i] for i in mine if not _is_number(labels[split][i]))
            raise CorpusError(
                f"A label of {split} is no number: {quoted(wrong)}. Scores are numbers: "
                f"predict these labels as classes, not as a score."
            ) from None
        if not np.isfinite(y).all():
            raise CorpusError(f"A score of {split} is NaN or infinite. Leave such sentences out.")
        target[split] = y
    if np.ptp(target["train"]) == 0:
        raise CorpusError("All scores of train are the same: there is nothing to predict.")
    return Task(name, (), target, rows, _missing(labels))


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


def _labelled(labels: Mapping[str, Sequence[Any]], options: ProbeOptions) -> dict[str, IntArray]:
    """The rows of each split that have a label; of train at most so many."""
    rows = {}
    for split, values in labels.items():
        rows[split] = np.array([i for i, v in enumerate(values) if v is not None], np.int64)
        if split == "train" and options.train_limit is not None:
            rows[split] = rows[split][: options.train_limit]
        if len(rows[split]) < 2:
            raise CorpusError(
                f"{split} has {len(rows[split])} rows with a label; two at least are needed."
            )
    return rows


def _missing(labels: Mapping[str, Sequence[Any]]) -> dict[str, int]:
    return {split: sum(v is None for v in values) for split, values in labels.items()}
