"""What a user of cross-lingual transfer should beware of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core import Alert, AlertKind, quoted
from ..probing import few_parts_alerts, fit_alerts, listed_classes, rare_class_alerts
from ..similarity import dropped_alerts, unknown_alerts
from .options import CrossLingualOptions
from .run import CrossLingualRun, split_of

_FEW = 30
"""Held-out sentences below which scores on them are rough."""
_TOLD = (AlertKind.DROPPED, AlertKind.UNKNOWN_TOKENS)
"""Of clusters: said here for all languages."""


def find_alerts(run: CrossLingualRun, options: CrossLingualOptions) -> list[Alert]:
    """All that holds."""
    alerts = [*_rows(run), *_sentences(run), *_labels(run, options)]
    fitted = [transfer.fitted for transfer in run.transfers]
    alerts += fit_alerts(fitted, options.kkt, "probes", "held-out sentences of their own language")
    alerts += [alert for alert in run.alerts if alert.kind not in _TOLD]
    if options.intervals:
        fewest = min(len(scorer.sizes) for scorer in run.scorers.values())
        alerts += few_parts_alerts(fewest, "sentences")
    return alerts


def _rows(run: CrossLingualRun) -> list[Alert]:
    """Words that models lack, or whose tokens they do not know, in all languages together."""
    together: dict[str, Any] = {"lost": {}, "dropped": {}, "unknown": {}, "units": "word"}
    for language, info in run.rows.info.items():
        for what in ("lost", "dropped", "unknown"):
            found: Mapping[str, Any] = info.get(what, {})
            together[what] |= {f"{model} in {language}": counts for model, counts in found.items()}
    return [*dropped_alerts(together), *unknown_alerts(together)]


def _sentences(run: CrossLingualRun) -> list[Alert]:
    alerts = []
    left_out = {name: n for name, n in run.rows.parallel.left_out.items() if n}
    if left_out:
        listed = ", ".join(f"{n:,} of {name}" for name, n in left_out.items())
        alerts.append(
            Alert(
                AlertKind.DROPPED,
                f"Sentences that not all corpora have are left out: {listed}; {run.rows.parallel.sentences:,} are "
                f"common.",
            )
        )
    held = int(run.rows.parallel.held_out.sum())
    if held < _FEW:
        alerts.append(
            Alert(
                AlertKind.FEW_ROWS,
                f"{held} sentences are held out: what is scored on them is rough. Take more sentences, or a larger "
                f"share (held_out_share=…).",
            )
        )
    return alerts


def _labels(run: CrossLingualRun, options: CrossLingualOptions) -> list[Alert]:
    alerts = []
    for (source, tag), task in run.tasks.items():
        unseen = task.unseen
        counts = {
            n: unseen[split_of(n)] for n in run.rows.parallel.languages if unseen[split_of(n)]
        }
        if counts:
            listed = ", ".join(
                f"{n:,} of {len(task.target[split_of(name)]):,} in {name} "
                f"({listed_classes(task.strange.get(split_of(name), ()))})"
                for name, n in counts.items()
            )
            alerts.append(
                Alert(
                    AlertKind.UNSEEN_LABELS,
                    f"Words with a {quoted(tag)} that no word has that was fitted on in {source}: {listed}. "
                    + (
                        "They can only be wrong (unseen='most-frequent' counts them as its most frequent label)."
                        if options.unseen == "wrong"
                        else f"They count as the most frequent label of {source}."
                    ),
                    tag,
                )
            )
        alerts += rare_class_alerts(task, f"train in {source}")
    some_task = {tag: task for (_, tag), task in run.tasks.items()}
    for tag, task in some_task.items():
        missing = {n: task.missing[split_of(n)] for n in run.rows.parallel.languages}
        missing = {name: n for name, n in missing.items() if n}
        if missing:
            listed = ", ".join(f"{n:,} in {name}" for name, n in missing.items())
            alerts.append(
                Alert(
                    AlertKind.MISSING_LABELS,
                    f"Words without {quoted(tag)} are left out: {listed}.",
                    tag,
                )
            )
    return alerts
