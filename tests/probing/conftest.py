"""Words with tags that three layers know better and better, by split."""

from __future__ import annotations

import pytest

import lmkin
from probing.tagged_activations import tagged_activations

Stores = dict[str, lmkin.Activations]


def cut(acts: lmkin.Activations) -> Stores:
    """90 sentences of train, 30 of dev, 30 of test."""
    sentence = acts.units.sentence
    edges = {"train": (0, 90), "dev": (90, 120), "test": (120, 150)}
    return {n: acts.select((a <= sentence) & (sentence < b)) for n, (a, b) in edges.items()}


@pytest.fixture(scope="session")
def read(sample: lmkin.Corpus) -> lmkin.Corpus:
    return sample[:150]


@pytest.fixture(scope="session")
def planted(read: lmkin.Corpus) -> Stores:
    return cut(tagged_activations(read, noise=2.0))


@pytest.fixture(scope="session")
def probes(planted: Stores) -> lmkin.Probes:
    """One run at a given penalty, exactly solved."""
    return lmkin.probe(planted, tag="upos", l1=0.004, l2=0.002, kkt=0.001, parts=6, progress=False)
