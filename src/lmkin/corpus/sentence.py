"""One sentence: its raw text, and its words as character spans of that text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import NoneType
from typing import Any

import numpy as np

from ..core import CorpusError, Whole, printable, quoted

Span = tuple[int, int]


SENTENCE: dict[Any, Any] = {
    "text": str,
    "spans": [[Whole()]],
    "words?": [str],
    "tags?": {str: [(str, None)]},
    "id?": str,
    "document?": (str, None),
    "text_b?": (str, None),
    "label?": (str, float, None),
}
"""A sentence as a store has it."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence as models read it: raw text, and the words that all models share.

    ``spans[i]`` are the character positions (start, end) of word ``i`` in ``text``;
    ``words[i]`` is the word as the corpus writes it. The two differ inside a multiword
    token: French *du* is the words *de* and *le*, and both have the span of *du*.
    """

    text: str
    spans: tuple[Span, ...] = ()
    words: tuple[str, ...] = ()
    tags: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    id: str = ""
    document: str | None = None
    text_b: str | None = None
    label: str | float | None = None

    def __post_init__(self) -> None:
        if not self._is_text():
            raise CorpusError(
                f"Sentence {quoted(printable(str(self.id)))} holds half of a character (a lone surrogate), which no "
                f"tokenizer reads and no file holds. Mend the file: an escape such as \\ud83d stands alone there."
            )
        if self.spans and not self.words:
            object.__setattr__(self, "words", tuple(self.text[a:b] for a, b in self.spans))
        if len(self.words) != len(self.spans):
            raise CorpusError(
                f"Sentence {quoted(self.id)} has {len(self.words)} words but {len(self.spans)} spans."
            )
        for word, (start, end) in zip(self.words, self.spans, strict=True):
            if not 0 <= start < end <= len(self.text):
                raise CorpusError(
                    f"Sentence {quoted(self.id)}: the word {quoted(word)} has the span ({start}, {end}), which "
                    f"is empty or outside its text of {len(self.text)} characters."
                )
        for name, values in self.tags.items():
            if len(values) != len(self.spans):
                raise CorpusError(
                    f"Sentence {quoted(self.id)} has {len(self.spans)} words "
                    f"but {len(values)} values of the tag {quoted(name)}."
                )
            if set(map(type, values)) - {str, NoneType}:
                self._require_text(name, values)
        if not isinstance(self.label, str | int | float | NoneType | np.integer | np.floating):
            raise CorpusError(
                f"Sentence {quoted(self.id)} has the label {quoted(self.label)}: a label is text or a number."
            )

    def _is_text(self) -> bool:
        """Whether every text of it is one that can be written."""
        texts = (self.text, self.text_b or "", self.id, self.document or "", *self.words)
        tags = (
            value for values in self.tags.values() for value in values if isinstance(value, str)
        )
        label = self.label if isinstance(self.label, str) else ""
        whole = "".join(map(str, (*texts, label, *self.tags, *tags)))
        return printable(whole) == whole

    def _require_text(self, name: str, values: Sequence[Any]) -> None:
        """Raise if a tag is neither text nor missing."""
        for value in values:
            if not isinstance(value, str | None):
                raise CorpusError(
                    f"Sentence {quoted(self.id)} has {quoted(value)} among its values of the tag {quoted(name)}: tags "
                    f"are text. Write {quoted(str(value))}, or '_' where a word has none."
                )

    def __len__(self) -> int:
        """Number of words."""
        return len(self.spans)

    def to_dict(self) -> dict[str, Any]:
        """The sentence as plain data; what it does not have is left out."""
        data: dict[str, Any] = {"text": self.text, "spans": [list(s) for s in self.spans]}
        if self.words != tuple(self.text[a:b] for a, b in self.spans):
            data["words"] = list(self.words)
        if self.tags:
            data["tags"] = {name: list(self.tags[name]) for name in sorted(self.tags)}
        if self.id:
            data["id"] = self.id
        for name in ("document", "text_b", "label"):
            if (value := getattr(self, name)) is not None:
                data[name] = value
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Sentence:
        """The inverse of :meth:`to_dict`."""
        return cls(
            text=data["text"],
            spans=tuple((a, b) for a, b in data["spans"]),
            words=tuple(data.get("words", ())),
            tags={name: tuple(values) for name, values in data.get("tags", {}).items()},
            id=data.get("id", ""),
            document=data.get("document"),
            text_b=data.get("text_b"),
            label=data.get("label"),
        )
