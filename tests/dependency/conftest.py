"""Texts of uneven length, and tiny models that read them."""

from __future__ import annotations

from typing import Any

import pytest

import lmkin


@pytest.fixture(scope="session")
def uneven(sample: lmkin.Corpus) -> lmkin.Corpus:
    """Texts of two words beside texts of a whole sentence, in turn."""
    texts = []
    for number, sentence in enumerate(sample[:200]):
        short = number % 2 == 1
        texts.append(sentence.text[: sentence.spans[1][1]] if short else sentence.text)
    unique = list(dict.fromkeys(texts))
    return lmkin.Corpus([lmkin.Sentence(t, id=str(i)) for i, t in enumerate(unique)], name="uneven")


@pytest.fixture(scope="session")
def models(model_folder: Any) -> list[lmkin.LanguageModel]:
    return [lmkin.load_model(model_folder(n), name=n) for n in ("bert", "gpt2", "t5")]


@pytest.fixture(scope="session")
def two(models: Any) -> list[lmkin.LanguageModel]:
    return [models[0], models[2]]
