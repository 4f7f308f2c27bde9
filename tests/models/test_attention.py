"""Word attention: sum over receiving sub-words, mean over giving ones, rows of 1."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import transformers

import lmkin
from lmkin.corpus.spans import split_words


def reference(folder, text: str) -> np.ndarray:
    """Token attention (layers × heads × tokens × tokens) of one sentence."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = (
        transformers.AutoModel.from_pretrained(folder, attn_implementation="eager").float().eval()
    )
    with torch.no_grad():
        out = model(**tokenizer(text, return_tensors="pt"), output_attentions=True)
    return np.stack([a[0].numpy() for a in out.attentions])


def naive(tokens: np.ndarray, words: list[list[int]]) -> np.ndarray:
    """The definition, word by word; every token belongs to one word at most."""
    layers, heads = tokens.shape[:2]
    out = np.zeros((layers, heads, len(words), len(words)))
    for layer in range(layers):
        for head in range(heads):
            for i, giving in enumerate(words):
                for j, receiving in enumerate(words):
                    out[layer, head, i, j] = np.mean(
                        [sum(tokens[layer, head, s, t] for t in receiving) for s in giving]
                    )
    return out


@pytest.fixture
def corpus() -> lmkin.Corpus:
    texts = ["The grandfather watched the harbour.", "Yes, extraordinary!"]
    return lmkin.Corpus(
        [
            lmkin.Sentence(t, tuple(split_words(t, "punctuation")), id=str(i))
            for i, t in enumerate(texts)
        ]
    )


def positions(model, sentence: lmkin.Sentence) -> list[list[int]]:
    tokens = model.tokenizer.encode([sentence.text])[0]
    shift = len(model.tokenizer.single.prefix)
    return [
        [t + shift for t, (c, d) in enumerate(tokens.spans) if c < b and d > a]
        for a, b in sentence.spans
    ]


def test_special_tokens_dropped_and_rows_renormalised(model_folder, corpus) -> None:
    model = lmkin.load_model(model_folder("bert"), attention=True)
    for got, sentence in zip(model.attention(corpus), corpus, strict=True):
        raw = naive(reference(model_folder("bert"), sentence.text), positions(model, sentence))
        expected = raw / raw.sum(-1, keepdims=True)
        np.testing.assert_allclose(got.weights, expected, atol=1e-5)
        assert got.names == sentence.words


def test_special_tokens_kept(model_folder, corpus) -> None:
    model = lmkin.load_model(model_folder("bert"), attention=True)
    for got, sentence in zip(model.attention(corpus, special_tokens="keep"), corpus, strict=True):
        tokens = reference(model_folder("bert"), sentence.text)
        units = [[0], *positions(model, sentence), [tokens.shape[-1] - 1]]
        np.testing.assert_allclose(got.weights, naive(tokens, units), atol=1e-5)
        assert got.index == (-1, *range(len(sentence)), -1)


def test_decoder_leaves_out_its_first_token_or_keeps_it(model_folder, corpus) -> None:
    model = lmkin.load_model(model_folder("gpt2"), attention=True)
    tokens = reference(model_folder("gpt2"), corpus[0].text)
    owned = positions(model, corpus[0])
    kept = next(iter(model.attention(corpus, first_token="keep")))
    np.testing.assert_allclose(kept.weights, naive(tokens, owned), atol=1e-5)
    dropped = next(iter(model.attention(corpus)))
    without = [[p for p in word if p > 0] for word in owned]
    raw = naive(tokens, [word for word in without if word])
    np.testing.assert_allclose(dropped.weights, raw / raw.sum(-1, keepdims=True), atol=1e-5)


def test_words_that_share_a_token_share_its_weight(model_folder) -> None:
    text = "du chat"
    model = lmkin.load_model(model_folder("bert"), attention=True)
    one = lmkin.Corpus([lmkin.Sentence(text, ((0, 2), (3, 7)), id="one")])
    two = lmkin.Corpus(
        [lmkin.Sentence(text, ((0, 2), (0, 2), (3, 7)), ("de", "le", "chat"), id="two")]
    )
    a = next(iter(model.attention(one))).weights
    b = next(iter(model.attention(two))).weights
    np.testing.assert_allclose(b[..., 0], b[..., 1], atol=1e-6)
    np.testing.assert_allclose(b[:, :, 0, 0] + b[:, :, 0, 1], a[:, :, 0, 0], atol=1e-5)
    np.testing.assert_allclose(b.sum(-1), 1, atol=1e-5)


def test_sentences_that_do_not_fit_are_left_out(model_folder, corpus) -> None:
    model = lmkin.load_model(model_folder("bert"), attention=True)
    words = ["dog"] * 100
    long = lmkin.Sentence(" ".join(words), tuple((4 * i, 4 * i + 3) for i in range(100)), id="long")
    with pytest.warns(lmkin.LmkinWarning, match="1 of 3 sentences are longer"):
        maps = list(model.attention(lmkin.Corpus([corpus[0], long, corpus[1]])))
    assert [m.sentence for m in maps] == [0, 2]


def test_without_asking_for_attention_the_error_says_how(model_folder, corpus) -> None:
    with pytest.raises(lmkin.ModelError, match="attention=True"):
        next(iter(lmkin.load_model(model_folder("bert")).attention(corpus)))


def test_attention_of_a_real_model(minilm_spec: str, sample) -> None:
    model = lmkin.load_model(minilm_spec, attention=True)
    maps = list(model.attention(sample[:20]))
    assert len(maps) == 20
    for m, sentence in zip(maps, sample[:20], strict=True):
        assert m.weights.shape == (6, 12, len(sentence), len(sentence))
        np.testing.assert_allclose(m.weights.sum(-1), 1, atol=1e-5)


def test_rows_that_see_special_tokens_alone_are_pointed_out(
    model_folder, corpus, monkeypatch
) -> None:
    model = lmkin.load_model(model_folder("bert"), attention=True)

    def all_to_cls(ids, types, *, attentions):
        longest = max(len(row) for row in ids)
        weights = torch.zeros(len(ids), 2, longest, longest)
        weights[..., 0] = 1
        return transformers.modeling_outputs.BaseModelOutput(attentions=(weights,))

    monkeypatch.setattr(model, "forward", all_to_cls)
    with pytest.warns(lmkin.LmkinWarning, match="rows of attention go to special tokens alone"):
        list(model.attention(corpus[:1]))
