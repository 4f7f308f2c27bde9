"""`Subject`: what neurons are ranked of, and the ranking of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from ..fits import FittedProbe
from ..probe_rows import ProbeRows
from .fits import FitSettings, NeuronFits
from .order import NeuronRanking, Neurons
from .registry import Evidence, RankingMethod, rank_by
from .stability import stability_of

Array = NDArray[Any]


@dataclass(frozen=True)
class Subject:
    """What is ranked: neurons, and the probe of them as far as it is known."""

    neurons: Neurons
    task: str
    weights: Array | None
    """Classes × neurons, for standardized neurons."""
    settings: FitSettings
    fitted: FittedProbe | None
    labels: Array | None
    """Of the outputs; None where they are not known, empty for scores."""
    rows: ProbeRows | None


def rank_subject(
    subject: Subject,
    method: RankingMethod,
    options: dict[str, Any],
    *,
    reverse: bool = False,
    resamples: int = 0,
    seed: int = 0,
    fits: NeuronFits | None = None,
) -> NeuronRanking:
    """Rank the neurons of a subject; ``fits`` are those of its rows, where they are open."""
    rows = subject.rows
    if fits is None and rows is not None and (method.needs == "rows" or resamples):
        fits = NeuronFits(rows.opened(), subject.settings)
    evidence = Evidence(len(subject.neurons), seed, subject.weights, fits)
    ranked = rank_by(method, evidence, options)
    stability = None
    if resamples:
        stability = stability_of(method, options, fits, subject.settings, resamples, seed)
    return NeuronRanking(
        order=ranked.order[::-1].copy() if reverse else ranked.order,
        method=method.name,
        reverse=bool(reverse),
        value=ranked.value,
        informed=ranked.informed,
        options=dict(options),
        neurons=subject.neurons,
        task=subject.task,
        seed=seed,
        settings=subject.settings,
        fitted=subject.fitted,
        labels=subject.labels,
        rows=rows,
        stability=stability,
    )
