"""Plain text: one sentence a line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ..reader import Head, corpus_format, read_lines
from ..sentence import Sentence
from ..spans import split_words


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
    lines = read_lines(path, encoding)
    filled = [number for number, line in enumerate(lines) if line.strip()]
    has_documents = filled[-1] - filled[0] >= len(filled)
    document = 1
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
            id=str(number),
            document=f"document-{document}" if has_documents else None,
        )
