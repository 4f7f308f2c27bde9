"""Tables as GLUE has them: a sentence or a pair on a line, with a label or a score."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ...errors import CorpusError, did_you_mean
from ..reading import Head, at, corpus_format, read_lines, read_text
from ..sentence import Sentence
from ..spans import WORD_RULES, split_words

Column = int | str
# Names that well-known tasks use, in the order of preference; compared in lower case.
PAIRS = (
    ("sentence1", "sentence2"),
    ("question1", "question2"),
    ("premise", "hypothesis"),
    ("#1 string", "#2 string"),
    ("text_a", "text_b"),
    ("text1", "text2"),
    ("question", "sentence"),
)
SINGLES = ("sentence", "text", "content", "review", "question", "document")
LABELS = ("label", "gold_label", "labels", "quality", "is_duplicate", "class", "sentiment")
SCORES = ("score", "similarity", "similarity_score")
IDS = ("sent_id", "id", "idx", "index", "guid", "pairid")


def _sniff(head: Head) -> float:
    if head.suffix in {".jsonl", ".ndjson", ".csv"}:
        return 0.9
    return 0.7 if head.suffix == ".tsv" else 0.0


@corpus_format(
    "table",
    summary="TSV, CSV or JSON lines: a sentence or a pair, with a label or a score (GLUE)",
    sniff=_sniff,
)
def read_table(
    path: Path,
    *,
    text: Column | None = None,
    text_b: Column | None = None,
    label: Column | None = None,
    score: Column | None = None,
    id: Column | None = None,
    header: bool | None = None,
    separator: str | None = None,
    words: str = "whitespace",
    encoding: str = "utf-8",
) -> Iterator[Sentence]:
    """Sentences of a table.

    Columns are given by name or by position (from 0); by default the names that GLUE tasks use are looked for.
    ``label`` is kept as text, ``score`` becomes a number. ``header`` says whether the first line
    holds names (default: yes if it has a name that is known or asked for). Quotes have a
    meaning in CSV, none in TSV.
    """
    if words not in WORD_RULES:
        raise CorpusError(f"Unknown words={words!r}. {did_you_mean(words, WORD_RULES)}")
    suffix = Path(path.stem).suffix if path.suffix == ".gz" else path.suffix
    asked = (text, text_b, label, score, id)
    if suffix.lower() in {".jsonl", ".ndjson"}:
        rows = _json_rows(path, encoding)
    else:
        separator = separator or ("," if suffix.lower() == ".csv" else "\t")
        rows = _separated_rows(path, separator, header, asked, encoding)
    yield from sentences_from_rows(path, rows, asked, words)


def sentences_from_rows(
    path: Path,
    rows: Iterator[tuple[int, dict[Column, Any]]],
    asked: Sequence[Column | None],
    words: str = "whitespace",
) -> Iterator[Sentence]:
    """Sentences of numbered rows (columns by name and position), by the columns asked for or known."""
    chosen: dict[str, Column | None] | None = None
    for number, row in rows:
        chosen = chosen or _choose(path, list(row), asked)
        value = _cell(path, number, row, chosen["text"])
        second = chosen["text_b"]
        mark: str | float | None = None
        if chosen["label"] is not None:
            mark = _cell(path, number, row, chosen["label"])
        elif chosen["score"] is not None:
            mark = _number(path, number, _cell(path, number, row, chosen["score"]))
        key = chosen["id"]
        yield Sentence(
            value,
            split_words(value, words),
            id=f"{path.stem}-{number}" if key is None else str(_cell(path, number, row, key)),
            text_b=None if second is None else _cell(path, number, row, second),
            label=mark,
        )


def _choose(
    path: Path, columns: list[Column], asked: Sequence[Column | None]
) -> dict[str, Column | None]:
    """The column for each role, from what was asked for or from well-known names."""
    lower = {str(c).lower(): c for c in columns if isinstance(c, str)}
    text, text_b, label, score, id = asked
    if text is None:
        pair = next((p for p in PAIRS if all(n in lower for n in p)), None)
        if pair and text_b is None:
            text, text_b = lower[pair[0]], lower[pair[1]]
        else:
            text = next((lower[n] for n in SINGLES if n in lower), None)
    if text is None:
        raise CorpusError(
            f"{path}: no column is known to hold the sentence. Say which, by name or position from 0, e.g. "
            f"text='sentence' or text=3 (on the command line --option text=3). "
            f"Columns: {', '.join(str(c) for c in columns)}."
        )
    if label is None and score is None:
        label = next((lower[n] for n in LABELS if n in lower), None)
        if label is None:
            score = next((lower[n] for n in SCORES if n in lower), None)
    if id is None:
        id = next((lower[n] for n in IDS if n in lower), None)
    return {"text": text, "text_b": text_b, "label": label, "score": score, "id": id}


def _cell(path: Path, number: int, row: dict[Column, Any], column: Column | None) -> str:
    if column not in row:
        names = [str(c) for c in row]
        raise at(path, number, f"no column {column!r}. {did_you_mean(str(column), names)}")
    value = row[column]
    return value if isinstance(value, str) else "" if value is None else str(value)


def _number(path: Path, number: int, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise at(path, number, f"the score {value!r} is not a number.") from None


def _json_rows(path: Path, encoding: str) -> Iterator[tuple[int, dict[Column, Any]]]:
    for number, line in enumerate(read_lines(path, encoding), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise at(path, number, f"not JSON ({error.msg}): {line[:60]!r}.") from None
        if not isinstance(row, dict):
            raise at(path, number, f"one JSON object a line expected, got {line[:60]!r}.")
        yield number, dict(row)


def _separated_rows(
    path: Path,
    separator: str,
    header: bool | None,
    asked: Sequence[Column | None],
    encoding: str,
) -> Iterator[tuple[int, dict[Column, Any]]]:
    cells = list(_cells(path, separator, encoding))
    _, first = cells[0]
    if header is None:
        known = {n for pair in PAIRS for n in pair} | {*SINGLES, *LABELS, *SCORES}
        known |= {str(a).lower() for a in asked if isinstance(a, str)}
        header = any(name.strip().lower() in known for name in first)
    names: list[str] | None = None
    if header:
        names = [name.strip() for name in first]
        cells = cells[1:]
    for number, row in cells:
        if len(row) != len(first):
            raise at(
                path,
                number,
                f"{len(first)} columns expected as on the first line, got {len(row)}.",
            )
        numbered: dict[Column, Any] = dict(enumerate(row))
        # With a header, show names first: they are what an error should list.
        yield number, {**dict(zip(names, row, strict=True)), **numbered} if names else numbered


def _cells(path: Path, separator: str, encoding: str) -> Iterator[tuple[int, list[str]]]:
    if separator != ",":
        for number, line in enumerate(read_lines(path, encoding), start=1):
            if line.strip():
                yield number, line.split(separator)
        return
    reader = csv.reader(io.StringIO(read_text(path, encoding), newline=""), strict=True)
    try:
        for row in reader:
            if row:
                yield reader.line_num, row
    except csv.Error as error:
        raise at(path, reader.line_num, f"not valid CSV ({error}).") from None
