"""What a user of probes should beware of, whatever they are compared by: labels that are rare, fits, intervals."""

from __future__ import annotations

from collections.abc import Sequence

from ...core import Alert, AlertKind, quoted
from ..similarity import FEW_PARTS
from .fits import FittedProbe
from .tasks import Task

_LISTED = 5
"""Classes that are named."""


def listed_classes(classes: Sequence[str]) -> str:
    """The first few classes."""
    return ", ".join(classes[:_LISTED]) + (" …" if len(classes) > _LISTED else "")


def rare_class_alerts(task: Task, train: str) -> list[Alert]:
    """Classes that occur once in ``train``, as it is called."""
    if not task.classifies:
        return []
    once = [c for c, n in zip(task.classes, task.counts.tolist(), strict=True) if n == 1]
    if not once:
        return []
    text = (
        f"{len(once)} of the {len(task.classes)} classes of {quoted(task.name)} occur once in {train} "
        f"({listed_classes(once)}): their scores say little, and macro-F1 counts each as much as any other. "
        f"Take more text, or read accuracy."
    )
    return [Alert(AlertKind.RARE_CLASSES, text, task.name)]


def fit_alerts(
    fitted: Sequence[FittedProbe], kkt: float, probes: str, dev: str, where: str = ""
) -> list[Alert]:
    """Fits that stopped too early, and paths whose end is the best; ``probes`` and ``dev`` as they are called."""
    alerts = []
    far = [probe.residual for probe in fitted if probe.residual > kkt * 1.001]
    if far:
        alerts.append(
            Alert(
                AlertKind.NOT_OPTIMAL,
                f"{len(far)} of {len(fitted)} {probes} stopped before they were as near to optimal as asked (KKT "
                f"residual up to {max(far):.2g} λ₁). Take a larger l1.",
                where,
            )
        )
    ends = sum(_is_at_end(probe) for probe in fitted)
    if ends:
        alerts.append(
            Alert(
                AlertKind.PENALTY_END,
                f"{ends} of {len(fitted)} {probes} predict {dev} best with the smallest penalty of the path: an even "
                f"smaller one may be better. Give l1.",
                where,
            )
        )
    return alerts


def _is_at_end(probe: FittedProbe) -> bool:
    """Whether the last penalty of a path was taken.

    By the penalty: the step that was taken has the loss of the exact fit, and need no longer be the least of the path.
    """
    return len(probe.path) > 1 and probe.l1 == probe.path[-1].l1


def few_parts_alerts(parts: int, of: str) -> list[Alert]:
    """Intervals that rest on few parts of the rows, or of the sentences."""
    if parts >= FEW_PARTS:
        return []
    text = f"Intervals rest on {parts} parts of the {of}: they are rough. Take more parts, or more text."
    return [Alert(AlertKind.FEW_PARTS, text)]
