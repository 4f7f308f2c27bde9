"""Attention between tokens: the model's own matrices, without what is left out, in rows that sum to 1."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf

import lmkin
from attention.naive_attention import MEASURES, SINKS, Maps, head_table, layer_table
from cli.command_line import call
from lmkin.corpus.spans import split_words

TEXTS = ("I saw the extraordinary harbour again.", "Yes, unbelievable!", "我爱北京天安门。")
CHINESE = ("我爱北京天安门。", "我爱北京", "天安门爱我。")


@pytest.fixture(scope="module")
def corpus() -> lmkin.Corpus:
    spans = [split_words(t, "punctuation") for t in TEXTS]
    return lmkin.Corpus([lmkin.Sentence(t, s) for t, s in zip(TEXTS, spans, strict=True)])


@pytest.fixture(scope="module")
def model(model_folder: Any) -> Callable[[str], Any]:
    loaded: dict[str, Any] = {}

    def load(family: str) -> Any:
        if family not in loaded:
            loaded[family] = lmkin.load_model(model_folder(family), name=family, attention=True)
        return loaded[family]

    return load


def own_matrices(folder: Path, text: str) -> tuple[np.ndarray, list[int]]:
    """What transformers gives for one sentence, layers × heads × positions²; and the places of its own tokens."""
    tokenizer = hf.AutoTokenizer.from_pretrained(folder)
    module = hf.AutoModel.from_pretrained(folder, attn_implementation="eager").float().eval()
    inputs = tokenizer(text, return_tensors="pt", return_special_tokens_mask=True)
    special = inputs.pop("special_tokens_mask")[0].tolist()
    with torch.inference_mode():
        out = module(**inputs, output_attentions=True)
    maps = np.stack([a[0].numpy() for a in out.attentions]).astype(np.float64)
    return maps, [p for p, s in enumerate(special) if not s]


FAMILIES = ("bert", "roberta", "llama with BOS", "gpt2")


@pytest.mark.parametrize("family", FAMILIES)
def test_rows_are_the_models_own(
    family: str, model: Any, model_folder: Any, corpus: lmkin.Corpus
) -> None:
    maps = list(model(family).attention(corpus, units="token"))
    assert [m.sentence for m in maps] == list(range(len(corpus)))
    for m, sentence in zip(maps, corpus, strict=True):
        whole, places = own_matrices(model_folder(family), sentence.text)
        mine = [p for p in places if p > 0]  # GPT-2 has a token of the text in place 0, its sink
        some = whole[:, :, mine][..., mine]
        left = some.sum(-1)
        np.testing.assert_allclose(m.weights, some / left[..., None], atol=1e-5)
        np.testing.assert_allclose(m.left_out, 1 - left, atol=1e-5)
        assert m.index == tuple(k for k, p in enumerate(places) if p > 0)


@pytest.mark.parametrize("family", FAMILIES)
def test_everything_kept_is_the_matrix_itself(
    family: str, model: Any, model_folder: Any, corpus: lmkin.Corpus
) -> None:
    kept = model(family).attention(
        corpus, units="token", special_tokens="keep", first_token="keep", batch_tokens=1
    )
    for m, sentence in zip(kept, corpus, strict=True):
        whole, places = own_matrices(model_folder(family), sentence.text)
        np.testing.assert_allclose(m.weights, whole, atol=1e-5)
        assert [p for p, k in enumerate(m.index) if k >= 0] == places
        assert (m.left_out < 1e-5).all()


def test_names_are_what_tokens_cover(model: Any, corpus: lmkin.Corpus) -> None:
    acts = lmkin.extract(model("bert"), corpus, units="token", progress=False)
    for m in model("bert").attention(corpus, units="token"):
        rows = acts.units.rows_of(m.sentence)
        assert list(m.names) == acts.units.texts[rows]
        assert list(m.index) == acts.units.index[rows].tolist()


def naive_layers(models: dict[str, Path], corpus: lmkin.Corpus) -> dict[str, list[Maps]]:
    """From transformers alone; what special tokens get is the last column."""
    layers: dict[str, list[Maps]] = {}
    for name, folder in models.items():
        for sentence in corpus:
            whole, mine = own_matrices(folder, sentence.text)
            for number, heads in enumerate(whole[:, :, mine], start=1):
                some = heads[..., mine]
                sink = heads.sum(-1, keepdims=True) - some.sum(-1, keepdims=True)
                maps = Maps(np.concatenate([some, sink], -1), len(mine), [*range(len(mine)), -1])
                layers.setdefault(f"{name}/{number}", []).append(maps)
    return layers


def test_models_with_the_same_tokens_are_compared_as_defined(
    model: Any, model_folder: Any, corpus: lmkin.Corpus
) -> None:
    names = ("bert", "electra")  # two tokenizers, trained alike
    layers = naive_layers({n: model_folder(n) for n in names}, corpus)
    result = lmkin.attention_similarity(
        [model(n) for n in names], corpus, units="token", measures=MEASURES, parts=3, progress=False
    )
    tokens = len(lmkin.extract(model("bert"), corpus, units="token", progress=False))
    assert (result.attrs["units"], result.attrs["n"]) == ("token", tokens)
    assert tokens > corpus.n_words
    for measure in MEASURES:
        table = result.matrix(measure)
        for sink in SINKS:
            heads = head_table(measure, layers, sink=sink, causal=dict.fromkeys(layers, False))
            found = result[f"{measure}_heads"].sel(sink=sink).values
            assert found == pytest.approx(heads, abs=2e-6)
            assert table.coords[sink].values == pytest.approx(layer_table(heads, layers), abs=2e-6)


def test_words_of_one_token_each_are_those_tokens(model: Any, corpus: lmkin.Corpus) -> None:
    """Where words are what the tokenizer cuts, there is no difference; of a decoder neither."""
    both = [model("gpt2"), model("gpt2")]
    english = corpus[:2]
    units = lmkin.extract(both[0], english, units="token", first_token="keep", progress=False).units
    cut = [
        lmkin.Sentence(
            s.text, tuple(zip(units.start[r].tolist(), units.end[r].tolist(), strict=True))
        )
        for s, r in ((s, units.rows_of(k)) for k, s in enumerate(english))
    ]
    by_words, by_tokens = (
        lmkin.attention_similarity(
            both,
            lmkin.Corpus(cut),
            units=kind,
            measures="js,ckasim",
            intervals=False,
            progress=False,
        )
        for kind in ("word", "token")
    )
    for measure in ("js", "ckasim"):
        a, b = by_words.matrix(measure), by_tokens.matrix(measure)
        assert a.values == pytest.approx(b.values, abs=1e-6)
    assert np.diag(by_tokens.matrix("js").values[:2, 2:]) == pytest.approx([1, 1], abs=1e-6)


def test_words_of_the_corpus_and_batches_change_nothing(model: Any, corpus: lmkin.Corpus) -> None:
    bare = lmkin.Corpus([lmkin.Sentence(s.text, ((0, len(s.text)),)) for s in corpus])
    tables = [
        lmkin.attention_similarity(
            [model("bert"), model("llama with BOS")][:1], some, units="token", measures="js",
            intervals=False, batch_tokens=size, progress=False,
        ).matrix().values
        for some, size in ((corpus, 1), (bare, 5000))
    ]  # fmt: skip
    assert tables[0] == pytest.approx(tables[1], abs=1e-6)


def test_a_decoders_first_token_is_left_out_and_counted(model: Any, corpus: lmkin.Corpus) -> None:
    result = lmkin.attention_similarity(
        [model("gpt2")], corpus, units="token", measures="js", intervals=False, progress=False
    )
    (said,) = [a.text for a in result.alerts if a.kind == "dropped"]
    every = len(
        lmkin.extract(model("gpt2"), corpus, units="token", first_token="keep", progress=False)
    )
    assert said.startswith(f"{len(corpus)} of {every} tokens are left out")


# -- other tokenizers ----------------------------------------------------------------------------------


def test_other_tokens_are_refused_with_the_first_that_differs(
    model: Any, corpus: lmkin.Corpus
) -> None:
    with pytest.raises(lmkin.MeasureError, match="do not give the same tokens") as error:
        lmkin.attention_similarity(
            [model("bert"), model("roberta")], corpus, units="token", progress=False
        )
    assert "bert and roberta" in str(error.value)
    assert "of sentence" in str(error.value)
    assert "units='word'" in str(error.value)


def test_sentences_and_nonsense_are_refused(model: Any, corpus: lmkin.Corpus) -> None:
    for units, message in (("sentence", "between sentences there is none"), ("wrd", "'word'")):
        with pytest.raises(lmkin.LmkinError, match=message):
            lmkin.attention_similarity([model("bert")], corpus, units=units)  # type: ignore[arg-type]
        with pytest.raises(lmkin.LmkinError, match=message):
            lmkin.sentence_attention([model("bert")], "Yes!", units=units)  # type: ignore[arg-type]
    maps = {"a/1": [np.full((1, 2, 2), 0.5)]}
    with pytest.raises(lmkin.MeasureError, match="between what they are between"):
        lmkin.attention_similarity(maps, units="token")


# -- text without spaces ---------------------------------------------------------------------------------


@pytest.fixture
def chinese(tmp_path: Path) -> Path:
    path = tmp_path / "zh.txt"
    path.write_text("".join(f"{t}\n" for t in CHINESE), encoding="utf-8")
    return path


def test_text_without_spaces_on_the_command_line(
    chinese: Path, model_folder: Any, tmp_path: Path
) -> None:
    given = ("attention", model_folder("bert"), "-c", chinese, "-m", "js", "-o", tmp_path / "out")
    refused = call(*given)
    assert refused.code == 1
    assert "--units token" in refused.said
    assert "Traceback" not in refused.err
    done = call(*given, "--units", "token")
    assert done.code == 0, done.err
    tokens = sum(map(len, CHINESE))  # this tokenizer takes every character by itself
    assert f"{tokens} tokens; attention to special" in done.printed
    result = lmkin.load(tmp_path / "out")
    assert result.sentence.attrs["words"] == list(CHINESE[0])
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "look at the same tokens" in page
    assert "look at the same words" not in page
    wrong = call(*given[:-1], tmp_path / "other", "--units", "sentence")
    assert wrong.code == 1
    assert "--units token" in wrong.said


def test_a_plan_for_tokens(chinese: Path, model_folder: Any, tmp_path: Path) -> None:
    given = ("attention", model_folder("bert"), "-c", chinese, "-o", tmp_path / "out")
    assert call(*given, "--units", "token", "--dry-run").code == 0


def test_an_unfinished_run_of_words_is_not_taken_for_one_of_tokens(
    model: Any, corpus: lmkin.Corpus, tmp_path: Path
) -> None:
    def run(units: str, **more: Any) -> np.ndarray:
        result = lmkin.attention_similarity(
            [model("bert")], corpus, units=units, measures="js", intervals=False, progress=False, **more
        )  # fmt: skip
        return result.matrix().values

    words = run("word", workspace=tmp_path)
    tokens = run("token", workspace=tmp_path)
    assert tokens == pytest.approx(run("token"), abs=1e-6)
    assert not np.allclose(tokens, words)


def test_japanese_as_plain_text(minilm_spec: str, shared: Any, tmp_path: Path) -> None:
    treebank = lmkin.read_corpus(shared("data", "ud", "ja_pud-ud-test.conllu"))[:6]
    path = tmp_path / "ja.txt"
    path.write_text("".join(f"{s.text}\n" for s in treebank), encoding="utf-8")
    plain = lmkin.read_corpus(path)
    models = [lmkin.load_model(minilm_spec, name="MiniLM", attention=True)]
    result = lmkin.attention_similarity(
        models, plain, units="token", measures="js", intervals=False, progress=False
    )
    tokenizer = models[0].tokenizer.hf
    assert result.attrs["n"] == sum(len(tokenizer.tokenize(s.text)) for s in treebank)
    assert np.diag(result.matrix().values) == pytest.approx(np.ones(6), abs=1e-6)


# -- one sentence ------------------------------------------------------------------------------------------


def test_a_sentence_between_its_tokens(model: Any, model_folder: Any) -> None:
    drawn = lmkin.sentence_attention([model("bert")], CHINESE[0], units="token")
    whole, mine = own_matrices(model_folder("bert"), CHINESE[0])
    expected = whole[:, :, mine][..., mine].reshape(-1, len(mine), len(mine))
    assert drawn.values[..., :-1] == pytest.approx(expected, abs=1e-5)
    assert drawn.values.sum(-1) == pytest.approx(np.ones(drawn.shape[:2]), abs=1e-5)
    assert drawn.attrs["words"] == list(CHINESE[0])
    with pytest.raises(lmkin.MeasureError, match="empty"):
        lmkin.sentence_attention([model("bert")], "  ", units="token")
