"""`cross_lingual`: probes that are fitted on one language, tested in others on the same sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from ...analysis import Running, Source, find_analysis
from ...core import PARTS, as_data, key_of
from ...estimators import PenaltyName
from ...models import Reading, ReadingOptions, check_reading
from ...results import make_provenance
from ...rows import Workspace
from ..redundancy import THRESHOLDS, Linkage, Representative, identity_of
from .ablations import ABLATIONS
from .alerts import find_alerts
from .baselines import score_baselines
from .dataset import make_dataset
from .options import TAGS, Alignment, CrossLingualOptions, Unseen
from .probes import KeptProbe
from .result import CrossLingual
from .run import CrossLingualRun, fit_everything


def cross_lingual(
    source: Any,
    corpus: Mapping[str, Any] | None = None,
    *,
    train_on: str | Sequence[str] | None = None,
    tags: str | Sequence[str] = TAGS,
    subtypes: bool = True,
    unseen: Unseen = "wrong",
    align: Alignment = "id",
    common: bool = False,
    held_out_share: float = 0.1,
    families: Mapping[str, str] | None = None,
    penalty: PenaltyName = "elementwise",
    l1: float | None = None,
    l2: float | None = None,
    standardize: bool = True,
    kkt: float = 0.01,
    ceiling: bool = False,
    compare_published: bool = False,
    thresholds: float | Sequence[float] = THRESHOLDS,
    linkage: Linkage = "average",
    representative: Representative = "random",
    ablations: str | Sequence[str] = tuple(ABLATIONS),
    intervals: bool = True,
    level: float = 0.95,
    parts: int = PARTS,
    memory: int | str | None = None,
    seed: int = 0,
    workspace: str | Path | Workspace | None = None,
    progress: bool | None = None,
    **reading: Unpack[ReadingOptions],
) -> CrossLingual:
    """Fit probes on one language of parallel treebanks, and score them in all, with fewer and fewer neurons.

    Sentences are split once, at the same places in every language: a probe is fitted on the sentences that are not held
    out, of one language, and scored on the sentences of the others, all of them and those that are held out, of which
    it has not seen a translation either. Clusters of neurons are found on the sentences that are fitted, in the
    language of training alone; at every threshold a probe is fitted anew on the neurons that are left.

    Parameters
    ----------
    source
        A model, or several: the first is what the others are compared with. Or, without a corpus, stored activations by
        language, ``{"en": …, "de": …}``; of several models a list of stores for each language.
    corpus
        Parallel corpora by language, ``{"en": …, "de": …}``, for models to read.
    train_on
        The language that probes are fitted on, several, or ``"all"``: each in turn. By default the first.
    tags
        The tags of words that are predicted: each is a task.
    subtypes
        Tell subtypes apart (``nmod:poss``), or cut them off (``nmod``).
    unseen
        A label that train has not in the language of training can only be ``wrong``; or it counts as the
        ``most-frequent`` label of train, as in the thesis.
    align
        Sentences belong together by ``id`` (sent_id) or by their ``order``.
    common
        Take the sentences that all corpora have, where ids are not the same.
    held_out_share
        Share of the sentences that no probe is fitted on; those of the language of training choose the penalty.
    families
        Families by language, which go before the usual ones.
    penalty, l1, l2, standardize
        As for :class:`lmkin.Probe`. ``l1=None``: chosen along a path, for each probe.
    kkt
        Largest violation of the KKT conditions of a fit, in units of λ₁.
    ceiling
        Also a probe of all neurons that is fitted on each language itself.
    compare_published
        Show figures of the thesis (2022) for multilingual models beside yours, where languages and tags are its own.
    thresholds, linkage, representative
        Of the clusters, as for :func:`lmkin.cluster_neurons`.
    ablations
        Sets of layers that a probe is fitted on besides: ``alternate``, ``top``, ``bottom``, ``embedding``,
        ``above-embedding``; or ``none``.
    intervals, level, parts
        Standard errors and confidence intervals, by a jackknife over ``parts`` blocks of sentences, the same in every
        language and for every model.
    memory
        A budget such as ``"8GB"`` for the peak of the whole process.
    seed
        Of the split, and of random representatives.
    workspace
        A folder for unfinished work: the same call goes on from there after a kill.
    progress
        Show progress bars; by default where there is a terminal or a notebook.
    reading
        How models read the corpora, as for :func:`lmkin.extract`.
    """
    check_reading(reading, cross_lingual)
    options = CrossLingualOptions(
        train_on=_several(train_on), tags=_several(tags) or (), subtypes=subtypes, unseen=unseen, align=align,
        common=common, held_out_share=held_out_share, families=families, penalty=penalty, l1=l1, l2=l2,
        standardize=standardize, kkt=kkt, ceiling=ceiling, compare_published=compare_published,
        thresholds=(thresholds,) if isinstance(thresholds, int | float) else tuple(thresholds),
        linkage=linkage, representative=representative, ablations=_several(ablations) or (), intervals=intervals,
        level=level, parts=parts,
    )  # fmt: skip
    running = Running(memory=memory, seed=seed, progress=progress)
    here = Source(source, corpus, reading=replace(Reading(), **reading), by_name=True)
    find_analysis("cross-lingual").check_run(here, options, running)
    return compute_cross_lingual(here, options, running, Workspace.of(workspace))


def _several(given: str | Sequence[str] | None) -> tuple[str, ...] | None:
    return (given,) if isinstance(given, str) else None if given is None else tuple(given)


def compute_cross_lingual(
    source: Source, options: CrossLingualOptions, running: Running, work: Workspace
) -> CrossLingual:
    """Fit and score everything, and label what came out."""
    run = fit_everything(source, options, running, work)
    dataset = make_dataset(run, score_baselines(run, options), options)
    dataset.attrs = _attributes(run, options, running)
    probes = {
        (t.model, t.language, t.task.name, t.neurons.label): KeptProbe(t.neurons.columns, t.fitted)
        for t in run.transfers
    }
    return CrossLingual(dataset, probes)


def _attributes(
    run: CrossLingualRun, options: CrossLingualOptions, running: Running
) -> dict[str, Any]:
    parallel, rows = run.rows.parallel, run.rows
    layers: dict[str, dict[str, list[int]]] = {}
    for one in run.transfers:
        layers.setdefault(one.model, {})[one.neurons.label] = list(one.neurons.layers)
    classes: dict[str, dict[str, list[str]]] = {}
    for (language, tag), task in run.tasks.items():
        classes.setdefault(language, {})[tag] = list(task.classes)
    corpora = {name: {"name": c.name, "hash": c.hash} for name, c in parallel.corpora.items()}
    return {
        "models": [m.name for m in rows.models],
        "units": "word",
        "corpus": ", ".join(f"{name}: {about['name']}" for name, about in corpora.items()),
        "level": options.level,
        "parts": options.parts if options.intervals else 0,
        "part_sizes": {test: list(scorer.sizes) for test, scorer in run.scorers.items()},
        "unseen": options.unseen,
        "align": options.align,
        "left_out": dict(parallel.left_out),
        "classes": classes,
        "layers_read": layers,
        "linkage": options.linkage,
        "representative": options.representative,
        "probed": {
            m.name: {
                "layers": list(m.layers), "widths": m.widths, "identity": identity_of(m.manifest.get("model")),
            }
            for m in rows.models
        },
        "alerts": as_data(find_alerts(run, options)),
        "provenance": make_provenance(
            analysis="cross-lingual",
            options=key_of(options),
            running=running.to_dict(),
            source={
                "corpora": corpora,
                "models": {
                    m.name: {k: m.manifest[k] for k in ("model", "units") if k in m.manifest} for m in rows.models
                },
            },
        ),
    }  # fmt: skip
