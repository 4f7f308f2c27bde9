"""What can be asked of probes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ...analysis import MEASURES, Intervals
from ...core import LmkinError, did_you_mean, option, quoted
from ...estimators import Convention, PenaltyName, Solver, check_solver, make_penalty

TASK = "Task"
PROBE = "Probe"
NEURONS = "Neurons"
LabelKind = Literal["class", "score"]
SETS = ("all", "each", "upto")
Ranking = Literal["lca", "row-path", "probeless", "random", "none"]


def parse_names(text: str) -> tuple[str, ...]:
    """Names with commas.

    >>> parse_names("upos, deprel")
    ('upos', 'deprel')
    """
    return tuple(name.strip() for name in text.split(",") if name.strip())


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
    l2: float | None = option(None, "Penalty λ₂. Default: as λ₁.", PROBE)
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
        "paper",
        "Of adam: released is what the papers' code does (λ₂ ‖W‖ in place of its square, no shuffling).",
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
    ranking: Ranking = option(
        "lca",
        "How neurons are ranked for the smallest set that keeps the oracle's score; none: not at all.",
        NEURONS,
    )

    def check(self) -> None:
        """Raise if something cannot be meant, or if nothing is to be predicted."""
        self.check_intervals()
        if (self.tag is None) == (self.label is None):
            raise LmkinError(
                "Say what is to be predicted: a tag of the words (tag='upos'), or the label of the sentences "
                "(label='class' or label='score'); one of the two."
            )
        for name in self.sets():
            if name not in SETS:
                raise LmkinError(f"Unknown fit {quoted(name)}. {did_you_mean(name, SETS)}")
        if not self.sets():
            raise LmkinError(f"fit names at least one of {', '.join(SETS)}.")
        check_solver(self.solver, self.convention)
        make_penalty(self.penalty, _number(self.l1, "l1"), _number(self.l2, "l2"))
        for name, value in (("tolerance", self.tolerance), ("kkt", self.kkt)):
            if not 0 < _number(value, name) < 1:
                raise LmkinError(f"{name} is a fraction between 0 and 1; got {quoted(value)}.")

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
