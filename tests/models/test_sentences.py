"""Sentence units: mask-aware pooling, special tokens, pairs, any layer."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import transformers

import lmkin

TEXTS = [
    "The dog barked.",
    "A very long sentence about a harbour, with many more words in it than others.",
    "Yes.",
]
PAIRS = [("A dog barks.", "The cat is here, and sleeps."), ("No.", "Yes!")]


def corpus(texts=TEXTS) -> lmkin.Corpus:
    return lmkin.Corpus([lmkin.Sentence(t, id=str(i)) for i, t in enumerate(texts)])


def reference(folder, *texts: str) -> tuple[list[int], np.ndarray]:
    """Ids and last layer of one input, alone and unpadded."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder, dtype=torch.float32).eval()
    inputs = tokenizer(*texts, return_tensors="pt")
    with torch.no_grad():
        return inputs["input_ids"][0].tolist(), model(**inputs).last_hidden_state[0].numpy()


POOL = {
    "mean": lambda h: h.mean(0),
    "max": lambda h: h.max(0),
    "first": lambda h: h[0],
    "last": lambda h: h[-1],
}


@pytest.mark.parametrize("pooling", POOL)
@pytest.mark.parametrize("name", ["bert", "roberta", "xlnet"])
def test_encoder_sentences_in_a_padded_batch(model_folder, name: str, pooling: str) -> None:
    acts = lmkin.extract(
        lmkin.load_model(model_folder(name)), corpus(), units="sentence", pooling=pooling
    )
    for row, text in enumerate(TEXTS):
        _, states = reference(model_folder(name), text)
        np.testing.assert_allclose(acts.layer(-1)[row], POOL[pooling](states), atol=1e-4)


def test_mean_is_the_default(model_folder) -> None:
    model = lmkin.load_model(model_folder("bert"))
    default = lmkin.extract(model, corpus(), units="sentence")
    mean = lmkin.extract(model, corpus(), units="sentence", pooling="mean")
    np.testing.assert_array_equal(np.asarray(default.layer(1)), np.asarray(mean.layer(1)))
    assert default.manifest["units"]["rule"]["pooling"] == "mean"


def test_special_tokens_can_be_left_out(model_folder) -> None:
    model = lmkin.load_model(model_folder("bert"))
    acts = lmkin.extract(model, corpus(), units="sentence", special_tokens="drop")
    for row, text in enumerate(TEXTS):
        _, states = reference(model_folder("bert"), text)
        np.testing.assert_allclose(acts.layer(-1)[row], states[1:-1].mean(0), atol=1e-4)


@pytest.mark.parametrize(("name", "position"), [("bert", 0), ("xlnet", -1)])
def test_cls_is_found_wherever_it_stands(model_folder, name: str, position: int) -> None:
    acts = lmkin.extract(
        lmkin.load_model(model_folder(name)), corpus(), units="sentence", pooling="cls"
    )
    for row, text in enumerate(TEXTS):
        _, states = reference(model_folder(name), text)
        np.testing.assert_allclose(acts.layer(-1)[row], states[position], atol=1e-4)


@pytest.mark.parametrize("name", ["gpt2", "llama with BOS"])
@pytest.mark.parametrize("first_token", ["drop", "keep"])
def test_decoder_means_leave_out_position_0(model_folder, name: str, first_token: str) -> None:
    acts = lmkin.extract(
        lmkin.load_model(model_folder(name)), corpus(), units="sentence", first_token=first_token
    )
    start = 1 if first_token == "drop" else 0
    for row, text in enumerate(TEXTS):
        _, states = reference(model_folder(name), text)
        np.testing.assert_allclose(acts.layer(-1)[row], states[start:].mean(0), atol=1e-4)


def test_decoder_first_token_needs_to_be_asked_for(model_folder) -> None:
    model = lmkin.load_model(model_folder("gpt2"))
    with pytest.raises(lmkin.ModelError, match="first_token='keep'"):
        lmkin.extract(model, corpus(), units="sentence", pooling="first")
    assert (
        len(lmkin.extract(model, corpus(), units="sentence", pooling="first", first_token="keep"))
        == 3
    )


def test_decoder_without_cls_says_so(model_folder) -> None:
    with pytest.raises(lmkin.ModelError, match="no classification token"):
        lmkin.extract(
            lmkin.load_model(model_folder("gpt2")), corpus(), units="sentence", pooling="cls"
        )


@pytest.mark.parametrize("name", ["bert", "roberta", "xlnet", "deberta"])
def test_pairs_are_read_as_the_tokenizer_joins_them(model_folder, name: str) -> None:
    pairs = lmkin.Corpus([lmkin.Sentence(a, id=str(i), text_b=b) for i, (a, b) in enumerate(PAIRS)])
    acts = lmkin.extract(lmkin.load_model(model_folder(name)), pairs, units="sentence")
    for row, (a, b) in enumerate(PAIRS):
        _, states = reference(model_folder(name), a, b)
        np.testing.assert_allclose(acts.layer(-1)[row], states.mean(0), atol=1e-4)


def test_long_pairs_are_cut_and_counted(model_folder) -> None:
    pairs = lmkin.Corpus([lmkin.Sentence("dog " * 80, id="long", text_b="cat")])
    acts = lmkin.extract(lmkin.load_model(model_folder("bert")), pairs, units="sentence")
    assert acts.manifest["units"]["losses"]["sentences_cut"] == 1
    assert acts.manifest["units"]["losses"]["tokens_cut"] >= 80 - 64


def test_long_sentence_mean_covers_all_windows(model_folder) -> None:
    """Every token once: the mean over windows is that of the tokens, each from its own window."""
    model = lmkin.load_model(model_folder("bert"))
    text = "the dog and the cat " * 30
    sentences = lmkin.extract(
        model, corpus([text]), units="sentence", max_length=32, special_tokens="drop"
    )
    tokens = lmkin.extract(model, corpus([text]), units="token", max_length=32)
    assert len(tokens) > 100
    np.testing.assert_allclose(
        sentences.layer(-1)[0], np.asarray(tokens.layer(-1)).mean(0), atol=1e-4
    )


def test_token_units_are_the_tokens(model_folder) -> None:
    folder = model_folder("bert")
    acts = lmkin.extract(lmkin.load_model(folder), corpus(), units="token")
    whole = lmkin.extract(lmkin.load_model(folder), corpus(), units="token", special_tokens="keep")
    for number, text in enumerate(TEXTS):
        ids, states = reference(folder, text)
        rows, all_rows = acts.units.rows_of(number), whole.units.rows_of(number)
        np.testing.assert_allclose(acts.layer(-1)[rows], states[1:-1], atol=1e-4)
        np.testing.assert_allclose(whole.layer(-1)[all_rows], states, atol=1e-4)
        assert len(ids) == all_rows.stop - all_rows.start
    assert "".join(acts.units.texts).lower() == "".join(TEXTS).replace(" ", "").lower()
