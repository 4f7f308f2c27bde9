"""From a corpus to units and windows: what a tokenizing model will read, before it is run."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..core import ModelError, quoted
from ..corpus import Corpus, Sentence, Units
from .alignment import tokens_of_words
from .base import AlignedCorpus, Losses, Window
from .layout import Layout, Place, lay_out, lay_out_pair
from .rule import UnitRule
from .tokens import Tokenizer, Tokens

NO_TOKEN = "the tokenizer gives it no token"
CUT_OFF = "behind the cut of a long sentence"
SINK = "the first token of a decoder"
_CHUNK = 1024


class _Candidate(NamedTuple):
    """A unit that a sentence offers: its row, the places of its tokens, its name, and how it may be lost or unknown."""

    row: tuple[int, int, int, int]
    places: list[Place]
    name: str
    why_empty: str = NO_TOKEN
    ids: Sequence[int] = ()
    """Its tokens; left out where the sentence has no unknown one."""


class Reader:
    """Reads corpora for a model with a tokenizer, a length limit, and a direction."""

    def __init__(self, tokenizer: Tokenizer, *, limit: int | None, causal: bool):
        self.tokenizer = tokenizer
        self.limit = limit
        self.causal = causal

    def read(self, corpus: Corpus, rule: UnitRule) -> AlignedCorpus:
        """Units and windows of a corpus."""
        self._check(rule)
        with _no_garbage():
            return self._read(corpus, rule)

    def _read(self, corpus: Corpus, rule: UnitRule) -> AlignedCorpus:
        rows: list[tuple[int, int, int, int]] = []
        windows: list[Window] = []
        losses = Losses()
        offered = 0
        drops_first = self.drops_first(rule)
        unknown = self.tokenizer.unknown_id
        for number, sentence, tokens in self.tokens(corpus):
            layout = self._lay_out(sentence, tokens, rule)
            n_cut = layout.n_cut
            losses.windowed += len(layout.inputs) > 1
            losses.cut_tokens += n_cut
            losses.cut_sentences += n_cut > 0
            contributions: list[list[tuple[int, int, float]]] = [[] for _ in layout.inputs]
            for candidate in self._candidates(number, sentence, tokens, layout, rule):
                offered += 1
                places = candidate.places
                if drops_first:
                    places = [place for place in places if place[1] > 0]
                    if rule.kind == "word" and len(places) < len(candidate.places):
                        # Its first subword token is the sink: the last is still there, the first is not.
                        places = [] if rule.pooling == "first" else places
                        losses.partial += bool(places) and rule.pooling == "mean"
                if not places:
                    reason = SINK if candidate.places else candidate.why_empty
                    losses.add(reason, f"{quoted(candidate.name)} in {sentence.id}")
                    continue
                pooled = _pool(places, rule.pooling)
                weight = 1.0 if rule.pooling == "max" else 1.0 / len(pooled)
                for window, position in pooled:
                    contributions[window].append((position, len(rows), weight))
                if candidate.ids:
                    losses.count_unknown(candidate.ids, unknown)
                rows.append(candidate.row)
            for (ids, types), added in zip(layout.inputs, contributions, strict=True):
                if added:
                    windows.append(_window(number, ids, types, added))
        return AlignedCorpus(
            Units.from_rows(corpus, rule.kind, rows), windows, losses, rule, offered
        )

    def tokens(self, corpus: Corpus) -> Iterator[tuple[int, Sentence, Tokens]]:
        """The tokens of every sentence, a chunk of the corpus at a time."""
        for start in range(0, len(corpus), _CHUNK):
            chunk = corpus[start : start + _CHUNK]
            encoded = self.tokenizer.encode([s.text for s in chunk])
            for offset, (sentence, tokens) in enumerate(zip(chunk, encoded, strict=True)):
                yield start + offset, sentence, tokens

    def drops_first(self, rule: UnitRule) -> bool:
        """Whether position 0 is left out: a decoder's attention sink."""
        return self.causal and rule.first_token == "drop"

    def _check(self, rule: UnitRule) -> None:
        if self.drops_first(rule) and rule.kind == "sentence" and rule.pooling == "first":
            raise ModelError(
                "The first token of a decoder has seen nothing of the sentence, and is left out by "
                "default. Pool by 'last' or 'mean', or ask for it with first_token='keep'."
            )
        template = self.tokenizer.single
        special = (*template.prefix, *template.suffix)
        if rule.pooling == "cls" and self.tokenizer.cls_id not in special:
            raise ModelError(
                "This model puts no classification token into its input, so there is nothing to pool "
                "by 'cls'. Use 'mean', 'first' or 'last'."
            )

    def _lay_out(self, sentence: Sentence, tokens: Tokens, rule: UnitRule) -> Layout:
        if rule.kind == "sentence" and sentence.text_b is not None:
            second = self.tokenizer.encode([sentence.text_b])[0]
            return lay_out_pair(self.tokenizer, tokens, second, rule, limit=self.limit)
        return lay_out(self.tokenizer, tokens, rule, limit=self.limit, causal=self.causal)

    def _candidates(
        self,
        number: int,
        sentence: Sentence,
        tokens: Tokens,
        layout: Layout,
        rule: UnitRule,
    ) -> Iterator[_Candidate]:
        """Every unit that the sentence offers."""
        unknown = self.tokenizer.unknown_id
        has_unknown = any(unknown in ids for ids, _ in layout.inputs)
        if rule.kind == "sentence":
            row = (number, 0, 0, len(sentence.text))
            places = self._sentence_places(layout, rule)
            read = [p for p in layout.content if p] if has_unknown else []
            ids = [layout.inputs[window][0][position] for window, position in read]
            yield _Candidate(row, places, sentence.text[:40], ids=ids)
        elif rule.kind == "token":
            end = len(sentence.text)
            units: list[tuple[Place | None, tuple[int, int], Sequence[int]]]
            units = [
                (place, span, (token,) if has_unknown else ())
                for place, span, token in zip(layout.content, tokens.spans, tokens.ids, strict=True)
            ]
            if rule.special_tokens == "keep":
                before = [(place, (0, 0), ()) for place in layout.prefix]
                units = [*before, *units, *((place, (end, end), ()) for place in layout.suffix)]
            for index, (place, span, token) in enumerate(units):
                name = sentence.text[slice(*span)]
                places = [place] if place else []
                yield _Candidate((number, index, *span), places, name, CUT_OFF, token)
        else:
            content = layout.content
            for index, mine in enumerate(tokens_of_words(sentence.spans, tokens.spans)):
                places = [place for t in mine if (place := content[t])]
                if len(places) < len(mine):
                    places = []  # a word that is cut in two is lost: its last token is not there
                row = (number, index, *sentence.spans[index])
                why_empty = CUT_OFF if mine else NO_TOKEN
                ids = [tokens.ids[t] for t in mine] if has_unknown else []
                yield _Candidate(row, places, sentence.words[index], why_empty, ids)

    def _sentence_places(self, layout: Layout, rule: UnitRule) -> list[Place]:
        if rule.pooling == "cls":
            special = sorted([*layout.prefix, *layout.suffix])
            return [p for p in special if layout.inputs[p[0]][0][p[1]] == self.tokenizer.cls_id][:1]
        if rule.special_tokens == "keep":
            return layout.places
        return [place for place in layout.content if place]


@contextlib.contextmanager
def _no_garbage() -> Iterator[None]:
    """Without the garbage collector, which would search all the tuples made here again and again, in vain."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _pool(places: list[Place], pooling: str) -> list[Place]:
    """The places that a unit is made of."""
    if pooling == "last":
        return places[-1:]
    if pooling == "first":
        return places[:1]
    return places


def _window(
    number: int, ids: list[int], types: list[int], added: list[tuple[int, int, float]]
) -> Window:
    positions, rows, weights = zip(*added, strict=True)
    return Window(
        number,
        ids,
        types,
        np.array(positions, np.int32),
        np.array(rows, np.int32),
        np.array(weights, np.float32),
    )
