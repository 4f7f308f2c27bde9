"""What a user of probes should beware of."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...core import Alert, AlertKind, quoted
from ...corpus import Units
from ..similarity import dropped_alerts, pre_norm_alerts, unknown_alerts
from .fit_alerts import few_parts_alerts, fit_alerts, listed_classes, rare_class_alerts
from .options import ProbeOptions
from .run import ProbingRun
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
        alerts += fit_alerts(
            [mine.fitted for mine in task_run.sets], options.kkt,
            f"probes of {task_run.model} on {quoted(task_run.task.name)}", "dev", task_run.model,
        )  # fmt: skip
    if options.intervals:
        fewest = min(len(np.unique(part)) for part in run.parts.values())
        alerts += few_parts_alerts(fewest, "rows")
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
        said = ", ".join(
            f"{n:,} of {len(task.target[s]):,} rows of {s} ({listed_classes(task.strange.get(s, ()))})"
            for s, n in unseen.items()
        )
        alerts.append(
            Alert(
                AlertKind.UNSEEN_LABELS,
                f"Train has not the {quoted(task.name)} of {said}: a probe can only be wrong there, and is counted as "
                f"wrong.",
                task.name,
            )
        )
    return alerts + rare_class_alerts(task, "train")


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
