"""From scores to a labelled dataset: by model, language of training, task, neurons, language and test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr

from ..probing import Scored, Task, Variables, mean_of
from .baselines import Baselines
from .families import families_of
from .neuron_sets import EVERY
from .options import CrossLingualOptions
from .published import published_figures
from .run import HELD_OUT, TESTS, CrossLingualRun, Transfer, rows_of, split_of
from .scorer import SCORES

LONG = {
    "accuracy": "accuracy", "macro_f1": "macro-F1", "train_accuracy": "accuracy on the words that were fitted",
    "behind": "accuracy of all neurons − accuracy",
    "gap": "accuracy in the language of training − accuracy, both on held-out sentences",
    "model_difference": "accuracy of the first model − accuracy",
    "mean_accuracy": "mean accuracy over all other languages",
    "mean_behind": "mean accuracy of all neurons over all other languages − that of these",
    "mean_difference": "mean accuracy of the first model over all other languages − that of this model",
    "family_accuracy": "mean accuracy over the languages of a family, without that of training",
    "ceiling": "accuracy of a probe that was fitted on the language itself, on held-out sentences",
    "majority": "accuracy of the most frequent class of the language of training",
    "word_source": "accuracy of the most frequent class of the word in the language of training",
    "word_own": "accuracy of the most frequent class of the word in the language itself, on held-out sentences",
    "over_words": "accuracy of all neurons − word_source",
    "rows": "words with a label", "missing": "words without a label",
    "unseen": "words whose label the language of training has not",
    "unknown": "share of words with an unknown token", "width": "neurons that the probe reads",
    "used": "neurons with a weight that is not 0", "weights": "weights that are not 0", "l1": "penalty λ₁",
    "kkt": "largest violation of the KKT conditions, in units of λ₁", "iterations": "iterations",
    "train_support": "words of the class that were fitted", "support": "words of the class",
    "precision": "share of the words that are predicted as the class that are of it, by all neurons",
    "recall": "share of the words of the class that are predicted as it, by all neurons",
    "f1": "F1 of the class, by all neurons",
    "held_out": "whether a sentence is held out",
}  # fmt: skip


def make_dataset(
    run: CrossLingualRun, baselines: Baselines, options: CrossLingualOptions
) -> xr.Dataset:
    """Everything that was scored."""
    languages = run.rows.parallel.languages
    families = families_of(languages, options.families)
    named = dict.fromkeys(f for f in families.values() if f is not None)
    sets = {t.neurons.label: t.neurons for t in run.transfers}
    kinds = {"all": 0, "threshold": 1, "layers": 2}
    order = sorted(
        sets, key=lambda label: kinds[sets[label].kind]
    )  # thresholds rise, sets of layers keep their order
    table = Variables(
        {
            "model": [m.name for m in run.rows.models],
            "source": run.sources,
            "task": options.tag_names(),
            "neurons": order,
            "language": languages,
            "test": TESTS,
            "class": class_labels(run.tasks),
            **({"family": list(named)} if named else {}),
        },
        LONG,
    )
    _put_rows(table, run)
    _put_classes(table, run)
    by_key = {(t.model, t.language, t.task.name, t.neurons.label): t for t in run.transfers}
    for one in run.transfers:
        _put_fit(table, one)
        _put_transfer(table, one, by_key, families)
    for (model, language, tag), scored in run.ceilings.items():
        table.put_scored(("ceiling",), scored, model=model, task=tag, language=language)
    for name, scores in (("majority", baselines.majority), ("word_source", baselines.word)):
        for (source, tag, language, test), scored in scores.items():
            at = {"source": source, "task": tag, "language": language, "test": test}
            table.put_scored((name,), scored, **at)
    for one in (t for t in run.transfers if t.neurons.label == EVERY):
        at = {"model": one.model, "source": one.language, "task": one.task.name}
        for (language, test), scored in one.scores.items():
            words = baselines.word[one.language, one.task.name, language, test]
            table.put_scored(("over_words",), scored - words, **at, language=language, test=test)
    for (tag, language), scored in baselines.own_word.items():
        table.put_scored(("word_own",), scored, task=tag, language=language)
    dataset = table.dataset().assign_coords(
        kind=("neurons", [sets[s].kind for s in order]),
        threshold=("neurons", [np.nan if (t := sets[s].threshold) is None else t for s in order]),
        family_of=("language", [families[name] or "" for name in languages]),
        sentence=run.rows.parallel.ids,
    )
    dataset["held_out"] = (
        "sentence",
        run.rows.parallel.held_out.astype(np.int8),
        {"long_name": LONG["held_out"]},
    )
    if options.compare_published:
        figures = published_figures(languages, run.sources, options.tag_names(), order)
        for name, shown in figures.items():
            axes = {"task": list(options.tag_names()), "neurons": order, "language": languages}
            dataset[name] = shown.reindex({d: axes[d] for d in axes if d in shown.dims})
    return dataset


def _put_rows(table: Variables, run: CrossLingualRun) -> None:
    """Words, labels that are missing or unseen, and unknown tokens."""
    for (source, tag), task in run.tasks.items():
        for language in run.rows.parallel.languages:
            split = split_of(language)
            for test in TESTS:
                rows = rows_of(task, split, run, language, test)
                at = {"task": tag, "language": language, "test": test}
                table.put("rows", len(rows), **at)
                unseen = int((task.target[split][rows] < 0).sum())
                table.put("unseen", unseen, source=source, **at)
            table.put("missing", task.missing[split], task=tag, language=language)
    for language, info in run.rows.info.items():
        counts = info.get("unknown", {})
        for model in run.rows.models:
            if model.name not in counts:
                continue  # its tokenizer does not tell, or knows everything
            told = counts[model.name]
            share = told["with_unknown_token"] / told["units"]
            table.put("unknown", share, model=model.name, language=language)


def class_labels(tasks: Mapping[tuple[str, str], Task]) -> list[str]:
    """``task/label`` of every label that a language of training has, task after task."""
    labels: dict[str, set[str]] = {}
    for (_, tag), task in tasks.items():
        labels.setdefault(tag, set()).update(task.classes)
    return [f"{tag}/{label}" for tag, known in labels.items() for label in sorted(known)]


def _put_classes(table: Variables, run: CrossLingualRun) -> None:
    """Words of each class, and how well probes of all neurons predict them in every language."""
    for (source, tag), task in run.tasks.items():
        for label, count in zip(task.classes, task.counts.tolist(), strict=True):
            table.put("train_support", count, source=source, **{"class": f"{tag}/{label}"})
    for one in (t for t in run.transfers if t.neurons.label == EVERY):
        tag, labels = one.task.name, one.task.classes
        for (language, test), scores in one.by_class.items():
            here = {"source": one.language, "language": language, "test": test}
            for k, label in enumerate(labels):
                at = {**here, "class": f"{tag}/{label}"}
                table.put("support", float(scores.support[k]), **at)
                table.put("precision", float(scores.precision[k]), model=one.model, **at)
                table.put("recall", float(scores.recall[k]), model=one.model, **at)
                table.put_scored(("f1",), scores.f1.only(k), model=one.model, **at)


def _put_fit(table: Variables, one: Transfer) -> None:
    fitted = one.fitted
    at = {
        "model": one.model,
        "source": one.language,
        "task": one.task.name,
        "neurons": one.neurons.label,
    }
    numbers = {
        "train_accuracy": one.train, "width": len(one.neurons.columns), "used": len(fitted.neurons),
        "weights": int(np.count_nonzero(fitted.weights)), "l1": fitted.l1, "kkt": fitted.residual,
        "iterations": fitted.iterations,
    }  # fmt: skip
    for name, value in numbers.items():
        table.put(name, value, **at)


def _put_transfer(
    table: Variables,
    one: Transfer,
    by_key: Mapping[tuple[str, str, str, str], Transfer],
    families: Mapping[str, str | None],
) -> None:
    """Scores of one probe in every language, and what they are compared with."""
    tag, label = one.task.name, one.neurons.label
    at = {"model": one.model, "source": one.language, "task": tag, "neurons": label}
    every = by_key[one.model, one.language, tag, "all"]
    first = by_key.get((table.coords["model"][0], one.language, tag, label))
    for (language, test), scored in one.scores.items():
        here = {**at, "language": language, "test": test}
        table.put_scored(SCORES, scored, **here)
        if every is not one:
            table.put_scored(("behind",), every.scores[language, test] - scored, **here)
        if first is not None and first is not one:
            table.put_scored(("model_difference",), first.scores[language, test] - scored, **here)
        if test == HELD_OUT and language != one.language:
            gap = one.scores[one.language, HELD_OUT] - scored
            table.put_scored(("gap",), gap, **at, language=language)
    for test in TESTS:
        others = [n for n in table.coords["language"] if n != one.language]
        _put_means(table, one, every, first, others, test, at)
        for family in table.coords.get("family", ()):
            mine = [one.scores[name, test] for name in others if families[name] == family]
            if mine:
                table.put_scored(
                    ("family_accuracy",), mean_of(mine), **at, family=family, test=test
                )


def _put_means(
    table: Variables,
    one: Transfer,
    every: Transfer,
    first: Transfer | None,
    others: Sequence[str],
    test: str,
    at: Mapping[str, str],
) -> None:
    """Means over all other languages, and how far they lie behind those of all neurons, and of the first model."""

    def mean(transfer: Transfer) -> Scored:
        return mean_of([transfer.scores[name, test] for name in others])

    table.put_scored(("mean_accuracy",), mean(one), **at, test=test)
    if every is not one:
        table.put_scored(("mean_behind",), mean(every) - mean(one), **at, test=test)
    if first is not None and first is not one:
        table.put_scored(("mean_difference",), mean(first) - mean(one), **at, test=test)
