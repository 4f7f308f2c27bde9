"""Texts of equal length by one tokenizer, as the paper cuts them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...core import CorpusError, MeasureError, is_whole, quoted
from ...corpus import Corpus, Sentence, read_corpus, split_words
from ...models import LanguageModel, Tokenizer, load_tokenizer
from .sources import require_corpus

_CHUNK = 1024


def cut_sequences(
    corpus: Corpus | str | Path,
    tokenizer: str | Path | LanguageModel | Tokenizer,
    length: int,
    *,
    limit: int | None = None,
) -> Corpus:
    """The text of a corpus cut into chunks of ``length`` tokens of one tokenizer; what is left at the end is dropped.

    ``corpus``: one that was read, or what `read_corpus` takes. ``limit``: so many chunks at most.
    As in the paper, texts follow one another, so a chunk may begin in one document and end in the next. Unlike the
    authors' code, which writes tokens back as text (in lower case, with spaces that were not there), a chunk is the
    text itself, from its first token to its last.
    """
    if not is_whole(length) or length < 1:
        raise MeasureError(f"A length is a number of tokens, such as 128; got {quoted(length)}.")
    if limit is not None and (not is_whole(limit) or limit < 1):
        raise MeasureError(f"limit is a number of texts, 1 or more; got {quoted(limit)}.")
    corpus = read_corpus(corpus) if isinstance(corpus, str | Path) else require_corpus(corpus)
    reference_tokenizer = tokenizer if isinstance(tokenizer, Tokenizer) else _tokenizer(tokenizer)
    sentences = []
    for number, (text, document) in enumerate(_chunks(corpus, reference_tokenizer, length)):
        if limit is not None and number >= limit:
            break
        sentences.append(
            Sentence(
                text, split_words(text, "whitespace"), id=f"{length}-{number}", document=document
            )
        )
    if not sentences:
        raise CorpusError(
            f"{quoted(corpus.name)} has fewer than {length} tokens: there is no text of that length. Take a shorter "
            f"length, or more text."
        )
    return Corpus(sentences, name=f"{corpus.name}, {length} tokens", format=corpus.format)


def _tokenizer(given: Any) -> Tokenizer:
    if isinstance(given, str | Path):
        return load_tokenizer(given)
    tokenizer = getattr(given, "tokenizer", None)
    if isinstance(tokenizer, Tokenizer):
        return tokenizer
    raise MeasureError(
        f"A reference tokenizer is the name or folder of a model, or a loaded one; got {type(given).__name__}."
    )


def _chunks(corpus: Corpus, tokenizer: Tokenizer, length: int) -> Iterator[tuple[str, str | None]]:
    """Text of every chunk, and the document that it begins in."""
    pieces: list[str] = []
    document: str | None = None
    missing = length
    for start in range(0, len(corpus), _CHUNK):
        chunk = corpus[start : start + _CHUNK]
        for sentence, tokens in zip(chunk, tokenizer.encode([s.text for s in chunk]), strict=True):
            spans = tokens.spans
            first = 0
            while first < len(spans):
                last = min(first + missing, len(spans))
                if missing == length:
                    document = sentence.document
                # Tokens of bytes may share a character: it is in the chunk that it begins in.
                begin = max(spans[first][0], spans[first - 1][1] if first else 0)
                pieces.append(sentence.text[begin : spans[last - 1][1]].strip())
                missing -= last - first
                first = last
                if not missing:
                    text = " ".join(p for p in pieces if p)
                    if text:
                        yield text, document
                    pieces, missing = [], length
