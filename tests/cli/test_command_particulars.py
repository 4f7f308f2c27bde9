"""What only one command has: one small run each, in which every flag of its own is given, and its own mistakes."""

from __future__ import annotations

import html
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from command_line import Outcome, call

import lmkin

TEXT = "The old cook hid <b>the letter</b> under the table"
QUIET: dict[str, Any] = {"progress": False}


@pytest.fixture(scope="module")
def bert(model_folder) -> Path:
    return model_folder("bert")


@pytest.fixture(scope="module")
def gpt2(model_folder) -> Path:
    return model_folder("gpt2")


def ran(*arguments: object) -> Outcome:
    outcome = call(*arguments, "--no-charts", "--json")
    assert outcome.code == 0, outcome.err
    return outcome


# -- similarity -----------------------------------------------------------------------------------------

MEASURE = """
import numpy as np
import lmkin

@lmkin.measure("firstsim", symmetric=True, range=(-1, 1), summary="Correlation of first neurons.")
def firstsim(X, Y):
    return np.corrcoef(X[:, 0], Y[:, 0])[0, 1]
"""


def test_similarity_takes_measures_and_options_of_ones_own(bert, sample, tmp_path) -> None:
    (tmp_path / "mine.py").write_text(MEASURE)
    flags = ("--load", tmp_path / "mine.py", "-m", "ckasim,firstsim", "--set", "estimator=biased", "--neurons", "raw",
             "--permutations", 9, "--parts", 3, "--level", 0.9, "--seed", 4, "--names", "one")  # fmt: skip
    out = tmp_path / "o"
    try:
        ran("similarity", bert, "-c", "sample", "--limit", 20, *flags, "-o", out)
        acts = lmkin.extract(lmkin.load_model(bert, name="one"), sample[:20], **QUIET)
        direct = lmkin.similarity(
            [acts], measures="ckasim,firstsim", measure_options={"estimator": "biased"}, neurons="raw",
            permutations=9, parts=3, level=0.9, seed=4, **QUIET,
        )  # fmt: skip
    finally:
        lmkin.measures.forget("firstsim")
    stored = lmkin.load(out)
    assert stored.models == ["one"]
    for name in ("ckasim", "ckasim_se", "ckasim_low", "ckasim_p", "firstsim", "firstsim_se"):
        np.testing.assert_allclose(stored[name], direct[name], atol=2e-5, err_msg=name)
    page = html.unescape((out / "report.html").read_text("utf-8"))
    for word in ("Correlation of first neurons", "permutation baseline", 'estimator="biased"'):
        assert word in page


def test_similarity_of_a_file_of_moments(tmp_path) -> None:
    random = np.random.default_rng(0)
    moments = lmkin.compute_moments(
        {f"{m}/{k}": random.normal(size=(200, 4)) for m in "ab" for k in (0, 1)}, parts=4, **QUIET
    )
    moments.save(tmp_path / "m.safetensors")
    flags = ("-m", "ckasim", "--neurons", "raw", "-o", tmp_path / "o")
    ran("similarity", tmp_path / "m.safetensors", *flags)
    direct = lmkin.similarity(moments, measures="ckasim", neurons="raw")
    xr.testing.assert_equal(lmkin.load(tmp_path / "o")["ckasim"], direct["ckasim"])


def test_a_faulty_file_of_measures_is_named_with_its_line(tmp_path) -> None:
    (tmp_path / "bad.py").write_text("import lmkin\n\n1 / 0\n")
    outcome = call("measures", "--load", tmp_path / "bad.py")
    assert outcome.code == 1
    assert "bad.py, line 3: ZeroDivisionError" in outcome.said


# -- attention ------------------------------------------------------------------------------------------


def test_attention_draws_the_sentence_and_groups_heads(bert, gpt2, sample, tmp_path) -> None:
    out = tmp_path / "o"
    flags = ("-m", "js,svsim", "--set", "variance=0.9", "--sink", "kept", "--threshold", 0.3, "--sentence", TEXT,
             "--parts", 3, "--convention", "released", "--names", "one,two")  # fmt: skip
    outcome = ran("attention", bert, gpt2, "-c", "sample", "--limit", 20, *flags, "-o", out)
    models = [
        lmkin.load_model(m, attention=True, name=n) for m, n in ((bert, "one"), (gpt2, "two"))
    ]
    direct = lmkin.attention_similarity(
        models, sample[:20], measures="js,svsim", measure_options={"variance": 0.9}, sink="kept", threshold=0.3,
        sentence=TEXT, parts=3, convention="released", **QUIET,
    )  # fmt: skip
    stored = lmkin.load(out)
    for name in ("js", "js_se", "js_match", "js_heads", "svsim", "sink_share"):
        np.testing.assert_allclose(stored[name], direct[name], atol=1e-6, err_msg=name)
    assert stored.heads["stays"].values.tolist() == direct.heads["stays"].values.tolist()
    np.testing.assert_allclose(stored.sentence, lmkin.sentence_attention(models, TEXT), atol=1e-6)
    assert {row["measure"] for row in json.loads(outcome.out)["pairs"]} == {"js", "svsim"}
    for row in json.loads(outcome.out)["heads"]:
        assert row["heads"] == row["could_go"] + row["groups"]
    page = (out / "report.html").read_text("utf-8")
    assert "letter" in page
    assert "<b>the" not in page


# -- dependency -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def by_length(model_folder, tmp_path_factory) -> tuple[list[Path], Path, dict]:
    """Two models under the names of checkpoints of the paper, on texts of 16 and 24 tokens of a third."""
    folder = tmp_path_factory.mktemp("paper")
    models = [folder / "bert-base-uncased", folder / "roberta-base"]
    for name, path in zip(("bert", "roberta"), models, strict=True):
        shutil.copytree(model_folder(name), path)
    flags = ("--lengths", "24,16", "--limit", 90, "--reference-tokenizer", model_folder("gpt2"), "--split",
             "train=0.7,test=0.3", "--ridge", 0.5, "--ridge-rule", "relative", "--parts", 3, "--subsets", "1",
             "--no-permutation-baseline", "--names", "B,R", "--compare-published")  # fmt: skip
    outcome = ran("dependency", *models, "-c", "sample", *flags, "-o", folder / "o")
    return models, folder / "o", json.loads(outcome.out)


def test_dependency_reads_texts_of_every_length(by_length, model_folder, sample) -> None:
    models, out, _ = by_length
    loaded = [lmkin.load_model(m, name=n) for m, n in zip(models, "BR", strict=True)]
    stored = lmkin.load(out)
    assert stored["length"].values.tolist() == [16, 24]
    assert stored["n"].sum("split").values.tolist() == [90, 90]
    assert "r2_group_null" not in stored
    for length in (16, 24):
        texts = lmkin.cut_sequences(sample, model_folder("gpt2"), length, limit=90)
        direct = lmkin.decompose(
            loaded, texts, max_length=length, long="truncate", split={"train": 0.7, "test": 0.3}, ridge=0.5,
            ridge_rule="relative", parts=3, permutation_baseline=False, **QUIET,
        )  # fmt: skip
        for name in ("r2_group", "r2_group_se", "r2_pair", "r2_length"):
            mine = stored[name].sel(length=length)
            np.testing.assert_allclose(mine, direct[name], atol=1e-6, err_msg=name)
    # The portfolio is that of the largest length.
    assert stored.portfolio["best_subsets"]["size"].values.tolist() == [1]
    unexplained = stored.portfolio["unexplained"]
    assert set(unexplained["text"].values.ravel()) <= {s.text for s in texts}


def test_dependency_stands_beside_the_paper(by_length) -> None:
    _, out, printed = by_length
    shown = [(p["model"], p["tokens"], p["checkpoint"]) for p in printed["published"]]
    assert shown == [("B", 16, "bert-base-uncased"), ("R", 16, "roberta-base")]
    first = printed["published"][0]  # tables 2 and 3 of Zhang 2022: BERT, 16 tokens
    assert (first["table_2"], first["table_3"]) == (0.7381, 0.7829)
    assert first["r2"] == printed["results"][0]["models"][0]["r2"]
    assert "as published" in (out / "report.html").read_text("utf-8")


def test_dependency_of_files_of_moments_is_least_squares(tmp_path) -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(600, 4))
    rows = {"a": X, "b": X @ random.normal(size=(4, 3)) + random.normal(size=(600, 3))}
    for name, mine in (("train", slice(0, 500)), ("test", slice(500, 600))):
        some = lmkin.compute_moments({k: v[mine] for k, v in rows.items()}, parts=5, **QUIET)
        some.save(tmp_path / f"{name}.safetensors")
    files = [f"{name}={tmp_path / name}.safetensors" for name in ("test", "train")]
    outcome = call("dependency", *files, "-o", tmp_path / "o", "--no-charts")
    assert outcome.code == 0, outcome.err
    A, B = (rows[k] - rows[k][:500].mean(0) for k in "ab")
    W = np.linalg.lstsq(A[:500], B[:500], rcond=None)[0]
    left = ((B[500:] - A[500:] @ W) ** 2).sum()
    total = ((B[500:] - B[500:].mean(0)) ** 2).sum()
    value = float(lmkin.load(tmp_path / "o")["r2_group"].sel(split="test", model="b"))
    assert value == pytest.approx(1 - left / total, abs=1e-5)
    # Only what is shown is explained: moments know neither shuffled rows nor lengths of texts.
    assert "linearly, ± its standard error. mean: ρ of the group." in outcome.printed
    for word in ("chance", "beyond length"):
        assert word not in outcome.printed


# -- redundancy -----------------------------------------------------------------------------------------


def test_redundancy_keeps_activations_masks_and_strips(bert, gpt2, tmp_path) -> None:
    out = tmp_path / "o"
    flags = ("--thresholds", "0:0.4:0.2,0.6", "--linkage", "complete", "--representative", "medoid", "--keep-at",
             "0.3,0.3000001", "--sentence", TEXT, "--strips-at", 0.6, "--clusters", 2, "--ridge", 0.5, "--parts", 3,
             "--keep-activations", "--store-dtype", "float16", "--layers", "0,1", "--seed", 3)  # fmt: skip
    outcome = ran("redundancy", bert, gpt2, "-c", "sample", "--limit", 60, *flags, "-o", out)
    stores = [out / "bert.acts", out / "gpt2.acts"]
    for store in stores:
        acts = lmkin.open_activations(store)
        assert (acts.layers, acts.dtype) == ((0, 1), np.float16)
    assert not (out / "unfinished").exists()
    stored = lmkin.load(out)
    direct = lmkin.redundancy(
        stores, thresholds=[0, 0.2, 0.4, 0.6], linkage="complete", representative="medoid",
        keep_at=[0.3, 0.3000001], strips_at=0.6, clusters=2, ridge=0.5, parts=3, seed=3, **QUIET,
    )  # fmt: skip
    xr.testing.assert_equal(stored.dataset, direct.dataset)
    xr.testing.assert_equal(stored.layers, direct.layers)
    # Thresholds that are nearly the same have masks of their own.
    masks = {p.name for p in (out / "keep").iterdir()}
    assert masks == {f"{m}-{t}.safetensors" for m in ("bert", "gpt2") for t in ("0.3", "0.3000001")}
    for entry in json.loads(outcome.out)["keep"]:
        mask = lmkin.NeuronMask.load(entry["file"])
        assert mask.hash == direct.clustering.keep(entry["threshold"], entry["model"]).hash
    assert [s.attrs["model"] for s in stored.strips] == ["bert", "gpt2"]
    for strip in stored.strips:
        skipped = strip.attrs["model"] == "gpt2"  # a decoder's first word is its sink
        assert strip["text"].values.tolist() == TEXT.split()[skipped:]
        assert len(np.unique(strip["cluster"])) == 2
    assert "<b>the" not in (out / "report.html").read_text("utf-8")


# -- mistakes, before a model is loaded -------------------------------------------------------------------

MODELS = ("a-model", "b-model")
READ = ("-c", "{corpus}")
MISTAKES: dict[str, list[tuple[tuple[str, ...], str]]] = {
    "similarity": [
        ((*MODELS, *READ, "-m", "cksim"), "Did you mean 'ckasim'"),
        ((*MODELS, *READ, "--set", "varianc=0.9"), "Did you mean 'variance'"),
        ((*MODELS, *READ, "--set", "variance"), "NAME=VALUE"),
        ((*MODELS, *READ, "--set", "variance=7"), "between 0 and 1"),
    ],
    "attention": [
        ((*MODELS, *READ, "--measures", "jss"), "Did you mean 'js'"),
        ((*MODELS, *READ, "--sentence", "0"), "sentences 1 to 3"),
        ((*MODELS, *READ, "--sentence", "-3"), "sentences 1 to 3"),
        ((*MODELS, *READ, "--sentence", "  "), "sentence is empty"),
        ((*MODELS, *READ, "--threshold", "5"), "from 0 to 1"),
        ((*MODELS, *READ, "--set", "varience=0.9"), "Did you mean 'variance'"),
    ],
    "dependency": [
        ((*MODELS, *READ, "--lengths", "16,long"), "such as 16,32,64"),
        ((*MODELS, *READ, "--lengths", "4"), "from 8 on"),
        ((*MODELS, *READ, "--lengths", "16", "--max-length", "20"), "leave out --max-length"),
        ((*MODELS, *READ, "--reference-tokenizer", "bert"), "give lengths too"),
        ((*MODELS, *READ, "--split", "train=0.8,tset=0.2"), "Did you mean 'test'"),
        ((*MODELS, *READ, "--split", "train:0.8"), "fractions by name"),
        ((*MODELS, *READ, "--split", "train=0.8,test=0.4"), "sum to 1"),
        ((*MODELS, *READ, "--split", "train=0.5,train=0.4"), "twice"),
        ((*MODELS, *READ, "--ridge", "much"), "'auto', a number"),
        ((*MODELS, *READ, "--ridge", "-1"), "0 or more"),
        ((*MODELS, *READ, "--ridge-rule", "validation", "--split", "train=0.7,test=0.3"), "give 'validation' some"),
        ((*MODELS, *READ, "--ridge-rule", "validation", "--ridge", "0.5"), "got the number 0.5 too"),
        ((*MODELS, *READ, "--ridge", "validation", "--ridge-rule", "floor"), "are two rules"),
        ((*MODELS, *READ, "--convention", "released", "--ridge", "0.5"), "got the ridge 0.5 too"),
        ((*MODELS, *READ, "--compare-published"), "needs a corpus and lengths"),
        ((*MODELS, *READ, "--compare-published", "--lengths", "16", "--units", "word"), "sentences as units"),
        ((*MODELS, *READ, "--compare-published", "--lengths", "16", "--layers", "all"), "leave --layers out"),
        ((*MODELS, *READ, "--subsets", "some"), "1,3-5"),
        ((*MODELS, *READ, "--subsets", "2,5"), "1 to 1 of the 2 models; got 2"),
        ((*MODELS, *READ, "--untrained", "--subsets", "4"), "1 to 3 of the 4 models; got 4"),
        (("a.acts", "b.acts", "--subsets", "2"), "1 to 1 of the 2 models; got 2"),
        (("a-model", *READ), "two models at least"),
        (("train=a", "train=b"), "each name once"),
        (("train=a", "b-model"), "and nothing else"),
        (("train={folder}", "test={folder}"), "is a folder; moments are"),
        (("train=a", "test=b", "--lengths", "16"), "give one (--corpus)"),
        (("train=a", "test=b", "--pooling", "first"), "--pooling is for models that read a corpus"),
        (("train=a", "test=b", "--split", "train=0.9,test=0.1"), "leave out --split, which would do nothing"),
        (("train=a", "test=b", "--parts", "7"), "leave out --parts, which would do nothing"),
        (("train=a", "test=b", "--layers", "all"), "leave out --layers, which would do nothing"),
        (("train=a", "test=b", "--memory", "1GB"), "leave out --memory, which would do nothing"),
        (("train=a", "test=b", "--seed", "1"), "leave out --seed, which would do nothing"),
    ],
    "redundancy": [
        ((*MODELS, *READ, "--thresholds", "0.1,2"), "numbers from 0 to 1"),
        ((*MODELS, *READ, "--keep-at", "half"), "numbers from 0 to 1"),
        ((*MODELS, *READ, "--sentence", TEXT, "--strips-at", "-1"), "numbers from 0 to 1"),
        ((*MODELS, *READ, "--clusters", "2"), "go with a sentence"),
        ((*MODELS, *READ, "--strips-at", "0.2"), "go with a sentence"),
        ((*MODELS, *READ, "--sentence", " "), "sentence is empty"),
        ((*MODELS, *READ, "--sentence", "One"), "two words at least"),
        ((*MODELS, *READ, "--sentence", "4"), "sentences 1 to 3"),
        ((*MODELS, *READ, "--sentence", TEXT, "--units", "sentence"), "one row for all of it"),
        ((*MODELS, *READ, "--no-layer-regressions", "--parts", "5"), "parts (--parts) is of regressions between"),
        ((*MODELS, *READ, "--no-layer-regressions", "--ridge", "1"), "ridge (--ridge) is of regressions between"),
        ((*MODELS, *READ, "--ridge", "much"), "'auto', a number"),
        (("a.acts", "--keep-activations"), "--keep-activations is for models that read a corpus"),
        (("a.acts", "--sentence", TEXT), "its number in their corpus"),
    ],
}  # fmt: skip


@pytest.mark.usefixtures("no_models")
@pytest.mark.parametrize("command", MISTAKES)
def test_mistakes_of_its_own_are_found_before_a_model_is_loaded(command: str, tmp_path) -> None:
    corpus = tmp_path / "few.txt"
    corpus.write_text("One line.\nAnother line.\nA third.\n")
    for arguments, message in MISTAKES[command]:
        filled = [a.format(corpus=corpus, folder=tmp_path) for a in arguments]
        outcome = call(command, *filled, "-o", tmp_path / "o")
        assert outcome.code == 1, arguments
        assert message in outcome.said, arguments
        assert len(outcome.err.splitlines()) == 1, arguments
    assert not (tmp_path / "o").exists()
