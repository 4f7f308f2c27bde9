"""The treebank of every language: all documents, realised."""

from __future__ import annotations

from collections.abc import Callable

from . import english, kesholan, taviran
from .conllu import Node, to_conllu
from .documents import documents
from .tree import Clause

REALISERS: dict[str, Callable[[Clause], Node]] = {
    "en": english.sentence,
    "qke": kesholan.sentence,
    "qta": taviran.sentence,
}


def generate() -> dict[str, str]:
    """The CoNLL-U text of every language."""
    blocks: dict[str, list[str]] = {language: [] for language in REALISERS}
    for number, (name, sentences) in enumerate(documents(), 1):
        for language in REALISERS:
            blocks[language].append(f"# newdoc id = d{number:03d}-{name}\n")
        for i, sentence in enumerate(sentences, 1):
            for language, realise in REALISERS.items():
                block = to_conllu(realise(sentence), f"d{number:03d}-{i:02d}")
                blocks[language].append(block + "\n")
    return {language: "".join(parts) for language, parts in blocks.items()}
