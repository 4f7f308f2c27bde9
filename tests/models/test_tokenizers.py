"""Models without a vocabulary, tokenizers that are named, and what is unknown to them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import transformers as hf

import families
import lmkin
from lmkin.models import UnitRule, load_tokenizer

WORDS = ["我", "北京", "天安门", "Henry", "the", "cook", "a", "爱", "table", ".", "new图书馆"]


@pytest.fixture(scope="module")
def chinese() -> lmkin.Corpus:
    """Sentences of Chinese and English words in turn, with spaces between them."""
    random = np.random.default_rng(0)
    drawn = [list(random.choice(WORDS, 6)) for _ in range(40)] + [["我", "爱", "北京"]] * 2
    return lmkin.Corpus(
        [families.sentence(" ".join(words), words, f"s{i}") for i, words in enumerate(drawn)],
        name="chinese",
    )


@pytest.fixture(scope="module")
def english(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny BERT with a WordPiece vocabulary of English alone."""
    texts = [s.text for s in lmkin.read_corpus("sample")[:400]]
    bert = next(f for f in families.FAMILIES if f.name == "bert")
    family = families.Family(
        "english", lambda: hf.BertTokenizer().train_new_from_iterator(texts, 400), bert.model
    )
    return families.build(family, tmp_path_factory.mktemp("english") / "english")


def without_vocabulary(folder: Path, to: Path, *keep: str) -> Path:
    """A copy of a model folder without the files of its tokenizer, but for some."""
    to.mkdir()
    for file in folder.iterdir():
        if file.name in ("config.json", "model.safetensors", *keep):
            shutil.copy(file, to)
    return to


# -- folders without a vocabulary ------------------------------------------------------------------


@pytest.mark.parametrize("keep", [(), ("tokenizer_config.json",)], ids=["bare", "configured"])
def test_every_family_is_refused_without_its_vocabulary(
    family: families.Family, model_folder, tmp_path, keep, monkeypatch
) -> None:
    folder = without_vocabulary(model_folder(family), tmp_path / "bare", *keep)
    monkeypatch.setattr(
        hf.AutoModel, "from_pretrained", lambda *_, **__: pytest.fail("weights were read")
    )
    for spec in (folder, f"untrained:{folder}"):
        with pytest.raises(lmkin.ModelError, match=r"comes without .*tokenizer=…") as raised:
            lmkin.load_model(spec)
        message = str(raised.value)
        assert str(folder) in message
        assert "tokenizer.json" in message
        assert "\n" not in message


def test_the_missing_files_are_named(model_folder, tmp_path) -> None:
    bert = without_vocabulary(model_folder("bert"), tmp_path / "bert")
    with pytest.raises(lmkin.ModelError, match=r"neither tokenizer\.json nor vocab\.txt.*\[UNK\]"):
        lmkin.load_model(bert)
    gpt = without_vocabulary(model_folder("gpt2"), tmp_path / "gpt")
    with pytest.raises(lmkin.ModelError, match=r"nor vocab\.json with merges\.txt"):
        lmkin.load_model(gpt)
    vocabulary = json.loads((model_folder("gpt2") / "tokenizer.json").read_text())["model"]["vocab"]
    (gpt / "vocab.json").write_text(json.dumps(vocabulary))
    with pytest.raises(lmkin.ModelError, match=r"has vocab\.json, but neither merges\.txt"):
        lmkin.load_model(gpt)


def test_a_vocabulary_of_special_tokens_is_refused_whatever_the_files(
    model_folder, tmp_path
) -> None:
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    for count, refused in ((0, True), (3, True), (4, False)):
        folder = without_vocabulary(model_folder("bert"), tmp_path / str(count))
        (folder / "vocab.txt").write_text("\n".join([*special, *"acgt"[:count]]) + "\n")
        if refused:
            with pytest.raises(lmkin.ModelError, match=rf"has {count or 'no'} tokens besides"):
                lmkin.load_model(folder)
        else:
            assert lmkin.load_model(folder).tokenizer.encode(["acg t"])[0].ids


def test_added_tokens_are_no_vocabulary(model_folder, tmp_path) -> None:
    folder = without_vocabulary(model_folder("bert"), tmp_path / "added")
    tokenizer = hf.BertTokenizer()
    tokenizer.add_tokens([f"<extra{i}>" for i in range(10)])
    tokenizer.save_pretrained(folder)
    with pytest.raises(lmkin.ModelError, match="no tokens besides"):
        lmkin.load_model(folder)


@pytest.mark.parametrize("name", ["e5-small", "stories15M"])
def test_real_folders_with_slow_files_alone_are_accepted(shared, tmp_path, name: str) -> None:
    source = shared("models", name)
    slow = {"vocab.txt", "tokenizer.model"}
    folder = without_vocabulary(source, tmp_path / name, *slow)
    text = ["The old cook hid the letter."]
    assert load_tokenizer(folder).encode(text) == load_tokenizer(source).encode(text)


def test_byte_tokenizers_need_no_files(tmp_path) -> None:
    hf.ByT5Tokenizer().save_pretrained(tmp_path)
    assert len(load_tokenizer(tmp_path).encode(["é a"])[0]) == 4


# -- a tokenizer that is named ---------------------------------------------------------------------


@pytest.mark.parametrize("name", ["bert", "gpt2", "t5", "ctrl (slow BPE)"])
def test_a_named_tokenizer_gives_what_the_complete_folder_gives(
    model_folder, tmp_path, sample, name: str
) -> None:
    whole = model_folder(name)
    bare = without_vocabulary(whole, tmp_path / "bare")
    for prefix in ("", "untrained:"):
        want = lmkin.extract(f"{prefix}{whole}", sample[:30])
        model = lmkin.load_model(f"{prefix}{bare}", tokenizer=whole)
        got = lmkin.extract(model, sample[:30])
        for layer in want.layers:
            np.testing.assert_array_equal(got.layer(layer), want.layer(layer))
        assert got.manifest["key"] == want.manifest["key"]
        assert got.manifest["model"]["tokenizer_spec"] == str(whole)
        assert want.manifest["model"]["tokenizer_spec"] is None


def test_a_tokenizer_folder_needs_no_model(model_folder, tmp_path, sample) -> None:
    whole = model_folder("bert")
    bare = without_vocabulary(whole, tmp_path / "bare")
    alone = tmp_path / "tokenizer"
    alone.mkdir()
    for file in whole.glob("tokenizer*"):
        shutil.copy(file, alone)
    model = lmkin.load_model(bare, tokenizer=alone)
    assert model.tokenizer.hash == lmkin.load_model(whole).tokenizer.hash


def test_another_tokenizer_is_another_key(model_folder, english, sample) -> None:
    whole = model_folder("bert")
    own = lmkin.extract(whole, sample[:5])
    other = lmkin.extract(lmkin.load_model(whole, tokenizer=english), sample[:5])
    assert own.manifest["key"] != other.manifest["key"]


def test_a_tokenizer_that_cannot_be_used(model_folder, shared, tmp_path, sample) -> None:
    whole = model_folder("bert")
    cases = {
        "./no/such/folder": "no tokenizer folder",
        str(whole / "tokenizer.json"): "is a file",
        str(shared("models", "e5-small")): "30,522 tokens, and the model has embeddings for 400",
        str(without_vocabulary(whole, tmp_path / "bare")): "comes without the vocabulary",
    }
    for spec, says in cases.items():
        with pytest.raises(lmkin.ModelError, match=says):
            lmkin.load_model(whole, tokenizer=spec)
    lmkin.extract(whole, sample[:3], tmp_path / "store.acts")
    with pytest.raises(lmkin.ModelError, match="computed before"):
        lmkin.load_model(tmp_path / "store.acts", tokenizer=whole)


# -- what is unknown -------------------------------------------------------------------------------


def counted(folder: Path, corpus: lmkin.Corpus) -> tuple[int, int]:
    """Words with an unknown token, and words of nothing else, by the tokenizer itself on one word at a time."""
    tokenizer = hf.AutoTokenizer.from_pretrained(folder)
    cut = [tokenizer.tokenize(word) for word in corpus.words]
    some = [tokens for tokens in cut if tokenizer.unk_token in tokens]
    return len(some), sum(set(tokens) == {tokenizer.unk_token} for tokens in some)


def test_unknown_words_are_counted_as_the_tokenizer_has_them(english, chinese) -> None:
    some, only = counted(english, chinese)
    assert 0 < only < some < chinese.n_words  # "new图书馆" is known in part
    reading = lmkin.load_model(english).read(chinese, UnitRule.make("word"))
    assert reading.unknown == {
        "units": chinese.n_words, "with_unknown_token": some, "only_unknown_tokens": only,
    }  # fmt: skip


def test_unknown_tokens_and_sentences(english, chinese) -> None:
    tokenizer = hf.AutoTokenizer.from_pretrained(english)
    cut = [tokenizer.tokenize(s.text) for s in chinese]
    model = lmkin.load_model(english)
    tokens = model.read(chinese, UnitRule.make("token", special_tokens="keep"))
    unknown = sum(tokens.count("[UNK]") for tokens in cut)
    assert tokens.unknown == {
        "units": sum(len(tokens) + 2 for tokens in cut),
        "with_unknown_token": unknown, "only_unknown_tokens": unknown,
    }  # fmt: skip
    for pooling in ("mean", "cls", "max"):
        sentences = model.read(chinese, UnitRule.make("sentence", pooling))
        assert sentences.unknown == {
            "units": len(chinese),
            "with_unknown_token": sum("[UNK]" in tokens for tokens in cut),
            "only_unknown_tokens": sum(set(tokens) == {"[UNK]"} for tokens in cut),
        }  # fmt: skip


def test_unknown_tokens_of_the_second_text_of_a_pair(english) -> None:
    pairs = lmkin.Corpus(
        [
            lmkin.Sentence("the cook", text_b="我 爱", id="a"),
            lmkin.Sentence("the cook", text_b="a table", id="b"),
        ]
    )
    reading = lmkin.load_model(english).read(pairs, UnitRule.make("sentence"))
    assert (reading.losses.unknown, reading.losses.only_unknown) == (1, 0)


def test_words_that_are_lost_are_not_counted_as_unknown(english) -> None:
    words = ["the"] * 20 + ["我"]
    corpus = lmkin.Corpus([families.sentence(" ".join(words), words, "long")])
    model = lmkin.load_model(english)
    assert model.read(corpus, UnitRule.make(max_length=12)).losses.unknown == 1
    cut = model.read(corpus, UnitRule.make(max_length=12, long="truncate"))
    assert cut.losses.unknown == 0
    assert cut.losses.counts.total() > 0


def test_every_family_counts_what_its_tokenizer_calls_unknown(family, model_folder) -> None:
    """Byte-level tokenizers know everything; others have never seen a snowman or Ω."""
    words = ["the", "☃", "cook", "ΩΨ", "table", "a☃b"]
    corpus = lmkin.Corpus([families.sentence(" ".join(words), words, "x")])
    model = lmkin.load_model(model_folder(family))
    reading = model.read(corpus, UnitRule.make("token", first_token="keep"))
    tokenizer = hf.AutoTokenizer.from_pretrained(model_folder(family))
    ids = tokenizer(corpus[0].text, add_special_tokens=False)["input_ids"]
    want = tokenizer.convert_ids_to_tokens(ids).count(tokenizer.unk_token)
    assert reading.losses.unknown == want
    assert (want == 0) == (
        family.name in ("roberta", "deberta", "longformer", "gpt2", "llama", "llama with BOS", "bart")
    )  # fmt: skip


def test_a_text_may_spell_out_the_token_that_gpt2_calls_unknown(model_folder) -> None:
    corpus = lmkin.Corpus(
        [families.sentence("a <|endoftext|> b", ["a", "<|endoftext|>", "b"], "x")]
    )
    assert lmkin.load_model(model_folder("gpt2")).read(corpus, UnitRule.make()).losses.unknown == 0


def test_stores_and_what_is_read_from_them_keep_the_counts(english, chinese, tmp_path) -> None:
    some, only = counted(english, chinese)
    acts = lmkin.extract(english, chinese, tmp_path / "zh.acts")
    again = lmkin.extract(tmp_path / "zh.acts", chinese)
    part = lmkin.extract(tmp_path / "zh.acts", chinese[:3])
    for store, want in ((acts, (some, only)), (again, (some, only)), (part, (None, None))):
        losses = store.manifest["units"]["losses"]
        assert (losses["with_unknown_token"], losses["only_unknown_tokens"]) == want


# -- alerts ----------------------------------------------------------------------------------------


def unknown_alerts(attrs: dict[str, Any]) -> list[str]:
    return [a["text"] for a in attrs["alerts"] if a["kind"] == "unknown tokens"]


def test_every_analysis_alerts_with_the_share(english, chinese, model_folder, tmp_path) -> None:
    some, only = counted(english, chinese)
    n = chinese.n_words
    told = f"English reads {some:,} of {n:,} words ({some / n:.1%}) with an unknown token in them, and {only:,}"
    model = lmkin.load_model(english, name="English", attention=True)
    bytes_only = lmkin.load_model(model_folder("roberta"), name="bytes", attention=True)
    acts = [lmkin.extract(m, chinese) for m in (model, bytes_only)]
    results = {
        "similarity": lmkin.similarity(
            [model, bytes_only], measures=["ckasim"], neurons="raw", corpus=chinese
        ),
        "stored": lmkin.similarity(acts, measures=["ckasim"], neurons="raw"),
        "attention": lmkin.attention_similarity([model, bytes_only], chinese, measures=["js"]),
        "dependency": lmkin.decompose(
            [model, bytes_only], chinese, units="word", layers="last", permutation_baseline=False
        ),
        "layers": lmkin.layer_redundancy(acts),
        "clusters": lmkin.cluster_neurons(acts, thresholds=[0.3]).tables(),
    }
    for kind, result in results.items():
        alerts = unknown_alerts(result.attrs)
        assert len(alerts) == 1, kind
        assert told in alerts[0], kind
        assert "bytes" not in alerts[0], kind
        counts = result.attrs["provenance"]["source"]["unknown"]
        assert counts["English"]["with_unknown_token"] == some, kind
        assert counts["bytes"]["with_unknown_token"] == 0, kind


def test_no_alert_up_to_one_percent(english) -> None:
    """One unknown word of 100 is not told, two are."""
    for unknown, alerts in ((1, 0), (2, 1)):
        sentences = [["the", "cook", "a", "table", "."] for _ in range(20)]
        for i in range(unknown):
            sentences[i][1] = "我"
        corpus = lmkin.Corpus(
            [families.sentence(" ".join(s), s, str(i)) for i, s in enumerate(sentences)]
        )
        acts = lmkin.extract(lmkin.load_model(english, name="English"), corpus)
        result = lmkin.similarity([acts], measures=["ckasim"], neurons="raw")
        assert len(unknown_alerts(result.attrs)) == alerts
