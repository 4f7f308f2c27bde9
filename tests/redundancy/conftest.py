"""Tiny models, what they say of some sentences, and a twin with other weights."""

from __future__ import annotations

from typing import Any

import pytest

import lmkin


@pytest.fixture(scope="session")
def read(sample: lmkin.Corpus) -> lmkin.Corpus:
    return sample[:60]


@pytest.fixture(scope="session")
def bert(model_folder: Any) -> lmkin.LanguageModel:
    return lmkin.load_model(model_folder("bert"), name="bert")


@pytest.fixture(scope="session")
def twin(model_folder: Any) -> lmkin.LanguageModel:
    """Of the same shape and name, with other weights."""
    return lmkin.load_model(f"untrained:{model_folder('bert')}@7", name="bert")


@pytest.fixture(scope="session")
def gpt2(model_folder: Any) -> lmkin.LanguageModel:
    return lmkin.load_model(model_folder("gpt2"), name="gpt2")


@pytest.fixture(scope="session")
def acts(bert: lmkin.LanguageModel, read: lmkin.Corpus) -> lmkin.Activations:
    return lmkin.extract(bert, read, progress=False)


@pytest.fixture(scope="session")
def twin_acts(twin: lmkin.LanguageModel, read: lmkin.Corpus) -> lmkin.Activations:
    return lmkin.extract(twin, read, progress=False)


@pytest.fixture(scope="session")
def clustered(acts: lmkin.Activations) -> lmkin.Clustering:
    return lmkin.cluster_neurons(acts, progress=False)
