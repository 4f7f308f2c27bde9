"""Alerts: known traps that a result must not hide, as data; their kinds are spelt here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class AlertKind(StrEnum):
    """Every kind of trap, by a name that programs may rely on."""

    # rows
    FEW_UNITS = "few units"
    FEW_ROWS = "few rows"
    DROPPED = "dropped"
    UNKNOWN_TOKENS = "unknown tokens"
    REPEATED = "repeated units"
    UNGROUPED = "rows without sentences"
    # parts of the rows
    FEW_PARTS = "few parts"
    NO_PARTS = "no parts"
    OUTLIERS = "outliers in one part"
    # neurons
    ROGUE = "rogue dimension"
    ONE_COMPONENT = "one component"
    CONSTANT = "constant neurons"
    SCALE_MOVED = "scale moved"
    PRE_NORM = "before the norm"
    # attention
    SINK = "attention sink"
    NO_ROOM = "nothing without the sink"
    NOTHING_LEFT = "nothing left"
    EVEN_HEADS = "even heads"
    WORDS_LEFT_OUT = "words left out"
    # fits
    IN_SAMPLE = "in-sample"
    TRAIN_TEST_APART = "train and test apart"
    RIDGE_END = "ridge at its end"
    LENGTH = "length"
    BASELINE = "permutation baseline"
    # probes
    TEST_IN_TRAIN = "test in train"
    RARE_CLASSES = "rare classes"
    UNSEEN_LABELS = "unseen labels"
    MISSING_LABELS = "missing labels"
    NOT_OPTIMAL = "not optimal"
    PENALTY_END = "penalty at its end"
    DEV_IS_TEST = "dev is the test"
    # clusters
    THRESHOLDS_LEFT_OUT = "thresholds left out"
    NO_MASKS = "no masks"
    NO_STRIPS = "no strips"


@dataclass(frozen=True)
class Alert:
    """A trap: its kind, what it means here and what to do, and where it was found."""

    kind: str
    """One of `AlertKind`."""
    text: str
    where: str = ""
    """A model, layers, a length of text …; empty: everywhere."""

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"

    def to_dict(self) -> dict[str, str]:
        """Plain data, for attributes and JSON."""
        return {"kind": str(self.kind), "text": self.text, "where": self.where}

    @staticmethod
    def of(data: Mapping[str, Any]) -> Alert:
        """What `to_dict` gave."""
        return Alert(str(data["kind"]), str(data["text"]), str(data.get("where", "")))


SCHEMA = [{"kind": str, "text": str, "where?": str}]
"""Alerts as files hold them."""


def unique_alerts(alerts: Iterable[Alert]) -> list[Alert]:
    """Each once, in the order they came."""
    return list(dict.fromkeys(alerts))


def alerts_of(attrs: Mapping[Any, Any]) -> list[Alert]:
    """The alerts among the attributes of a dataset."""
    return [Alert.of(alert) for alert in attrs.get("alerts", ())]


def as_data(alerts: Iterable[Alert]) -> list[dict[str, str]]:
    """Alerts as the attributes of a dataset hold them, each once."""
    return [alert.to_dict() for alert in unique_alerts(alerts)]
