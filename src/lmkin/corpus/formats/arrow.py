"""Parquet and Arrow files, and folders that the `datasets` library saved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ...core import (
    CorpusError,
    Unfit,
    available_memory,
    checked,
    did_you_mean,
    member,
    open_file,
    parse_json,
    quoted,
    read_json,
    require_file,
)
from ..reader import Head, corpus_format
from ..sentence import Sentence
from ..spans import join_words, locate
from .table import Column, numbered, sentences_from_rows

_WORD_COLUMNS = ("tokens", "words", "form")
_ID_COLUMNS = ("sent_id", "id", "idx")


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
    tagged corpus: other lists of the same length are its tags, class numbers are turned into names, and
    the raw text is that of a column text or sentence if the words are found in it.
    Otherwise, or if ``text`` is given, the columns are chosen as for TSV files. ``split`` names a part
    of a saved DatasetDict.
    """
    table = _read(path, split)
    names = _class_names(path, table.schema)
    columns = table.column_names
    if len(set(columns)) < len(columns):
        raise CorpusError(f"{path}: two columns have the same name; which is meant cannot be told.")
    for asked in (tokens, id if isinstance(id, str) else None):
        if asked is not None and asked not in columns:
            raise CorpusError(f"{path}: no column {quoted(asked)}. {did_you_mean(asked, columns)}")
    word_column = tokens
    if tokens is None and text is None:
        lists = {field.name for field in table.schema if "list<" in str(field.type)}
        word_column = next((c for c in _WORD_COLUMNS if c in lists), None)
    rows = _rows(path, table)
    if word_column is not None:
        if unused := [o for o in (text_b, label, score) if o is not None]:
            raise CorpusError(
                f"{path}: {quoted(word_column)} holds lists of words, so this is read as a tagged corpus, "
                f"without {quoted(unused[0])}. For sentences with labels name the text too: text='…'."
            )
        keys = [columns[id] if isinstance(id, int) else id] if id is not None else _ID_COLUMNS
        yield from _tagged(path, rows, word_column, keys, names)
        return
    yield from sentences_from_rows(
        path,
        (
            (number, numbered(columns, [_named(v, names.get(k)) for k, v in row.items()]))
            for number, row in enumerate(rows, start=1)
        ),
        (text, text_b, label, score, id),
        words,
    )


def _rows(path: Path, table: Any) -> Iterator[dict[str, Any]]:
    """Rows as plain values; text in a column of bytes is text."""
    for batch in table.to_batches(max_chunksize=10_000):
        try:
            rows = batch.to_pylist()
        except (ValueError, OverflowError, ArithmeticError, RecursionError, LookupError) as error:
            raise CorpusError(f"{path}: a value cannot be read ({error}).") from None
        for row in rows:
            for name, value in row.items():
                if isinstance(value, bytes):
                    try:
                        row[name] = value.decode()
                    except UnicodeDecodeError:
                        raise CorpusError(
                            f"{path}: the column {quoted(name)} holds bytes that are no UTF-8 text."
                        ) from None
            yield row


def _tagged(
    path: Path,
    rows: Iterator[dict[str, Any]],
    word_column: str,
    keys: Sequence[str],
    names: dict[str, list[str]],
) -> Iterator[Sentence]:
    for number, row in enumerate(rows, start=1):
        words = row[word_column]
        if not isinstance(words, list) or not all(isinstance(w, str) and w.strip() for w in words):
            raise CorpusError(
                f"{path}, row {number}: the column {quoted(word_column)} must hold lists of words, got "
                f"{quoted(words)}."
            )
        tags = {}
        for name, values in row.items():
            if name == word_column or not isinstance(values, list):
                continue
            if len(values) == len(words):
                named = (_named(v, names.get(name)) for v in values)
                tags[name] = tuple("_" if v is None else str(v) for v in named)
            elif name in names:
                raise CorpusError(
                    f"{path}, row {number}: {len(words)} words but {len(values)} values of {quoted(name)}."
                )
        raw = next((row[c] for c in ("text", "sentence") if isinstance(row.get(c), str)), "")
        text, spans = raw.strip(), locate(words, raw.strip())
        if isinstance(spans, int):
            text, spans = join_words(words)
        key = next((str(row[c]) for c in keys if row.get(c) is not None), str(number))
        yield Sentence(text, spans, tuple(words), tags, key)


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
        if split is not None and not path.is_dir():
            raise CorpusError(
                f"{path} is a single file without splits; leave split={quoted(split)} out."
            )
        if path.is_dir():
            files = _data_files(_choose_split(path, split))
            return pa.concat_tables([_read_arrow_file(pa, file) for file in files])
        if path.suffix.lower() == ".arrow":
            return _read_arrow_file(pa, path)
        return _read_parquet(parquet, path)
    except (pa.ArrowException, OSError, KeyError, ValueError, MemoryError, RecursionError) as error:
        said = (str(error).splitlines() or [type(error).__name__])[0][:200]
        raise CorpusError(f"{path}: cannot be read ({said}).") from None


def _choose_split(path: Path, split: str | None) -> Path:
    listing = path / "dataset_dict.json"
    if not listing.exists():
        if split is not None:
            raise CorpusError(
                f"{path} is a single dataset without splits; leave split={quoted(split)} out."
            )
        return path
    schema = {"splits": [str], str: Any}
    splits = read_json(listing, schema, what="list of splits", error=CorpusError)["splits"]
    if split is None and len(splits) == 1:
        split = splits[0]
    if split not in splits:
        said = f"no split {quoted(split)}" if split else "several splits; choose one with split='…'"
        raise CorpusError(f"{path}: {said}. {did_you_mean(split or '', splits)}")
    return member(path, split, CorpusError)


_STATE = {"_data_files": [{"filename": str, str: Any}], str: Any}


def _data_files(path: Path) -> list[Path]:
    state = read_json(path / "state.json", _STATE, what="saved dataset", error=CorpusError)
    files = [member(path, entry["filename"], CorpusError) for entry in state["_data_files"]]
    if not files:
        raise CorpusError(f"{path}: the saved dataset has no files of data.")
    return files


def _read_arrow_file(pa: Any, file: Path) -> Any:
    """A table of which every offset was checked: readers behind it trust them, and would read beyond its end."""
    with open_file(file, error=CorpusError) as opened, pa.PythonFile(opened, "r") as source:
        data = source.read_buffer()
    try:
        table = pa.ipc.open_stream(data).read_all()
    except pa.ArrowInvalid:
        table = pa.ipc.open_file(data).read_all()
    table.validate(full=True)
    return table


def _read_parquet(parquet: Any, path: Path) -> Any:
    require_file(path, CorpusError)
    file = parquet.ParquetFile(path)
    size = sum(
        file.metadata.row_group(k).total_byte_size for k in range(file.metadata.num_row_groups)
    )
    if size > available_memory() // 4:
        raise CorpusError(f"{path}: it says to hold {size:,} bytes, which do not fit into memory.")
    table = file.read()
    table.validate(full=True)
    return table


_FEATURES = {"info?": {"features?": ({str: Any}, None), str: Any}, str: Any}


def _class_names(path: Path, schema: Any) -> dict[str, list[str]]:
    """Names of the classes of each column, from what `datasets` writes into the schema."""
    metadata = (schema.metadata or {}).get(b"huggingface")
    if not metadata:
        return {}
    try:
        described = checked(parse_json(metadata), _FEATURES)
    except Unfit as error:
        raise CorpusError(
            f"{path}: what `datasets` says of its columns is damaged: {error}."
        ) from None
    features = described.get("info", {}).get("features") or {}
    names = {}
    for column, feature in features.items():
        # A list of something is {"feature": something}; before datasets 4 also [something].
        while isinstance(inner := _inner(feature), dict | list):
            feature = inner
        if isinstance(feature, dict) and feature.get("_type") == "ClassLabel":
            known = feature.get("names")
            if not isinstance(known, list) or not all(isinstance(n, str) for n in known):
                raise CorpusError(f"{path}: the classes of {quoted(column)} have no names.")
            names[column] = known
    return names


def _inner(feature: Any) -> Any:
    if isinstance(feature, list):
        return feature[0] if feature else None
    return feature.get("feature") if isinstance(feature, dict) else None
