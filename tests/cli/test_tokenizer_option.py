"""`--tokenizer`, and what the commands say of unknown tokens."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from transformers import AutoTokenizer

import lmkin
from lmkin.cli import run

ROWS = np.random.default_rng(0).normal(size=(60, 4))
TEXT = (
    "the cook ☃ a letter\n" * 3 + "☃ ☃ under the table\n" * 20 + "the old cook hid a letter\n" * 20
)


def call(*arguments: object) -> int:
    """The exit code of a command."""
    try:
        run([str(a) for a in arguments])
    except SystemExit as end:
        return int(end.code or 0)
    return 0


@pytest.fixture(scope="module")
def whole(model_folder) -> Path:
    return model_folder("bert")


@pytest.fixture(scope="module")
def bare(whole: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same model without its tokenizer."""
    folder = tmp_path_factory.mktemp("bare") / "bare"
    folder.mkdir()
    for name in ("config.json", "model.safetensors"):
        shutil.copy(whole / name, folder)
    return folder


@pytest.fixture(scope="module")
def snow(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "snow.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


COMMANDS = {
    "similarity": ("-m", "ckasim", "--no-intervals"),
    "attention": ("-m", "js", "--no-intervals"),
    "dependency": (
        "--untrained", "--units", "word", "--no-permutation-baseline", "--no-intervals", "--subsets", "none",
    ),
    "redundancy": ("--thresholds", "0.3", "--no-intervals"),
}  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_a_model_without_tokenizer_is_refused_before_anything_is_written(
    command: str, bare, tmp_path, capsys
) -> None:
    out = tmp_path / "out"
    assert call(command, bare, *COMMANDS[command], "-c", "sample", "--limit", 20, "-o", out) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "bare comes without the vocabulary of its tokenizer" in said
    assert "--tokenizer" in said
    assert not list(out.glob("*"))


@pytest.mark.parametrize("command", COMMANDS)
def test_a_named_tokenizer_gives_the_same_numbers_and_alerts(
    command: str, whole, bare, snow, tmp_path, capsys
) -> None:
    """In the files, in the terminal and in the report; the share is what the tokenizer itself says."""
    tokenizer = AutoTokenizer.from_pretrained(whole)
    words = TEXT.split()
    unknown = sum(tokenizer.unk_token in tokenizer.tokenize(w) for w in words)
    options = (*COMMANDS[command], "-c", snow, "--names", "M", "--no-charts")
    assert call(command, whole, *options, "-o", tmp_path / "whole") == 0
    capsys.readouterr()
    assert call(command, bare, *options, "--tokenizer", whole, "-o", tmp_path / "bare") == 0
    said = " ".join(capsys.readouterr().err.split())
    told = f"M reads {unknown:,} of {len(words):,} words ({unknown / len(words):.1%}) with an unknown token"
    assert f"unknown tokens: {told}" in said
    assert said.count("unknown tokens:") == 1
    page = (tmp_path / "bare" / "report.html").read_text(encoding="utf-8")
    assert told in " ".join(page.split())
    files = sorted(p.name for p in (tmp_path / "whole").glob("*.nc"))
    assert files
    for name in files:
        with (
            xr.open_dataset(tmp_path / "whole" / name) as a,
            xr.open_dataset(tmp_path / "bare" / name) as b,
        ):
            xr.testing.assert_equal(a, b)


def test_one_tokenizer_for_each_model(whole, bare, tmp_path, capsys) -> None:
    options = ("-m", "ckasim", "--no-intervals", "-c", "sample", "--limit", 20, "--no-charts")
    out = tmp_path / "out"
    given = ("--tokenizer", f",{whole}", "--names", "a,b")
    assert call("similarity", whole, bare, *options, *given, "-o", out) == 0
    source = lmkin.load(out).provenance["source"]
    specs = {name: m["model"]["tokenizer_spec"] for name, m in source["manifests"].items()}
    assert specs == {"a": None, "b": str(whole)}
    capsys.readouterr()
    given = ("--tokenizer", f"{whole},{whole},{whole}")
    assert call("similarity", whole, bare, *options, *given, "-o", tmp_path / "no") == 1
    assert "There are 3 tokenizers for 2 models" in capsys.readouterr().err


def test_stored_activations_take_no_tokenizer(whole, tmp_path, capsys) -> None:
    store = tmp_path / "w.acts"
    assert call("extract", whole, "sample", "--limit", 20, "-o", store) == 0
    for command in ("similarity", "dependency", "redundancy"):
        given = (store, store) if command == "dependency" else (store,)
        code = call(command, *given, "--tokenizer", whole, "-o", tmp_path / command)
        assert code == 1, command
        assert "--tokenizer is for models that read a corpus" in capsys.readouterr().err


def test_extract_and_inspect_say_what_is_unknown(whole, bare, snow, tmp_path, capsys) -> None:
    tokenizer = AutoTokenizer.from_pretrained(whole)
    words = TEXT.split()
    unknown = sum(tokenizer.unk_token in tokenizer.tokenize(w) for w in words)
    n = len(words)
    told = f"{unknown} of {n} words ({unknown / n:.1%}) have an unknown token"
    given = ("--tokenizer", whole)
    store = tmp_path / "snow.acts"
    for arguments in (
        ("extract", bare, snow, *given, "--dry-run"),
        ("extract", bare, snow, *given, "-o", store),
        ("inspect", store),
        ("inspect", bare, *given, "--corpus", snow),
    ):
        assert call(*arguments) == 0
        out, err = (" ".join(text.split()) for text in capsys.readouterr())
        assert told in out, arguments
        if "--dry-run" not in arguments:
            assert "unknown tokens: bare reads" in out + err, arguments
    assert call("inspect", bare, *given, "--corpus", snow, "--limit", 3, "--json") == 0
    data = json.loads(capsys.readouterr().out)
    assert data["tokenizer_spec"] == str(whole)
    assert data["reading"]["kept"] == 15
    assert data["reading"]["losses"]["with_unknown_token"] == 3


def test_inspect_refuses_what_it_would_not_use(snow, whole, capsys, tmp_path) -> None:
    lmkin.similarity({"a/0": ROWS, "b/0": ROWS}, measures="ckasim", progress=False).save(
        tmp_path / "result"
    )
    lmkin.extract(whole, lmkin.read_corpus(snow), tmp_path / "store", progress=False)
    result, store = tmp_path / "result", tmp_path / "store"
    for arguments, says in (
        (
            (result, "--tokenizer", "x"),
            "PATH is a result, unfinished work, clusters, a mask or moments here",
        ),
        ((result, "--verify"), "--verify is for a store of activations"),
        ((snow, "--verify"), "--verify is for a store of activations; PATH is a corpus here"),
        ((store, "--option", "foo=1"), "--option is for a corpus; PATH is a store of activations"),
        ((whole, "--option", "foo=1"), "--option is for a corpus; PATH is a model here"),
        ((store, "--trust-remote-code"), "--trust-remote-code is for a model"),
        ((snow, "--tokenizer", whole), "--tokenizer is for a model"),
        ((snow, "--corpus", snow), "--corpus is for a model"),
        ((whole, "--limit", 3), "--limit is for a model that reads a corpus"),
    ):
        assert call("inspect", *arguments) == 1
        assert says in " ".join(capsys.readouterr().err.split())
