"""Heads of real (tiny) models: what they attend to, word by word, compared as the definitions say."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf

import families
import lmkin
from attention.naive_attention import (
    MEASURES,
    SINKS,
    Maps,
    columns_of,
    head_table,
    layer_table,
)
from lmkin.analyses.attention.maps import SentenceMaps
from lmkin.analyses.attention.model_maps import ModelMaps
from lmkin.models.attention import UnitAttention

TOLERANCE = 2e-6  # maps are float32


@pytest.fixture(scope="module")
def corpus(sample: lmkin.Corpus) -> lmkin.Corpus:
    """Short sentences, the first ones of few words."""
    short = [s for s in sample if len(s) <= 9][:10]
    few = [families.sentence(t, t.split(), f"few-{t}") for t in ("Dogs", "Dogs bark", "I saw it")]
    return lmkin.Corpus([*few, *short], name="short")


@pytest.fixture(scope="module")
def model(model_folder: Any) -> Callable[..., lmkin.LanguageModel]:
    """A tiny model that shows its attention, loaded once."""
    loaded: dict[tuple[str, str], lmkin.LanguageModel] = {}

    def load(family: str, side: str = "encoder") -> lmkin.LanguageModel:
        if (family, side) not in loaded:
            where = model_folder(wide_bert() if family == "wide bert" else family)
            name = f"{family} {side}" if side == "decoder" else family
            loaded[family, side] = lmkin.load_model(where, name=name, attention=True, side=side)
        return loaded[family, side]

    return load


def wide_bert() -> families.Family:
    """Other numbers of layers and heads."""

    def build(tokenizer: Any) -> Any:
        return hf.BertModel(
            hf.BertConfig(
                vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=3, num_attention_heads=4,
                intermediate_size=48, max_position_embeddings=64,
            )
        )  # fmt: skip

    like = next(f for f in families.FAMILIES if f.name == "bert")
    return replace(like, name="wide-bert", model=build)


def naive_layers(models: Sequence[Any], corpus: lmkin.Corpus) -> dict[str, list[Maps]]:
    """Words that all have, of sentences that all read; what is left out is the last column."""
    read = [{a.sentence: a for a in m.attention(corpus)} for m in models]
    layers: dict[str, list[Maps]] = {}
    for model, maps in zip(models, read, strict=True):
        for layer in range(next(iter(maps.values())).weights.shape[0]):
            listed = layers[f"{model.name}/{layer + 1}"] = []
            for number in range(len(corpus)):
                if not all(number in each for each in read):
                    continue
                words = [
                    w
                    for w in range(len(corpus[number]))
                    if all(w in each[number].index for each in read)
                ]
                if not words:
                    continue
                item = maps[number]
                mine = [item.index.index(w) for w in words]
                whole = np.zeros((item.weights.shape[1], len(words), len(words) + 1))
                for k in range(len(whole)):
                    for i, at in enumerate(mine):
                        left = float(item.left_out[layer, k, at])
                        whole[k, i, -1] = left
                        for j, to in enumerate(mine):
                            whole[k, i, j] = item.weights[layer, k, at, to] * (1 - left)
                listed.append(Maps(whole, len(words), [*range(len(words)), -1]))
    return layers


def causal_layers(layers: dict[str, list[Maps]]) -> dict[str, bool]:
    return {name: "gpt2" in name or "llama" in name or "decoder" in name for name in layers}


SIDE_BY_SIDE = {
    "encoders": [("bert", "encoder"), ("roberta", "encoder")],
    "other numbers of heads and layers": [("bert", "encoder"), ("wide bert", "encoder")],
    "decoders": [("gpt2", "encoder"), ("llama with BOS", "encoder")],
    "encoder and decoder": [("bert", "encoder"), ("gpt2", "encoder")],
    "both sides of BART": [("bart", "encoder"), ("bart", "decoder")],
    "both sides of T5 and a decoder": [("t5", "encoder"), ("t5", "decoder"), ("gpt2", "encoder")],
}


@pytest.mark.parametrize("case", SIDE_BY_SIDE)
def test_equals_the_definition(case: str, model: Any, corpus: lmkin.Corpus) -> None:
    models = [model(*each) for each in SIDE_BY_SIDE[case]]
    layers = naive_layers(models, corpus)
    causal = causal_layers(layers)
    result = lmkin.attention_similarity(models, corpus, measures=MEASURES, parts=3)
    for measure in MEASURES:
        table = lmkin.attention_similarity(
            models, corpus, measures=measure, intervals=False
        ).matrix()
        assert table.x.values.tolist() == list(layers)
        assert (table.values == table.dropped.values).all()
        for sink in SINKS:
            heads = head_table(measure, layers, sink=sink, causal=causal)
            found = result[f"{measure}_heads"].sel(sink=sink).values
            assert found == pytest.approx(heads, abs=TOLERANCE)
            expected = layer_table(heads, layers)
            assert table.coords[sink].values == pytest.approx(expected, abs=TOLERANCE)
    share = [
        np.mean([value for m in listed for value in m.whole[k, :, -1] / m.whole[k].sum(-1)])
        for listed in layers.values()
        for k in range(len(listed[0].whole))
    ]
    assert result.sink_share.values == pytest.approx(np.array(share), abs=1e-6)


@pytest.mark.parametrize("measure", ["svsim", "ckasim"])
def test_distributed_attention(measure: str, model: Any, corpus: lmkin.Corpus) -> None:
    models = [model("bert"), model("wide bert")]
    layers = naive_layers(models, corpus)
    table = lmkin.attention_similarity(models, corpus, measures=measure, intervals=False).matrix()
    for sink in SINKS:
        matrices = columns_of(layers, sink=sink, past=False)
        expected = lmkin.similarity(
            matrices, measures=measure, neurons="raw", intervals=False
        ).matrix()
        assert table.coords[sink].values == pytest.approx(expected.values, abs=1e-5)


@pytest.mark.parametrize("each", [("bert", "encoder"), ("gpt2", "encoder"), ("bart", "decoder")])
def test_the_same_model_twice(each: tuple[str, str], model: Any, corpus: lmkin.Corpus) -> None:
    one = model(*each)
    for measure, best in (("js", 1), ("pearson", 1), ("norm", 0)):
        table = lmkin.attention_similarity(
            [one, one], corpus, measures=measure, intervals=False
        ).matrix()
        assert table.x.values.tolist()[2:] == [f"{one.name}#2/1", f"{one.name}#2/2"]
        for sink in SINKS:
            values = table.coords[sink].values
            assert np.diag(values) == pytest.approx([best] * 4, abs=1e-6)
            assert values[[0, 1], [2, 3]] == pytest.approx([best] * 2, abs=1e-6)
        assert table.attrs["match"][[0, 1], [2, 3]].tolist() == [[0, 1]] * 2


def test_a_real_model_twice(minilm_spec: str, sample: lmkin.Corpus) -> None:
    one = lmkin.load_model(minilm_spec, name="MiniLM", attention=True)
    table = lmkin.attention_similarity([one, one], sample[:6], measures="js", parts=2).matrix()
    assert table.shape == (12, 12)
    same = range(6), range(6, 12)
    assert table.values[same] == pytest.approx(np.ones(6), abs=1e-6)
    assert (table.attrs["match"][same] == np.arange(12)).all()
    assert table.values[0, 5] < 0.95


def test_some_layers(model: Any, corpus: lmkin.Corpus) -> None:
    models = [model("bert"), model("wide bert")]
    whole = lmkin.attention_similarity(models, corpus, measures="js").matrix()
    for asked, names in {
        "1": ["bert/1", "wide bert/1"],
        "-1": ["bert/2", "wide bert/3"],
        "0-2": ["bert/1", "bert/2", "wide bert/1", "wide bert/2"],
    }.items():
        some = lmkin.attention_similarity(models, corpus, measures="js", layers=asked).matrix()
        assert some.x.values.tolist() == names
        expected = whole.sel(x=names, y=names).values
        assert some.values == pytest.approx(expected, abs=1e-12)
    listed = lmkin.attention_similarity(models, corpus, measures="js", layers=[2]).matrix()
    assert listed.x.values.tolist() == ["bert/2", "wide bert/2"]
    with pytest.raises(lmkin.MeasureError, match="attention in layers 1 to 2"):
        lmkin.attention_similarity(models, corpus, measures="js", layers=0).matrix()


def test_words_that_one_model_lacks_are_left_out_of_all(model: Any, corpus: lmkin.Corpus) -> None:
    """A decoder loses the first word, of which the rest is compared with what the encoder says of those words."""
    both = [model("bert"), model("gpt2")]
    result = lmkin.attention_similarity(both, corpus, measures="js", intervals=False)
    shared = sum(len(a.index) for a in both[1].attention(corpus))
    lost = sum(len(s) for s in corpus) - shared
    assert lost > 0
    said = [a for a in map(str, result.alerts) if a.startswith("dropped")]
    assert f"{lost} of {sum(len(s) for s in corpus)} words are left out of all models" in said[0]
    alone = lmkin.attention_similarity(both[:1], corpus, measures="js", intervals=False)
    assert not any(a.startswith("dropped") for a in map(str, alone.alerts))
    assert alone.attrs["n"] == sum(len(s) for s in corpus)
    assert result.attrs["n"] == shared


def test_sentences_that_one_model_cannot_read(model: Any, corpus: lmkin.Corpus) -> None:
    long = families.sentence(" ".join(["dog"] * 100), ["dog"] * 100, "long")
    mixed = lmkin.Corpus([*corpus[:6], long, *corpus[6:]])
    models = [model("t5"), model("bert")]
    expected = lmkin.attention_similarity(models, corpus, measures="js", intervals=False).matrix()
    # A warning would be an error here: the passes that a comparison makes of some sentences say nothing.
    result = lmkin.attention_similarity(models, mixed, measures="js", intervals=False)
    in_shards = lmkin.attention_similarity(models, mixed, measures="js", parts=3)
    assert in_shards.alerts[: len(result.alerts)] == result.alerts
    with pytest.warns(lmkin.LmkinWarning, match="1 of 14 sentences are longer"):
        assert len(list(model("bert").attention(mixed))) == 13
    assert result.matrix().values == pytest.approx(expected.values, abs=1e-5)
    said = [a.text for a in result.alerts if a.kind == "dropped"]
    assert "100 of" in said[0]
    assert "those of 1 sentence among them" in said[0]


def test_any_batch(model: Any, corpus: lmkin.Corpus) -> None:
    models = [model("bert"), model("gpt2")]
    tables = [
        lmkin.attention_similarity(
            models, corpus, measures="js", intervals=False, batch_tokens=size
        ).matrix()
        for size in (1, 30, 5000)
    ]
    for table in tables[1:]:
        assert table.values == pytest.approx(tables[0].values, abs=1e-5)


def test_names_and_paths(model: Any, model_folder: Any, tmp_path: Path) -> None:
    text = tmp_path / "some.txt"
    text.write_text("The dog barked at the old man .\nIt rains today again .\n", encoding="utf-8")
    folder = model_folder("bert")
    by_path = lmkin.attention_similarity(folder, text, measures="js", intervals=False).matrix()
    loaded = lmkin.attention_similarity(
        [model("bert")], lmkin.read_corpus(text), measures="js", intervals=False
    ).matrix()
    assert (by_path.values == loaded.values).all()
    assert by_path.attrs["corpus"] == "some.txt"


def test_parts_are_blocks_of_documents(model: Any, corpus: lmkin.Corpus) -> None:
    documents = lmkin.Corpus(
        [replace(s, document=f"d{number // 3}") for number, s in enumerate(corpus)]
    )
    bert = model("bert")
    found = lmkin.attention_similarity([bert], documents, measures="js", parts=2)
    assert found.attrs["parts"] == 2
    source = ModelMaps([bert], documents, 2)
    cut = int(np.flatnonzero(np.diff(source.part))[0]) + 1
    assert cut in range(0, len(corpus), 3)
    for part, rest in enumerate((documents[cut:], documents[:cut])):
        expected = (
            lmkin.attention_similarity([bert], rest, measures="js", intervals=False)
            .matrix()
            .dropped.values
        )
        without = found.js_without.sel(sink="dropped").values[part, 0, :, 0, :]
        assert without == pytest.approx(expected, abs=1e-6)


# -- what goes to tokens that are left out -----------------------------------------------------------


@pytest.mark.parametrize("each", [("bert", "encoder"), ("bart", "decoder"), ("xlnet", "encoder")])
def test_left_out_is_what_special_tokens_get(
    each: tuple[str, str], model: Any, corpus: lmkin.Corpus
) -> None:
    """And tokens between words, of a tokenizer that has some; those are left out always."""
    one = model(*each)
    pairs = zip(one.attention(corpus), one.attention(corpus, special_tokens="keep"), strict=True)
    for dropped, kept in pairs:
        special = [i for i, word in enumerate(kept.index) if word == -1]
        words = [i for i, word in enumerate(kept.index) if word >= 0]
        assert special
        whole = kept.weights[:, :, words] * (1 - kept.left_out[:, :, words])[..., None]
        expected = kept.left_out[:, :, words] + whole[..., special].sum(-1)
        assert dropped.left_out == pytest.approx(expected, abs=1e-6)
        rest = dropped.weights * (1 - dropped.left_out)[..., None]
        assert rest == pytest.approx(whole[..., words], abs=1e-6)


def test_left_out_is_what_a_decoders_first_token_gets(model: Any) -> None:
    text = "I saw the old man"
    one = lmkin.Corpus([families.sentence(text, text.split(), "one")])
    gpt2 = model("gpt2")
    (dropped,), (kept,) = gpt2.attention(one), gpt2.attention(one, first_token="keep")
    assert dropped.index == kept.index[1:]  # "I" is a single token
    assert dropped.left_out == pytest.approx(kept.weights[:, :, 1:, 0], abs=1e-6)


def test_heads_that_see_special_tokens_alone(
    model: Any, model_folder: Any, corpus: lmkin.Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the sink they are even, and pointed out; with it, they all look at the sink."""
    bert = lmkin.load_model(model_folder("bert"), attention=True, name="blind")

    def all_to_cls(ids: Any, types: Any, *, attentions: bool) -> Any:
        longest = max(len(row) for row in ids)
        weights = torch.zeros(len(ids), 2, longest, longest)
        weights[..., 0] = 1
        return hf.modeling_outputs.BaseModelOutput(attentions=(weights, weights))

    monkeypatch.setattr(bert, "forward", all_to_cls)
    models = [bert, model("wide bert")]
    result = lmkin.attention_similarity(models, corpus, measures="js", intervals=False)
    with pytest.warns(lmkin.LmkinWarning, match="special tokens alone"):
        layers = naive_layers(models, corpus)
    assert result.sink_share.values[:4] == pytest.approx(np.ones(4))
    for sink in SINKS:
        heads = head_table("js", layers, sink=sink, causal=dict.fromkeys(layers, False))
        assert result.js_heads.sel(sink=sink).values == pytest.approx(heads, abs=TOLERANCE)
    words = sum(len(s) for s in corpus if len(s) > 1)  # one word sees one position
    assert any(a.startswith(f"nothing left: {4 * words:,} rows") for a in map(str, result.alerts))


def test_decoders_heads_that_see_the_first_token_alone(
    model_folder: Any, corpus: lmkin.Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    gpt2 = lmkin.load_model(model_folder("gpt2"), attention=True, name="blind")

    def all_to_first(ids: Any, types: Any, *, attentions: bool) -> Any:
        longest = max(len(row) for row in ids)
        weights = torch.zeros(len(ids), 2, longest, longest)
        weights[..., 0] = 1
        return hf.modeling_outputs.BaseModelOutput(attentions=(weights,))

    monkeypatch.setattr(gpt2, "forward", all_to_first)
    result = lmkin.attention_similarity([gpt2], corpus, measures="js", intervals=False)
    assert result.js_heads.values == pytest.approx(np.ones((2, 2, 2)))
    with pytest.warns(lmkin.LmkinWarning, match="special tokens alone"):
        words = [len(a.index) for a in gpt2.attention(corpus)]
    rows = 2 * sum(n - 1 for n in words)  # of two heads; the first of the words sees one position
    assert any(a.startswith(f"nothing left: {rows:,} rows") for a in map(str, result.alerts))


def test_heads_that_see_lost_words_alone(
    model: Any, model_folder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a word that another model lacks nothing is left to compare: it counts as looking elsewhere."""
    bert = lmkin.load_model(model_folder("bert"), attention=True, name="one-eyed")
    text = "I saw the old man"
    corpus = lmkin.Corpus([families.sentence(text, text.split(), "one")])

    def all_to_first_word(ids: Any, types: Any, *, attentions: bool) -> Any:
        longest = max(len(row) for row in ids)
        weights = torch.zeros(len(ids), 2, longest, longest)
        weights[:, 0, :, 1] = 1
        weights[:, 1] = 1 / longest
        return hf.modeling_outputs.BaseModelOutput(attentions=(weights,))

    monkeypatch.setattr(bert, "forward", all_to_first_word)
    result = lmkin.attention_similarity(
        [bert, model("gpt2")], corpus, measures=MEASURES, intervals=False
    )
    assert all(np.isfinite(result[f"{m}_heads"].values).all() for m in MEASURES)
    drawn = lmkin.sentence_attention([bert, model("gpt2")], corpus[0])
    assert drawn.sum("to").values == pytest.approx(np.ones(drawn.shape[:2]), abs=1e-6)
    assert (drawn.sel(head="one-eyed/1/0").values[:, -1] == 1).all()
    assert any(a.startswith("nothing left: 4 rows") for a in map(str, result.alerts))
    assert result.sink_share.values[0] == 1


# -- nothing is kept ---------------------------------------------------------------------------------


class Alive:
    """How many of some objects live at once."""

    def __init__(self, make: Any):
        self.make, self.now, self.most, self.made = make, 0, 0, 0

    def __call__(self, *args: Any, **options: Any) -> Any:
        found = self.make(*args, **options)
        self.now, self.made = self.now + 1, self.made + 1
        self.most = max(self.most, self.now)
        weakref.finalize(found, self.gone)
        return found

    def gone(self) -> None:
        self.now -= 1


def test_memory_does_not_grow_with_the_corpus(
    model: Any, sample: lmkin.Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lmkin.analyses.attention.sources.BATCH", 100)
    short = lmkin.Corpus([s for s in sample if 6 <= len(s) <= 9])
    models = [model("bert"), model("gpt2")]
    most = []
    for count in (20, 80):
        maps, read = Alive(SentenceMaps), Alive(UnitAttention)
        monkeypatch.setattr("lmkin.analyses.attention.model_maps.SentenceMaps", maps)
        monkeypatch.setattr("lmkin.models.attention.UnitAttention", read)
        lmkin.attention_similarity(
            models, short[:count], measures="js,ckasim", intervals=False, batch_tokens=100
        )
        assert maps.made == count + 1  # one more is drawn
        assert read.made >= 2 * count
        assert maps.now == read.now == 0
        most.append((maps.most, read.most))
    # A batch ends where it has 100 numbers or more; five words or more have 25. One is filled while one is compared.
    assert max(maps for maps, _ in most) <= 2 * (100 / 25) + 1
    assert max(read for _, read in most) <= 3 * len(models)


def test_models_run_side_by_side(model: Any, corpus: lmkin.Corpus) -> None:
    """A few sentences of one model, the same of the next; not all of one first."""
    models = [model("bert"), model("gpt2")]
    asked: list[str] = []

    def counted(one: Any) -> Any:
        forward = one.forward

        def run(*args: Any, **options: Any) -> Any:
            asked.append(one.name)
            return forward(*args, **options)

        return run

    source = ModelMaps(models, corpus, 1, batch_tokens=1)
    with pytest.MonkeyPatch.context() as patch:
        for one in models:
            patch.setattr(one, "forward", counted(one))
        stream = source.sentences()
        next(stream)
        assert len(asked) <= 6
        rest = sum(1 for _ in stream)
    assert asked.count("bert") == len(corpus)
    assert set(asked[4:8]) == {"bert", "gpt2"}
    assert rest == asked.count("gpt2") - 1


# -- one sentence, to be drawn -----------------------------------------------------------------------


def test_attention_of_a_sentence(model: Any, corpus: lmkin.Corpus) -> None:
    models = [model("bert"), model("wide bert")]
    sentence = corpus[4]
    drawn = lmkin.sentence_attention(models, sentence)
    assert drawn.dims == ("head", "word", "to")
    assert drawn["head"].values.tolist() == [
        f"{name}/{layer}/{head}"
        for name, layers, heads in (("bert", 2, 2), ("wide bert", 3, 4))
        for layer in range(1, layers + 1)
        for head in range(heads)
    ]
    assert drawn.attrs["words"] == list(sentence.words)
    assert drawn.word.values.tolist() == [f"{k}:{w}" for k, w in enumerate(sentence.words)]
    assert drawn.to.values.tolist()[-1] == "(elsewhere)"
    assert drawn.sum("to").values == pytest.approx(np.ones(drawn.shape[:2]), abs=1e-6)
    layers = naive_layers(models, lmkin.Corpus([sentence]))
    expected = np.concatenate([listed[0].whole for listed in layers.values()])
    assert drawn.values == pytest.approx(expected, abs=1e-6)


def test_attention_of_a_text(model: Any) -> None:
    drawn = lmkin.sentence_attention([model("bert"), model("gpt2")], "I saw it, again.", layers="2")
    words = ["saw", "it", ",", "again", "."]  # "I" is the decoder's first token
    assert drawn.attrs["words"] == words
    assert drawn.shape == (4, 5, 6)
    assert drawn.sum("to").values == pytest.approx(np.ones((4, 5)), abs=1e-6)
    assert set(drawn.model.values) == {"bert", "gpt2"}
    assert set(drawn.layer.values) == {2}
    decoder = drawn.sel(head="gpt2/2/0").values[:, :5]
    assert (np.triu(decoder, 1) == 0).all()
    assert (decoder[np.tril_indices(5)] > 0).all()


def test_a_sentence_too_long_to_draw(model: Any) -> None:
    with pytest.raises(lmkin.MeasureError, match="no attention map for any sentence"):
        lmkin.sentence_attention(model("bert"), "dog " * 100)
