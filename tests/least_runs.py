"""What a run of an analysis needs beyond models and a corpus, and a corpus that will do for every analysis."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import lmkin
from lmkin.analysis import Analysis

LEAST: dict[str, dict[str, Any]] = {
    "probe": {"tag": ("upos",), "fit": ("all", "each"), "l1": 0.01, "code_length": False}
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
            flags += [f"--{flag}", ",".join(value) if isinstance(value, tuple) else str(value)]
    return flags


def write_conllu(path: Path, sentences: Iterable[lmkin.Sentence], *, more: str = "") -> Path:
    """Words and their universal tags as CoNLL-U; ``more`` is a word that is appended to every second half."""
    chosen = list(sentences)
    blocks = []
    for number, sentence in enumerate(chosen):
        pairs = list(zip(sentence.words, sentence.tags["upos"], strict=True))
        if more and number >= len(chosen) // 2:
            pairs.append((more, "SYM"))
        lines = [
            "\t".join([str(k), word, "_", tag, *"______"])
            for k, (word, tag) in enumerate(pairs, start=1)
        ]
        blocks.append("\n".join(lines) + "\n\n")
    path.write_text("".join(blocks), "utf-8")
    return path
