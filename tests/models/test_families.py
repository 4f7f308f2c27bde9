"""Every family of models: layers, shapes, alignment, padding, long sentences, attention.

The reference runs the model of `transformers` on one sentence, unpadded, tokenized by the tokenizer's own call,
and matches tokens to words character by character.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch
import transformers

import families
import lmkin
from families import Family
from lmkin.models.slow_offsets import spans_of_tokens

POOLINGS = ["last", "first", "mean"]


class Reference:
    """What the definition says, computed the plain way."""

    def __init__(self, family: Family, folder):
        self.family = family
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        module = transformers.AutoModel.from_pretrained(folder, dtype=torch.float32).eval()
        self.module = module.get_encoder() if module.config.is_encoder_decoder else module

    def states(self, text: str) -> np.ndarray:
        inputs = self.tokenizer(text, return_tensors="pt")
        with torch.no_grad():
            out = self.module(**inputs, output_hidden_states=True)
        return np.stack([state[0].numpy() for state in out.hidden_states])

    def words(self, sentence: lmkin.Sentence) -> list[list[int]]:
        """Positions of the tokens of each word, special tokens counted."""
        ids = self.tokenizer(sentence.text)["input_ids"]
        content = self.tokenizer(sentence.text, add_special_tokens=False)["input_ids"]
        shift = next(i for i in range(len(ids) + 1) if ids[i : i + len(content)] == content)
        tokens = self.tokenizer.convert_ids_to_tokens(content)
        owned = []
        for token, characters in zip(tokens, self.characters(sentence.text, tokens), strict=True):
            blank = not token.strip("▁Ġ ")
            owned.append(set() if blank else characters)
        return [
            [t + shift for t, mine in enumerate(owned) if mine & self.visible(sentence.text, *span)]
            for span in sentence.spans
        ]

    @staticmethod
    def visible(text: str, start: int, end: int) -> set[int]:
        return {i for i in range(start, end) if not text[i].isspace()}

    def characters(self, text: str, tokens: list[str]) -> list[set[int]]:
        """The characters of each token, by the tokenizer's offsets where these can be trusted."""
        if not self.tokenizer.is_fast:
            surfaces = [None if t == self.tokenizer.unk_token else self.surface(t) for t in tokens]
            return [self.visible(text, *span) for span in spans_of_tokens(surfaces, text)]
        offsets = self.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        spans = offsets["offset_mapping"]
        if "llama" in self.family.name:
            # Its tokenizer drops what it does not know and loses count: find characters one by one.
            found, position = [], 0
            for token in tokens:
                found.append(set())
                for character in token.replace("▁", ""):
                    position = text.index(character, position) + 1
                    found[-1].add(position - 1)
            return found
        return [self.visible(text, *span) for span in spans]

    def surface(self, token: str) -> str:
        return token.replace("▁", " ").removesuffix("@@")

    def expected(self, sentence: lmkin.Sentence, pooling: str) -> dict[int, np.ndarray]:
        """Word number → layers × neurons, for the words that can be represented."""
        states = self.states(sentence.text)
        found = {}
        for word, positions in enumerate(self.words(sentence)):
            if self.family.causal:
                if pooling == "first" and 0 in positions:
                    continue
                positions = [p for p in positions if p > 0]  # position 0 is a decoder's sink
            if not positions:
                continue
            picked = {"last": positions[-1:], "first": positions[:1], "mean": positions}[pooling]
            found[word] = states[:, picked].mean(1)
        return found


@pytest.fixture
def reference(family: Family, model_folder) -> Reference:
    return Reference(family, model_folder(family))


def test_layers_and_widths(model, family: Family) -> None:
    assert model.n_layers == family.layers
    assert model.widths == (family.width,) * family.layers


def test_direction_is_found_by_looking(model, family: Family) -> None:
    assert model.causal == family.causal


@pytest.mark.parametrize("pooling", POOLINGS)
def test_words_of_tricky_text(
    model, family: Family, reference: Reference, tricky, pooling: str
) -> None:
    acts = lmkin.extract(model, tricky, pooling=pooling, batch_tokens=10_000)
    for number, sentence in enumerate(tricky):
        expected = reference.expected(sentence, pooling)
        rows = acts.units.rows_of(number)
        assert list(acts.units.index[rows]) == list(expected), sentence.text
        for layer in acts.layers:
            got = acts.layer(layer)[rows]
            assert got.shape == (len(expected), family.width)
            for vector, want in zip(got, expected.values(), strict=True):
                np.testing.assert_allclose(vector, want[layer], atol=1e-4, rtol=1e-4)


def test_lost_words_are_counted(model, family: Family, reference: Reference, tricky) -> None:
    acts = lmkin.extract(model, tricky)
    lost = tricky.n_words - sum(len(reference.expected(s, "last")) for s in tricky)
    units = acts.manifest["units"]
    assert units["offered"] == tricky.n_words
    assert units["kept"] == len(acts) == tricky.n_words - lost
    assert sum(units["losses"]["dropped"].values()) == lost


def test_invisible_word_is_dropped_by_wordpiece(model, family: Family, tricky) -> None:
    number = next(i for i, s in enumerate(tricky) if "\u200b" in s.text)
    acts = lmkin.extract(model, tricky)
    kept = list(acts.units.index[acts.units.rows_of(number)])
    if family.drops_invisible:
        assert kept == [0, 2]
        assert "the tokenizer gives it no token" in acts.manifest["units"]["losses"]["dropped"]


def test_alone_and_in_a_padded_batch(model, tricky) -> None:
    together = lmkin.extract(model, tricky, batch_tokens=100_000)
    alone = lmkin.extract(model, tricky, batch_tokens=1)
    for layer in together.layers:
        np.testing.assert_allclose(
            np.asarray(together.layer(layer)), np.asarray(alone.layer(layer)), atol=1e-4, rtol=0
        )


@pytest.mark.parametrize("side", ["left", "right"])
def test_padding_side_of_the_tokenizer_changes_nothing(
    model, model_folder, family, tricky, side
) -> None:
    other = lmkin.load_model(model_folder(family))
    other.tokenizer.hf.padding_side = side
    a = lmkin.extract(model, tricky, batch_tokens=1)
    b = lmkin.extract(other, tricky, batch_tokens=100_000)
    for layer in a.layers:
        np.testing.assert_allclose(
            np.asarray(a.layer(layer)), np.asarray(b.layer(layer)), atol=1e-4
        )


def long_sentence(n: int = 600) -> lmkin.Sentence:
    words = [w for w in lmkin.read_corpus("sample").words if w.isalpha()][:n]
    return families.sentence(" ".join(words), words, "long")


def test_long_sentence_in_windows_loses_nothing(model, family: Family) -> None:
    corpus = lmkin.Corpus([long_sentence()])
    acts = lmkin.extract(model, corpus, max_length=64, overlap=16)
    lost = 600 - len(acts)
    assert lost == sum(acts.manifest["units"]["losses"]["dropped"].values())
    assert lost <= (1 if family.causal else 0)
    assert acts.manifest["units"]["losses"]["sentences_in_windows"] == 1
    assert all(np.isfinite(np.asarray(acts.layer(n))).all() for n in acts.layers)
    assert (np.abs(np.asarray(acts.layer(-1))).max(1) > 0).all()


def test_long_sentence_truncated_is_counted(model, family: Family) -> None:
    corpus = lmkin.Corpus([long_sentence()])
    acts = lmkin.extract(model, corpus, long="truncate", max_length=64)
    losses = acts.manifest["units"]["losses"]
    assert 0 < len(acts) < 64
    assert losses["dropped"]["behind the cut of a long sentence"] >= 600 - 64
    assert losses["sentences_cut"] == 1
    # What is left is the beginning, as if the rest had never been there.
    kept = np.asarray(acts.units.index)
    assert list(kept) == list(range(kept[0], kept[0] + len(kept)))


def test_word_attention(model_folder, family: Family, tricky) -> None:
    model = lmkin.load_model(model_folder(family), attention=True)
    if not family.dense_attention:
        with pytest.raises(lmkin.ModelError, match="no token-by-token attention"):
            list(model.attention(tricky))
        return
    maps = list(model.attention(tricky))
    acts = lmkin.extract(model, tricky, pooling="mean")
    assert [m.sentence for m in maps] == sorted({int(s) for s in acts.units.sentence})
    for m in maps:
        kept = list(acts.units.index[acts.units.rows_of(m.sentence)])
        assert list(m.index) == kept
        assert m.weights.shape == (family.layers - 1, 2, len(kept), len(kept))
        assert (m.weights >= 0).all()
        np.testing.assert_allclose(m.weights.sum(-1), 1, atol=1e-5)
