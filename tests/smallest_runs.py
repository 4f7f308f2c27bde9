"""What the smallest run of an analysis needs beyond a model and a plain text, for tests over all analyses."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import lmkin

OPTIONS: dict[str, dict[str, Any]] = {
    "cross-lingual": {"tags": ("upos",), "thresholds": (0.3,), "ablations": ("top",), "l1": 0.02},
}
"""Options that are not the defaults, so that a run is short, by analysis."""
BY_NAME = ("cross-lingual",)
"""Analyses that read several corpora, by name."""


def option_flags(name: str) -> list[str]:
    """The same as flags."""
    flags = []
    for option, value in OPTIONS.get(name, {}).items():
        text = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
        flags += [f"--{option.replace('_', '-')}", text]
    return flags


@cache
def corpus_of(name: str, path: Path) -> Any:
    """A text that an analysis reads; for one that reads several, parallel treebanks of the same sentences beside it."""
    if name not in BY_NAME:
        return path
    banks = {}
    for language, spec in (("en", "sample"), ("qke", "sample:qke")):
        banks[language] = path.parent / f"{language}.conllu"
        lines = path.read_text("utf-8").splitlines()
        more = [t.split()[-1:] if language == "en" and t.endswith("☃") else [] for t in lines]
        write_treebank(lmkin.read_corpus(spec)[: len(lines)], banks[language], more)
    return banks


def corpus_flags(name: str, path: Path) -> list[str]:
    """How a command is told to read it."""
    corpus = corpus_of(name, path)
    if isinstance(corpus, dict):
        return ["--corpora", *(f"{language}={file}" for language, file in corpus.items())]
    return ["--corpus", str(corpus)]


def write_treebank(corpus: lmkin.Corpus, path: Path, more: Sequence[Sequence[str]] = ()) -> None:
    """Words, upos and deprel as CoNLL-U, with spaces between all words; ``more`` words at the end of each sentence."""
    blocks = []
    for number, sentence in enumerate(corpus):
        added = list(more[number]) if more else []
        words = [*sentence.words, *added]
        upos = [*sentence.tags["upos"], *["SYM"] * len(added)]
        deprel = [*sentence.tags["deprel"], *["dep"] * len(added)]
        lines = [f"# sent_id = {sentence.id}", f"# text = {' '.join(words)}"]
        lines += [
            "\t".join(
                [str(k), word, "_", tag, "_", "_", "0" if k == 1 else "1", relation, "_", "_"]
            )
            for k, (word, tag, relation) in enumerate(
                zip(words, upos, deprel, strict=True), start=1
            )
        ]
        blocks.append("\n".join(lines) + "\n\n")
    path.write_text("".join(blocks), "utf-8")
