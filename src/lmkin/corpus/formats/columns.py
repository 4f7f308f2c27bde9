"""Column files: a word and its tags on a line, an empty line between sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from ...errors import CorpusError
from ..reading import Head, at, corpus_format, read_lines
from ..sentence import Sentence
from ..spans import join_words, locate

_EXTENSIONS = {".conll", ".conll2000", ".iob", ".iob2", ".bio", ".bioes", ".col", ".pos"}
_USUAL_NAMES = {2: ("word", "tag"), 3: ("word", "pos", "chunk"), 4: ("word", "pos", "chunk", "ner")}
_RAW_TEXT = re.compile(r"#\s*(?:raw sent|text)\s*=\s?(.*)$")
_DOCUMENT = re.compile(r"#\s*newdoc(?: id)?\s*(?:=\s*(.*))?$")
_SENTENCE_ID = re.compile(r"#\s*sent_id\s*=\s*(.*)$")
_GLOBAL_COLUMNS = re.compile(r"#\s*global\.columns\s*=\s*(.*)$")


def _sniff(head: Head) -> float:
    known = 0.85 if head.suffix in _EXTENSIONS else 0.0
    lines = head.lines
    separator = "\t" if any("\t" in line for line in lines) else None
    rows = [
        line.split(separator) for line in lines if line.strip() and not _is_comment(line, separator)
    ]
    inner_blank = any(not line.strip() for line in "\n".join(lines).strip("\n").split("\n"))
    widths = {len(row) for row in rows}
    # Prose never has the same number of columns on every line between its empty lines.
    if len(rows) >= 2 and inner_blank and len(widths) == 1 and widths.pop() >= 2:
        return 0.85
    return known


def _is_comment(line: str, separator: str | None) -> bool:
    """A remark, not the word '#': files split at spaces have none, files split at tabs '# …'."""
    return separator == "\t" and bool(re.match(r"#(?:\s*$| |##)", line))


@corpus_format(
    "columns",
    summary="a word and its tags on a line (CoNLL-2000, CoNLL-2003, word⇥tag, PMB), columns by option",
    sniff=_sniff,
)
def read_columns(
    path: Path,
    *,
    columns: Sequence[str] | str | None = None,
    word: int | str = 0,
    separator: str | None = None,
    encoding: str = "utf-8",
) -> Iterator[Sentence]:
    """Sentences of a column file.

    ``columns`` names the columns in order (``"word,pos,chunk"``; ``_`` passes over one); the default is
    word + tag, CoNLL-2000's word, pos, chunk, CoNLL-2003's four, the names in a ``# global.columns``
    or header comment, or word + tag1, tag2, …. ``word`` is the name or the position (from 0) of the column
    that holds the word. ``separator`` is a tab if the file has one, else any white space.

    The raw text is that of a ``# text = …`` or ``# raw sent = …`` comment if the words are
    found in it, else the words joined by spaces.
    """
    lines = read_lines(path, encoding)
    if separator is None and any("\t" in line for line in lines):
        separator = "\t"
    names = _split_names(columns)
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
                chosen = names or _default_names(len(rows[0]), header)
                key = name or f"{path.stem}-{count}"
                yield _sentence(path, number - len(rows), rows, chosen, word, raw, key, document)
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
        if row[0] == "-DOCSTART-":
            documents += 1
            document = f"document-{documents}"
            continue
        width = len(names) if names else len(rows[0]) if rows else len(row)
        if len(row) != width or width < 2:
            by = "tabs" if separator == "\t" else "white space" if separator is None else separator
            raise at(
                path,
                number,
                f"{max(width, 2)} columns separated by {by} expected, got {len(row)}: {line[:60]!r}. "
                f"If the columns are others, name them, e.g. columns='word,tag', separator='\\t'.",
            )
        rows.append(row)


def _split_names(columns: Sequence[str] | str | None) -> list[str] | None:
    if isinstance(columns, str):
        columns = columns.split(",")
    return [c.strip() for c in columns] if columns else None


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
    word: int | str,
    raw: str | None,
    key: str,
    document: str | None,
) -> Sentence:
    if isinstance(word, str) and word not in names:
        raise CorpusError(f"{path}: no column {word!r} for the word; columns: {', '.join(names)}.")
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
        text, spans = join_words(words)
    position %= len(names)
    tags = {
        name: tuple(row[i] for row in rows)
        for i, name in enumerate(names)
        if i != position and name != "_"
    }
    return Sentence(text, spans, tuple(words), tags, key, document)
