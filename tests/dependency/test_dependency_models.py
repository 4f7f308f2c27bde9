"""From models and texts to R²: against transformers, text by text, and scikit-learn; sequences, layers, resuming."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lmkin
from dependency import naive_dependency as naive
from dependency.naive_dependency import NOTHING, Rule

plain = {"progress": False, "intervals": False, "permutation_baseline": False}
quiet = {"progress": False}


# -- end to end -----------------------------------------------------------------------------------


def test_encoder_decoder_and_both_equal_transformers_text_by_text(
    models: Any, model_folder: Any, uneven: lmkin.Corpus
) -> None:
    texts = [s.text for s in uneven]
    by_hand = {
        "bert": naive.embedding(model_folder("bert"), texts),
        "gpt2": naive.embedding(model_folder("gpt2"), texts, skip=1),  # position 0 is a sink
        "t5": naive.embedding(model_folder("t5"), texts, part="encoder"),
    }
    split = naive.three_splits(len(texts))
    rule = Rule("relative", 0.01)
    found = lmkin.decompose(models, uneven, split=split, ridge=0.01, **plain)
    assert found.models == ["bert", "gpt2", "t5"]
    for name in naive.SPLITS:
        expected = naive.tables(by_hand, split["train"], split[name], rule)
        for field in ("r2_group", "r2_pair", "rho_pair", "rho_group"):
            mine = found.dataset[field].sel(split=name).values
            assert mine == pytest.approx(expected[field], abs=1e-4), (name, field)


def test_padding_changes_nothing(models: Any, uneven: lmkin.Corpus) -> None:
    split = naive.three_splits(len(uneven))
    together = lmkin.decompose(models, uneven, split=split, batch_tokens=4000, **plain)
    alone = lmkin.decompose(models, uneven, split=split, batch_tokens=1, **plain)
    for field in ("r2_group", "r2_pair"):
        assert together.dataset[field].values == pytest.approx(
            alone.dataset[field].values, abs=1e-4
        )


def test_the_decoder_side(model_folder: Any, uneven: lmkin.Corpus) -> None:
    folder = model_folder("bart")
    both = [lmkin.load_model(folder, name=side, side=side) for side in ("encoder", "decoder")]
    found = lmkin.decompose(
        both, uneven, split=naive.three_splits(len(uneven)), ridge=1e-6, **plain
    )
    arrays = {
        m.name: np.asarray(
            lmkin.extract(m, uneven, units="sentence", progress=False).layer(-1), np.float64
        )
        for m in both
    }
    split = naive.three_splits(len(uneven))
    expected = naive.group_table(arrays, split["train"], split["test"], Rule())
    assert found.r2_group.sel(split="test").values == pytest.approx(expected, abs=1e-3)


def test_stored_activations_and_models_give_the_same(
    models: Any, uneven: lmkin.Corpus, tmp_path: Path
) -> None:
    split = naive.three_splits(len(uneven))
    expected = lmkin.decompose(models, uneven, split=split, permutation_baseline=False, **quiet)
    stored = [
        lmkin.extract(m, uneven, tmp_path / f"{m.name}.acts", units="sentence", progress=False)
        for m in models
    ]
    memory = [lmkin.extract(m, uneven, units="sentence", progress=False) for m in models]
    folders = [str(tmp_path / f"{m.name}.acts") for m in models]
    for source in (stored, memory, folders):
        found = lmkin.decompose(source, split=split, permutation_baseline=False, **quiet)
        assert found.models == expected.models
        for field in ("r2_group", "r2_pair", "r2_group_se", "r2_group_beyond_length", "r2_length"):
            mine, theirs = found.dataset[field].values, expected.dataset[field].values
            assert mine == pytest.approx(theirs, abs=2e-5), field


def test_a_text_that_one_model_cannot_read_is_left_out_of_all_and_counted(models: Any) -> None:
    """A decoder never uses position 0, so a text of one token has no mean."""
    random = np.random.default_rng(0)
    words = ["the", "dog", "and", "in", "was", "she", "it", "he"]
    texts = [" ".join(random.choice(words, random.integers(3, 9))) for _ in range(150)]
    texts[70] = "a"
    corpus = lmkin.Corpus([lmkin.Sentence(t, id=str(i)) for i, t in enumerate(texts)])
    found = lmkin.decompose(models[:2], corpus, **plain)
    assert int(found.n.sum()) == 149
    assert any(alert.kind == "dropped" and "bert" in alert.text for alert in found.alerts)


def test_texts_that_weigh_most_are_shown(models: Any, uneven: lmkin.Corpus) -> None:
    split = naive.three_splits(len(uneven))
    found = lmkin.decompose(models, uneven, split=split, **plain)
    table = found.unexplained("bert", inputs=4)
    assert set(table.input.values.ravel()) <= set(split["test"].tolist())
    texts = [s.text for s in uneven]
    for number, text in zip(table.input.values.ravel(), table.text.values.ravel(), strict=True):
        assert texts[number] == text


def test_lengths_of_texts_are_known(models: Any, uneven: lmkin.Corpus) -> None:
    split = naive.three_splits(len(uneven))
    found = lmkin.decompose(models[:2], uneven, split=split, ridge=0, **plain)
    lengths = np.array([len(s.text) for s in uneven])
    arrays = {
        m.name: np.asarray(
            lmkin.extract(m, uneven, units="sentence", progress=False).layer(-1), np.float64
        )
        for m in models[:2]
    }
    left = naive.regressed_out(arrays, lengths, split["train"])
    expected = naive.group_table(left, split["train"], split["test"], NOTHING)
    mine = found.r2_group_beyond_length.sel(split="test").values
    assert mine == pytest.approx(expected, abs=1e-3)
    for name, X in arrays.items():
        by_length = naive.scored((X - left[name])[split["test"]], X[split["test"]])
        value = float(found.r2_length.sel(split="test", model=name))
        assert value == pytest.approx(by_length, abs=1e-5)


# -- layers and units -----------------------------------------------------------------------------


def by_layer(models: Any, corpus: Any, units: str) -> dict[str, dict[int, Any]]:
    found = {}
    for model in models:
        acts = lmkin.extract(model, corpus, units=units, progress=False)
        found[model.name] = {n: np.asarray(acts.layer(n), np.float64) for n in acts.layers}
    return found


def test_all_layers(two: Any, uneven: lmkin.Corpus) -> None:
    """A layer is explained by all layers of the other models, never by its own model's."""
    split = naive.three_splits(len(uneven))
    found = lmkin.decompose(two, uneven, layers="all", split=split, ridge=0.1, **plain)
    assert found.models == [f"{m}/{k}" for m in ("bert", "t5") for k in range(3)]
    layers = by_layer(two, uneven, "sentence")
    arrays = {f"{m}/{n}": X for m, some in layers.items() for n, X in some.items()}
    rule = Rule("relative", 0.1)
    fit, on = split["train"], split["test"]
    for name in arrays:
        model = name.split("/")[0]
        basis = [other for other in arrays if not other.startswith(model)]
        expected = naive.r2(arrays, name, basis, fit, on, rule)
        mine = float(found.r2_group.sel(split="test", model=name))
        assert mine == pytest.approx(expected, abs=1e-4)
    expected = naive.r2(arrays, "bert/2", ["bert/1"], fit, on, rule)
    mine = float(found.r2_pair.sel(split="test", basis="bert/1", target="bert/2"))
    assert mine == pytest.approx(expected, abs=1e-4)


def test_layers_of_arrays() -> None:
    arrays = {
        f"{m}/{k}": x
        for m, k, x in zip("aabb", (0, 1, 0, 1), naive.related_models(300).values(), strict=True)
    }
    split = naive.three_splits(300)
    found = lmkin.decompose(arrays, split=split, **plain)
    assert found.models == ["a/0", "a/1", "b/0", "b/1"]
    for name in arrays:
        basis = [other for other in arrays if other[0] != name[0]]
        expected = naive.r2(arrays, name, basis, split["train"], split["test"], Rule())
        mine = float(found.r2_group.sel(split="test", model=name))
        assert mine == pytest.approx(expected, abs=1e-8)


def test_one_layer_and_several(two: Any, uneven: lmkin.Corpus) -> None:
    split = naive.three_splits(len(uneven))
    every = lmkin.decompose(two, uneven, layers="all", split=split, **plain)
    first = lmkin.decompose(two, uneven, layers=1, split=split, **plain)
    assert first.models == ["bert", "t5"]
    mine = float(first.r2_pair.sel(split="test", basis="bert", target="t5"))
    expected = float(every.r2_pair.sel(split="test", basis="bert/1", target="t5/1"))
    assert mine == pytest.approx(expected, abs=1e-4)


def test_words(two: Any, sample: lmkin.Corpus) -> None:
    corpus = sample[:60]
    n = len(corpus.words)
    split = naive.three_splits(n)
    found = lmkin.decompose(two, corpus, units="word", split=split, ridge=1e-6, **plain)
    assert found.dataset.attrs["units"] == "word"
    arrays = {m: some[2] for m, some in by_layer(two, corpus, "word").items()}
    for name in naive.SPLITS:
        expected = naive.tables(arrays, split["train"], split[name], Rule())
        for field in ("r2_group", "r2_pair"):
            mine = found.dataset[field].sel(split=name).values
            assert mine == pytest.approx(expected[field], abs=1e-4)


def test_documents_stay_whole(two: Any, sample: lmkin.Corpus) -> None:
    """By shares: a document is fitted on or scored, not both, where there are enough of them."""
    documents = [f"document {i // 3}" for i in range(240)]
    corpus = lmkin.Corpus(
        [
            lmkin.Sentence(s.text, s.spans, id=str(i), document=d)
            for i, (s, d) in enumerate(zip(sample[:240], documents, strict=True))
        ]
    )
    found = lmkin.decompose(two, corpus, **plain)
    # Every split is made of whole documents of three sentences.
    assert all(n % 3 == 0 for n in found.n.values.tolist())
    assert int(found.n.sum()) == 240
    looked_at = found.unexplained("bert", inputs=240).input.values[:, 0]
    scored = {documents[i] for i in looked_at.tolist()}
    assert len(looked_at) == 3 * len(scored)
