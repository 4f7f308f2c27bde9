"""The multilingual encoder's tokenizer, and the sequences that it is trained on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
from encoder_texts import Passage

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
Sequence = tuple[list[int], list[int]]
"""Token ids, and the token types: 0 for the first text, 1 for its translation."""


def train_tokenizer(passages: list[Passage], size: int, smoothing: float, length: int) -> Any:
    """A cased WordPiece tokenizer; small languages count for more than their share, by ``smoothing``.

    Han characters and hiragana are tokens of their own, as Japanese has no spaces and a piece of several would
    reach over the borders of words; katakana and all other scripts are cut into pieces.
    """
    from tokenizers import (
        Regex,
        Tokenizer,
        decoders,
        models,
        normalizers,
        pre_tokenizers,
        processors,
        trainers,
    )
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=60))
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.BertPreTokenizer(),
            pre_tokenizers.Split(Regex(r"[\p{Han}\p{Hiragana}]"), "isolated"),
            pre_tokenizers.Digits(individual_digits=False),
        ]
    )
    tokenizer.decoder = decoders.WordPiece()
    characters: dict[str, int] = defaultdict(int)
    for p in passages:
        characters[p.language] += len(p.text)
    times = repetitions(characters, smoothing)
    texts = (p.text for p in passages for _ in range(times[p.language]))
    trainer = trainers.WordPieceTrainer(
        vocab_size=size, special_tokens=SPECIAL, limit_alphabet=4000, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.BertProcessing(
        ("[SEP]", SPECIAL.index("[SEP]")), ("[CLS]", SPECIAL.index("[CLS]"))
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        model_max_length=length,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )


def repetitions(sizes: dict[str, int], smoothing: float) -> dict[str, int]:
    """How often a language is repeated, so that about (largest)^(1 − s) · (its size)^s is read.

    >>> repetitions({"en": 900, "fi": 100}, 0.5)
    {'en': 1, 'fi': 3}
    """
    largest = max(sizes.values())
    return {name: round((largest / size) ** (1 - smoothing)) for name, size in sizes.items()}


class Sequences:
    """Passages as token ids, and sequences of at most ``length`` tokens that are made of them."""

    def __init__(self, passages: list[Passage], tokenizer: Any, length: int) -> None:
        encoded = tokenizer([p.text for p in passages], add_special_tokens=False, verbose=False)
        self._ids: dict[Passage, list[int]] = dict(zip(passages, encoded["input_ids"], strict=True))
        self._cls, self._sep = tokenizer.cls_token_id, tokenizer.sep_token_id
        self._length = length

    def ids(self, passage: Passage) -> list[int]:
        """Tokens of a passage."""
        return self._ids[passage]

    def alone(self, passages: list[Passage]) -> Iterator[Sequence]:
        """``[CLS] text [SEP]``: passages of one language and source one after the other until it is full."""
        room = self._length - 2
        full: list[int] = []
        before: tuple[str, str] | None = None
        for p in passages:
            whole = self._ids[p]
            for k in range(0, len(whole), room):
                piece = whole[k : k + room]
                if full and (before != (p.language, p.source) or len(full) + len(piece) > room):
                    yield self._close(full)
                    full = []
                full = full + piece
                before = (p.language, p.source)
        if full:
            yield self._close(full)

    def paired(self, passages: list[Passage], seed: int) -> Iterator[tuple[str, Sequence]]:
        """``[CLS] text [SEP] translation [SEP]`` with the language of the text; each page with a language drawn.

        A pair that has no room is left to :meth:`alone`.
        """
        random = np.random.default_rng(seed)
        pages: dict[tuple[str, str], dict[str, dict[str, Passage]]] = defaultdict(dict)
        for p in passages:
            if p.page:
                pages[p.source, p.page].setdefault(p.language, {})[p.place] = p
        room = self._length - 3
        for by_language in pages.values():
            for language, here in by_language.items():
                others = [other for other in by_language if other != language]
                if not others:
                    continue
                there = by_language[others[random.integers(len(others))]]
                a: list[int] = []
                b: list[int] = []
                for place in (place for place in here if place in there):
                    x, y = self._ids[here[place]], self._ids[there[place]]
                    if a and len(a) + len(b) + len(x) + len(y) > room:
                        yield language, self._close(a, b)
                        a, b = [], []
                    if len(x) + len(y) <= room:
                        a, b = a + x, b + y
                if a:
                    yield language, self._close(a, b)

    def _close(self, a: list[int], b: list[int] | None = None) -> Sequence:
        first = [self._cls, *a, self._sep]
        if b is None:
            return first, [0] * len(first)
        return [*first, *b, self._sep], [0] * len(first) + [1] * (len(b) + 1)
