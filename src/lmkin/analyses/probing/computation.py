"""`probe`: linear probes of all layers, each layer and layers 0 to l, with what they are compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from ...analysis import Running, Source, find_analysis
from ...core import PARTS, as_data, key_of
from ...corpus import Corpus
from ...estimators import PenaltyName, Solver
from ...models import Reading, ReadingOptions, check_reading
from ...results import make_provenance
from ...rows import Workspace
from ..redundancy import identity_of
from .alerts import find_alerts
from .dataset import main_score, make_dataset
from .neurons.dataset import with_neurons
from .options import SETS, Convention, LabelKind, ProbeOptions
from .published import compare_published
from .result import Probes
from .run import ProbingRun, fit_everything


def probe(
    source: Any,
    corpus: Corpus | str | Path | Mapping[str, Any] | None = None,
    *,
    tag: str | Sequence[str] | None = None,
    label: LabelKind | None = None,
    subtypes: bool = True,
    train_limit: int | None = None,
    fit: str | Sequence[str] = SETS,
    penalty: PenaltyName = "elementwise",
    l1: float | None = None,
    l2: float | None = None,
    standardize: bool = True,
    kkt: float = 0.01,
    solver: Solver = "exact",
    convention: Convention = "exact",
    control: bool = True,
    code_length: bool = True,
    tolerance: float = 0.01,
    compare_published: bool = False,
    ranking: str = "none",
    curves: bool = True,
    resamples: int = 0,
    thresholds: Sequence[float] | None = None,
    intervals: bool = True,
    level: float = 0.95,
    parts: int = PARTS,
    memory: int | str | None = None,
    seed: int = 0,
    workspace: str | Path | Workspace | None = None,
    progress: bool | None = None,
    **reading: Unpack[ReadingOptions],
) -> Probes:
    """Fit linear probes for a tag of the words, or the label of the sentences, on the layers of every model.

    Parameters
    ----------
    source
        Activations (or folders of them), one or several; activations of one model by split, ``{"train": …, "dev": …,
        "test": …}``; or models with a ``corpus``.
    corpus
        What models are to read: one corpus, which is split (80 % train, 10 % dev, 10 % test, in whole documents or
        sentences), or ``{"train": …, "dev": …, "test": …}``. Where there is no dev, a tenth of train is; where there is
        no test, what was given as dev is the test.
    tag
        The tag that is predicted, or several: each is a task.
    label
        Predict the label of each sentence instead: ``"class"``, or ``"score"`` for a number. Needs
        ``units="sentence"``.
    subtypes
        Tell subtypes apart (``nmod:poss``), or cut them off (``nmod``).
    train_limit
        Only the first so many labelled rows of train.
    fit
        Which layers a probe reads: ``all`` side by side (the oracle, which is always there), ``each`` by itself,
        ``upto``: layers 0 to l side by side, for each l.
    penalty, l1, l2, standardize
        As for :class:`lmkin.Probe`. ``l1=None``: chosen on dev along a path, for each probe.
    kkt
        Largest violation of the KKT conditions of a fit, in units of λ₁.
    solver, convention
        ``exact`` goes to the minimum; ``solver="adam"`` fits as the papers did: 10 epochs of batches of 128. With
        ``convention="paper"`` everything that is left open is as in Dalvi et al. 2020: Adam, the first 150,000 words of
        train, and 1e-5 for λ₁ and λ₂ (which hardly regularizes); ``"released"``: also what their code does otherwise
        (λ₂‖W‖ in place of its square, no shuffling).
    control
        Also a probe with the same penalty for the control task (Hewitt & Liang 2019: one random tag for each word
        type); selectivity is the difference.
    code_length
        Also the online code length of the labels of train (Voita & Titov 2020).
    tolerance
        Share of the oracle's score on dev that may be lost.
    compare_published
        Also show the layers of BERT and XLNet as published (Dalvi et al. 2020, table 7), for tasks that are the same.
    ranking
        How neurons of all layers are ranked (`lmkin.rank_neurons`), to find the smallest set that keeps the oracle's
        score; ``none``: not at all.
    curves
        Also score the first N neurons of the ranking, and all others, by another probe. That is several times the work
        of the oracle; the ranking and its smallest set take a fraction of it.
    resamples
        How often train is drawn into two halves, both ranked, to see what the rankings have in common.
    thresholds
        Also probes of one neuron of each cluster of neurons that say the same thing, at each of these thresholds
        (`lmkin.cluster_neurons`, on train): how few neurons keep how much.
    intervals, level, parts
        Standard errors and confidence intervals, by a jackknife over ``parts`` blocks of whole documents.
    memory
        A budget such as ``"8GB"`` for the peak of the whole process.
    seed
        Of splits, control tasks, and the order of the online code.
    workspace
        A folder for unfinished work: the same call goes on from there after a kill.
    progress
        Show progress bars; by default where there is a terminal or a notebook.
    reading
        How models read the corpus, as for :func:`lmkin.extract`.
    """
    check_reading(reading, probe)
    options = ProbeOptions(
        tag=(tag,) if isinstance(tag, str) else tag, label=label, subtypes=subtypes, train_limit=train_limit,
        fit=(fit,) if isinstance(fit, str) else fit, penalty=penalty, l1=l1, l2=l2, standardize=standardize, kkt=kkt,
        solver=solver, convention=convention, control=control, code_length=code_length, tolerance=tolerance,
        compare_published=compare_published, ranking=ranking, curves=curves, resamples=resamples,
        thresholds=None if thresholds is None else tuple(thresholds),
        intervals=intervals, level=level, parts=parts,
    )  # fmt: skip
    running = Running(memory=memory, seed=seed, progress=progress)
    here = Source(source, corpus, reading=replace(Reading(), **reading))
    find_analysis("probe").check_run(here, options, running)
    return compute_probes(here, options, running, Workspace.of(workspace))


def compute_probes(
    source: Source, options: ProbeOptions, running: Running, work: Workspace
) -> Probes:
    """Fit everything, and label what came out."""
    options = options.resolved()
    run = fit_everything(source, options, running, work)
    dataset = make_dataset(run, options.tolerance)
    dataset.attrs = _attributes(run, source, options, running)
    dataset = with_neurons(dataset, run, options)
    fitted, rows = {}, {}
    layers = {m.name: m.layers for m in run.rows.models}
    for task_run in run.runs:
        rows[task_run.model, task_run.task.name] = task_run.rows
        for mine in task_run.sets:
            name = mine.layers.label(layers[task_run.model])
            fitted[task_run.model, task_run.task.name, name] = mine.fitted
    beside = (
        compare_published(dataset, str(source.corpus or "")) if options.compare_published else None
    )
    return Probes(dataset, fitted, rows, beside)


def _attributes(
    run: ProbingRun, source: Source, options: ProbeOptions, running: Running
) -> dict[str, Any]:
    info = run.rows.info
    manifests = {m.name: m.manifest for m in run.rows.models}
    return {
        "models": [m.name for m in run.rows.models],
        "units": info.get("units", "row"),
        "corpus": source.sentences.name if source.corpus is not None else str(info.get("corpus", "")),
        "split": run.rows.split_from,
        "lost": dict(run.rows.lost),
        "level": options.level,
        "parts": options.parts if options.intervals else 0,
        "parts_of": run.made_of,
        "tolerance": options.tolerance,
        "penalty": options.penalty,
        "main": {t.name: main_score(t) for t in run.tasks},
        "classes": {t.name: list(t.classes) for t in run.tasks},
        "probed": {
            m.name: {
                "layers": list(m.layers),
                "widths": m.widths,
                "identity": identity_of(m.manifest.get("model")),
            }
            for m in run.rows.models
        },
        "alerts": as_data(find_alerts(run, options)),
        "provenance": make_provenance(
            analysis="probe",
            options=key_of(options),
            running=running.to_dict(),
            source={
                **{k: info[k] for k in ("corpus", "corpus_hash", "units", "units_hash") if k in info},
                "split": run.rows.split_from,
                "models": {n: {k: m[k] for k in ("model", "units", "key") if k in m} for n, m in manifests.items()},
            },
        ),
    }  # fmt: skip
