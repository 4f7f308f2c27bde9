"""`lmkin dependency`, as a person uses it."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
import transformers

import lmkin
from lmkin.cli import run
from lmkin.dependency.splitting import make_split

SHARES = {"train": 0.7, "test": 0.3}
SPLIT = ("--split", "train=0.7,test=0.3")
FEW = (*SPLIT, "--no-intervals", "--no-charts")


def call(*arguments: object) -> int:
    """The exit code of a command."""
    try:
        run([str(a) for a in arguments])
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def said(capsys: pytest.CaptureFixture[str]) -> str:
    """What was said on standard error, in one line."""
    return " ".join(capsys.readouterr().err.split())


@pytest.fixture(scope="module")
def models(model_folder) -> list[Path]:
    return [model_folder("bert"), model_folder("roberta"), model_folder("gpt2")]


@pytest.fixture(scope="module")
def by_length(models: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the decomposition of three tiny models at two lengths."""
    out = tmp_path_factory.mktemp("dependency") / "out"
    options = ("--lengths", "24,16", "--limit", 400, *SPLIT, "--parts", 5, "--no-charts")
    assert call("dependency", *models, "-c", "sample", *options, "-o", out) == 0
    return out


def embeddings(folder: Path, texts: list[str], length: int) -> np.ndarray:
    """The mean of the last layer over real tokens, straight from transformers."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder).eval()
    rows = []
    with torch.no_grad():
        for text in texts:
            ids = tokenizer(text, truncation=True, max_length=length, return_tensors="pt")
            rows.append(model(**ids).last_hidden_state[0].double().mean(0).numpy())
    return np.stack(rows)


def test_everything_is_written(by_length: Path) -> None:
    names = {p.name for p in by_length.iterdir()}
    tables = {"r2_group", "r2_pair", "drop_order", "best_subsets", "unique", "unexplained"}
    assert {f"{name}.csv" for name in tables} | {"dependency.nc", "report.html"} <= names
    assert "unfinished" not in names
    assert "charts" not in names
    stored = lmkin.load_result(by_length / "dependency.nc")
    assert stored["length"].values.tolist() == [16, 24]
    assert stored["r2_group"].dims == ("length", "split", "model")
    assert "length" not in stored["width"].dims
    page = (by_length / "report.html").read_text("utf-8")
    assert "lmkin" in page
    assert len(page) < 5e6


def test_numbers_are_those_of_the_library(by_length: Path, models: list[Path]) -> None:
    loaded = [lmkin.load_model(m) for m in models]
    table = pd.read_csv(by_length / "r2_group.csv").set_index(["length", "split", "model"])
    pairs = pd.read_csv(by_length / "r2_pair.csv").set_index(["length", "split", "basis", "target"])
    for length in (16, 24):
        texts = lmkin.cut_sequences(lmkin.read_corpus("sample"), loaded[0], length, limit=400)
        found = lmkin.decompose(
            loaded, texts, split=SHARES, parts=5, max_length=length, long="truncate", progress=False
        )
        for split in SHARES:
            for a in found.models:
                mine = table.loc[length, split, a]
                for name in (
                    "r2_group",
                    "r2_group_se",
                    "r2_group_low",
                    "r2_group_null",
                    "r2_length",
                ):
                    direct = float(found.data[name].sel(split=split, model=a))
                    assert mine[name] == pytest.approx(direct, abs=1e-6), name
                assert mine["n"] == int(found.n.sel(split=split))
                for b in found.models:
                    if a != b:
                        direct = float(found.r2_pair.sel(split=split, basis=a, target=b))
                        value = pairs.loc[length, split, a, b]["r2_pair"]
                        assert value == pytest.approx(direct, abs=1e-6)
    order = pd.read_csv(by_length / "drop_order.csv")
    direct_order = found.drop_order(progress=False)  # of the largest length
    assert order["model"].tolist() == direct_order["model"].values.tolist()
    np.testing.assert_allclose(order["r2"], direct_order["r2"], atol=1e-6)
    best = pd.read_csv(by_length / "best_subsets.csv")
    assert sorted(best["size"].unique()) == [1, 2]
    unexplained = pd.read_csv(by_length / "unexplained.csv")
    assert set(unexplained["model"]) == set(found.models)
    assert set(unexplained["text"]) <= {s.text for s in texts}


def test_numbers_are_those_of_a_regression_by_hand(by_length: Path, models: list[Path]) -> None:
    """Texts of 16 tokens of BERT; each model reads 16 of its own, special ones among them; the ridge by numpy."""
    texts = lmkin.cut_sequences(lmkin.read_corpus("sample"), str(models[0]), 16, limit=400)
    made = make_split(400, SHARES, starts=np.arange(400))  # fewer than 60 documents: rows
    train, test = made.rows("train"), made.rows("test")
    X, Y = (embeddings(m, [s.text for s in texts], 16) for m in models[:2])
    A, B = X - X[train].mean(0), Y - Y[train].mean(0)
    S = A[train].T @ A[train]
    W = np.linalg.solve(S + 1e-6 * np.trace(S) / len(S) * np.eye(len(S)), A[train].T @ B[train])
    left = ((B[test] - A[test] @ W) ** 2).sum()
    total = ((Y[test] - Y[test].mean(0)) ** 2).sum()
    table = pd.read_csv(by_length / "r2_pair.csv").set_index(["length", "split", "basis", "target"])
    value = table.loc[16, "test", "bert", "roberta"]["r2_pair"]
    assert value == pytest.approx(1 - left / total, abs=1e-5)


def test_texts_as_they_are(
    models: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "o"
    names = ("--names", "one,two")
    options = ("-c", "sample", "--limit", 300, *SPLIT, "--parts", 5, *names)
    assert call("dependency", *models[:2], *options, "-o", out) == 0
    captured = capsys.readouterr()
    words = " ".join(captured.out.split())
    for word in ("one", "two", "mean", "± its standard error", "chance: ", "beyond length: "):
        assert word in words
    assert "Switch off in this order: " in captured.err
    assert "open" in captured.err
    assert list((out / "charts").glob("*.png"))
    stored = lmkin.load_result(out / "dependency.nc")
    assert "length" not in stored.dims
    assert stored.attrs["command"].startswith("lmkin ")
    loaded = [lmkin.load_model(m, name=n) for m, n in zip(models[:2], ("one", "two"), strict=True)]
    corpus = lmkin.read_corpus("sample")[:300]
    found = lmkin.decompose(loaded, corpus, split=SHARES, parts=5, progress=False)
    for name in ("r2_group", "rho_group", "rho_group_se", "r2_group_beyond_length"):
        np.testing.assert_allclose(stored[name], found.data[name], atol=1e-6, err_msg=name)


def test_json(models: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("-c", "sample", "--lengths", "16", "--limit", 200, *FEW, "--no-null", "--json")
    assert call("dependency", *models[:2], "--untrained", *options, "-o", tmp_path / "o") == 0
    data = json.loads(capsys.readouterr().out)
    (row,) = data["results"]
    assert row["length"] == 16
    assert [m["model"] for m in row["models"]].count("bert") == 1
    assert len(row["models"]) == 4
    assert row["models"][0]["r2_se"] is None
    assert row["models"][0]["r2_null"] is None
    assert row["mean"] == pytest.approx(np.mean([m["r2"] for m in row["models"]]))
    assert {*data["drop_order"], data["stays"]} == {m["model"] for m in row["models"]}
    assert Path(data["report"]).is_file()


def test_layers_words_and_decoders(model_folder, tmp_path: Path) -> None:
    out = tmp_path / "o"
    both = (model_folder("t5"), model_folder("bart"))
    options = ("--units", "word", "--layers", "1,2", "--side", "decoder", "--limit", 60, *FEW)
    assert call("dependency", *both, "-c", "sample", *options, "-o", out) == 0
    stored = lmkin.load_result(out / "dependency.nc")
    assert stored["model"].values.tolist() == ["t5/1", "t5/2", "bart/1", "bart/2"]
    loaded = [lmkin.load_model(m, side="decoder") for m in both]
    corpus = lmkin.read_corpus("sample")[:60]
    found = lmkin.decompose(
        loaded, corpus, units="word", layers=[1, 2], split=SHARES, intervals=False, progress=False
    )
    np.testing.assert_allclose(stored["r2_group"], found.r2_group, atol=1e-6)
    assert stored.attrs["units"] == "word"


def test_ridge_rules(models: list[Path], tmp_path: Path) -> None:
    seen = {}
    for name, rule in (
        ("released", ("--released",)),
        ("absolute", ("--ridge", "1e-6", "--ridge-rule", "absolute")),
        ("strong", ("--ridge", "0.5")),
        ("validation", ("--ridge-rule", "validation", "--split", "train=0.6,validation=0.2,test=0.2")),
    ):  # fmt: skip
        options = ("-c", "sample", "--limit", 200, *FEW, "--subsets", "none", *rule)
        assert call("dependency", *models[:2], *options, "-o", tmp_path / name) == 0
        seen[name] = lmkin.load_result(tmp_path / name / "dependency.nc")
        assert not (tmp_path / name / "best_subsets.csv").exists()
    np.testing.assert_array_equal(seen["released"]["r2_group"], seen["absolute"]["r2_group"])
    assert seen["released"].attrs["rule"] == "absolute"
    assert seen["strong"].attrs["ridge"] == 0.5
    train = seen["strong"]["r2_group"].sel(split="train")
    assert (train < seen["released"]["r2_group"].sel(split="train")).all()
    assert seen["validation"].attrs["rule"] == "validation"
    assert len(seen["validation"]["split"]) == 3


def test_stored_activations(models: list[Path], tmp_path: Path) -> None:
    stores = [tmp_path / f"{m.name}.acts" for m in models[:2]]
    for model, store in zip(models[:2], stores, strict=True):
        options = ("--units", "sentence", "--limit", 200, "-o", store)
        assert call("extract", model, "sample", *options) == 0
    assert call("dependency", *stores, *FEW, "-o", tmp_path / "o") == 0
    assert call("dependency", *models[:2], "-c", "sample", "--limit", 200, *FEW, "-o", tmp_path / "p") == 0  # fmt: skip
    one, other = (lmkin.load_result(tmp_path / n / "dependency.nc") for n in ("o", "p"))
    np.testing.assert_allclose(one["r2_group"], other["r2_group"], atol=1e-5)


def test_moments_from_files(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(600, 4))
    rows = {"a": X, "b": X @ random.normal(size=(4, 3)) + random.normal(size=(600, 3))}
    for name, mine in (("train", slice(0, 500)), ("test", slice(500, 600))):
        some = lmkin.moments({k: v[mine] for k, v in rows.items()}, parts=5, progress=False)
        some.save(tmp_path / f"{name}.safetensors")
    files = [f"{name}={tmp_path / name}.safetensors" for name in ("test", "train")]
    assert call("dependency", *files, "-o", tmp_path / "o", "--no-charts") == 0
    stored = lmkin.load_result(tmp_path / "o" / "dependency.nc")
    A, B = (rows[k] - rows[k][:500].mean(0) for k in "ab")
    W = np.linalg.lstsq(A[:500], B[:500], rcond=None)[0]
    left = ((B[500:] - A[500:] @ W) ** 2).sum()
    total = ((B[500:] - B[500:].mean(0)) ** 2).sum()
    value = float(stored["r2_group"].sel(split="test", model="b"))
    assert value == pytest.approx(1 - left / total, abs=1e-5)


def test_beside_the_paper(
    models: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paper = [tmp_path / "bert-base-uncased", tmp_path / "roberta-base"]
    for source, name in zip(models, paper, strict=False):
        shutil.copytree(source, name)
    options = ("-c", "sample", "--lengths", "16", "--limit", 200, *FEW, "--compare-published")
    out = tmp_path / "o"
    assert call("dependency", *paper, models[2], *options, "--names", "B,R,G", "-o", out, "--json") == 0  # fmt: skip
    data = json.loads(capsys.readouterr().out)
    assert [(p["model"], p["checkpoint"]) for p in data["published"]] == [
        ("B", "bert-base-uncased"),
        ("R", "roberta-base"),
    ]
    first = data["published"][0]  # tables 2 and 3 of Zhang 2022, BERT, 16 tokens
    assert (first["table_2"], first["table_3"]) == (0.7381, 0.7829)
    assert first["r2"] == data["results"][0]["models"][0]["r2"]
    assert call("dependency", *paper, *options, "-o", out) == 0
    shown = capsys.readouterr().out
    assert "0.738" in shown
    assert "table 3" in shown
    assert "as published" in (out / "report.html").read_text("utf-8")
    assert call("dependency", *models[1:], *options, "-o", out) == 0
    assert "None of these models is among the twelve" in said(capsys)


def test_dry_run(models: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    options = ("-c", "sample", "--lengths", "16,80", "--limit", 100, "--dry-run")
    assert call("dependency", *models[:2], *options) == 0
    text = said(capsys)
    assert "Nothing is computed" in text
    assert "in 30 parts" in text
    assert "bert reads 64 tokens at once: where 80 are asked for, it reads the first 64" in text
    assert call("dependency", *models[:2], *options, "--no-intervals", "--json") == 0
    short, long = json.loads(capsys.readouterr().out)["results"]
    assert (short["length"], long["length"]) == (16, 80)
    assert (short["rows"], short["neurons"], short["parts"]) == (100, 64, 3)
    tokenizers = [transformers.AutoTokenizer.from_pretrained(m) for m in models[:2]]
    texts = lmkin.cut_sequences(lmkin.read_corpus("sample"), str(models[0]), 16, limit=100)
    count = sum(
        len(t(s.text, truncation=True, max_length=16)["input_ids"])
        for t in tokenizers
        for s in texts
    )
    assert short["tokens"] == count
    assert short["bytes_sums"] > 4 * 3 * 64 * 65 // 2
    assert short["seconds_models"] >= 0
    assert short["seconds_fits"] > 0


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--lengths", "16,long"), "such as 16,32,64"),
        (("--lengths", "4"), "from 8 on"),
        (("--lengths", "16,40000"), "fewer than 40000 tokens"),
        (("--lengths", "16", "--max-length", "20"), "leave out --max-length"),
        (("--reference-tokenizer", "bert"), "give both"),
        (("--lengths", "16", "--reference-tokenizer", "nowhere/at-all"), "nowhere/at-all"),
        (("--split", "train=0.8,tset=0.2"), "Did you mean 'test'"),
        (("--split", "train:0.8"), "shares by name"),
        (("--split", "train=0.8,test=0.4"), "sum to 1"),
        (("--split", "train=0.5,train=0.4"), "twice"),
        (("--ridge", "much"), "'auto', a number"),
        (("--ridge", "-1"), "0 or more"),
        (("--ridge", "0"), "without a ridge"),
        (("--ridge-rule", "relativ"), "Did you mean 'relative'"),
        (("--ridge-rule", "validation", "--split", "train=0.7,test=0.3"), "give 'validation' some"),
        (("--ridge-rule", "validation", "--ridge", "0.5"), "got the number 0.5 too"),
        (
            ("--ridge", "validation", "--ridge-rule", "floor"),
            "'validation' and 'floor' are two rules",
        ),
        (("--released", "--ridge", "0.5"), "got the ridge 0.5 too"),
        (("--compare-published",), "--compare-published needs --corpus and --lengths"),
        (("--compare-published", "--lengths", "16", "--units", "word"), "and no --units"),
        (("--compare-published", "--lengths", "16", "--layers", "all"), "goes without --layers"),
        (("--subsets", "some"), "1,3-5"),
        (("--subsets", "7"), "1 to 1 of the 2 models"),
        (("--level", "95"), "between 0 and 1"),
        (("--layers", "9"), "no layer 9"),
        (("--units", "tokens"), "Did you mean 'token'"),
        (("--units", "token"), "tokenizers cut the text differently"),
        (("--names", "a"), "1 names for 2 models"),
        (("--format", "nothing"), "nothing"),
    ],
)
def test_mistakes(
    options: tuple[str, ...],
    expected: str,
    models: list[Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    common = ("-c", "sample", "--limit", 20, "--no-charts", "-o", tmp_path)
    assert call("dependency", *models[:2], *common, *options) == 1
    text = said(capsys)
    assert expected in text
    assert "Traceback" not in text


def test_mistakes_in_what_is_given(
    models: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    cases = [
        ((models[0], "-c", "sample", "-o", tmp_path / "o"), "two models at least"),
        ((*models, "-c", "sample"), "Give a folder with -o DIR"),
        ((*models, "-o", tmp_path / "o"), "give a corpus"),
        ((*models, "-c", "sample", "-o", tmp_path / "file"), "is a file"),
        (("train=a", "train=b", "-o", tmp_path / "o"), "each name once"),
        (("train=a", models[0], "-o", tmp_path / "o"), "and nothing else"),
        ((f"train={tmp_path / 'file'}", "-o", tmp_path / "o"), "file"),
        (("train=a", "--lengths", "16", "-o", tmp_path / "o"), "--lengths is for models"),
        (("train=a", "--dry-run"), "nothing to plan"),
        (
            ("train=a", "--compare-published", "-o", tmp_path / "o"),
            "--compare-published needs --corpus",
        ),
        (
            (f"train={tmp_path}", f"test={tmp_path}", "-o", tmp_path / "o"),
            "is a folder; moments are",
        ),
    ]
    for arguments, expected in cases:
        assert call("dependency", *arguments) == 1, arguments
        text = said(capsys)
        assert expected in text
        assert "Traceback" not in text


@pytest.mark.parametrize(
    "flags",
    [
        ("--first-token", "keep"), ("--side", "decoder"), ("--revision", "main"), ("--device", "cpu"),
        ("--model-dtype", "float16"), ("--trust-remote-code",), ("--units", "sentence"), ("--long", "window"),
        ("--pooling", "max"), ("--limit", "5"), ("--untrained",),
    ],
)  # fmt: skip
def test_what_is_stored_is_not_read_again(
    flags: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for given in (("a.acts", "b.acts"), ("train=a", "test=b")):
        assert call("dependency", *given, *flags, "-o", tmp_path / "o") == 1
        assert f"{flags[0]} is for models that read a corpus" in said(capsys)


@pytest.mark.parametrize(
    "flags",
    [
        ("--split", "train=0.8,validation=0.1,test=0.1"), ("--parts", "10"), ("--layers", "last"),
        ("--memory", "1GB"), ("--seed", "0"), ("--null",),
    ],
)  # fmt: skip
def test_moments_were_made_before(
    flags: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("dependency", "train=a", "test=b", *flags, "-o", tmp_path / "o") == 1
    assert f"leave out {flags[0]}, which would do nothing" in said(capsys)


def test_a_seed_below_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("dependency", "a", "b", "-c", "sample", "--seed", "-1", "--dry-run") == 2
    text = said(capsys)
    assert "--seed" in text
    assert "Traceback" not in text


def test_sizes_of_subsets_before_anything_is_run(
    models: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The corpus and the stores do not exist, and nobody gets so far as to find out."""
    for rest in (("-o", tmp_path), ("--dry-run",)):
        assert call("dependency", *models, "-c", "no/corpus", "--subsets", "2,5", *rest) == 1
        assert "1 to 2 of the 3 models; got 5" in said(capsys)
    twins = ("--untrained", "--subsets", "6", "--dry-run")
    assert call("dependency", *models, "-c", "no/corpus", *twins) == 1
    assert "1 to 5 of the 6 models; got 6" in said(capsys)
    assert call("dependency", "a.acts", "b.acts", "--subsets", "2", "-o", tmp_path) == 1
    assert "1 to 1 of the 2 models; got 2" in said(capsys)


def test_only_what_is_shown_is_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    X = np.random.default_rng(0).normal(size=(300, 6))
    for name, mine in (("train", slice(0, 200)), ("test", slice(200, 300))):
        some = lmkin.moments({"a": X[mine, :3], "b": X[mine, 2:]}, parts=4, progress=False)
        some.save(tmp_path / f"{name}.safetensors")
    files = [f"{name}={tmp_path / name}.safetensors" for name in ("train", "test")]
    assert call("dependency", *files, "--subsets", "2", "-o", tmp_path / "o") == 1
    assert "1 to 1 of the 2 models; got 2" in said(capsys)
    assert call("dependency", *files, "-o", tmp_path / "o", "--no-charts") == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "linearly, ± its standard error. mean: ρ of the group." in shown
    assert call("dependency", *files, "-o", tmp_path / "o", "--no-charts", "--no-intervals") == 0
    fewer = " ".join(capsys.readouterr().out.split())
    assert "linearly. mean: ρ of the group." in fewer
    for word in ("chance", "beyond length"):
        assert word not in shown
        assert word not in fewer
    assert "±" not in fewer


def test_only_what_is_ours_is_removed(models: list[Path], tmp_path: Path) -> None:
    kept = tmp_path / "unfinished" / "length-16" / "mine.txt"
    kept.parent.mkdir(parents=True)
    kept.write_text("mine")
    options = ("-c", "sample", "--lengths", "16", "--limit", 100, *FEW, "-o", tmp_path)
    assert call("dependency", *models[:2], *options) == 0
    assert [p.name for p in kept.parent.iterdir()] == ["mine.txt"]
    assert [p.name for p in (tmp_path / "unfinished").iterdir()] == ["length-16"]


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("dependency", "--help") == 0
    shown = capsys.readouterr().out
    for flag in ("--lengths", "--reference-tok", "--ridge-rule", "--compare-publis", "--subsets"):
        assert flag in shown
    words = " ".join(re.sub(r"[^\w\s-]", " ", shown).split())
    assert "so many stretches of each" in words
    assert "among the pairs they do" in words
    assert call("--help") == 0
    assert "dependency" in capsys.readouterr().out


SAVING_OFTEN = """
import runpy
from lmkin.dependency import rows
rows._SECONDS = 0.0
runpy.run_module("lmkin", run_name="__main__", alter_sys=True)
"""


def killed(command: list[str], ready: Path) -> None:
    """Start a command, and kill it as soon as there is a file."""
    process = subprocess.Popen(
        [sys.executable, "-c", SAVING_OFTEN, *command],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 200
    while not ready.exists() and time.monotonic() < deadline:
        assert process.poll() is None, "the run was over before it could be killed"
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert ready.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="kills a process by signal")
def test_goes_on_with_the_next_length_after_a_kill(
    models: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, whole = tmp_path / "out", tmp_path / "whole"
    command = ["dependency", *map(str, models[:2]), "-c", "sample", "--lengths", "16,40",
               "--limit", "200", "--split", "train=0.7,test=0.3", "--parts", "3", "--no-charts"]  # fmt: skip
    killed([*command, "-o", str(out)], out / "unfinished" / "length-40" / "result.nc")
    assert not (out / "report.html").exists()
    # What is kept belongs to one command: with another seed everything is computed anew.
    shutil.copytree(out, tmp_path / "other")
    assert call(*command, "--seed", "1", "-o", tmp_path / "other") == 0
    assert "Going on" not in said(capsys)
    assert call(*command, "-o", out) == 0
    text = said(capsys)
    assert "Going on: the result for 40 tokens is there" in text
    assert "Length 40" not in text
    assert "Length 16: 200 texts" in text
    assert not (out / "unfinished").exists()
    assert call(*command, "-o", whole) == 0
    one, other = (lmkin.load_result(folder / "dependency.nc") for folder in (out, whole))
    for name in ("r2_group", "r2_group_se", "r2_pair", "rho_group", "r2_group_null"):
        np.testing.assert_allclose(one[name], other[name], atol=1e-9, err_msg=name)
    assert one.attrs["alerts"] == other.attrs["alerts"]
    for name in ("drop_order", "best_subsets", "unique", "unexplained"):
        pd.testing.assert_frame_equal(
            *(pd.read_csv(folder / f"{name}.csv") for folder in (out, whole)), atol=1e-9
        )


@pytest.mark.skipif(sys.platform == "win32", reason="kills a process by signal")
def test_goes_on_inside_a_length_after_a_kill(
    model_folder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Many tokens of two models with one tokenizer: sums of the first 4,096 rows are on disk when it is killed."""
    lines = [s.text for s in lmkin.read_corpus("sample")]
    text = tmp_path / "long.txt"
    text.write_text("\n".join(f"{i} {line}" for i, line in enumerate(lines)) + "\n")
    model = model_folder("bert")
    command = ["dependency", str(model), f"untrained:{model}@1", "-c", str(text), "--units", "token",
               "--no-intervals", "--no-charts"]  # fmt: skip
    out, whole = tmp_path / "out", tmp_path / "whole"
    killed([*command, "-o", str(out)], out / "unfinished" / "texts" / "moments.safetensors")
    assert call(*command, "-o", out) == 0
    going_on = re.search(r"Going on: ([\d,]+) of ([\d,]+) tokens", said(capsys))
    assert going_on is not None
    done, every = (int(number.replace(",", "")) for number in going_on.groups())
    assert 4096 <= done < every
    assert done % 4096 == 0
    assert not (out / "unfinished").exists()
    assert call(*command, "-o", whole) == 0
    one, other = (lmkin.load_result(folder / "dependency.nc") for folder in (out, whole))
    assert int(one["n"].sum()) == int(other["n"].sum())
    for name in ("r2_group", "r2_pair", "rho_group", "r2_group_null"):
        np.testing.assert_allclose(one[name], other[name], atol=1e-6, err_msg=name)
    tables = [pd.read_csv(folder / "unexplained.csv") for folder in (out, whole)]
    pd.testing.assert_frame_equal(*tables, atol=1e-4)
