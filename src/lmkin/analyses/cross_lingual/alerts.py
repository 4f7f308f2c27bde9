"""What a user of cross-lingual transfer should beware of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...core import Alert, AlertKind, quoted
from ..probing import few_parts_alerts, fit_alerts, listed_classes, rare_class_alerts
from ..similarity import dropped_alerts, pre_norm_alerts, unknown_alerts
from .options import CrossLingualOptions
from .run import CrossLingualRun, split_of

_FEW = 30
"""Held-out sentences below which scores on them are rough."""
_TOLD = (AlertKind.DROPPED, AlertKind.UNKNOWN_TOKENS, AlertKind.PRE_NORM)
"""Of clusters: said here once, for all languages."""


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
    """Words that models lack, or whose tokens they do not know, in all languages together; layers before a norm."""
    together: dict[str, Any] = {"lost": {}, "dropped": {}, "unknown": {}, "units": "word"}
    for language, info in run.rows.info.items():
        for what in ("lost", "dropped", "unknown"):
            found: Mapping[str, Any] = info.get(what, {})
            together[what] |= {f"{model} in {language}": counts for model, counts in found.items()}
    models = run.rows.models
    before_norm = pre_norm_alerts(
        {"manifests": {m.name: m.manifest for m in models}},
        [(m.name, n) for m in models for n in m.layers],
    )
    return [*dropped_alerts(together), *unknown_alerts(together), *before_norm]


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
    return [*alerts, *_held_out_in_train(run)]


def _held_out_in_train(run: CrossLingualRun) -> list[Alert]:
    """Held-out sentences that were fitted all the same, as another sentence with the same words or translation."""
    parallel = run.rows.parallel
    held, fitted = np.flatnonzero(parallel.held_out), np.flatnonzero(~parallel.held_out)
    again: dict[str, set[int]] = {}
    for language, corpus in parallel.corpora.items():
        texts = {corpus[k].text for k in fitted}
        again[language] = {int(k) for k in held if corpus[k].text in texts}
    alerts = []
    for source in run.sources:
        counts = {name: len(again[name] | again[source]) for name in parallel.languages}
        listed = ", ".join(f"{n:,} in {name}" for name, n in counts.items() if n)
        if listed:
            alerts.append(
                Alert(
                    AlertKind.TEST_IN_TRAIN,
                    f"Of the {len(held):,} held-out sentences some were fitted in {source} all the same, for the "
                    f"corpora hold them, or their translations, more than once: {listed}. Keep each sentence once.",
                    source,
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
