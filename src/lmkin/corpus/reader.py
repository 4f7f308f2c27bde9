"""`read_corpus`: find the format of a file, and let that format read it."""

from __future__ import annotations

import gzip
import importlib
import inspect
import logging
import os
import pkgutil
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

from ..core import (
    QUOTED_PATH,
    CorpusError,
    as_path,
    available_memory,
    did_you_mean,
    human_bytes,
    listed_names,
    near_files,
    open_file,
    printable,
    quoted,
)
from .corpus import Corpus
from .sentence import Sentence

RATIO, SMALL = 50, 2**26
"""Text packs to a third or a tenth: what unpacks to so many times its size, and to more than 64 MB, is a bomb."""
_log = logging.getLogger(__name__)
Reader = Callable[..., Iterable[Sentence]]
Sniffer = Callable[["Head"], float]


@dataclass(frozen=True)
class Head:
    """What a format sees of a file when it is asked whether the file is its own."""

    path: Path
    suffix: str
    lines: list[str] = field(default_factory=list)
    """The first lines, decoded; empty for folders and binary files."""


@dataclass(frozen=True)
class Format:
    """A corpus format: a reader, and how sure it is (0 to 1) that a file is for it."""

    name: str
    summary: str
    read: Reader
    sniff: Sniffer

    @property
    def options(self) -> tuple[str, ...]:
        """Keyword options of the reader."""
        parameters = inspect.signature(self.read).parameters.values()
        return tuple(p.name for p in parameters if p.kind is p.KEYWORD_ONLY)


_FORMATS: dict[str, Format] = {}
# What people call a format by its extension.
_ALIASES = {
    **dict.fromkeys(("tsv", "csv", "jsonl", "json", "glue"), "table"),
    **dict.fromkeys(("conll", "iob", "bio"), "columns"),
    **dict.fromkeys(("parquet", "datasets"), "arrow"),
    **dict.fromkeys(("txt", "plain"), "text"),
}


def corpus_format(name: str, *, summary: str, sniff: Sniffer) -> Callable[[Reader], Reader]:
    """Register a reader ``(path, *, options) -> sentences`` as a corpus format."""

    def register(read: Reader) -> Reader:
        _FORMATS[name] = Format(name, summary, read, sniff)
        return read

    return register


@cache
def _load_own_formats() -> None:
    from . import formats

    for module in pkgutil.iter_modules(formats.__path__):
        importlib.import_module(f"{formats.__name__}.{module.name}")


def known_formats() -> dict[str, Format]:
    """All registered corpus formats by name."""
    _load_own_formats()
    return dict(_FORMATS)


def read_corpus(path: str | Path, format: str | None = None, **options: Any) -> Corpus:
    """Read a corpus file or folder; the format is found by extension and content.

    ``path`` may also be ``"sample"`` or ``"sample:LANGUAGE"``, the corpus that comes with lmkin.
    ``options`` are the format's own (``lmkin.corpus.known_formats()`` lists them).

    >>> import lmkin
    >>> corpus = lmkin.read_corpus("sample")
    >>> corpus[0].tags["upos"][-1]
    'PUNCT'
    """
    formats = known_formats()
    format = _ALIASES.get(format or "", format)
    if format is not None and format not in formats:
        raise CorpusError(
            f"Unknown corpus format {quoted(format)}. {did_you_mean(format, formats)}"
        )
    sample = _sample(str(path))
    file = sample or as_path(path).expanduser()
    if not file.exists():
        raise CorpusError(
            f"There is no corpus at {quoted(str(path), QUOTED_PATH)}.{near_files(file)} Give the path of a file, or "
            f"'sample' for the corpus that comes with lmkin."
        )
    file_format = formats[format] if format else _detect(file, formats)
    unknown = [name for name in options if name not in file_format.options]
    if unknown:
        raise CorpusError(
            f"The format {quoted(file_format.name)} has no option {quoted(unknown[0])}. "
            f"{did_you_mean(unknown[0], file_format.options)}"
        )
    corpus = Corpus(
        file_format.read(file, **options),
        name=str(path) if sample else printable(file.name),
        format=file_format.name,
    )
    _log.debug("read %s as %s: %d sentences", file, file_format.name, len(corpus))
    if not len(corpus):
        raise CorpusError(f"{file}: no sentence in it (read as {file_format.name}).")
    return corpus


def _sample(spec: str) -> Path | None:
    """The file behind ``sample`` or ``sample:LANGUAGE``; a file of that name goes first."""
    name, _, language = spec.partition(":")
    if name != "sample" or Path(spec).exists():
        return None
    from . import sample

    return sample.path(language or "en")


def _detect(path: Path, formats: dict[str, Format]) -> Format:
    head = _head(path)
    scores = {name: fmt.sniff(head) for name, fmt in formats.items()}
    best = max(scores, key=lambda name: scores[name])
    if scores[best] <= 0 and path.is_dir():
        if (path / "config.json").exists():
            raise CorpusError(
                f"{path} is a model, not a corpus. The model comes first, then the corpus: "
                f"lmkin extract MODEL CORPUS, lmkin.extract(model, corpus)."
            )
        inside = sorted(p.name for p in path.iterdir())
        said = f"Give one of its files: {listed_names(inside[:5])}." if inside else "It is empty."
        raise CorpusError(f"{path} is a folder. {said}")
    if scores[best] <= 0:
        raise CorpusError(
            f"{path}: cannot tell the format from the extension {quoted(path.suffix)} or the content. "
            f"Give it by format='…', one of: {', '.join(formats)}."
        )
    return formats[best]


def _head(path: Path, size: int = 1 << 16) -> Head:
    if path.is_dir():
        return Head(path, suffix_of(path))
    data = _read_bytes(path, size)
    # The block may end in the middle of a character or a line: leave the last line out.
    whole = data if len(data) < size else data[: data.rfind(b"\n") + 1]
    try:
        text = whole.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = ""
    return Head(path, suffix_of(path), [] if "\0" in text else split_lines(text))


def suffix_of(path: Path) -> str:
    """The extension in lower case; that of the file inside for ``.gz``."""
    return Path(path.stem if path.suffix == ".gz" else path).suffix.lower()


def _read_bytes(path: Path, size: int | None = None) -> bytes:
    """The bytes of a regular file, or the first ``size``; of a ``.gz`` those inside, while they are a sane number."""
    with open_file(path, error=CorpusError) as raw:
        packed = os.fstat(raw.fileno()).st_size
        limit = available_memory() // 4 if size is None else size
        try:
            if path.suffix != ".gz":
                return _within(path, raw.read(limit + 1 if packed > limit else packed), limit, size)
            with gzip.GzipFile(fileobj=raw) as file:
                bound = min(limit, max(SMALL, packed * RATIO)) if size is None else size
                return _within(path, _read_up_to(file, bound + 1), bound, size)
        except (OSError, EOFError, MemoryError, zlib.error) as error:
            raise CorpusError(f"{path}: cannot be read ({error}).") from None


def _read_up_to(file: BinaryIO | gzip.GzipFile, size: int) -> bytes:
    """At most so many bytes, taken piece by piece: nobody knows how many there are."""
    pieces: list[bytes] = []
    while size > 0 and (piece := file.read(min(size, 2**20))):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def _within(path: Path, data: bytes, limit: int, size: int | None) -> bytes:
    if size is not None:
        return data[:size]
    if len(data) > limit:
        raise CorpusError(
            f"{path}: more than {human_bytes(limit)} of text, which a quarter of the free memory cannot hold or which "
            f"no text packs into so small a file. Cut it into several files."
        )
    return data


def read_text(path: Path, encoding: str = "utf-8") -> str:
    """The whole text of a file; a clear error if it is empty or not in that encoding."""
    if path.is_dir():
        raise CorpusError(f"{path} is a folder; this format is read from a file.")
    data = _read_bytes(path)
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        encoding = "utf-16"
    try:
        text = data.decode("utf-8-sig" if encoding == "utf-8" else encoding)
    except UnicodeDecodeError as error:
        # Not ``data``: a byte order mark is cut off before the positions are counted.
        line = error.object.count(b"\n", 0, error.start) + 1
        raise CorpusError(
            f"{path}, line {line}: not valid {encoding} (byte 0x{error.object[error.start]:02x}). "
            f"Convert the file to UTF-8, or say how it is encoded, e.g. encoding='latin-1'."
        ) from None
    except LookupError:
        raise CorpusError(f"Python knows no encoding {quoted(encoding)}; try 'utf-8'.") from None
    if not text.strip():
        raise CorpusError(f"{path}: the file is empty.")
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise at(path, line, "a NUL character; the file is binary, or encoded otherwise.")
    return text


def read_lines(path: Path, encoding: str = "utf-8") -> list[str]:
    """The lines of a text file without their ends."""
    return split_lines(read_text(path, encoding))


def split_lines(text: str) -> list[str]:
    """The lines of a text without their ends.

    Only line feeds end a line: ``str.splitlines`` would also cut at U+2028 and the like, which
    stand inside sentences of web text.
    """
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n")


def at(path: Path, line: int, problem: str) -> CorpusError:
    """The error for a problem on a line of a file."""
    return CorpusError(f"{path}, line {line}: {problem}")
