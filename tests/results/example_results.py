"""A small result of every kind, with names that could do harm on a page."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import lmkin
from cross_lingual.treebanks import WordVectors, treebanks
from probing.tagged_activations import tagged_activations

HOSTILE = "<script>alert(1)</script> & 'co'"
NAMES = (HOSTILE, "[bold]b[/bold]")


def layers(n: int = 400, width: int = 6) -> dict[tuple[str, int], Any]:
    """Two models of three layers, with neurons in common."""
    random = np.random.default_rng(0)
    shared = random.normal(size=(n, 8))
    return {
        (name, layer): shared @ random.normal(size=(8, width))
        + 0.5 * random.normal(size=(n, width))
        for name in NAMES
        for layer in range(3)
    }


@cache
def similarity() -> lmkin.Similarity:
    return lmkin.similarity(layers(), permutations=9, progress=False)


@cache
def attention() -> lmkin.AttentionSimilarity:
    maps = {
        (name, layer): [
            np.random.default_rng([k, layer, n]).dirichlet(np.ones(n), size=(2 + layer, n))
            for n in (4, 6, 9, 5, 7, 8, 3, 6)
        ]
        for k, name in enumerate(NAMES)
        for layer in (1, 2)
    }
    return lmkin.attention_similarity(maps, parts=4, progress=False)


@cache
def dependency() -> lmkin.Dependency:
    random = np.random.default_rng(1)
    shared = random.normal(size=(600, 5))
    arrays = {
        name: shared @ random.normal(size=(5, 4)) + noise * random.normal(size=(600, 4))
        for name, noise in zip((*NAMES, "c"), (0.1, 0.8, 2.0), strict=True)
    }
    return lmkin.decompose(arrays, progress=False)


@cache
def redundancy() -> lmkin.Redundancy:
    return lmkin.redundancy(
        layers(), thresholds=[0.1, 0.3, 0.6], keep_at=[0.3, 0.6], progress=False
    )


@cache
def probe() -> lmkin.Probes:
    corpus = lmkin.read_corpus("sample")[:30]
    acts = [tagged_activations(corpus, name, layers=2, seed=k) for k, name in enumerate(NAMES)]
    return lmkin.probe(
        acts, tag="upos", fit="each", parts=4, compare_published=True, ranking="lca", thresholds=[0.3],
        progress=False,
    )  # fmt: skip


@cache
def cross_lingual() -> lmkin.CrossLingual:
    models = [WordVectors(name, 0.8 + k) for k, name in enumerate(NAMES)]
    return lmkin.cross_lingual(
        models, treebanks(sentences=40), tags="upos", thresholds=[0.1, 0.5], ablations="top", l1=0.02, parts=4,
        compare_published=True, progress=False,
    )  # fmt: skip


EXAMPLES: dict[str, Callable[[], Any]] = {
    "similarity": similarity,
    "attention": attention,
    "dependency": dependency,
    "redundancy": redundancy,
    "probe": probe,
    "cross-lingual": cross_lingual,
}
