"""Units: the rows that models share, and the hash that says whether two models share them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..core import CorpusError, Unfit, quoted
from .corpus import Corpus

KINDS = ("word", "token", "sentence")
NO_TAG = "_"
"""What stands where a word has no tag, as in CoNLL-U."""
IntArray = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Units:
    """What each row of an activation matrix stands for: a span of a sentence of a corpus.

    ``index`` numbers the unit inside its sentence (word 0, 1, …); it has gaps where a model could not
    represent a word.
    """

    corpus: Corpus
    kind: str
    sentence: IntArray
    index: IntArray
    start: IntArray
    end: IntArray

    def __len__(self) -> int:
        return len(self.sentence)

    def __eq__(self, other: object) -> bool:
        """Whether the rows stand for the same things; tags, labels and ids do not count."""
        return isinstance(other, Units) and self.hash == other.hash

    def __hash__(self) -> int:
        return hash(self.hash)

    def __repr__(self) -> str:
        return f"<Units: {len(self):,} {self.kind}s of {self.corpus.name!r}, hash {self.hash[:8]}>"

    @classmethod
    def all_words(cls, corpus: Corpus) -> Units:
        """Every word of a corpus, before any model has lost one."""
        rows = [
            (s, w, a, b)
            for s, sentence in enumerate(corpus)
            for w, (a, b) in enumerate(sentence.spans)
        ]
        return cls.from_rows(corpus, "word", rows)

    @classmethod
    def from_rows(cls, corpus: Corpus, kind: str, rows: list[tuple[int, int, int, int]]) -> Units:
        """Units from (sentence, index, start, end) rows in corpus order."""
        columns = np.array(rows, dtype=np.int32).reshape(-1, 4).T.copy()
        return cls(corpus, kind, *columns)

    def require_valid(self) -> None:
        """Raise `Unfit` if a row stands for nothing: for columns that come from a file."""
        columns = (self.sentence, self.index, self.start, self.end)
        if any(len(c) != len(self.sentence) or (c < 0).any() for c in columns):
            raise Unfit("columns of the units are cut, or negative")
        if (np.diff(self.sentence) < 0).any() or (self.sentence >= len(self.corpus)).any():
            raise Unfit("units are of sentences that are not there, or out of order")
        lengths = np.array([len(s.text) for s in self.corpus])[self.sentence]
        if (self.start > self.end).any() or (self.end > lengths).any():
            raise Unfit("units lie outside their sentence")
        words = np.array([len(s.spans) for s in self.corpus])[self.sentence]
        if self.kind == "word" and (self.index >= words).any():
            raise Unfit("units are of words that are not there")

    def describe(self, row: int) -> str:
        """A unit as an error message names it."""
        sentence = self.corpus[self.sentence[row]]
        text = sentence.text[self.start[row] : self.end[row]]
        if self.kind == "sentence":
            return f"sentence {quoted(sentence.id)} ({quoted(text, 40)})"
        return (
            f"{self.kind} {self.index[row]} ({quoted(text, 40)}) of sentence {quoted(sentence.id)}"
        )

    @property
    def texts(self) -> list[str]:
        """The words (as the corpus writes them), tokens or sentences, one a row."""
        if self.kind == "word":
            pairs = zip(self.sentence, self.index, strict=True)
            return [self.corpus[s].words[w] for s, w in pairs]
        rows = zip(self.sentence, self.start, self.end, strict=True)
        return [self.corpus[s].text[a:b] for s, a, b in rows]

    @cached_property
    def words(self) -> list[tuple[int, ...]]:
        """For each row the numbers of the words of its sentence with which it shares a character."""
        if self.kind == "word":
            return [(w,) for w in self.index.tolist()]
        words: list[tuple[int, ...]] = []
        for number in np.unique(self.sentence).tolist():
            rows = self.rows_of(number)
            start, end = self.start[rows, None], self.end[rows, None]
            first, last = np.array(self.corpus[number].spans, np.int32).reshape(-1, 2).T
            shares = (start < last) & (end > first) & (end > start)
            words += [tuple(np.flatnonzero(row).tolist()) for row in shares]
        return words

    def tags(self, name: str) -> list[str]:
        """The tag ``name`` of every row: of a word its own, of a token that of the word it lies in.

        ``"_"`` for a token that lies in no word, and for one that reaches into words with different tags.
        """
        if self.kind == "sentence":
            raise CorpusError(
                "Only words have tags, and tokens by them; these units are sentences."
            )
        self.corpus._require_tag(name)
        tags = []
        for sentence, words in zip(self.sentence.tolist(), self.words, strict=True):
            mine = {self.corpus[sentence].tags[name][w] for w in words}
            tags.append(mine.pop() if len(mine) == 1 else NO_TAG)
        return tags

    def rows_of(self, sentence: int) -> slice:
        """The rows of one sentence."""
        start, end = np.searchsorted(self.sentence, [sentence, sentence + 1])
        return slice(int(start), int(end))

    def select(self, rows: NDArray[np.integer]) -> Units:
        """Some of the units, by row number."""
        columns = (self.sentence[rows], self.index[rows], self.start[rows], self.end[rows])
        return Units(self.corpus, self.kind, *columns)

    @cached_property
    def hash(self) -> str:
        """Hash of what the rows stand for: kind, texts, positions; not tags, labels or ids."""
        digest = hashlib.blake2b(self.kind.encode(), digest_size=16)
        columns = np.stack([self.index, self.start, self.end], axis=1).astype("<i4")
        bounds = np.flatnonzero(np.diff(self.sentence, prepend=-1, append=-2))
        for start, end in pairwise(bounds):
            sentence = self.corpus[self.sentence[start]]
            digest.update(json.dumps([sentence.text, sentence.text_b, int(end - start)]).encode())
            digest.update(columns[start:end].tobytes())
        return digest.hexdigest()


def first_difference(a: Units, b: Units) -> str | None:
    """The first thing that differs between two sets of units, in words; None if nothing does."""
    if a.hash == b.hash:
        return None
    if a.kind != b.kind:
        return f"one has {a.kind}s, the other {b.kind}s"
    for row in range(min(len(a), len(b))):
        differs = next((p for p, of in _PARTS.items() if of(a, row) != of(b, row)), None)
        if differs:
            one, other = a.describe(row), b.describe(row)
            if one != other:
                return f"row {row} is {one} in one and {other} in the other"
            return f"row {row} is {one} in both, but {differs} differs"
    longer = a if len(a) > len(b) else b
    row = min(len(a), len(b))
    return (
        f"one has {len(a):,} rows, the other {len(b):,}; the first that only one has is row {row}, "
        f"{longer.describe(row)}"
    )


# What the hash of a row covers.
_PARTS: dict[str, Callable[[Units, int], object]] = {
    "its place": lambda u, row: (u.index[row], u.start[row], u.end[row]),
    "the text of its sentence": lambda u, row: u.corpus[u.sentence[row]].text,
    "the second text of its sentence pair": lambda u, row: u.corpus[u.sentence[row]].text_b,
    "whether it begins a sentence": lambda u, row: (
        row == 0 or u.sentence[row] != u.sentence[row - 1]
    ),
}
