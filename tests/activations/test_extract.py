"""`extract` in memory and on disk: order, layers, dtypes, losses, guards."""

from __future__ import annotations

import json

import numpy as np
import pytest
from safetensors.numpy import load_file

import lmkin
from lmkin.activations import extraction


def test_disk_and_memory_agree_to_the_bit(tiny, sample, tmp_path) -> None:
    corpus = sample[:80]
    memory = lmkin.extract(tiny, corpus)
    disk = lmkin.extract(tiny, corpus, tmp_path / "acts")
    opened = lmkin.open_activations(tmp_path / "acts")
    for layer in memory.layers:
        np.testing.assert_array_equal(
            np.asarray(memory.layer(layer)), np.asarray(disk.layer(layer))
        )
        np.testing.assert_array_equal(
            np.asarray(memory.layer(layer)), np.asarray(opened.layer(layer))
        )
    assert memory.units.hash == disk.units.hash == opened.units.hash
    assert list(opened.units.corpus) == list(corpus)


def test_order_of_the_corpus_is_restored(tiny, sample) -> None:
    """Rows follow the corpus, however batches are cut: each sentence equals its own extraction."""
    corpus = sample[:30]
    acts = lmkin.extract(tiny, corpus, batch_tokens=64)
    assert acts.units.texts == corpus.words
    for number in (0, 13, 29):
        alone = lmkin.extract(tiny, corpus[[number]])
        rows = acts.units.rows_of(number)
        np.testing.assert_allclose(acts.layer(-1)[rows], np.asarray(alone.layer(-1)), atol=1e-4)


def test_many_shards_equal_one(tiny, sample, tmp_path) -> None:
    corpus = sample[:60]
    one = lmkin.extract(tiny, corpus)
    many = lmkin.extract(tiny, corpus, tmp_path / "acts", shard_bytes=20_000, batch_tokens=32)
    assert len(many.manifest["shards"]) > 3
    for layer in one.layers:
        np.testing.assert_allclose(
            np.asarray(one.layer(layer)), np.asarray(many.layer(layer)), atol=1e-4
        )


def test_shards_are_plain_safetensors(tiny, sample, tmp_path) -> None:
    acts = lmkin.extract(tiny, sample[:60], tmp_path / "acts", shard_bytes=50_000, batch_tokens=32)
    files = sorted((tmp_path / "acts").glob("shard-*.safetensors"))
    for layer in acts.layers:
        whole = np.concatenate([load_file(f)[f"layer_{layer:03d}"] for f in files])
        np.testing.assert_array_equal(whole, np.asarray(acts.layer(layer)))


def test_chosen_layers(tiny, sample) -> None:
    everything = lmkin.extract(tiny, sample[:10])
    some = lmkin.extract(tiny, sample[:10], layers=[0, -1])
    assert some.layers == (0, 2)
    np.testing.assert_array_equal(np.asarray(some.layer(2)), np.asarray(everything.layer(-1)))
    with pytest.raises(lmkin.ActivationsError, match="no layer 1 here; layers: 0, 2"):
        some.layer(1)


@pytest.mark.parametrize(
    ("layers", "chosen"),
    [
        ("all", [0, 1, 2, 3]),
        ("1-2", [1, 2]),
        ("-1", [3]),
        ("3,0", [0, 3]),
        ([-4, 1], [0, 1]),
        (2, [2]),
    ],
)
def test_layer_texts(layers, chosen) -> None:
    assert extraction.choose_layers(layers, 4) == chosen


@pytest.mark.parametrize("layers", ["4", "-5", "x", "", [], [7], [1.9], 1.5, None])
def test_wrong_layers(layers) -> None:
    with pytest.raises(lmkin.LmkinError, match="layer"):
        extraction.choose_layers(layers, 4)


def test_float16_store(tiny, sample, tmp_path) -> None:
    full = lmkin.extract(tiny, sample[:20])
    half = lmkin.extract(tiny, sample[:20], tmp_path / "half", dtype="float16")
    assert half.dtype == np.float16
    np.testing.assert_allclose(
        np.asarray(half.layer(1)), np.asarray(full.layer(1)), rtol=2e-3, atol=1e-3
    )


def test_float16_that_would_overflow_is_refused(tiny, sample, tmp_path) -> None:
    class Huge(type(tiny)):
        def run(self, windows, layers, *, reduce="sum"):
            rows, vectors = super().run(windows, layers, reduce=reduce)
            return rows, [v * 1e6 for v in vectors]

    tiny.__class__ = Huge
    with pytest.raises(lmkin.ActivationsError, match="float16 cannot hold"):
        lmkin.extract(tiny, sample[:3], tmp_path / "half", dtype="float16")


def test_nan_names_the_layer_and_keeps_finished_shards(tiny, sample, tmp_path) -> None:
    class Sick(type(tiny)):
        def run(self, windows, layers, *, reduce="sum"):
            rows, vectors = super().run(windows, layers, reduce=reduce)
            if any(w.sentence == 50 for w in windows):
                vectors[1][0, 0] = np.nan
            return rows, vectors

    healthy = type(tiny)
    tiny.__class__ = Sick
    options = {"shard_bytes": 20_000, "batch_tokens": 32}
    with pytest.raises(lmkin.ModelError, match="NaN or infinite activations in layer 1"):
        lmkin.extract(tiny, sample[:80], tmp_path / "acts", **options)
    kept = sorted((tmp_path / "acts").glob("shard-*"))
    assert kept
    written = {f: f.stat().st_mtime_ns for f in kept}
    tiny.__class__ = healthy
    lmkin.extract(tiny, sample[:80], tmp_path / "acts", **options)
    assert written == {f: f.stat().st_mtime_ns for f in kept}


def test_manifest_says_how_the_rows_came_about(tiny, tricky, tmp_path) -> None:
    lmkin.extract(tiny, tricky, tmp_path / "acts", pooling="mean")
    manifest = json.loads((tmp_path / "acts" / "manifest.json").read_text())
    assert manifest["status"] == "complete"
    assert manifest["units"]["rule"] == {
        "kind": "word",
        "pooling": "mean",
        "first_token": "drop",
        "special_tokens": "drop",
        "long": "window",
        "overlap": None,
        "max_length": None,
    }
    assert manifest["corpus"]["hash"] == tricky.hash
    assert manifest["model"]["weights"] == tiny.weight_hash
    assert manifest["model"]["tokenizer"]["hash"] == tiny.tokenizer.hash
    assert manifest["versions"]["torch"]
    assert manifest["model"]["causal"] is False


def test_strings_are_loaded(model_folder) -> None:
    acts = lmkin.extract(str(model_folder("bert")), "sample", layers=[0])
    assert len(acts) == lmkin.read_corpus("sample").n_words


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"units": "words"}, "Did you mean 'word'"),
        ({"pooling": "avg"}, "Unknown pooling of words 'avg'"),
        ({"pooling": "cls"}, "Unknown pooling of words 'cls'"),
        ({"units": "token", "pooling": "garbage"}, "Unknown pooling of tokens"),
        ({"long": "windows"}, "Did you mean 'window'"),
        ({"first_token": "skip"}, "Unknown first_token"),
        ({"dtype": "float8"}, "Unknown dtype"),
        ({"overlap": 0}, "overlap must be at least 1"),
        ({"max_length": 2}, "max_length must be at least 8"),
        ({"batch_tokens": 0}, "batch_tokens is a whole number, 1 or more; got 0"),
    ],
)
def test_wrong_options(tiny, tricky, options, says) -> None:
    with pytest.raises(lmkin.LmkinError, match=says):
        lmkin.extract(tiny, tricky, **options)


def test_empty_corpus(tiny) -> None:
    with pytest.raises(lmkin.ActivationsError, match="empty"):
        lmkin.extract(tiny, lmkin.Corpus([]))


def test_corpus_without_words_or_without_representable_ones(tiny) -> None:
    with pytest.raises(lmkin.ActivationsError, match="has no words; extract sentences instead"):
        lmkin.extract(tiny, lmkin.Corpus([lmkin.Sentence("abc", id="x")]))
    invisible = lmkin.Corpus([lmkin.Sentence("\u200b", ((0, 1),), id="x")])
    with pytest.raises(lmkin.ActivationsError, match="can represent no word"):
        lmkin.extract(tiny, invisible)


def test_too_little_memory_is_said_before_running(tiny, sample, monkeypatch) -> None:
    monkeypatch.setattr("lmkin.core.memory.available_memory", lambda: 1000)
    monkeypatch.setattr(type(tiny), "run", lambda *a, **k: pytest.fail("it ran"))
    with pytest.raises(lmkin.ActivationsError, match=r"memory.*Give a folder \(out=…\)"):
        lmkin.extract(tiny, sample)


def test_too_little_disk_is_said_before_running(tiny, sample, monkeypatch, tmp_path) -> None:
    import shutil

    real = shutil.disk_usage(tmp_path)
    monkeypatch.setattr("shutil.disk_usage", lambda path: real._replace(free=1000))
    monkeypatch.setattr(type(tiny), "run", lambda *a, **k: pytest.fail("it ran"))
    with pytest.raises(lmkin.ActivationsError, match=r"on disk, and .* has 1 kB free"):
        lmkin.extract(tiny, sample, tmp_path / "acts")


def test_out_of_memory_in_a_batch_says_what_to_lower(tiny, sample, monkeypatch) -> None:
    def burst(*args, **kwargs):
        raise RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory")

    monkeypatch.setattr(type(tiny), "forward", burst)
    with pytest.raises(lmkin.ModelError, match="Lower batch_tokens"):
        lmkin.extract(tiny, sample[:3])


def test_max_pooling_over_windows(tiny) -> None:
    corpus = lmkin.Corpus([lmkin.Sentence("the dog and the cat " * 30, id="x")])
    most = lmkin.extract(
        tiny, corpus, units="sentence", pooling="max", max_length=32, special_tokens="drop"
    )
    tokens = lmkin.extract(tiny, corpus, units="token", max_length=32)
    assert most.manifest["units"]["losses"]["sentences_in_windows"] == 1
    np.testing.assert_allclose(most.layer(-1)[0], np.asarray(tokens.layer(-1)).max(0), atol=1e-5)
