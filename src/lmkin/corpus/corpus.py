"""A list of sentences with the questions that one asks of a corpus."""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import SupportsIndex, overload

import numpy as np

from ..core import CorpusError, did_you_mean, quoted
from .sentence import Sentence


class Corpus(Sequence[Sentence]):
    """An immutable list of sentences.

    ``corpus[3]`` is a sentence; ``corpus[:100]``, ``corpus[[5, 2, 8]]`` and ``corpus[mask]``, with
    a True or False for every sentence, are corpora.
    """

    def __init__(self, sentences: Iterable[Sentence], *, name: str = "corpus", format: str = ""):
        self._sentences = tuple(sentences)
        self.name = name
        self.format = format

    # -- a sequence of sentences -------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._sentences)

    def __iter__(self) -> Iterator[Sentence]:
        return iter(self._sentences)

    @overload
    def __getitem__(self, index: SupportsIndex) -> Sentence: ...
    @overload
    def __getitem__(self, index: slice | Iterable[int]) -> Corpus: ...
    def __getitem__(self, index: SupportsIndex | slice | Iterable[int]) -> Sentence | Corpus:
        if isinstance(index, slice):
            return self._with(self._sentences[index])
        if isinstance(index, Iterable):
            rows = list(index)
            numbers = np.arange(len(self))[rows] if rows else ()
            return self._with(self._sentences[i] for i in numbers)
        return self._sentences[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Corpus) and self._sentences == other._sentences

    def __hash__(self) -> int:
        return hash(self.hash)

    def __repr__(self) -> str:
        tags = f", tags {', '.join(self.tag_names)}" if self.tag_names else ""
        return f"<Corpus {self.name!r}: {len(self):,} sentences, {self.n_words:,} words{tags}>"

    def _with(self, sentences: Iterable[Sentence]) -> Corpus:
        return Corpus(sentences, name=self.name, format=self.format)

    # -- words and tags ----------------------------------------------------------------------

    @cached_property
    def n_words(self) -> int:
        """Number of words in all sentences."""
        return sum(len(s) for s in self._sentences)

    @property
    def words(self) -> list[str]:
        """All words, in order."""
        return [word for sentence in self._sentences for word in sentence.words]

    @cached_property
    def tag_names(self) -> tuple[str, ...]:
        """Names of the tags that every sentence with words has."""
        tagged = [s.tags for s in self._sentences if len(s)]
        if not tagged:
            return ()
        return tuple(name for name in tagged[0] if all(name in tags for tags in tagged))

    def tags(self, name: str) -> list[str]:
        """The tag ``name`` of every word, in the order of :attr:`words`."""
        self._require_tag(name)
        return [tag for sentence in self._sentences if len(sentence) for tag in sentence.tags[name]]

    def tag_counts(self, name: str) -> Counter[str]:
        """How often each value of the tag ``name`` occurs."""
        return Counter(self.tags(name))

    def _require_tag(self, name: str) -> None:
        if name in self.tag_names:
            return
        if not self.tag_names:
            raise CorpusError(
                f"The corpus {quoted(self.name)} has no tags, so there is no {quoted(name)}. Read a tagged "
                f"format (CoNLL-U, column files), or name the columns of this one."
            )
        bare = next((s for s in self._sentences if len(s) and name not in s.tags), None)
        some = any(name in s.tags for s in self._sentences)
        where = f" (sentence {quoted(bare.id)} lacks it)" if some and bare else ""
        raise CorpusError(
            f"The corpus {quoted(self.name)} has no tag {quoted(name)}{where}. "
            f"{did_you_mean(name, self.tag_names)}"
        )

    @property
    def labels(self) -> list[str | float | None]:
        """The label or score of every sentence."""
        return [s.label for s in self._sentences]

    @property
    def documents(self) -> list[str | None]:
        """The document of every sentence."""
        return [s.document for s in self._sentences]

    # -- parts -------------------------------------------------------------------------------

    def filter(
        self,
        *,
        min_words: int = 0,
        max_words: int | None = None,
        where: Callable[[Sentence], bool] | None = None,
    ) -> Corpus:
        """The sentences with ``min_words`` to ``max_words`` words for which ``where`` holds."""
        return self._with(
            s
            for s in self._sentences
            if len(s) >= min_words
            and (max_words is None or len(s) <= max_words)
            and (where is None or where(s))
        )

    def split(self, *shares: float, seed: int = 0, by: str = "sentence") -> tuple[Corpus, ...]:
        """Seeded disjoint parts: ``train, dev = corpus.split(0.9, 0.1)``.

        One fraction gives two parts (``split(0.9)``: the second gets the rest). The parts keep the
        corpus order. The choice depends only on the number of sentences, the shares and the seed, so
        parallel corpora are split at the same indices. ``by="document"`` keeps documents whole.
        """
        if not shares or any(s <= 0 for s in shares) or sum(shares) > 1 + 1e-9:
            raise CorpusError(
                f"Fractions must be positive and sum to at most 1; got {shares}. "
                f"For example: corpus.split(0.8, 0.1, 0.1, seed=0)."
            )
        if len(shares) == 1:
            shares = (shares[0], 1 - shares[0])
        groups = self._groups(by)
        order = list(range(len(groups)))
        # Fisher-Yates over random(), the one stream that Python keeps stable between versions.
        uniform = random.Random(seed).random
        for i in range(len(order) - 1, 0, -1):
            j = int(uniform() * (i + 1))
            order[i], order[j] = order[j], order[i]
        cuts = [round(share * len(order)) for share in accumulate(shares, initial=0.0)]
        return tuple(
            self[sorted(i for g in order[start:end] for i in groups[g])]
            for start, end in pairwise(cuts)
        )

    def _groups(self, by: str) -> list[list[int]]:
        if by == "sentence":
            return [[i] for i in range(len(self))]
        if by != "document":
            raise CorpusError(
                f"Cannot split by {quoted(by)}. {did_you_mean(by, ['sentence', 'document'])}"
            )
        groups: dict[str, list[int]] = {}
        for i, sentence in enumerate(self._sentences):
            if sentence.document is None:
                raise CorpusError(
                    f"Sentence {quoted(sentence.id)} of {quoted(self.name)} belongs to no document; "
                    f"split by='sentence' instead."
                )
            groups.setdefault(sentence.document, []).append(i)
        return list(groups.values())

    def align(self, *others: Corpus) -> tuple[Corpus, ...]:
        """This corpus and others, cut down to what all have by ``sent_id``, in this one's order."""
        corpora = (self, *others)
        indexes = [corpus._by_id() for corpus in corpora]
        common = [s.id for s in self._sentences if all(s.id in index for index in indexes)]
        if not common:
            names = ", ".join(repr(c.name) for c in corpora)
            examples = ", ".join(repr(c[0].id) for c in corpora if len(c))
            raise CorpusError(
                f"The corpora {names} share no sent_id (first ids: {examples}), so they "
                f"cannot be aligned. Parallel corpora must give translations the same sent_id."
            )
        return tuple(
            corpus[[index[i] for i in common]]
            for corpus, index in zip(corpora, indexes, strict=True)
        )

    def _by_id(self) -> dict[str, int]:
        index: dict[str, int] = {}
        for i, sentence in enumerate(self._sentences):
            if sentence.id in index:
                raise CorpusError(
                    f"The sent_id {quoted(sentence.id)} occurs more than once in {quoted(self.name)}, so the "
                    f"corpus cannot be aligned by it."
                )
            index[sentence.id] = i
        return index

    # -- identity ----------------------------------------------------------------------------

    @cached_property
    def hash(self) -> str:
        """Hash of the content: texts, words, tags, labels, ids; not of the name or the file."""
        digest = hashlib.blake2b(digest_size=16)
        for sentence in self._sentences:
            line = json.dumps(sentence.to_dict(), ensure_ascii=False, sort_keys=True)
            digest.update(line.encode("utf-8", "surrogatepass") + b"\n")
        return digest.hexdigest()
