"""What can be asked of probes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from ...analysis import MEASURES, Intervals
from ...core import LmkinError, did_you_mean, option, quoted
from ...estimators import PenaltyName, Solver, make_penalty
from ..redundancy import check_thresholds, parse_thresholds
from .neurons.registry import NONE, find_ranking, of_classes_only, ranking_names

TASK = "Task"
PROBE = "Probe"
NEURONS = "Neurons"
LabelKind = Literal["class", "score"]
SETS = ("all", "each", "upto")
Convention = Literal["exact", "paper", "released"]
PAPER_WORDS = 150_000
PAPER_PENALTY = 1e-5
"""Words of train, and λ₁ and λ₂, of Dalvi et al. 2020."""


def parse_names(text: str) -> tuple[str, ...]:
    """Names with commas.

    >>> parse_names("upos, deprel")
    ('upos', 'deprel')
    """
    return tuple(name.strip() for name in text.split(",") if name.strip())


def rankings_or_none() -> list[str]:
    """The rankings, and none."""
    return [*ranking_names(), NONE]


@dataclass(frozen=True)
class ProbeOptions(Intervals):
    """What is predicted, from which layers, with which penalty, and what it is compared with."""

    tag: Sequence[str] | None = option(
        None,
        "The tag of each word that is predicted, such as upos; several with commas.",
        TASK,
        parse=parse_names,
    )
    label: LabelKind | None = option(
        None,
        "Predict the label of each sentence instead: class, or score for a number (regression).",
        TASK,
    )
    subtypes: bool = option(
        True, "Tell subtypes of a tag apart; otherwise nmod:poss is nmod.", TASK
    )
    train_limit: int | None = option(
        None, "Only the first so many labelled rows of train.", TASK, least=2
    )
    fit: Sequence[str] = option(
        SETS,
        "Which layers a probe reads: all (side by side, the oracle), each by itself, upto (layers 0 to l side by "
        "side, for each l); with commas. Default: all,each,upto.",
        PROBE,
        parse=parse_names,
    )
    penalty: PenaltyName = option(
        "elementwise",
        "Zeros for single weights (elastic net), or row: a neuron is in or out for all classes together.",
        PROBE,
    )
    l1: float | None = option(
        None, "Penalty λ₁. Default: chosen on dev along a path, for each probe.", PROBE
    )
    l2: float | None = option(
        None, "Penalty λ₂. Default: as λ₁ (of scores: divided by their deviation).", PROBE
    )
    standardize: bool = option(True, "Divide each neuron by its standard deviation.", PROBE)
    kkt: float = option(
        0.01, "Largest violation of the KKT conditions of a fit, in units of λ₁.", PROBE
    )
    solver: Solver = option(
        "exact",
        "exact: to the minimum; adam: as the papers fitted (10 epochs of batches of 128, rate 1e-3, λ₁ and λ₂ 1e-5 "
        "where none are given).",
        PROBE,
    )
    convention: Convention = option(
        "exact",
        "paper: what Dalvi et al. 2020 took, unless it is given: Adam, the first 150,000 words of train, and 1e-5 for "
        "λ₁ and λ₂ (which hardly regularizes); released: also what their code does otherwise (λ₂ ‖W‖ in place of its "
        "square, no shuffling).",
        PROBE,
    )
    control: bool = option(
        True, "Control task (one random tag for each word type) and selectivity.", MEASURES
    )
    code_length: bool = option(
        True, "Online code length of the labels (minimum description length).", MEASURES
    )
    tolerance: float = option(
        0.01,
        "Share of the oracle's score that may be lost: for redundant layers, and the smallest set of neurons.",
        MEASURES,
    )
    compare_published: bool = option(
        False,
        "Show the layers of BERT and XLNet as published (Dalvi et al. 2020) beside these, for the same tasks.",
        MEASURES,
    )
    ranking: str = option(
        NONE,
        "Rank neurons by lca, row-path, probeless or random, find the smallest set that keeps the oracle's score, and "
        "score the first N (curves). Default: none.",
        NEURONS,
        complete=rankings_or_none,
    )
    curves: bool = option(
        True,
        "Score the first N neurons of the ranking, and all others, by another probe: several times the work of the "
        "oracle, where the ranking and its smallest set take a fraction of it.",
        NEURONS,
    )
    resamples: int = option(
        0,
        "How often train is drawn into two halves whose rankings are compared (stability).",
        NEURONS,
        least=0,
    )
    thresholds: Sequence[float] | None = option(
        None,
        "Also probes of one neuron of each cluster of neurons that say the same thing, at these thresholds: numbers "
        "with commas, or FROM:TO:STEP, such as 0:0.9:0.1. Clusters are found on train.",
        NEURONS,
        parse=parse_thresholds,
    )

    def check(self) -> None:
        """Raise if something cannot be meant."""
        self.check_intervals()
        for name in self.sets():
            if name not in SETS:
                raise LmkinError(f"Unknown fit {quoted(name)}. {did_you_mean(name, SETS)}")
        if not self.sets():
            raise LmkinError(f"fit names at least one of {', '.join(SETS)}.")
        make_penalty(self.penalty, _number(self.l1, "l1"), _number(self.l2, "l2"))
        for name, value in (("tolerance", self.tolerance), ("kkt", self.kkt)):
            if not 0 < _number(value, name) < 1:
                raise LmkinError(f"{name} is a fraction between 0 and 1; got {quoted(value)}.")

        if self.ranking != NONE:
            if find_ranking(self.ranking).classes and self.label == "score":
                raise LmkinError(of_classes_only(self.ranking))
        elif self.resamples:
            raise LmkinError(
                "resamples is of the ranking, and there is none: leave it out, or rank neurons."
            )
        if self.thresholds is not None:
            check_thresholds(self.thresholds)

    def check_task(self) -> None:
        """Raise unless it is said what is to be predicted."""
        if bool(self.tags()) == (self.label is not None):
            raise LmkinError(
                "Say what is to be predicted: a tag of the words (tag='upos'), or the label of the sentences "
                "(label='class' or label='score'); one of the two."
            )

    def resolved(self) -> ProbeOptions:
        """The same, with what the convention says in place of what was left open."""
        if self.convention == "exact":
            return self
        l1 = PAPER_PENALTY if self.l1 is None else self.l1
        return replace(
            self,
            solver="adam",
            train_limit=PAPER_WORDS if self.train_limit is None else self.train_limit,
            l1=l1,
            l2=PAPER_PENALTY if self.l2 is None else self.l2,
        )

    def sets(self) -> tuple[str, ...]:
        """The kinds of sets of layers, in their order."""
        given = (self.fit,) if isinstance(self.fit, str) else tuple(self.fit)
        return tuple(dict.fromkeys(given))

    def tags(self) -> tuple[str, ...]:
        """The tags that are predicted, in their order."""
        given = (self.tag,) if isinstance(self.tag, str) else tuple(self.tag or ())
        return tuple(dict.fromkeys(given))


def _number(value: Any, name: str) -> float:
    """A number; 0 for None."""
    try:
        return 0.0 if value is None else float(value)
    except (TypeError, ValueError):
        raise LmkinError(f"{name} is a number; got {quoted(value)}.") from None
