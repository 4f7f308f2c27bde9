"""What can be asked of cross-lingual transfer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ...analysis import MEASURES, Intervals
from ...core import LmkinError, did_you_mean, option, quoted
from ...estimators import PenaltyName
from ..probing import ProbeOptions
from ..redundancy import (
    THRESHOLDS,
    Linkage,
    Representative,
    check_thresholds,
    parse_thresholds,
)
from .ablations import ABLATIONS
from .families import check_families, parse_families

TASK = "Task"
PROBE = "Probe"
NEURONS = "Neurons"
TAGS = ("upos", "deprel")
ALL = "all"
NONE = "none"
Alignment = Literal["id", "order"]
Unseen = Literal["wrong", "most-frequent"]


def parse_names(text: str) -> tuple[str, ...]:
    """Names with commas.

    >>> parse_names("upos, deprel")
    ('upos', 'deprel')
    """
    return tuple(name.strip() for name in text.split(",") if name.strip())


@dataclass(frozen=True)
class CrossLingualOptions(Intervals):
    """What is fitted in which language, from which neurons, and what it is compared with."""

    train_on: Sequence[str] | None = option(
        None,
        "The language whose words probes are fitted on; several with commas, or all. Default: the first corpus.",
        TASK,
        parse=parse_names,
    )
    tags: Sequence[str] = option(
        TAGS,
        "The tags of words that are predicted, with commas. Default: upos,deprel.",
        TASK,
        parse=parse_names,
    )
    subtypes: bool = option(
        True, "Tell subtypes of a tag apart; otherwise nmod:poss is nmod.", TASK
    )
    unseen: Unseen = option(
        "wrong",
        "A label that the language of training has not: it can only be wrong; or, as in the thesis, it counts as the "
        "most frequent label of train.",
        TASK,
    )
    align: Alignment = option(
        "id", "Sentences belong together by their sent_id, or by their order in the files.", TASK
    )
    common: bool = option(
        False,
        "Take the sentences that all corpora have by sent_id, where they are not the same.",
        TASK,
    )
    held_out_share: float = option(
        0.1,
        "Share of the sentences that no probe is fitted on in any language; in the language of training they choose "
        "the penalty.",
        TASK,
    )
    families: Mapping[str, str] | None = option(
        None,
        "Families of languages beside the usual ones: en=Germanic,fi=Uralic, or a CSV file of languages and families.",
        TASK,
        parse=parse_families,
        metavar="TEXT|FILE",
    )
    penalty: PenaltyName = option(
        "elementwise",
        "Zeros for single weights (elastic net), or row: a neuron is in or out for all classes together.",
        PROBE,
    )
    l1: float | None = option(
        None, "Penalty λ₁. Default: chosen along a path, for each probe.", PROBE
    )
    l2: float | None = option(None, "Penalty λ₂. Default: as λ₁.", PROBE)
    standardize: bool = option(True, "Divide each neuron by its standard deviation.", PROBE)
    kkt: float = option(
        0.01, "Largest violation of the KKT conditions of a fit, in units of λ₁.", PROBE
    )
    ceiling: bool = option(
        False,
        "Also a probe of all neurons that is fitted on each language itself: what transfer can reach at best.",
        MEASURES,
    )
    compare_published: bool = option(
        False, "Show the figures of the thesis for multilingual models beside yours.", MEASURES
    )
    thresholds: Sequence[float] = option(
        THRESHOLDS,
        "Thresholds of the clustering at which a probe is fitted on the neurons left: numbers with commas, or "
        "FROM:TO:STEP. Default: 0:0.9:0.1,0.95.",
        NEURONS,
        parse=parse_thresholds,
    )
    linkage: Linkage = option("average", "Of the clusters.", NEURONS)
    representative: Representative = option(
        "random",
        "The neuron that stands for a cluster; medoid: the one most like all others of it.",
        NEURONS,
    )
    ablations: Sequence[str] = option(
        tuple(ABLATIONS),
        "Sets of layers that a probe is fitted on besides: alternate, top, bottom, embedding, above-embedding; with "
        "commas, or none. Default: all of these.",
        NEURONS,
        parse=parse_names,
    )

    def check(self) -> None:
        """Raise if something cannot be meant."""
        self.check_intervals()
        check_thresholds(self.thresholds)
        if not self.tag_names():
            raise LmkinError("Say what is to be predicted: tags of the words, such as tags='upos'.")
        for name in self.sets():
            if name not in ABLATIONS:
                raise LmkinError(
                    f"Unknown set of layers {quoted(name)}. {did_you_mean(name, (*ABLATIONS, NONE))}"
                )
        if not isinstance(self.held_out_share, int | float) or not 0 < self.held_out_share < 1:
            raise LmkinError(
                f"held_out_share is a fraction between 0 and 1; got {quoted(self.held_out_share)}."
            )
        if self.common and self.align != "id":
            raise LmkinError(
                "Common sentences are found by their sent_id: leave out common=True, or align='order'."
            )
        if self.families is not None:
            check_families(self.families)
        self.of_probe(self.tag_names()[0]).check()

    def of_probe(self, tag: str) -> ProbeOptions:
        """How one probe is fitted, as options of probing have it."""
        return ProbeOptions(
            tag=(tag,), subtypes=self.subtypes, penalty=self.penalty, l1=self.l1, l2=self.l2,
            standardize=self.standardize, kkt=self.kkt, intervals=self.intervals, parts=self.parts, level=self.level,
        )  # fmt: skip

    def tag_names(self) -> tuple[str, ...]:
        """The tags that are predicted, in their order."""
        return _names(self.tags)

    def sets(self) -> tuple[str, ...]:
        """The sets of layers, in the order of `ABLATIONS`; a name that is unknown comes last."""
        given = [name for name in _names(self.ablations) if name != NONE]
        return tuple(sorted(given, key=lambda n: [*ABLATIONS, n].index(n)))

    def cuts(self) -> tuple[float, ...]:
        """The thresholds, in rising order."""
        given = [self.thresholds] if isinstance(self.thresholds, int | float) else self.thresholds
        return tuple(sorted({float(t) for t in given}))

    def sources(self, languages: Sequence[str]) -> tuple[str, ...]:
        """The languages that probes are fitted on. Raise if one is not among the corpora."""
        if self.train_on is None:
            return (languages[0],)
        names = _names(self.train_on)
        if names == (ALL,) and ALL not in languages:
            return tuple(languages)
        for name in names:
            if name not in languages:
                raise LmkinError(
                    f"There is no corpus {quoted(name)} to fit on (train_on). {did_you_mean(name, languages)}"
                )
        if not names:
            raise LmkinError(
                f"Say which language is fitted on (train_on=…): {', '.join(languages)}."
            )
        return names


def _names(given: Any) -> tuple[str, ...]:
    """Names, one or several, each once."""
    values = (given,) if isinstance(given, str) else tuple(given or ())
    return tuple(dict.fromkeys(str(v) for v in values))
