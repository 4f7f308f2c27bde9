"""Activations that were computed before, by lmkin or another tool, in the place of a model."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ...core import ModelError, quoted
from ...corpus import Corpus, Sentence, Units
from ..base import AlignedCorpus, FloatArray, IntArray, LanguageModel, Losses, Window
from ..loader import LoadOptions, model_source
from ..rule import UnitRule

AS_STORED = "as stored"
NOT_STORED = "not in the file of activations"


class _Store(Protocol):
    """Stored sentences, found by their words."""

    @property
    def sentences(self) -> list[list[str]]: ...
    @property
    def widths(self) -> tuple[int, ...]: ...
    def kept(self, words: list[str]) -> list[int] | None:
        """Which of the words have vectors; None if the sentence is not there."""

    def find(self, words: list[str], occurrence: int = 0) -> FloatArray: ...


class PrecomputedModel(LanguageModel):
    """Stored word vectors; a sentence is found by its words."""

    def __init__(self, path: Path, store: _Store, name: str):
        self.name = name
        self.path = path
        self.store = store
        self.widths = store.widths
        self._requests: list[tuple[list[str], int]] = []

    @property
    def pre_norm(self) -> bool | None:
        """As the store says; None of files that other tools wrote."""
        known: bool | None = getattr(self.store, "pre_norm", None)
        return known

    def read(self, corpus: Corpus, rule: UnitRule) -> AlignedCorpus:
        """Find every sentence of the corpus in the file."""
        if rule.kind != "word":
            raise ModelError(
                f"{self.name} holds one vector a word; {rule.kind}s cannot be made from it. Extract them "
                f"from the model itself."
            )
        seen: Counter[tuple[str, ...]] = Counter()
        rows: list[tuple[int, int, int, int]] = []
        windows: list[Window] = []
        losses = Losses(counts_unknown=False)
        self._requests = []
        for number, sentence in enumerate(corpus):
            words, kept = self._look_up(sentence)
            for index in set(range(len(sentence))) - set(kept):
                losses.add(NOT_STORED, f"{quoted(sentence.words[index])} in {sentence.id}")
            if not kept:
                continue
            own = np.arange(len(kept), dtype=np.int32)
            ones = np.ones(len(kept), np.float32)
            ids = [len(self._requests)] * len(kept)
            windows.append(Window(number, ids, [], own, own + len(rows), ones))
            rows += [(number, i, *sentence.spans[i]) for i in kept]
            self._requests.append((words, seen[tuple(words)]))
            seen[tuple(words)] += 1
        if not rows:
            raise ModelError(
                f"No sentence of {quoted(corpus.name)} is in {self.path}. Its first sentence is "
                f"{quoted(' '.join(self.store.sentences[0]))}, the corpus begins with "
                f"{quoted(' '.join(corpus[0].words))}: the words must be the same."
            )
        # How these vectors came about was decided when they were written, not by the rule given now.
        stored = replace(
            rule, pooling=AS_STORED, first_token=AS_STORED, special_tokens=AS_STORED, long=AS_STORED
        )
        self._count_unknown(losses, len(rows))
        units = Units.from_rows(corpus, "word", rows)
        return AlignedCorpus(units, windows, losses, stored, corpus.n_words)

    def _count_unknown(self, losses: Losses, rows: int) -> None:
        """Take over the counts of a store that is read as a whole; those of a part of it are not known."""
        counts: dict[str, int] | None = getattr(self.store, "unknown", None)
        if counts is not None and counts["units"] == rows:
            losses.counts_unknown = True
            losses.unknown = counts["with_unknown_token"]
            losses.only_unknown = counts["only_unknown_tokens"]

    def _look_up(self, sentence: Sentence) -> tuple[list[str], list[int]]:
        """The sentence as the file writes it, and which of its words have vectors."""
        # Other tools key a sentence by its words, or by its raw text split at spaces.
        for words in (list(sentence.words), sentence.text.split()):
            kept = self.store.kept(words)
            if kept is None:
                continue
            if max(kept, default=0) >= len(sentence):
                raise ModelError(
                    f"{self.path} has {max(kept) + 1} vectors for the {len(sentence)} words of sentence "
                    f"{quoted(sentence.id)} ({quoted(sentence.text)}). It was written with another tokenization, "
                    f"or is damaged."
                )
            return words, kept
        return [], []

    def run(
        self, windows: Sequence[Window], layers: Sequence[int], *, reduce: str = "sum"
    ) -> tuple[IntArray, list[FloatArray]]:
        """Look the vectors up."""
        parts = [self.store.find(*self._requests[window.ids[0]]) for window in windows]
        rows = np.concatenate([w.rows for w in windows])
        return rows, [np.concatenate([p[layer] for p in parts]) for layer in layers]

    def identity(self) -> dict[str, Any]:
        """The file, by its content."""
        digest = hashlib.blake2b(digest_size=16)
        for words in self.store.sentences:
            digest.update(json.dumps(words).encode() + b"\n")
            digest.update(np.ascontiguousarray(self.store.find(words)).tobytes())
        return {
            "name": self.name,
            "spec": str(self.path),
            "class": type(self).__name__,
            "layers": self.n_layers,
            "widths": list(self.widths),
            "pre_norm": self.pre_norm,
            "weights": digest.hexdigest(),
            "stored_rule": getattr(self.store, "rule", None),
        }


def _claims(spec: str) -> bool:
    path = Path(spec)
    suffixes = (".hdf5", ".h5", ".json", ".jsonl")
    return (path.is_file() and path.suffix.lower() in suffixes) or _is_store(path)


def _is_store(path: Path) -> bool:
    return path.is_dir() and (path / "manifest.json").exists()


@model_source(
    "precomputed",
    summary="activations on disk: a lmkin store, contextual-repr or NeuroX HDF5, NeuroX JSON lines",
    claims=_claims,
)
def load_precomputed(spec: str, options: LoadOptions) -> LanguageModel:
    """Open a file of activations as if it were a model."""
    path = Path(spec)
    if options.tokenizer is not None:
        raise ModelError(
            f"{spec} holds vectors that were computed before: no tokenizer can change them. Leave out tokenizer=…, "
            f"or give the model itself."
        )
    if _is_store(path):
        # The one look to the right in this room: a store is opened by the room that wrote it.
        from ...activations import open_activations

        store: _Store = open_activations(path).by_sentence()
    else:
        from ...interchange import find_format

        store = find_format(path).open(path)
    return PrecomputedModel(path, store, options.name or path.name)
