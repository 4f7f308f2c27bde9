"""What the corpus tests share: files made of strings, and random words to fill them with."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import settings
from hypothesis import strategies as st

from lmkin import Corpus, CorpusError, Sentence, read_corpus

many = settings(max_examples=60, deadline=None)

# What a word may hold: anything but white space, line ends, and the byte order mark.
characters = st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]).filter(
    lambda c: c != "\ufeff"
)
words = st.text(characters, min_size=1, max_size=6)


def read(name: str, content: str | bytes, format: str | None = None, **options) -> Corpus:
    """The corpus of a file with this name and content."""
    with TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_corpus(path, format, **options)


def problem(name: str, content: str | bytes, format: str | None = None, **options) -> str:
    """What the user is told about a file with this name and content."""
    with pytest.raises(CorpusError) as error:
        read(name, content, format, **options)
    return str(error.value)


def covered(sentence: Sentence) -> list[str]:
    """What stands in the text at each span."""
    return [sentence.text[start:end] for start, end in sentence.spans]


def conllu(*rows: str) -> str:
    """CoNLL-U from short rows ``id form [upos [misc]]``; other rows stay as they are."""
    lines = []
    for row in rows:
        if row[:1].isdigit() and "\t" not in row:
            id, form, upos, misc = (*row.split(" "), "_", "_")[:4]
            row = "\t".join([id, form, "_", upos, "_", "_", "_", "_", "_", misc])
        lines.append(row)
    return "\n".join(lines) + "\n"
