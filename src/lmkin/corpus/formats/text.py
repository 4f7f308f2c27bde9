"""Plain text: one sentence a line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...errors import CorpusError, did_you_mean
from ..reading import Head, corpus_format, read_lines
from ..sentence import Sentence
from ..spans import WORD_RULES, split_words


def _sniff(head: Head) -> float:
    return 0.5 if head.suffix in {".txt", ".text"} else 0.0


@corpus_format("text", summary="plain text, one sentence a line", sniff=_sniff)
def read_plain_text(
    path: Path, *, words: str = "whitespace", encoding: str = "utf-8"
) -> Iterator[Sentence]:
    """Sentences of a plain text file; empty lines end a document.

    ``words="whitespace"`` takes what stands between white space as words;
    ``words="punctuation"`` also sets punctuation apart.
    """
    if words not in WORD_RULES:
        raise CorpusError(f"Unknown words={words!r}. {did_you_mean(words, WORD_RULES)}")
    lines = read_lines(path, encoding)
    document = 1
    has_documents = any(not line.strip() for line in lines[:-1])
    pending = False
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            document += pending
            pending = False
            continue
        pending = True
        yield Sentence(
            line,
            split_words(line, words),
            id=f"{path.stem}-{number}",
            document=f"document-{document}" if has_documents else None,
        )
