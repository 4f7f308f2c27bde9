"""Files of other tools: written as they read them, read as they write them."""

from __future__ import annotations

import json

import h5py
import numpy as np
import pytest

import lmkin


@pytest.fixture
def acts(tiny, sample):
    return lmkin.extract(tiny, sample[:12])


def dense(acts, number: int) -> np.ndarray:
    """layers × words × neurons of a sentence."""
    return np.stack(list(acts.sentence(number).values()))


@pytest.mark.parametrize("format", ["contextual-repr", "neurox-hdf5"])
def test_hdf5_layout(acts, tmp_path, format: str) -> None:
    """Read as contextual-repr-analysis and NeuroX do: the index is JSON, a dataset a sentence."""
    count = lmkin.export_activations(acts, tmp_path / "a.hdf5", format)
    corpus = acts.units.corpus
    with h5py.File(tmp_path / "a.hdf5") as file:
        index = json.loads(file["sentence_to_index"][0])
        assert count == len(index) == len(corpus)
        for number, sentence in enumerate(corpus):
            stored = file[index[" ".join(sentence.words)]]
            assert stored.shape == (3, len(sentence), 32)
            np.testing.assert_array_equal(stored[()], dense(acts, number))


def test_json_layout(acts, tmp_path) -> None:
    """Read as NeuroX does: tokens, their layers, the values."""
    lmkin.export_activations(acts, tmp_path / "a.json")
    lines = (tmp_path / "a.json").read_text().splitlines()
    for number, (line, sentence) in enumerate(zip(lines, acts.units.corpus, strict=True)):
        features = json.loads(line)["features"]
        assert json.loads(line)["linex_index"] == number
        assert [f["token"] for f in features] == list(sentence.words)
        values = np.array([[layer["values"] for layer in f["layers"]] for f in features])
        np.testing.assert_allclose(values.swapaxes(0, 1), dense(acts, number), atol=1e-7)


@pytest.mark.parametrize("name", ["a.hdf5", "a.json"])
def test_round_trip_through_a_file(acts, sample, tmp_path, name: str) -> None:
    lmkin.export_activations(acts, tmp_path / name)
    back = lmkin.extract(str(tmp_path / name), sample[:12])
    assert back.units.hash == acts.units.hash
    for layer in acts.layers:
        np.testing.assert_allclose(
            np.asarray(back.layer(layer)), np.asarray(acts.layer(layer)), atol=1e-7
        )


def test_a_store_can_stand_in_for_its_model(tiny, sample, tmp_path) -> None:
    acts = lmkin.extract(tiny, sample[:12], tmp_path / "a.acts")
    part = lmkin.extract(str(tmp_path / "a.acts"), sample[4:9])
    again = lmkin.extract(tiny, sample[4:9])
    np.testing.assert_allclose(np.asarray(part.layer(2)), np.asarray(again.layer(2)), atol=1e-4)
    assert part.units.hash == again.units.hash
    assert len(acts.layers) == 3


def test_words_that_a_store_lost_stay_lost(model_folder, sample, tmp_path) -> None:
    decoder = lmkin.extract(str(model_folder("gpt2")), sample[:12], tmp_path / "a.acts")
    back = lmkin.extract(str(tmp_path / "a.acts"), sample[:12])
    assert back.units.hash == decoder.units.hash
    lost = back.manifest["units"]["losses"]["dropped"]["not in the file of activations"]
    assert lost == sample[:12].n_words - len(decoder)


def test_repeated_sentences(tiny, tmp_path) -> None:
    texts = ["the dog", "the cat", "the dog"]
    corpus = lmkin.Corpus(
        [lmkin.Sentence(t, ((0, 3), (4, 7)), id=str(i)) for i, t in enumerate(texts)]
    )
    acts = lmkin.extract(tiny, corpus)
    assert lmkin.export_activations(acts, tmp_path / "n.hdf5", "neurox-hdf5") == 3
    with h5py.File(tmp_path / "n.hdf5") as file:
        assert "the dog (Occurrence 2)" in json.loads(file["sentence_to_index"][0])
    assert lmkin.export_activations(acts, tmp_path / "c.hdf5") == 2
    for name in ("n.hdf5", "c.hdf5"):
        back = lmkin.extract(str(tmp_path / name), corpus)
        np.testing.assert_allclose(np.asarray(back.layer(1)), np.asarray(acts.layer(1)), atol=1e-6)


def test_one_layer_files_and_words_with_spaces(tmp_path) -> None:
    """contextual-repr writes words × neurons where there is one layer."""
    vectors = np.arange(8, dtype=np.float32).reshape(2, 4)
    with h5py.File(tmp_path / "one.hdf5", "w") as file:
        file.create_dataset("0", data=vectors)
        index = file.create_dataset("sentence_to_index", (1,), dtype=h5py.string_dtype())
        index[0] = json.dumps({"10 000 euros": "0"})
    sentence = lmkin.Sentence("10\u00a0000 euros", ((0, 6), (7, 12)), ("10 000", "euros"), id="x")
    acts = lmkin.extract(str(tmp_path / "one.hdf5"), lmkin.Corpus([sentence]))
    np.testing.assert_array_equal(np.asarray(acts.layer(0)), vectors)


def test_sentences_that_are_not_in_the_file_are_counted(acts, sample, tmp_path) -> None:
    lmkin.export_activations(acts, tmp_path / "a.hdf5")
    more = lmkin.extract(str(tmp_path / "a.hdf5"), sample[:14])
    assert len(more) == len(acts)
    lost = more.manifest["units"]["losses"]["dropped"]["not in the file of activations"]
    assert lost == sample[12:14].n_words
    with pytest.raises(lmkin.ModelError, match=r"No sentence of .* the words must be the same"):
        lmkin.extract(str(tmp_path / "a.hdf5"), sample[20:30])


def test_mismatched_words(acts, sample, tmp_path) -> None:
    lmkin.export_activations(acts, tmp_path / "a.hdf5")
    with h5py.File(tmp_path / "a.hdf5", "a") as file:
        wide = np.repeat(file["3"][()], 2, axis=1)
        del file["3"]
        file["3"] = wide
    with pytest.raises(lmkin.ModelError, match="another tokenization"):
        lmkin.extract(str(tmp_path / "a.hdf5"), sample[:12])


def test_files_that_are_something_else(tmp_path) -> None:
    (tmp_path / "a.hdf5").write_text("hello")
    (tmp_path / "b.json").write_text('{"hello": 1}\n')
    with h5py.File(tmp_path / "c.hdf5", "w") as file:
        file["x"] = [1]
    for name, says in (
        ("a.hdf5", "not a readable HDF5"),
        ("b.json", "line 1"),
        ("c.hdf5", "sentence_to_index"),
    ):
        with pytest.raises(lmkin.ActivationsError, match=says):
            lmkin.load_model(tmp_path / name)


def test_precomputed_files_have_no_attention_and_no_sentences(acts, sample, tmp_path) -> None:
    lmkin.export_activations(acts, tmp_path / "a.hdf5")
    model = lmkin.load_model(tmp_path / "a.hdf5")
    with pytest.raises(lmkin.ModelError, match="no attention"):
        model.attention(sample)
    with pytest.raises(lmkin.ModelError, match="holds one vector a word"):
        lmkin.extract(model, sample, units="sentence")


def test_what_cannot_be_exported(tiny, sample, tmp_path) -> None:
    sentences = lmkin.extract(tiny, sample[:3], units="sentence")
    with pytest.raises(lmkin.ActivationsError, match="hold words"):
        lmkin.export_activations(sentences, tmp_path / "a.hdf5")
    words = lmkin.extract(tiny, sample[:3])
    with pytest.raises(lmkin.ActivationsError, match="Cannot tell the format"):
        lmkin.export_activations(words, tmp_path / "a.xyz")
    with pytest.raises(lmkin.ActivationsError, match="Did you mean 'neurox-json'"):
        lmkin.export_activations(words, tmp_path / "a.json", "neuroxjson")
