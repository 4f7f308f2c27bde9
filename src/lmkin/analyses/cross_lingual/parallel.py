"""Parallel corpora: the same sentences in several languages, and which of them no probe is fitted on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core import CorpusError, blocks_of_owners, did_you_mean, listed_names, quoted
from ...corpus import Corpus
from .options import CrossLingualOptions

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
_FEWEST = 2
"""Sentences to fit on, and sentences that are held out, at least."""


@dataclass(frozen=True)
class Parallel:
    """Corpora in which sentence k is the same in every language, and which sentences are held out."""

    corpora: Mapping[str, Corpus]
    held_out: BoolArray
    """By sentence."""
    left_out: Mapping[str, int]
    """Sentences of each language that another lacks."""

    @property
    def languages(self) -> list[str]:
        """Names, in the order given."""
        return list(self.corpora)

    @property
    def ids(self) -> list[str]:
        """What each sentence is called, by its id in the first language."""
        return [s.id for s in next(iter(self.corpora.values()))]

    @property
    def sentences(self) -> int:
        """How many there are in every language."""
        return len(self.held_out)

    def parts(self, count: int, *, held_out: bool) -> IntArray:
        """The part of each sentence, for intervals: blocks of neighbours, the same in every language.

        With ``held_out``, of the sentences that are held out; −1 for all others.
        """
        rows = np.flatnonzero(self.held_out) if held_out else np.arange(self.sentences)
        part = np.full(self.sentences, -1, np.int64)
        part[rows] = blocks_of_owners(np.arange(len(rows)), min(count, len(rows)))
        return part


def align_corpora(
    corpora: Mapping[str, Corpus], options: CrossLingualOptions, seed: int
) -> Parallel:
    """The corpora with the same sentences at the same places. Raise if they are not parallel."""
    require_languages(corpora)
    left_out = dict.fromkeys(corpora, 0)
    if options.align == "order":
        _require_same_number(corpora)
        aligned = dict(corpora)
    else:
        aligned = _by_id(corpora, common=options.common)
        left_out = {name: len(corpora[name]) - len(some) for name, some in aligned.items()}
    n = len(next(iter(aligned.values())))
    return Parallel(aligned, _held_out(n, options.held_out_share, seed), left_out)


def require_languages(corpora: Mapping[str, Any] | None) -> None:
    """Raise if there are fewer than two languages, or if one has no name."""
    if corpora is None or len(corpora) < 2:
        said = "none" if not corpora else f"only {quoted(next(iter(corpora)))}"
        raise CorpusError(
            f"Transfer is from one language to another: give two corpora at least, by language, such as "
            f"{{'en': …, 'de': …}}; got {said}."
        )
    for name in corpora:
        if not isinstance(name, str) or not name.strip() or not name.isprintable() or "/" in name:
            raise CorpusError(
                f"A language is called by a name without a slash, such as 'en'; got {quoted(name)}."
            )


def require_tags(corpora: Mapping[str, Corpus], tags: Sequence[str]) -> None:
    """Raise if a corpus has not one of the tags, with those that it has."""
    for name, corpus in corpora.items():
        for tag in tags:
            if tag in corpus.tag_names:
                continue
            if not corpus.tag_names:
                corpus.tags(tag)  # raises, and says what formats have tags
            everywhere = [
                t for t in corpus.tag_names if all(t in c.tag_names for c in corpora.values())
            ]
            raise CorpusError(
                f"The corpus of {quoted(name)} ({quoted(corpus.name)}) has no tag {quoted(tag)}. "
                f"{did_you_mean(tag, corpus.tag_names)} All corpora have: {listed_names(everywhere) or 'no tag'}."
            )


def _require_same_number(corpora: Mapping[str, Corpus]) -> None:
    """Raise if corpora that belong together by their order have different numbers of sentences."""
    first, one = next(iter(corpora.items()))
    for name, other in corpora.items():
        if len(other) == len(one):
            continue
        raise CorpusError(
            f"The corpora are not parallel by their order: {quoted(first)} has {len(one):,} sentences, and "
            f"{quoted(name)} {len(other):,}. If they have the same sent_id for translations, take align='id'."
        )


def _by_id(corpora: Mapping[str, Corpus], *, common: bool) -> dict[str, Corpus]:
    """The corpora in the order of the first. Raise if one has other sentences, and not only common ones are wanted."""
    first, one = next(iter(corpora.items()))
    try:
        aligned = dict(zip(corpora, one.align(*list(corpora.values())[1:]), strict=True))
    except CorpusError as error:
        raise CorpusError(
            f"{error} Corpora of as many sentences each that stand in the same order are taken with align='order'."
        ) from None
    shared = {s.id for s in aligned[first]}
    if common or all(len(c) == len(shared) for c in corpora.values()):
        return aligned
    name, other = next((n, c) for n, c in corpora.items() if len(c) > len(shared))
    place = next(i for i, s in enumerate(other) if s.id not in shared)
    lacks = next(n for n, c in corpora.items() if other[place].id not in {s.id for s in c})
    sizes = ", ".join(f"{n} {len(c):,}" for n, c in corpora.items())
    raise CorpusError(
        f"The corpora have not the same sentences ({sizes}): the first that differs is number {place + 1} of "
        f"{quoted(name)}, sent_id {quoted(other[place].id)}, which {quoted(lacks)} lacks. {len(shared):,} are common "
        f"to all: take these with common=True."
    )


def _held_out(n: int, share: float, seed: int) -> BoolArray:
    """Which of n sentences are held out: a seeded share, drawn one by one."""
    count = max(round(share * n), 1)
    if count < _FEWEST or n - count < _FEWEST:
        raise CorpusError(
            f"Of {n:,} sentences {count:,} would be held out, and {n - count:,} fitted on: two at least are needed of "
            f"each. Take more sentences, or another share (held_out_share=…)."
        )
    held_out = np.zeros(n, bool)
    held_out[np.random.default_rng(seed).permutation(n)[:count]] = True
    return held_out
