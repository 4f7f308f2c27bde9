"""What a user of probes should beware of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...core import Alert, AlertKind, quoted
from ...corpus import Units
from ..similarity import FEW_PARTS, dropped_alerts, pre_norm_alerts, unknown_alerts
from .options import ProbeOptions
from .run import ProbingRun, TaskRun
from .tasks import Task


def find_alerts(run: ProbingRun, options: ProbeOptions) -> list[Alert]:
    """All that holds."""
    alerts = [*dropped_alerts(dict(run.rows.info)), *unknown_alerts(run.rows.info)]
    models = run.rows.models
    alerts += pre_norm_alerts(
        {"manifests": {m.name: m.manifest for m in models}},
        [(m.name, n) for m in models for n in m.layers],
    )
    alerts += _test_in_train(run.rows.units)
    if "no other" in run.rows.split_from:
        alerts.append(
            Alert(
                AlertKind.DEV_IS_TEST,
                "What was given as dev is scored as test, and a tenth of train chooses penalties and layers in its "
                "place: what chose would be scored too well. Give a test of its own to use dev as dev.",
            )
        )
    for task in run.tasks:
        alerts += _labels(task, run.rows.units)
    for task_run in run.runs:
        alerts += _fits(task_run, options)
    fewest = min(len(np.unique(part)) for part in run.parts.values())
    if options.intervals and fewest < FEW_PARTS:
        alerts.append(
            Alert(
                AlertKind.FEW_PARTS,
                f"Intervals rest on {fewest} parts of the rows: they are rough. Take more parts, or more text.",
            )
        )
    return alerts


def _test_in_train(units: Mapping[str, Units]) -> list[Alert]:
    """Sentences of dev and test that stand in train, too."""
    texts = {
        name: [
            (some.corpus[s].text, some.corpus[s].text_b) for s in np.unique(some.sentence).tolist()
        ]
        for name, some in units.items()
    }
    train = set(texts["train"])
    alerts = []
    for name in ("dev", "test"):
        count = sum(text in train for text in texts[name])
        if count:
            alerts.append(
                Alert(
                    AlertKind.TEST_IN_TRAIN,
                    f"{count:,} of the {len(texts[name]):,} sentences of {name} stand in train, word for word: scores "
                    f"on {name} are too high by what was memorized. Leave them out of train.",
                    name,
                )
            )
    return alerts


def _labels(task: Task, units: Mapping[str, Units]) -> list[Alert]:
    alerts = []
    missing = sum(task.missing.values())
    if missing:
        said = ", ".join(f"{n:,} in {split}" for split, n in task.missing.items() if n)
        alerts.append(
            Alert(
                AlertKind.MISSING_LABELS,
                f"{missing:,} rows have no {quoted(task.name)} and are left out ({said})."
                + _without_a_word(units),
                task.name,
            )
        )
    unseen = {split: n for split, n in task.unseen.items() if n}
    if unseen:
        said = ", ".join(f"{n:,} of {len(task.target[s]):,} rows of {s}" for s, n in unseen.items())
        alerts.append(
            Alert(
                AlertKind.UNSEEN_LABELS,
                f"Train has not the {quoted(task.name)} of {said}: a probe can only be wrong there, and is counted as "
                f"wrong.",
                task.name,
            )
        )
    if task.classifies:
        once = [c for c, n in zip(task.classes, task.counts.tolist(), strict=True) if n == 1]
        if once:
            some = ", ".join(once[:5]) + (" …" if len(once) > 5 else "")
            alerts.append(
                Alert(
                    AlertKind.RARE_CLASSES,
                    f"{len(once)} of the {len(task.classes)} classes of {quoted(task.name)} occur once in train "
                    f"({some}): their scores say little, and macro-F1 counts each as much as any other.",
                    task.name,
                )
            )
    return alerts


def _without_a_word(units: Mapping[str, Units]) -> str:
    """Why tokens have no tag, in a sentence; nothing of words."""
    if units["train"].kind != "token":
        return ""
    counts = [len(words) for some in units.values() for words in some.words]
    outside, across = counts.count(0), sum(n > 1 for n in counts)
    return (
        f" A token has the tag of the word it lies in: {outside:,} lie in no word, and {across:,} reach into several, "
        f"and have their tag if it is the same."
    )


def _fits(run: TaskRun, options: ProbeOptions) -> list[Alert]:
    alerts = []
    far = [s for s in run.sets if s.fitted.residual > options.kkt * 1.001]
    if far:
        worst = max(s.fitted.residual for s in far)
        alerts.append(
            Alert(
                AlertKind.NOT_OPTIMAL,
                f"{len(far)} of {len(run.sets)} probes of {run.model} on {quoted(run.task.name)} stopped before they "
                f"were as near to optimal as asked (KKT residual up to {worst:.2g} λ₁). Take a larger l1.",
                run.model,
            )
        )
    ends = [s for s in run.sets if _at_end(s.fitted.path)]
    if ends:
        alerts.append(
            Alert(
                AlertKind.PENALTY_END,
                f"{len(ends)} of {len(run.sets)} probes of {run.model} on {quoted(run.task.name)} predict dev best "
                f"with the smallest penalty of the path: an even smaller one may be better. Give l1.",
                run.model,
            )
        )
    return alerts


def _at_end(path: Sequence[Any]) -> bool:
    """Whether the last penalty of a path is the best."""
    return len(path) > 1 and min(path, key=lambda step: step.dev_loss) is path[-1]
