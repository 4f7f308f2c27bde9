"""CoNLL-U, the format of Universal Dependencies (https://universaldependencies.org/format.html)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ...core import CorpusError, did_you_mean, quoted
from ..reader import Head, at, corpus_format, read_lines
from ..sentence import Sentence, Span
from ..spans import join_words, locate

_TAG_COLUMNS = {"upos": 3, "xpos": 4, "feats": 5, "deprel": 7}
_WORD_ID = re.compile(r"[0-9]+$")
_RANGE_ID = re.compile(r"([0-9]+)-([0-9]+)$")
_EMPTY_ID = re.compile(r"[0-9]+\.[0-9]+$")
_COMMENT = re.compile(r"#\s*(newdoc id|newdoc|newpar id|newpar|sent_id|text)\s*(?:=\s?(.*))?$")


def _sniff(head: Head) -> float:
    rows = [line.split("\t") for line in head.lines if line.strip() and not line.startswith("#")]
    if rows and all(len(r) == 10 and r[0].split("-")[0].split(".")[0].isdigit() for r in rows):
        return 1.0
    return 0.95 if head.suffix == ".conllu" else 0.0


@dataclass
class _Block:
    """The lines of one sentence as they come in."""

    line: int
    id: str = ""
    text: str | None = None
    rows: list[list[str]] = field(default_factory=list)
    """One row a syntactic word."""
    surface: list[str] = field(default_factory=list)
    """What stands in the text: multiword tokens, and words outside of them."""
    space_after: list[bool] = field(default_factory=list)
    owner: list[int] = field(default_factory=list)
    """The surface token of each syntactic word."""
    covered: int = 0
    """Words up to this number belong to the multiword token that was read last."""


@corpus_format(
    "conllu",
    summary="Universal Dependencies: multiword tokens, empty nodes, upos, xpos, feats, deprel",
    sniff=_sniff,
)
def read_conllu(
    path: Path, *, text: str = "comment", encoding: str = "utf-8"
) -> Iterator[Sentence]:
    """Sentences of a CoNLL-U file.

    ``text="comment"`` takes the raw text from ``# text = …`` where there is one;
    ``text="forms"`` always rebuilds it from the forms and ``SpaceAfter=No``.
    """
    if text not in ("comment", "forms"):
        raise CorpusError(
            f"Unknown text={quoted(text)}. {did_you_mean(text, ['comment', 'forms'])}"
        )
    sentences: list[Sentence] = []
    document: str | None = None
    block: _Block | None = None
    documents = 0
    for number, line in enumerate([*read_lines(path, encoding), ""], start=1):
        if not line.strip():
            if block is not None and block.surface:
                name = block.id or str(len(sentences) + 1)
                sentences.append(_finish(path, block, name, document, rebuild=text == "forms"))
            block = None
            continue
        block = block or _Block(number)
        if line.startswith("#") and not block.surface:
            match = _COMMENT.match(line)
            key, value = (match[1], (match[2] or "").strip()) if match else ("", "")
            if key.startswith("newdoc"):
                documents += 1
                document = value or f"document-{documents}"
            elif key == "sent_id":
                block.id = value
            elif key == "text":
                block.text = value
            continue
        _add_row(path, number, line, block)
    # A column that nobody filled is not a tag.
    filled = [t for t in _TAG_COLUMNS if any(v != "_" for s in sentences for v in s.tags[t])]
    for s in sentences:
        yield Sentence(s.text, s.spans, s.words, {t: s.tags[t] for t in filled}, s.id, s.document)


def _add_row(path: Path, number: int, line: str, block: _Block) -> None:
    row = line.split("\t")
    if len(row) != 10:
        raise at(
            path,
            number,
            f"a CoNLL-U line has 10 columns separated by tabs, this one has {len(row)}: {quoted(line)}. "
            f"If it is another column format, read it with format='columns'.",
        )
    if not row[1].strip() and not _EMPTY_ID.match(row[0]):
        raise at(path, number, "the word (column 2) is empty.")
    space_after = "SpaceAfter=No" not in row[9].split("|")
    if match := _RANGE_ID.match(row[0]):
        first, last = int(match[1]), int(match[2])
        if first != len(block.rows) + 1 or first <= block.covered or last < first:
            raise at(
                path, number, f"the multiword token {row[0]} must come right before its words."
            )
        block.surface.append(row[1])
        block.space_after.append(space_after)
        block.covered = last
    elif _WORD_ID.match(row[0]):
        if int(row[0]) != len(block.rows) + 1:
            raise at(
                path, number, f"word {len(block.rows) + 1} expected, got the id {quoted(row[0])}."
            )
        if int(row[0]) > block.covered:
            block.surface.append(row[1])
            block.space_after.append(space_after)
        block.rows.append(row)
        block.owner.append(len(block.surface) - 1)
    elif not _EMPTY_ID.match(row[0]):
        raise at(path, number, f"{quoted(row[0])} is not a CoNLL-U id (such as 3, 3-4 or 3.1).")


def _finish(
    path: Path, block: _Block, name: str, document: str | None, *, rebuild: bool
) -> Sentence:
    if block.covered > len(block.rows):
        raise at(path, block.line, f"sentence {name}: a multiword token lacks its last words.")
    spans: tuple[Span, ...] | int
    if block.text is None or rebuild:
        text, spans = join_words(block.surface, block.space_after)
    else:
        text, spans = block.text, locate(block.surface, block.text)
    if isinstance(spans, int):
        missing = (
            f"the word {quoted(block.surface[spans])} (number {spans + 1}) is not where '# text' has it"
            if spans < len(block.surface)
            else "'# text' goes on after the last word"
        )
        raise at(
            path,
            block.line,
            f"sentence {name}: {missing}. Mend the file, or rebuild the text from the words with "
            f"text='forms'.",
        )
    return Sentence(
        text=text,
        spans=tuple(spans[i] for i in block.owner),
        words=tuple(row[1] for row in block.rows),
        tags={tag: tuple(row[c] for row in block.rows) for tag, c in _TAG_COLUMNS.items()},
        id=name,
        document=document,
    )
