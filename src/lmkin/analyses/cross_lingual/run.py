"""Cross-lingual transfer as an analysis runs it: clusters and probes of one language, scored in all; each kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...analysis import Running, Source
from ...core import Alert, progress_bar
from ...rows import Workspace
from ..probing import FittedProbe, Scored, Task, read_tasks
from .fits import Fits
from .language_rows import AllLanguages, LanguageRows, open_languages
from .neuron_sets import EVERY, NeuronSet, cluster_source, neuron_sets
from .options import CrossLingualOptions
from .parallel import align_corpora
from .scorer import ClassScores, Scorer
from .stores import parallel_corpora

IntArray = NDArray[np.int64]
EVERYWHERE, HELD_OUT = "all", "held-out"
TESTS = (EVERYWHERE, HELD_OUT)
"""All sentences, most of whose translations were fitted on; and those whose translations were not."""


@dataclass
class Transfer:
    """Probes of one set of neurons for one task, fitted on one language, and their scores in all."""

    model: str
    language: str
    """That was fitted on."""
    task: Task
    neurons: NeuronSet
    fitted: FittedProbe
    train: float
    """Accuracy on the words that were fitted."""
    scores: dict[tuple[str, str], Scored]
    """By language and test."""
    by_class: dict[tuple[str, str], ClassScores] = field(default_factory=dict)
    """The same of each class, by a probe of all neurons."""


@dataclass
class CrossLingualRun:
    """Everything that was fitted and scored, and the rows it was done on."""

    rows: AllLanguages
    sources: tuple[str, ...]
    tasks: dict[tuple[str, str], Task]
    """By language that was fitted on, and tag. Splits are ``train``, ``dev``, and `split_of` each language."""
    own: dict[tuple[str, str], Task]
    """By language and tag: what probes and baselines of the language itself are fitted on."""
    scorers: dict[str, Scorer]
    """By test."""
    transfers: list[Transfer] = field(default_factory=list)
    ceilings: dict[tuple[str, str, str], Scored] = field(default_factory=dict)
    """By model, language and tag: a probe of all neurons that was fitted on the language itself."""
    alerts: list[Alert] = field(default_factory=list)
    """Of clusters."""


def split_of(language: str) -> str:
    """What the split of a task is called that holds all words of a language."""
    return f"language {language}"


def fit_everything(
    source: Source, options: CrossLingualOptions, running: Running, work: Workspace
) -> CrossLingualRun:
    """Align the corpora, open the rows, read the tasks, cluster, fit and score."""
    parallel = align_corpora(parallel_corpora(source), options, running.seed)
    sources = options.sources(parallel.languages)
    rows = open_languages(source, parallel, running, work)
    parts = {test: parallel.parts(options.blocks, held_out=test == HELD_OUT) for test in TESTS}
    scorers = {test: Scorer(part, options.intervals, options.level) for test, part in parts.items()}
    run = CrossLingualRun(rows, sources, *_tasks(rows, sources, options), scorers)
    sets = 1 + len(options.cuts()) + len(options.sets())
    others = len(parallel.languages) - len(sources) if options.ceiling else 0
    fits = len(rows.models) * len(options.tag_names()) * (sets * len(sources) + others)
    work.describe(steps={"probe": fits})
    with progress_bar("probes", fits, "fits", show=running.progress) as advance:
        for model in rows.models:
            for language in sources:
                _transfer(run, model, language, options, running, work, advance)
            if options.ceiling:
                _ceilings(run, model, options, running, work, advance)
    return run


def _tasks(
    rows: AllLanguages, sources: Sequence[str], options: CrossLingualOptions
) -> tuple[dict[tuple[str, str], Task], dict[tuple[str, str], Task]]:
    """The tasks of each language of training, and of each language by itself."""
    tasks, own = {}, {}
    for language, units in rows.units.items():
        train, held = rows.split(language)
        mine = {"train": units.select(train), "dev": units.select(held)}
        for tag in options.tag_names():
            own[language, tag] = read_tasks(mine, options.of_probe(tag))[0]
            if language in sources:
                every = {split_of(name): some for name, some in rows.units.items()}
                tasks[language, tag] = read_tasks(mine | every, options.of_probe(tag))[0]
    return tasks, own


def _transfer(
    run: CrossLingualRun,
    model: LanguageRows,
    language: str,
    options: CrossLingualOptions,
    running: Running,
    work: Workspace,
    advance: Callable[[int], None],
) -> None:
    """Cluster on one language, fit every set of neurons for every task, and score all languages in one pass each."""
    model.require_finite(language)
    clustering = cluster_source(
        model, language, run.rows.split(language)[0], options, running, work
    )
    run.alerts += clustering.alerts
    sets = neuron_sets(model, clustering, options)
    fits = Fits(run.rows, model, language, options, running, work)
    fitted: list[tuple[Task, NeuronSet, FittedProbe]] = []
    for tag in options.tag_names():
        task = run.tasks[language, tag]
        for neurons in sets:
            fitted.append((task, neurons, fits.fit(task, neurons.columns)))
            advance(1)
    del fits
    transfers = [
        Transfer(model.name, language, task, neurons, probe, np.nan, {})
        for task, neurons, probe in fitted
    ]
    for target in run.rows.parallel.languages:
        probes = [(neurons.columns, probe) for _, neurons, probe in fitted]
        for one, predicted in zip(transfers, predict(model, target, probes), strict=True):
            _score(run, one, target, predicted, options)
    run.transfers += transfers


def _score(
    run: CrossLingualRun,
    one: Transfer,
    target: str,
    predicted: IntArray,
    options: CrossLingualOptions,
) -> None:
    """Scores of one probe in one language; ``predicted`` are classes of all its words."""
    task, split = one.task, split_of(target)
    rows, sentence = task.rows[split], run.rows.units[target].sentence
    sentence, mine = sentence[rows], predicted[rows]
    true = known_labels(task, split, options)
    if target == one.language:
        train = ~run.rows.parallel.held_out[sentence]
        one.train = float((true[train] == mine[train]).mean())
    for test, scorer in run.scorers.items():
        if test == EVERYWHERE and target == one.language:
            continue  # most of these were fitted
        one.scores[target, test] = scorer.score(true, mine, sentence, len(task.classes))
        if one.neurons.label == EVERY:
            scores = scorer.score_classes(true, mine, sentence, len(task.classes))
            one.by_class[target, test] = scores


def known_labels(task: Task, split: str, options: CrossLingualOptions) -> IntArray:
    """The labels of a split; those that train has not are −1, or the most frequent of train."""
    true = np.asarray(task.target[split])
    if options.unseen == "most-frequent":
        return np.where(true < 0, int(task.counts.argmax()), true)
    return true


def predict(
    model: LanguageRows,
    language: str,
    probes: Sequence[tuple[IntArray, FittedProbe]],
    rows: IntArray | None = None,
) -> list[IntArray]:
    """Classes by several probes in one pass over the rows; each reads only the columns that it has weights for."""
    n = len(model.matrix(language, rows))
    predicted = [np.empty(n, np.int64) for _ in probes]
    used = [
        (
            columns[probe.neurons],
            np.asarray(probe.weights[probe.neurons], np.float64),
            probe.intercepts,
        )
        for columns, probe in probes
    ]
    for here, block in model.blocks(language, rows):
        for out, (columns, W, b) in zip(predicted, used, strict=True):
            out[here] = (block[:, columns].astype(np.float64) @ W + b).argmax(1)
    return predicted


def _ceilings(
    run: CrossLingualRun,
    model: LanguageRows,
    options: CrossLingualOptions,
    running: Running,
    work: Workspace,
    advance: Callable[[int], None],
) -> None:
    """Scores of probes that are fitted on each language itself, on its held-out sentences."""
    done = {
        (t.language, t.task.name): t.scores[t.language, HELD_OUT]
        for t in run.transfers
        if t.model == model.name and t.neurons.label == EVERY
    }
    columns = np.arange(model.width)
    for language, units in run.rows.units.items():
        fits = None
        for tag in options.tag_names():
            if (language, tag) in done:
                run.ceilings[model.name, language, tag] = done[language, tag]
                continue
            task = run.own[language, tag]
            if fits is None:
                model.require_finite(language)
            fits = fits or Fits(run.rows, model, language, options, running, work)
            probe = fits.fit(task, columns)
            advance(1)
            held = run.rows.split(language)[1][task.rows["dev"]]
            (predicted,) = predict(model, language, [(columns, probe)], held)
            run.ceilings[model.name, language, tag] = run.scorers[HELD_OUT].score(
                task.target["dev"], predicted, units.sentence[held], len(task.classes)
            )


def rows_of(task: Task, split: str, run: CrossLingualRun, language: str, test: str) -> IntArray:
    """The labelled words of a language that belong to a test, by their place among its labelled words."""
    sentence = run.rows.units[language].sentence[task.rows[split]]
    return np.flatnonzero(run.scorers[test].rows(sentence))
