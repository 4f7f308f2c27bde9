"""Tokens with their character spans, from any Hugging Face tokenizer, fast or slow."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..core import ModelError
from ..corpus import Span
from .slow_offsets import spans_of_tokens

# Signs with which tokenizers mark a space: SentencePiece, byte-level BPE, and the space itself.
_SPACE_SIGNS = "▁Ġ \u00a0"
_UNLIMITED = 10**9


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of one text without special tokens; a span (i, i) covers no character."""

    ids: list[int]
    spans: list[Span]

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class Template:
    """The special tokens a model wants around a text (and between two), with their types."""

    prefix: tuple[int, ...]
    middle: tuple[int, ...]
    suffix: tuple[int, ...]
    types: tuple[tuple[int, ...], ...]
    """Token types of: prefix, first text, middle, second text, suffix (one number for a text)."""

    @property
    def size(self) -> int:
        """Number of special tokens."""
        return len(self.prefix) + len(self.middle) + len(self.suffix)

    def wrap(self, first: Sequence[int], second: Sequence[int] = ()) -> tuple[list[int], list[int]]:
        """Ids and token types of a text, or a pair, with the special tokens in place."""
        ids = [*self.prefix, *first, *self.middle, *second, *self.suffix]
        head, a, mid, b, tail = self.types
        return ids, [*head, *a * len(first), *mid, *b * len(second), *tail]


class Tokenizer:
    """A Hugging Face tokenizer that answers with character spans on the raw text."""

    def __init__(self, hf: Any):
        self.hf = hf
        self.is_fast: bool = bool(hf.is_fast)
        self.single = self._template(pair=False)
        self.wants_types = "token_type_ids" in hf.model_input_names

    @cached_property
    def pair(self) -> Template:
        """The template of a pair of texts."""
        return self._template(pair=True)

    @property
    def max_length(self) -> int | None:
        """The tokenizer's own limit, if it states one."""
        limit = self.hf.model_max_length
        return int(limit) if limit and limit < _UNLIMITED else None

    @cached_property
    def pad_id(self) -> int:
        """A token for padding; masked, so any will do where the tokenizer has none."""
        for name in ("pad_token_id", "eos_token_id", "unk_token_id"):
            if (value := getattr(self.hf, name, None)) is not None:
                return int(value)
        return 0

    @cached_property
    def unknown_id(self) -> int | None:
        """The id of the unknown token; None where no text becomes it.

        Byte-level BPE knows every byte, and its library model has no unknown token, though the tokenizer may name one
        (GPT-2 names the end of a text).
        """
        model: Any = self.hf.backend_tokenizer.model if self.is_fast else None
        if type(model).__name__ == "BPE" and model.unk_token is None:
            return None
        value = getattr(self.hf, "unk_token_id", None)
        return None if value is None else int(value)

    @property
    def cls_id(self) -> int | None:
        """The id of the classification token, if there is one."""
        value = getattr(self.hf, "cls_token_id", None)
        return None if value is None else int(value)

    @cached_property
    def hash(self) -> str:
        """Hash of everything that decides how a text is cut."""
        backend = getattr(self.hf, "backend_tokenizer", None)
        content = (
            backend.to_str()
            if self.is_fast and backend is not None
            else json.dumps([type(self.hf).__name__, sorted(self.hf.get_vocab().items())])
        )
        return hashlib.blake2b(content.encode(), digest_size=16).hexdigest()

    @cached_property
    def _blank_ids(self) -> frozenset[int]:
        """Tokens that stand for white space only."""
        vocabulary: dict[str, int] = self.hf.get_vocab()
        return frozenset(i for token, i in vocabulary.items() if not token.strip(_SPACE_SIGNS))

    @cached_property
    def _special_ids(self) -> frozenset[int]:
        return frozenset(self.hf.all_special_ids)

    def encode(self, texts: Sequence[str]) -> list[Tokens]:
        """The tokens of each text, without special tokens, cut nowhere."""
        if not texts:
            return []
        encoded = self.hf(
            list(texts),
            add_special_tokens=False,
            return_attention_mask=False,
            return_token_type_ids=False,
            return_offsets_mapping=self.is_fast,
            padding=False,
            truncation=False,
            verbose=False,
        )
        all_ids: list[list[int]] = encoded["input_ids"]
        offsets: Sequence[list[Span] | None]
        offsets = encoded["offset_mapping"] if self.is_fast else [None] * len(all_ids)
        tokens = []
        for ids, spans, text in zip(all_ids, offsets, texts, strict=True):
            if spans is None or _falls_short(spans, text):
                spans = spans_of_tokens(self._surfaces(ids), text)
            tokens.append(Tokens(ids, self._trim(ids, spans, text)))
        return tokens

    def _trim(self, ids: list[int], spans: list[Span], text: str) -> list[Span]:
        """Spans without the white space that byte-level and SentencePiece tokens begin with."""
        blank = self._blank_ids
        trimmed: list[Span] = []
        for token, (start, end) in zip(ids, spans, strict=True):
            if token in blank:
                # "▁" before a word is given that word's first character by some tokenizers.
                end = start
            while start < end and text[start].isspace():
                start += 1
            while end > start and text[end - 1].isspace():
                end -= 1
            trimmed.append((start, end))
        return trimmed

    def _surfaces(self, ids: list[int]) -> list[str | None]:
        """What each token looks like in a text; None for an unknown or special token."""
        special = self._special_ids
        tokens = self.hf.convert_ids_to_tokens(ids)
        surfaces: list[str | None] = []
        for token_id, token in zip(ids, tokens, strict=True):
            if token_id in special:
                surfaces.append(None)
            else:
                surface = self.hf.convert_tokens_to_string([token])
                surfaces.append(surface.removeprefix("##").removesuffix("@@").removesuffix("</w>"))
        return surfaces

    def _template(self, *, pair: bool) -> Template:
        """Find the special tokens by looking at how the tokenizer wraps a short text."""
        for probe in ("a", "the", "1", "."):
            content = self.hf(probe, add_special_tokens=False)["input_ids"]
            texts = (probe, probe) if pair else (probe,)
            whole = self.hf(*texts, return_token_type_ids=True, verbose=False)
            ids = list(whole["input_ids"])
            types = list(whole.get("token_type_ids") or [0] * len(ids))
            starts = [
                i for i in range(len(ids)) if content and ids[i : i + len(content)] == content
            ]
            if not starts or (pair and len(starts) < 2):
                continue
            size = len(content)
            first, last = starts[0], starts[-1] if pair else starts[0] + size
            second_end = last + size if pair else last
            return Template(
                prefix=tuple(ids[:first]),
                middle=tuple(ids[first + size : last]),
                suffix=tuple(ids[second_end:]),
                types=(
                    tuple(types[:first]),
                    (types[first],),
                    tuple(types[first + size : last]),
                    (types[last] if pair else types[first],),
                    tuple(types[second_end:]),
                ),
            )
        raise ModelError(
            f"The tokenizer {type(self.hf).__name__} cuts even a short text in an unexpected way, so its "
            f"special tokens cannot be told apart. Is it a text tokenizer?"
        )


def _falls_short(spans: list[Span], text: str) -> bool:
    """Whether the spans end before the text does.

    A BPE tokenizer without unknown token drops characters and then counts on as if they had not been
    there: all later spans are too small, and the last one falls short of the end.
    """
    return max((end for _, end in spans), default=0) < len(text.rstrip())
