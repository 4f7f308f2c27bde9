"""Documents of the Parallel Meaning Bank that two languages share, each sentence once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import lmkin

PARTS = ("train", "dev", "test")


def documents(files: str, language: str, places: dict[str, str]) -> dict[str, lmkin.Sentence]:
    """Sentences by document, of documents that are one sentence; parts are joined, as languages cut them otherwise."""
    found: dict[str, list[lmkin.Sentence]] = {}
    for part in PARTS:
        for sentence in lmkin.read_corpus(files.format(language=language, part=part, **places)):
            found.setdefault(str(sentence.document), []).append(sentence)
    return {name: some[0] for name, some in found.items() if len(some) == 1}


def translations(
    one: dict[str, lmkin.Sentence], other: dict[str, lmkin.Sentence], names: tuple[str, str]
) -> dict[str, lmkin.Corpus]:
    """Parallel corpora of the documents that both have, aligned by them; of documents that say the same, the first.

    Documents say the same where the sentence of either language is the same but for case and punctuation, or where each
    says the same as a third one. None of the sentences of one that is held out can thus be found among the others.
    """
    both = [name for name in one if name in other]
    texts: dict[Any, int] = {}
    pairs = [
        (row, texts.setdefault((side, plain(some[name].text)), len(texts)))
        for row, name in enumerate(both)
        for side, some in enumerate((one, other))
    ]
    rows, columns = np.array(pairs, int).reshape(-1, 2).T
    size = len(both) + len(texts)
    graph = coo_array((np.ones(len(rows)), (rows, columns + len(both))), shape=(size, size))
    group = connected_components(graph, directed=False)[1][: len(both)]
    first = np.unique(group, return_index=True)[1]
    kept = [both[row] for row in sorted(first.tolist())]
    return {
        name: lmkin.Corpus((replace(some[d], id=d) for d in kept), name=f"pmb-{name}")
        for name, some in zip(names, (one, other), strict=True)
    }


def plain(text: str) -> str:
    """A text without case, punctuation and spaces."""
    return "".join(letter for letter in text.casefold() if letter.isalnum())
