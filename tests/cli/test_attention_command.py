"""`lmkin attention`, as a person uses it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lmkin
from lmkin.cli import run


def call(*arguments: object) -> int:
    """The exit code of a command."""
    try:
        run([str(a) for a in arguments])
    except SystemExit as end:
        return int(end.code or 0)
    return 0


@pytest.fixture(scope="module")
def models(model_folder) -> list[Path]:
    return [model_folder("bert"), model_folder("gpt2")]


@pytest.fixture(scope="module")
def compared(models: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that a comparison of two tiny models wrote."""
    out = tmp_path_factory.mktemp("attention") / "out"
    sentence = "The dog that barks <b>never</b> bites."
    options = ("--limit", 60, "--sentence", sentence, "--names", "one,two", "--threshold", 0.3)
    assert call("attention", *models, "-c", "sample", *options, "-o", out) == 0
    return out


def test_everything_is_written(compared: Path) -> None:
    names = {p.name for p in compared.iterdir()}
    assert names == {"attention.nc", "attention.csv", "heads.csv", "report.html", "charts"}
    charts = {p.name for p in (compared / "charts").iterdir()}
    for measure in ("js", "pearson", "norm", "svsim", "pwsim", "ckasim"):
        for sink in ("dropped", "kept"):
            assert {f"attention-{measure}-{sink}.{end}" for end in ("png", "svg")} <= charts
    page = (compared / "report.html").read_text("utf-8")
    assert "barks" in page
    assert "<b>never" not in page


def test_numbers_are_those_of_the_library(compared: Path, models: list[Path]) -> None:
    loaded = [
        lmkin.load_model(m, attention=True, name=n)
        for m, n in zip(models, ("one", "two"), strict=True)
    ]
    direct = lmkin.attention_similarities(loaded, lmkin.read_corpus("sample")[:60])
    stored = lmkin.load_result(compared / "attention.nc")
    for name in ("js", "js_se", "pearson", "norm", "ckasim", "js_heads", "js_match"):
        np.testing.assert_allclose(stored[name], direct[name], atol=1e-6, err_msg=name)
    heads = lmkin.attention_heads(direct, threshold=0.3)
    table = pd.read_csv(compared / "heads.csv")
    assert table["nearest"].tolist() == heads["nearest"].values.tolist()
    assert table["stays"].tolist() == heads["stays"].values.tolist()


def test_only_what_is_ours_is_removed(models: list[Path], tmp_path: Path) -> None:
    kept = tmp_path / "unfinished" / "mine.txt"
    kept.parent.mkdir()
    kept.write_text("mine")
    options = ("-c", "sample", "--limit", 20, "-m", "js", "--no-charts", "-o", tmp_path)
    assert call("attention", models[0], *options) == 0
    assert kept.read_text() == "mine"
    assert [p.name for p in kept.parent.iterdir()] == ["mine.txt"]


def test_json(models: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--limit", 30, "--measures", "js,norm", "--sink", "kept", "--no-charts", "--json")
    assert call("attention", models[0], "-c", "sample", *options, "-o", tmp_path / "o") == 0
    data = json.loads(capsys.readouterr().out)
    assert {row["measure"] for row in data["pairs"]} == {"js", "norm"}
    (row,) = data["heads"]
    assert row["heads"] == row["could_go"] + row["groups"]
    assert Path(data["report"]).is_file()
    stored = lmkin.load_result(tmp_path / "o" / "attention.nc")
    name = str(stored["model_x"].values[0])
    table = stored["js"].sel(sink="kept", model_x=name, model_y=name)
    best = max(r["value"] for r in data["pairs"] if r["measure"] == "js")
    off = table.values[~np.eye(len(table), dtype=bool)]
    assert best == pytest.approx(off.max())


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--measures", "jss"), "Did you mean 'js'"),
        (("--sink", "away"), "dropped or kept"),
        (("--sentence", "0"), "sentences 1 to 5"),
        (("--sentence", "-3"), "sentences 1 to 5"),
        (("--sentence", "  "), "sentence is empty"),
        (("--layers", "0"), "layers 1 to"),
        (("--threshold", "5"), "from 0 to 1"),
        (("--set", "varience=0.9"), "Did you mean 'variance'"),
    ],
)
def test_mistakes(
    options: tuple[str, str],
    expected: str,
    models: list[Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert call("attention", models[0], "-c", "sample", "--limit", 5, "-o", tmp_path, *options) == 1
    said = capsys.readouterr().err
    assert expected in " ".join(said.split())
    assert "Traceback" not in said


@pytest.mark.filterwarnings("ignore:.*longer than bert reads at once")
def test_goes_on_after_a_kill(
    models: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, whole = tmp_path / "out", tmp_path / "whole"
    options = [
        "-c",
        "sample",
        "--limit",
        "400",
        "-m",
        "js,ckasim",
        "--no-charts",
        "--batch-tokens",
        "64",
    ]
    command = [sys.executable, "-m", "lmkin", "attention", str(models[0]), *options, "-o", str(out)]
    process = subprocess.Popen(command, env={**os.environ, "OMP_NUM_THREADS": "1"})
    deadline = time.monotonic() + 120
    while not list(out.glob("unfinished/attention-2-*")) and time.monotonic() < deadline:
        assert process.poll() is None, "the run was over before it could be killed"
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = sorted(p.name for p in (out / "unfinished").glob("*.safetensors"))
    assert kept
    assert not (out / "report.html").exists()
    assert call("attention", models[0], *options, "-o", out) == 0
    assert "Going on: " in capsys.readouterr().err
    assert call("attention", models[0], *options, "-o", whole) == 0
    assert not (out / "unfinished").exists()
    one, other = (lmkin.load_result(folder / "attention.nc") for folder in (out, whole))
    for name in ("js", "js_se", "ckasim", "ckasim_se"):
        np.testing.assert_allclose(one[name], other[name], atol=1e-9)
