"""Which sentences are fitted on, which choose the penalty, and which are scored: by the corpus and the seed alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...analysis import Source
from ...core import make_split
from ...corpus import Corpus, Units
from ...rows import owners_of_units

IntArray = NDArray[np.int64]
SPLITS = ("train", "dev", "test")
SHARES = {"train": 0.8, "validation": 0.1, "test": 0.1}
"""Of one corpus."""
_DEV = 0.1
"""Share of train that chooses the penalty, where no dev is given."""
_FEWEST = 60
"""With fewer documents it is sentences that stay whole."""


@dataclass(frozen=True)
class SentenceSplit:
    """Of train, dev and test, which of the given parts they come from, and which sentences of its corpus they are."""

    sentences: Mapping[str, tuple[str, IntArray]]
    said: str
    """How it came about, in words."""

    def rows(self, split: str, units: Mapping[str, Units]) -> tuple[str, IntArray]:
        """The part that a split comes from, and the rows of it."""
        origin, mine = self.sentences[split]
        return origin, np.flatnonzero(np.isin(units[origin].sentence, mine))


def split_sentences(
    given: Mapping[str, tuple[Corpus, IntArray]], kind: str, seed: int
) -> SentenceSplit:
    """Split sentences that were given as one part, whose name is empty, or by the names of splits.

    No model has a say: what one cannot represent is left out afterwards, so that every model has the same split.
    """
    if "" in given:
        drawn, groups = _drawn(*given[""], kind, SHARES, seed)
        said = f"80 % train, 10 % dev and 10 % test of the corpus, in whole {groups}, seed {seed}"
        return SentenceSplit({name: ("", mine) for name, mine in drawn.items()}, said)
    every = {name: sentences for name, (_, sentences) in given.items()}
    if "dev" in given and "test" in given:
        return SentenceSplit({name: (name, every[name]) for name in SPLITS}, "as given")
    test = "test" if "test" in given else "dev"
    shares = {"train": 1 - _DEV, "validation": _DEV}
    drawn, groups = _drawn(*given["train"], kind, shares, seed)
    said = f"dev is 10 % of train, in whole {groups}, seed {seed}"
    if test == "dev":
        said += "; what was given as dev is the test, for there is no other"
    return SentenceSplit(
        {"train": ("train", drawn["train"]), "dev": ("train", drawn["dev"]), "test": (test, every[test])},
        said,
    )  # fmt: skip


def _drawn(
    corpus: Corpus, sentences: IntArray, kind: str, shares: Mapping[str, float], seed: int
) -> tuple[dict[str, IntArray], str]:
    """Sentences of a part by split, and what was kept whole: shares are of words, or of sentences where these count."""
    units = all_units(corpus, "word" if kind == "word" else "sentence")
    units = units.select(np.flatnonzero(np.isin(units.sentence, sentences)))
    owner, groups = owners_of_units(units, _FEWEST)
    split = make_split(len(units), shares, parts=1, seed=seed, owner=owner)
    drawn = {
        name.replace("validation", "dev"): np.unique(units.sentence[split.rows(name)]).astype(
            np.int64
        )
        for name in shares
    }
    return drawn, groups


def all_units(corpus: Corpus, kind: str) -> Units:
    """Every word, or every sentence, of a corpus, before any model has lost one."""
    if kind == "word":
        return Units.all_words(corpus)
    rows = [(number, 0, 0, len(sentence.text)) for number, sentence in enumerate(corpus)]
    return Units.from_rows(corpus, "sentence", rows)


def parts_of_corpus(source: Source) -> dict[str, tuple[Corpus, IntArray]]:
    """The corpus that models read, and the numbers of the sentences of each part of it, by name."""
    whole = source.sentences
    corpora = source.corpora
    if corpora is None:
        return {"": (whole, np.arange(len(whole)))}
    ends = np.cumsum([len(corpus) for corpus in corpora.values()])
    return {
        name: (whole, np.arange(end - len(corpus), end))
        for (name, corpus), end in zip(corpora.items(), ends.tolist(), strict=True)
    }


def units_of_corpus(source: Source, seed: int) -> dict[str, Units]:
    """Every word, or sentence, of train, dev and test, as far as the corpus alone tells."""
    kind = source.reading.units
    given = parts_of_corpus(source)
    split = split_sentences(given, kind, seed)
    units = all_units(source.sentences, kind)
    whole = dict.fromkeys(given, units)
    return {name: units.select(split.rows(name, whole)[1]) for name in SPLITS}
