"""Column files: a word and its tags on a line, an empty line between sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from ...core import CorpusError, quoted
from ..reader import Head, at, corpus_format, read_lines
from ..sentence import Sentence
from ..spans import join_words, locate

_EXTENSIONS = {".conll", ".conll2000", ".iob", ".iob2", ".bio", ".bioes", ".col", ".pos"}
_USUAL_NAMES = {2: ("word", "tag"), 3: ("word", "pos", "chunk"), 4: ("word", "pos", "chunk", "ner")}
_WORD_NAMES = ("word", "form", "token", "tok")
_RAW_TEXT = re.compile(r"#\s*(?:raw sent|text)\s*=\s?(.*)$")
_DOCUMENT = re.compile(r"#\s*newdoc(?: id)?\s*(?:=\s*(.*))?$")
_SENTENCE_ID = re.compile(r"#\s*sent_id\s*=\s*(.*)$")
_GLOBAL_COLUMNS = re.compile(r"#\s*global\.columns\s*=\s*(.*)$")
_KNOWN_COMMENTS = (_RAW_TEXT, _DOCUMENT, _SENTENCE_ID, _GLOBAL_COLUMNS)
_DOCUMENT_START = "-DOCSTART-"


def _sniff(head: Head) -> float:
    known = 0.85 if head.suffix in _EXTENSIONS else 0.0
    lines = head.lines
    separator = _usual_separator(lines)
    rows = [
        line.split(separator)
        for line in lines
        if line.strip()
        and not line.startswith(_DOCUMENT_START)
        and not _is_comment(line, separator)
    ]
    inner_blank = any(not line.strip() for line in "\n".join(lines).strip("\n").split("\n"))
    widths = {len(row) for row in rows}
    if len(rows) < 2 or not inner_blank or len(widths) > 1 or widths == {1}:
        return known
    # A few lines of prose may well have the same number of words; but they do not end in tags.
    tagged = all(row[-1].isascii() and row[-1].upper() == row[-1] for row in rows)
    return 0.85 if separator == "\t" or tagged or len(rows) >= 20 else known


def _usual_separator(lines: list[str]) -> str | None:
    return "\t" if any("\t" in line.strip() for line in lines) else None


def _is_comment(line: str, separator: str | None) -> bool:
    """A remark, not the word '#': files split at spaces have only the well-known ones."""
    if any(comment.match(line) for comment in _KNOWN_COMMENTS):
        return True
    return separator == "\t" and bool(re.match(r"#(?:\s*$| |## )", line))


@corpus_format(
    "columns",
    summary="a word and its tags on a line (CoNLL-2000, CoNLL-2003, word⇥tag, PMB), columns by option",
    sniff=_sniff,
)
def read_columns(
    path: Path,
    *,
    columns: Sequence[str] | str | None = None,
    word: int | str | None = None,
    separator: str | None = None,
    encoding: str = "utf-8",
) -> Iterator[Sentence]:
    """Sentences of a column file.

    ``columns`` names the columns in order (``"word,pos,chunk"``; ``_`` passes over one); the default is
    word + tag, CoNLL-2000's word, pos, chunk, CoNLL-2003's four, the names in a ``# global.columns``
    or header comment, or word + tag1, tag2, …. ``word`` is the name or the position (from 0) of the column
    that holds the word (default: one that is called word, form, token or tok, else the first).
    ``separator`` is a tab if the file has one, else any white space.

    The raw text is that of a ``# text = …`` or ``# raw sent = …`` comment if the words are
    found in it, else the words joined by spaces. Where there is such a comment, ``~`` in a word stands
    for a space, as in the Parallel Meaning Bank.
    """
    lines = read_lines(path, encoding)
    separator = separator or _usual_separator(lines)
    names = _split_names(columns)
    width = len(names or ())
    header: list[str] | None = None
    raw: str | None = None
    name: str | None = None
    document: str | None = None
    documents = count = 0
    rows: list[list[str]] = []
    for number, line in enumerate([*lines, ""], start=1):
        if not line.strip():
            if rows:
                count += 1
                column_names = names or _default_names(width, header)
                key = name or str(count)
                yield _sentence(
                    path, number - len(rows), rows, column_names, word, raw, key, document
                )
                rows, raw, name = [], None, None
            continue
        if not rows and _is_comment(line, separator):
            if match := _RAW_TEXT.match(line):
                raw = match[1].strip()
            elif match := _SENTENCE_ID.match(line):
                name = match[1].strip()
            elif match := _DOCUMENT.match(line):
                documents += 1
                document = (match[1] or "").strip() or f"document-{documents}"
            elif match := _GLOBAL_COLUMNS.match(line):
                header = match[1].lower().split()
            elif "\t" in line:
                header = [re.sub(r":.*", "", n) for n in line.lstrip("# ").split("\t")]
            continue
        row = line.split(separator)
        if row[0] == _DOCUMENT_START:
            documents += 1
            document = f"document-{documents}"
            continue
        width = width or len(row)
        if len(row) != width or width < 2:
            by = "tabs" if separator == "\t" else "white space" if separator is None else separator
            raise at(
                path,
                number,
                f"{max(width, 2)} columns separated by {by} expected, got {len(row)}: {quoted(line)}. "
                f"If the columns are others, name them, e.g. columns='word,tag', separator='\\t'.",
            )
        rows.append(row)


def _split_names(columns: Sequence[str] | str | None) -> list[str] | None:
    if isinstance(columns, str):
        columns = columns.split(",")
    names = [c.strip() for c in columns or ()]
    repeated = next((n for i, n in enumerate(names) if n != "_" and n in names[:i]), None)
    if repeated:
        raise CorpusError(
            f"columns: the name {quoted(repeated)} is given twice; use _ to pass over one."
        )
    return names or None


def _default_names(width: int, header: list[str] | None) -> list[str]:
    if header and len(header) == width:
        # PMB writes "tok tok sym sem …": a repeated name says nothing new.
        return [n if n not in header[:i] else "_" for i, n in enumerate(header)]
    return list(_USUAL_NAMES.get(width, ("word", *(f"tag{i}" for i in range(1, width)))))


def _sentence(
    path: Path,
    line: int,
    rows: list[list[str]],
    names: list[str],
    word: int | str | None,
    raw: str | None,
    key: str,
    document: str | None,
) -> Sentence:
    if word is None:
        word = next((n for n in names if n in _WORD_NAMES), 0)
    if isinstance(word, str) and word not in names:
        raise CorpusError(
            f"{path}: no column {quoted(word)} for the word; columns: {', '.join(names)}."
        )
    position = names.index(word) if isinstance(word, str) else word
    if not -len(names) <= position < len(names):
        raise CorpusError(f"{path}: word={position} is outside of the {len(names)} columns.")
    words = [row[position] for row in rows]
    if not all(w.strip() for w in words):
        bad = next(i for i, w in enumerate(words) if not w.strip())
        raise at(path, line + bad, "the word is empty.")
    text = raw or ""
    spans = locate(words, text, space_marks="~") if raw else 0
    if isinstance(spans, int):
        # A word that is all marks means them.
        spaced = [w.replace("~", " ") if raw and w.strip("~") else w for w in words]
        text, spans = join_words(spaced)
    position %= len(names)
    tags = {
        name: tuple(row[i] for row in rows)
        for i, name in enumerate(names)
        if i != position and name != "_"
    }
    return Sentence(text, spans, tuple(words), tags, key, document)
