"""Frozen figures, computed before the analyses were rebuilt: MiniLM and its untrained twin on 60 sentences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import lmkin

NAMES = ("MiniLM", "untrained MiniLM")
LAYERS = [0, 3]
"""Layer 6 of MiniLM has two dead neurons, which similarity once counted."""
CLOSE: dict[str, Any] = {"rtol": 0, "atol": 1e-6}

# Rows and columns: MiniLM/0, MiniLM/3, untrained MiniLM/0, untrained MiniLM/3.
SIMILARITY = {
    "ckasim": [
        [1.000000000, 0.867299751, 0.456871401, 0.452630954],
        [0.867299751, 1.000000000, 0.370638886, 0.367245802],
        [0.456871401, 0.370638886, 1.000000000, 0.991453853],
        [0.452630954, 0.367245802, 0.991453853, 1.000000000],
    ],
    "neuronsim": [
        [1.000000000, 0.563815779, 0.274017434, 0.272851776],
        [0.565936699, 0.999999999, 0.253055287, 0.251180461],
        [0.296409151, 0.276442333, 1.000000000, 0.955793699],
        [0.294286090, 0.275042758, 0.955793699, 1.000000000],
    ],
    "svsim": [
        [0.999999965, 0.820334876, 0.829046086, 0.828034237],
        [0.820334876, 1.000000039, 0.759818706, 0.758080491],
        [0.829046086, 0.759818706, 1.000000061, 0.981229754],
        [0.828034237, 0.758080491, 0.981229754, 0.999999972],
    ],
}
# Rows and columns: MiniLM/1, MiniLM/6, untrained MiniLM/1, untrained MiniLM/6; without the sink.
JS = [
    [1.000000000, 0.786465154, 0.832670541, 0.832785889],
    [0.820951855, 1.000000000, 0.831054538, 0.831500536],
    [0.964470933, 0.913631032, 1.000000000, 0.995631956],
    [0.964939388, 0.914367412, 0.995975139, 1.000000000],
]
# By split (train, validation, test) and model; ridge relative, 1.
R2_GROUP = [
    [0.465783958, 0.455614047],
    [0.080602093, 0.119935823],
    [0.120339675, 0.161601446],
]
LEFT_BY_LAYER = {"MiniLM": [316, 314, 345], "untrained MiniLM": [134, 127, 123]}
"""Neurons of layers 0, 3 and 6 that are left at threshold 0.3."""


@pytest.fixture(scope="module")
def corpus(sample: lmkin.Corpus) -> lmkin.Corpus:
    return sample[:60]


@pytest.fixture(scope="module")
def models(minilm_spec: str) -> list[lmkin.LanguageModel]:
    specs = (minilm_spec, f"untrained:{minilm_spec}@0")
    return [
        lmkin.load_model(spec, name=name, attention=True)
        for spec, name in zip(specs, NAMES, strict=True)
    ]


@pytest.fixture(scope="module")
def activations(models: list[lmkin.LanguageModel], corpus: lmkin.Corpus) -> list[lmkin.Activations]:
    return [lmkin.extract(m, corpus, layers=[0, 3, 6], progress=False) for m in models]


@pytest.fixture(scope="module")
def similarity(activations: list[lmkin.Activations]) -> lmkin.Similarity:
    return lmkin.similarity(
        activations,
        measures=list(SIMILARITY),
        neurons="raw",
        layers=LAYERS,
        intervals=False,
        progress=False,
    )


@pytest.mark.parametrize("measure", SIMILARITY)
def test_similarity(similarity: lmkin.Similarity, measure: str) -> None:
    np.testing.assert_allclose(similarity.matrix(measure), SIMILARITY[measure], **CLOSE)


def test_attention(models: list[lmkin.LanguageModel], corpus: lmkin.Corpus) -> None:
    result = lmkin.attention_similarity(
        models, corpus, measures="js", layers="1,6", intervals=False, progress=False
    )
    np.testing.assert_allclose(result.matrix("js", "dropped"), JS, **CLOSE)


def test_dependency(models: list[lmkin.LanguageModel], corpus: lmkin.Corpus) -> None:
    result = lmkin.decompose(
        models,
        corpus,
        units="word",
        ridge=1.0,
        ridge_rule="relative",
        intervals=False,
        permutation_baseline=False,
        precision="float64",
        progress=False,
    )
    assert result.dataset["n"].values.tolist() == [529, 64, 64]
    np.testing.assert_allclose(result.dataset["r2_group"], R2_GROUP, **CLOSE)


def test_redundancy(activations: list[lmkin.Activations]) -> None:
    clusters = lmkin.cluster_neurons(activations, thresholds=[0.3], progress=False)
    tables = clusters.tables()
    left = tables["left_by_layer"].sel(threshold=0.3)
    assert {name: left.sel(model=name).values.tolist() for name in NAMES} == LEFT_BY_LAYER
    assert tables["left"].values.ravel().tolist() == [975, 384]
    assert tables["constant"].values.tolist() == [2, 0]
