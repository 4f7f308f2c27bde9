"""Tiny models of many families, each with a tokenizer of its own kind trained here."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers as hf

import lmkin

TRICKY = [
    # text, words
    ("The  dog   barked  .", ["The", "dog", "barked", "."]),
    (
        "\"Hello,\" she said — 'really?'",
        [*list('"'), "Hello", ",", '"', "she", "said", "—", "'", "really", "?", "'"],
    ),
    (
        "I don't think it's gonna work.",
        ["I", "do", "n't", "think", "it", "'s", "gon", "na", "work", "."],
    ),
    ("I 😀 love 👩‍👩‍👧 it", ["I", "😀", "love", "👩‍👩‍👧", "it"]),
    ("cafe\u0301 nai\u0308ve façade", ["cafe\u0301", "nai\u0308ve", "façade"]),
    ("我爱北京 天安门。", ["我", "爱", "北京", "天安门", "。"]),
    ("before \u200b\u200d after", ["before", "\u200b\u200d", "after"]),
    (" leading and trailing ", ["leading", "and", "trailing"]),
    ("x", ["x"]),
    ("Costs 10 000 euros", ["Costs", "10 000", "euros"]),
]


def sentence(text: str, words: list[str], name: str) -> lmkin.Sentence:
    """A sentence whose words are found one after another."""
    spans, position = [], 0
    for word in words:
        start = text.index(word, position)
        position = start + len(word)
        spans.append((start, position))
    return lmkin.Sentence(text, tuple(spans), id=name)


def tricky_corpus() -> lmkin.Corpus:
    return lmkin.Corpus(
        [sentence(text, words, f"tricky-{i}") for i, (text, words) in enumerate(TRICKY)],
        name="tricky",
    )


def training_texts() -> list[str]:
    corpus = lmkin.read_corpus("sample")
    return [s.text for s in corpus[:400]] + [text for text, _ in TRICKY if "爱" in text] * 3


@dataclass(frozen=True)
class Family:
    """How to build a tiny model: a tokenizer to train, and a model for its vocabulary."""

    name: str
    tokenizer: Callable[[], Any]
    model: Callable[[Any], Any]
    layers: int = 3
    width: int = 32
    causal: bool = False
    slow: bool = False
    drops_invisible: bool = False
    dense_attention: bool = True


def _trained(make: Callable[[], Any], **options: Any) -> Callable[[], Any]:
    """A tokenizer of the class's own pipeline, trained on the sample corpus."""
    return lambda: make().train_new_from_iterator(training_texts(), 400, **options)


def _bert_like(config_class: Any, model_class: Any, **more: Any) -> Callable[[Any], Any]:
    def build(tokenizer: Any) -> Any:
        settings = {
            "vocab_size": len(tokenizer),
            "hidden_size": 32,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "intermediate_size": 48,
            "max_position_embeddings": 64,
            "pad_token_id": tokenizer.pad_token_id,
            **more,
        }
        return model_class(config_class(**settings))

    return build


def _distilbert(tokenizer: Any) -> Any:
    return hf.DistilBertModel(
        hf.DistilBertConfig(
            vocab_size=len(tokenizer),
            dim=32,
            n_layers=2,
            n_heads=2,
            hidden_dim=48,
            max_position_embeddings=64,
        )
    )


def _xlnet(tokenizer: Any) -> Any:
    return hf.XLNetModel(
        hf.XLNetConfig(vocab_size=len(tokenizer), d_model=32, n_layer=2, n_head=2, d_inner=48)
    )


def _gpt2(tokenizer: Any) -> Any:
    return hf.GPT2Model(
        hf.GPT2Config(vocab_size=len(tokenizer), n_embd=32, n_layer=2, n_head=2, n_positions=64)
    )


def _t5(tokenizer: Any) -> Any:
    return hf.T5Model(
        hf.T5Config(
            vocab_size=len(tokenizer), d_model=32, d_kv=16, d_ff=48, num_layers=2, num_heads=2,
            decoder_start_token_id=tokenizer.pad_token_id,
        )
    )  # fmt: skip


def _bart(tokenizer: Any) -> Any:
    return hf.BartModel(
        hf.BartConfig(
            vocab_size=len(tokenizer), d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2,
            decoder_attention_heads=2, encoder_ffn_dim=48, decoder_ffn_dim=48, max_position_embeddings=64,
            pad_token_id=tokenizer.pad_token_id, bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
        )
    )  # fmt: skip


def _ctrl(tokenizer: Any) -> Any:
    return hf.CTRLModel(
        hf.CTRLConfig(
            vocab_size=len(tokenizer), n_embd=32, n_layer=2, n_head=2, dff=48, n_positions=64
        )
    )


def _ctrl_tokenizer() -> Any:
    """A slow BPE tokenizer, from a vocabulary of single characters and a few merges."""
    import tempfile

    characters = sorted({c for text in training_texts() for c in text if not c.isspace()})
    merges = ["t h", "th e</w>", "a n", "i n", "e r</w>"]
    pieces = ["<unk>", *(m.replace(" ", "") for m in merges)]
    pieces += list(characters) + [c + "</w>" for c in characters]
    # CTRL's vocabulary writes what ends a word bare, and what goes on with "@@".
    vocabulary = [p.removesuffix("</w>") if p.endswith("</w>") else p + "@@" for p in pieces[1:]]
    folder = Path(tempfile.mkdtemp())
    (folder / "vocab.json").write_text(
        json.dumps({token: i for i, token in enumerate(dict.fromkeys(["<unk>", *vocabulary]))})
    )
    (folder / "merges.txt").write_text("#version: 0.2\n" + "\n".join(merges) + "\n")
    return hf.CTRLTokenizer(str(folder / "vocab.json"), str(folder / "merges.txt"))


def _sentencepiece_tokenizer() -> Any:
    """A slow SentencePiece tokenizer, trained by that library."""
    import tempfile

    import sentencepiece

    prefix = str(Path(tempfile.mkdtemp()) / "spiece")
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(training_texts()), model_prefix=prefix, vocab_size=300, pad_id=3,
        minloglevel=2,
    )  # fmt: skip
    return hf.BertGenerationTokenizer(prefix + ".model")


def _llama_with_bos() -> Any:
    tokenizer = _trained(hf.LlamaTokenizer)()
    tokenizer.add_bos_token = True
    return tokenizer


_LLAMA = {"num_key_value_heads": 2}
FAMILIES = [
    Family("bert", _trained(hf.BertTokenizer), _bert_like(hf.BertConfig, hf.BertModel), drops_invisible=True),
    Family("distilbert", _trained(hf.DistilBertTokenizer), _distilbert, drops_invisible=True),
    Family("roberta", _trained(hf.RobertaTokenizer),
           _bert_like(hf.RobertaConfig, hf.RobertaModel, max_position_embeddings=66)),
    Family("albert", _trained(hf.AlbertTokenizer), _bert_like(hf.AlbertConfig, hf.AlbertModel, embedding_size=16)),
    Family("electra", _trained(hf.BertTokenizer), _bert_like(hf.ElectraConfig, hf.ElectraModel, embedding_size=16),
           drops_invisible=True),
    Family("deberta", _trained(hf.DebertaTokenizer),
           _bert_like(hf.DebertaConfig, hf.DebertaModel, relative_attention=True, pos_att_type=["p2c", "c2p"])),
    Family("longformer", _trained(hf.RobertaTokenizer),
           _bert_like(hf.LongformerConfig, hf.LongformerModel, max_position_embeddings=66, attention_window=[8, 8]),
           dense_attention=False),
    Family("xlm-roberta", _trained(hf.XLMRobertaTokenizer),
           _bert_like(hf.XLMRobertaConfig, hf.XLMRobertaModel, max_position_embeddings=66)),
    Family("xlnet", _trained(hf.XLNetTokenizer), _xlnet),
    Family("gpt2", _trained(hf.GPT2Tokenizer), _gpt2, causal=True),
    Family("llama", _trained(hf.LlamaTokenizer), _bert_like(hf.LlamaConfig, hf.LlamaModel, **_LLAMA), causal=True),
    Family("llama with BOS", _llama_with_bos, _bert_like(hf.LlamaConfig, hf.LlamaModel, **_LLAMA), causal=True),
    Family("t5", _trained(hf.T5Tokenizer), _t5),
    Family("bart", _trained(hf.BartTokenizer), _bart),
    Family("ctrl (slow BPE)", _ctrl_tokenizer, _ctrl, causal=True, slow=True),
    Family("bert-generation (slow SentencePiece)", _sentencepiece_tokenizer,
           _bert_like(hf.BertGenerationConfig, hf.BertGenerationEncoder), slow=True),
]  # fmt: skip


def build(family: Family, folder: Path) -> Path:
    """Save a model and its tokenizer as an ordinary Hugging Face folder."""
    torch.manual_seed(0)
    tokenizer = family.tokenizer()
    model = family.model(tokenizer)
    # Wider than the usual 0.02, so that layers and contexts really differ in these tiny models.
    for parameter in model.parameters():
        if parameter.ndim > 1:
            torch.nn.init.normal_(parameter, std=0.2)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
