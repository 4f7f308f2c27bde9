"""What a run of an analysis needs beyond models, and corpora that will do for every analysis."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import lmkin
from lmkin.analysis import Analysis

LEAST: dict[str, dict[str, Any]] = {
    "probe": {"tag": ("upos",), "fit": ("all", "each"), "l1": 0.01, "code_length": False},
    "cross-lingual": {"tags": ("upos",), "thresholds": (0.3,), "ablations": ("top",), "l1": 0.02},
}
"""Options without which an analysis has nothing to do, or too much for a test."""


def least_options(analysis: Analysis[Any], **more: Any) -> Any:
    """The options of the smallest run."""
    return analysis.Options(**LEAST.get(analysis.name, {}), **more)


def least_flags(analysis: Analysis[Any]) -> list[str]:
    """The same on the command line."""
    flags: list[str] = []
    for name, value in LEAST.get(analysis.name, {}).items():
        flag = name.replace("_", "-")
        if isinstance(value, bool):
            flags.append(f"--{flag}" if value else f"--no-{flag}")
        else:
            text = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
            flags += [f"--{flag}", text]
    return flags


def corpus_of(analysis: Analysis[Any], path: Path) -> Any:
    """A CoNLL-U file; for an analysis of several corpora, the same sentences in another language beside it."""
    if not analysis.by_name:
        return path
    other = path.with_name(f"{path.stem}.qke.conllu")
    if not other.exists():
        write_conllu(other, lmkin.read_corpus("sample:qke")[: len(lmkin.read_corpus(path))])
    return {"en": path, "qke": other}


def corpus_flags(analysis: Analysis[Any], path: Path) -> list[str]:
    """How a command is told to read it."""
    corpus = corpus_of(analysis, path)
    if isinstance(corpus, dict):
        return ["--corpora", *(f"{language}={file}" for language, file in corpus.items())]
    return ["--corpus", str(corpus)]


def write_conllu(path: Path, sentences: Iterable[lmkin.Sentence], *, more: str = "") -> Path:
    """Words, universal tags and relations; ``more`` is a word that is appended to every second half."""
    chosen = list(sentences)
    blocks = []
    for number, sentence in enumerate(chosen):
        words = list(
            zip(sentence.words, sentence.tags["upos"], sentence.tags["deprel"], strict=True)
        )
        if more and number >= len(chosen) // 2:
            words.append((more, "SYM", "dep"))
        lines = [f"# sent_id = {sentence.id}"]
        lines += [
            "\t".join(
                [str(k), word, "_", tag, "_", "_", "0" if k == 1 else "1", relation, "_", "_"]
            )
            for k, (word, tag, relation) in enumerate(words, start=1)
        ]
        blocks.append("\n".join(lines) + "\n\n")
    path.write_text("".join(blocks), "utf-8")
    return path
