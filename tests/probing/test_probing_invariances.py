"""What must change nothing: units of neurons, a neuron that never moves, names of tags, the order of models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lmkin
from probing.tagged_activations import activations_of, tagged_activations

QUICK: dict[str, Any] = {
    "tag": "upos", "l1": 0.01, "kkt": 0.001, "fit": "all", "code_length": False, "control": False, "parts": 3,
    "progress": False,
}  # fmt: skip


@pytest.fixture(scope="module")
def acts(read: lmkin.Corpus) -> lmkin.Activations:
    return tagged_activations(read[:60], layers=2, width=6)


@pytest.fixture(scope="module")
def plain(acts: lmkin.Activations) -> lmkin.Probes:
    return lmkin.probe(acts, **QUICK)


def accuracy(result: lmkin.Probes) -> Any:
    return result.dataset["accuracy"].sel(probe="all").squeeze().values


@settings(max_examples=5)
@given(
    scale=st.lists(st.floats(0.01, 100), min_size=6, max_size=6),
    shift=st.lists(st.floats(-50, 50), min_size=6, max_size=6),
)
def test_units_of_neurons(acts: Any, plain: Any, scale: list[float], shift: list[float]) -> None:
    layers = {n: acts.layer(n)[:] * np.array(scale) + np.array(shift) for n in acts.layers}
    other = lmkin.probe(activations_of(acts.units, layers), **QUICK)
    np.testing.assert_allclose(accuracy(other), accuracy(plain), atol=0.011)
    weights = other.weights().values * np.tile(scale, 2)
    np.testing.assert_allclose(weights, plain.weights().values, atol=0.02)


def test_a_neuron_that_never_moves_has_no_weight(acts: Any, plain: Any) -> None:
    layers = {n: np.hstack([acts.layer(n)[:], np.full((len(acts), 1), 3.7)]) for n in acts.layers}
    other = lmkin.probe(activations_of(acts.units, layers), **QUICK)
    np.testing.assert_allclose(accuracy(other), accuracy(plain), atol=0.011)
    weights = other.weights()
    assert not weights.values[:, weights["number"].values == 6].any()


def test_names_of_tags_and_order_of_models(acts: Any, plain: Any) -> None:
    """Tags in another order by name: other numbers of the classes, the same scores."""
    corpus = acts.units.corpus
    renamed = lmkin.Corpus(
        [
            lmkin.Sentence(
                s.text, s.spans, s.words, {"upos": tuple(t[::-1] for t in s.tags["upos"])}, s.id
            )
            for s in corpus
        ],
        name=corpus.name,
    )
    units = lmkin.corpus.Units.all_words(renamed)
    layers = {n: acts.layer(n)[:] for n in acts.layers}
    other = lmkin.probe(activations_of(units, layers), **QUICK)
    assert other.classes() != plain.classes()
    np.testing.assert_allclose(accuracy(other), accuracy(plain), atol=0.011)
    named = [activations_of(acts.units, layers, name) for name in "ab"]
    one, two = lmkin.probe(named, **QUICK), lmkin.probe(named[::-1], **QUICK)
    np.testing.assert_array_equal(
        one.dataset["accuracy"].sel(model=["b", "a"]), two.dataset["accuracy"]
    )
