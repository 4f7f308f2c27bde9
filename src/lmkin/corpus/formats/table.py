"""Tables as GLUE has them: a sentence or a pair on a line, with a label or a score."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ...core import CorpusError, Unfit, did_you_mean, label_kind, parse_json, quoted
from ..reader import Head, at, corpus_format, read_text, split_lines, suffix_of
from ..sentence import Sentence
from ..spans import split_words

Column = int | str
MOST_COLUMNS = 10_000
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


_JSON = {".jsonl", ".ndjson"}
Row = dict[Column, Any]


def _sniff(head: Head) -> float:
    if head.suffix in {*_JSON, ".csv"} or _is_json(head.lines):
        return 0.9
    first = next((line.split("\t") for line in head.lines if line.strip()), [])
    # Two names: a column file may well begin with the word "Text".
    if len(_known_names(first)) > 1:
        return 0.9
    return 0.7 if head.suffix == ".tsv" else 0.0


def _is_json(lines: list[str]) -> bool:
    """Whether the first line that is not empty holds a JSON object."""
    first = next((line for line in lines if line.strip()), "")
    try:
        return isinstance(parse_json(first), dict)
    except Unfit:
        return False


def _known_names(first: list[str], asked: Sequence[Column | None] = ()) -> list[str]:
    """The names of columns on a first line that are known or asked for."""
    known = {n for pair in PAIRS for n in pair} | {*SINGLES, *LABELS, *SCORES}
    known |= {a.lower() for a in asked if isinstance(a, str)}
    return [name for name in first if name.strip().lower() in known]


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
    ``label`` is kept as text, ``score`` becomes a number, and what is empty is None. ``header`` says
    whether the first line holds names (default: yes if it has a name that is known or asked for).
    Quotes have a meaning in CSV, none in TSV.
    """
    suffix = suffix_of(path)
    asked = (text, text_b, label, score, id)
    content = read_text(path, encoding)
    lines = split_lines(content)
    if suffix in _JSON or (suffix not in {".csv", ".tsv"} and _is_json(lines)):
        rows = _json_rows(path, lines)
    else:
        separator = separator or ("," if suffix == ".csv" else "\t")
        quoted = suffix == ".csv" or separator == ","
        cells = _csv_cells(path, content, separator) if quoted else _tsv_cells(lines, separator)
        rows = _named_rows(path, list(cells), header, asked)
    yield from sentences_from_rows(path, rows, asked, words)


def sentences_from_rows(
    path: Path,
    rows: Iterator[tuple[int, Row]],
    asked: Sequence[Column | None],
    words: str = "whitespace",
) -> Iterator[Sentence]:
    """Sentences of numbered rows (columns by name and position), by the columns asked for or known."""
    columns: dict[str, Column | None] | None = None
    before: tuple[int, Any] | None = None
    for number, row in rows:
        columns = columns or _choose(path, list(row), asked)
        cell = partial(_cell, path, number, row)
        text, second = cell(columns["text"]), cell(columns["text_b"])
        if text is None or (second is None and columns["text_b"] is not None):
            lacking = columns["text"] if text is None else columns["text_b"]
            raise at(path, number, f"there is nothing in the column {quoted(lacking)}.")
        score = cell(columns["score"])
        label = cell(columns["label"])
        if label is not None:
            here = number, row[columns["label"]]  # type: ignore[index]
            before = before or here
            _require_same_kind(path, before, here)
        yield Sentence(
            text,
            split_words(text, words),
            id=cell(columns["id"]) or str(number),
            text_b=second,
            label=_number(path, number, score) if score else label or None,
        )


def _require_same_kind(path: Path, before: tuple[int, Any], here: tuple[int, Any]) -> None:
    """Raise if a label is a number where another is text, as JSON can have it."""
    (first, label), (number, own) = before, here
    if type(own) is not type(label) and label_kind(own) != label_kind(label):
        raise at(
            path, number,
            f"the label {quoted(own)} is {label_kind(own)}, and {quoted(label)} on line {first} is "
            f"{label_kind(label)}. Write all labels as text, or all as numbers.",
        )  # fmt: skip


def _choose(
    path: Path, columns: list[Column], asked: Sequence[Column | None]
) -> dict[str, Column | None]:
    """The column for each role, from what was asked for or from well-known names."""
    lower = {str(c).lower(): c for c in columns if isinstance(c, str)}
    text, text_b, label, score, id = asked
    if text is None:
        pair = next((p for p in PAIRS if all(n in lower for n in p)), None)
        if pair:
            text, text_b = lower[pair[0]], lower[pair[1]] if text_b is None else text_b
        else:
            text = next((lower[n] for n in SINGLES if n in lower), None)
    if text is None:
        raise CorpusError(
            f"{path}: no column is known to hold the sentence. Say which, by name or position from 0, e.g. "
            f"text='sentence' or text=3. "
            f"Columns: {', '.join(str(c) for c in columns)}."
        )
    if label is not None and score is not None:
        raise CorpusError(f"{path}: give label={quoted(label)} or score={quoted(score)}, not both.")
    if label is None and score is None:
        label = next((lower[n] for n in LABELS if n in lower), None)
        if label is None:
            score = next((lower[n] for n in SCORES if n in lower), None)
    if id is None:
        id = next((lower[n] for n in IDS if n in lower), None)
    return {"text": text, "text_b": text_b, "label": label, "score": score, "id": id}


def _cell(path: Path, number: int, row: Row, column: Column | None) -> str | None:
    if column is None:
        return None
    if column not in row:
        names = [str(c) for c in row]
        raise at(path, number, f"no column {quoted(column)}. {did_you_mean(str(column), names)}")
    value = row[column]
    if isinstance(value, list | dict):
        raise at(path, number, f"the column {quoted(column)} holds no text but {quoted(value)}.")
    return None if value is None else str(value)


def _number(path: Path, number: int, value: str) -> float:
    try:
        score = float(value)
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise at(path, number, f"the score {quoted(value)} is not a number.")
    return score


def numbered(columns: Sequence[str], values: Iterable[Any]) -> Row:
    """A row by name and position; names go first: they are what an error should list."""
    values = list(values)
    return {**dict(zip(columns, values, strict=True)), **dict(enumerate(values))}


def _json_rows(path: Path, lines: list[str]) -> Iterator[tuple[int, Row]]:
    rows = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = parse_json(line)
        except Unfit as error:
            raise at(path, number, f"not JSON that can be read, {error}: {quoted(line)}.") from None
        if not isinstance(row, dict):
            raise at(path, number, f"one JSON object a line expected, got {quoted(line)}.")
        rows.append((number, row))
    columns = list(dict.fromkeys(name for _, row in rows for name in row))
    given = sum(len(row) for _, row in rows)
    if len(columns) > MOST_COLUMNS or len(columns) * len(rows) > 50 * given + 10**6:
        raise CorpusError(
            f"{path}: {len(columns):,} different keys in {len(rows):,} lines: a table has the same keys in every line, "
            f"and {MOST_COLUMNS:,} at most."
        )
    for number, row in rows:
        yield number, numbered(columns, map(row.get, columns))


def _named_rows(
    path: Path,
    cells: list[tuple[int, list[str]]],
    header: bool | None,
    asked: Sequence[Column | None],
) -> Iterator[tuple[int, Row]]:
    _, first = cells[0]
    named = bool(_known_names(first, asked)) if header is None else header
    names = [name.strip() for name in first]
    if named and len(first) > MOST_COLUMNS:
        raise CorpusError(f"{path}: more than {MOST_COLUMNS:,} columns.")
    if named and (twice := sorted({n for n in names if n and names.count(n) > 1})):
        raise CorpusError(
            f"{path}: two columns are called {quoted(twice[0])}, so which is meant cannot be told. Rename one, or give "
            f"header=False and columns by position."
        )
    for number, row in cells[named:]:
        if len(row) != len(first):
            raise at(
                path,
                number,
                f"{len(first)} columns expected as on the first line, got {len(row)}.",
            )
        yield number, numbered(names, row) if named else dict(enumerate(row))


def _tsv_cells(lines: list[str], separator: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield number, line.split(separator)


def _csv_cells(path: Path, content: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    if len(separator) != 1:
        raise CorpusError(f"{path}: CSV wants one character as separator, got {quoted(separator)}.")
    reader = csv.reader(io.StringIO(content, newline=""), delimiter=separator, strict=True)
    number = 1
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                yield number, row
            number = reader.line_num + 1
    except csv.Error as error:
        raise at(path, number, f"not valid CSV ({error}).") from None
