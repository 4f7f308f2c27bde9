"""Parquet and Arrow files, and folders that the `datasets` library saved."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ...errors import CorpusError, did_you_mean
from ..reading import Head, corpus_format
from ..sentence import Sentence
from ..spans import join_words
from .table import Column, sentences_from_rows

_WORD_COLUMNS = ("tokens", "words", "form")


def _sniff(head: Head) -> float:
    if head.suffix in {".parquet", ".arrow"}:
        return 1.0
    saved = ("dataset_dict.json", "state.json", "dataset_info.json")
    if head.path.is_dir():
        return 1.0 if any((head.path / name).exists() for name in saved) else 0.0
    return 0.0


@corpus_format(
    "arrow",
    summary="a Parquet or Arrow file, or a folder of datasets' save_to_disk (extra: parquet)",
    sniff=_sniff,
)
def read_arrow(
    path: Path,
    *,
    split: str | None = None,
    tokens: str | None = None,
    text: Column | None = None,
    text_b: Column | None = None,
    label: Column | None = None,
    score: Column | None = None,
    id: Column | None = None,
    words: str = "whitespace",
) -> Iterator[Sentence]:
    """Sentences of a Parquet or Arrow file or a saved dataset.

    A column of word lists (``tokens``, by default one that is called tokens, words or form) makes a
    tagged corpus: other lists of the same length are its tags, and class numbers are turned into names.
    Otherwise the columns are chosen as for TSV files. ``split`` names a part of a saved DatasetDict.
    """
    table = _read(path, split)
    names = _class_names(table.schema)
    columns = table.column_names
    if tokens is not None and tokens not in columns:
        raise CorpusError(f"{path}: no column {tokens!r}. {did_you_mean(tokens, columns)}")
    word_column = tokens or next((c for c in _WORD_COLUMNS if c in columns), None)
    rows = (row for batch in table.to_batches() for row in batch.to_pylist())
    if word_column is not None:
        yield from _tagged(path, rows, word_column, names)
        return
    named = ({k: _named(v, names.get(k)) for k, v in row.items()} for row in rows)
    asked = (text, text_b, label, score, id)
    numbered: Iterator[tuple[int, dict[Column, Any]]] = (
        (number, {**row, **dict(enumerate(row.values()))})
        for number, row in enumerate(named, start=1)
    )
    yield from sentences_from_rows(path, numbered, asked, words)


def _tagged(
    path: Path, rows: Iterator[dict[str, Any]], word_column: str, names: dict[str, list[str]]
) -> Iterator[Sentence]:
    for number, row in enumerate(rows, start=1):
        words = row[word_column]
        if not isinstance(words, list) or not all(isinstance(w, str) and w.strip() for w in words):
            raise CorpusError(
                f"{path}, row {number}: the column {word_column!r} must hold lists of words, got "
                f"{str(words)[:60]!r}."
            )
        tags = {
            name: tuple(str(_named(v, names.get(name))) for v in values)
            for name, values in row.items()
            if name != word_column and isinstance(values, list) and len(values) == len(words)
        }
        text, spans = join_words(words)
        key = next((str(row[c]) for c in ("sent_id", "id", "idx") if row.get(c) is not None), "")
        yield Sentence(text, spans, tuple(words), tags, key or f"{path.stem}-{number}")


def _named(value: Any, names: Sequence[str] | None) -> Any:
    """A class number's name; -1 is what datasets writes where there is no label."""
    if names is None or not isinstance(value, int):
        return value
    return names[value] if 0 <= value < len(names) else None


def _read(path: Path, split: str | None) -> Any:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise CorpusError(
            f"{path}: Parquet and Arrow need the library pyarrow: pip install 'lmkin[parquet]'."
        ) from None
    try:
        if path.is_dir():
            path = _choose_split(path, split)
            files = _data_files(path)
            return pa.concat_tables([_read_arrow_file(pa, file) for file in files])
        if path.suffix == ".arrow":
            return _read_arrow_file(pa, path)
        return parquet.read_table(path)
    except (pa.ArrowInvalid, pa.ArrowException, OSError, KeyError, json.JSONDecodeError) as error:
        raise CorpusError(f"{path}: cannot be read ({str(error).splitlines()[0]}).") from None


def _choose_split(path: Path, split: str | None) -> Path:
    listing = path / "dataset_dict.json"
    if not listing.exists():
        if split is not None:
            raise CorpusError(
                f"{path} is a single dataset without splits; leave split={split!r} out."
            )
        return path
    splits = json.loads(listing.read_text())["splits"]
    if split is None and len(splits) == 1:
        split = splits[0]
    if split not in splits:
        said = f"no split {split!r}" if split else "several splits; choose one with split='…'"
        raise CorpusError(f"{path}: {said}. {did_you_mean(split or '', splits)}")
    return path / str(split)


def _data_files(path: Path) -> list[Path]:
    state = json.loads((path / "state.json").read_text())
    return [path / entry["filename"] for entry in state["_data_files"]]


def _read_arrow_file(pa: Any, file: Path) -> Any:
    with pa.memory_map(str(file)) as source:
        try:
            return pa.ipc.open_stream(source).read_all()
        except pa.ArrowInvalid:
            return pa.ipc.open_file(source).read_all()


def _class_names(schema: Any) -> dict[str, list[str]]:
    """Names of the classes of each column, from what `datasets` writes into the schema."""
    metadata = (schema.metadata or {}).get(b"huggingface")
    if not metadata:
        return {}
    features = json.loads(metadata).get("info", {}).get("features") or {}
    names = {}
    for column, feature in features.items():
        while isinstance(feature, dict) and isinstance(feature.get("feature"), dict):
            feature = feature["feature"]
        if isinstance(feature, dict) and feature.get("names"):
            names[column] = feature["names"]
    return names
