"""`lmkin similarity` and `lmkin measures`, as a person uses them."""

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
def bert(model_folder) -> Path:
    return model_folder("bert")


@pytest.fixture(scope="module")
def gpt(model_folder) -> Path:
    return model_folder("gpt2")


@pytest.fixture(scope="module")
def compared(bert: Path, gpt: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that a comparison of two tiny models wrote."""
    out = tmp_path_factory.mktemp("similarity") / "out"
    assert call("similarity", bert, gpt, "-c", "sample", "--limit", 150, "-o", out) == 0
    return out


def test_everything_is_written(compared: Path) -> None:
    names = {p.name for p in compared.iterdir()}
    assert names == {
        "similarity.nc", "similarity.csv", "localization.csv", "averages.csv", "report.html", "charts",
    }  # fmt: skip
    charts = {p.name for p in (compared / "charts").iterdir()}
    for measure in ("ckasim", "neuronsim", "mixedsim", "svsim", "pwsim"):
        for scaling in ("raw", "standardized"):
            for ending in ("png", "svg"):
                assert f"heatmap-{measure}-{scaling}.{ending}" in charts
    assert {"localization-raw.png", "averages-ckasim-raw.svg"} <= charts


def test_numbers_are_those_of_extracted_activations(compared: Path, bert: Path, gpt: Path) -> None:
    corpus = lmkin.read_corpus("sample")[:150]
    acts = lmkin.common_units(*(lmkin.extract(m, corpus, progress=False) for m in (bert, gpt)))
    stored = lmkin.load_result(compared / "similarity.nc")
    measures = ["ckasim", "neuronsim", "svsim"]
    direct = lmkin.similarities(list(acts), measures, standardize="both")
    assert stored.attrs["n"] == len(acts[0])
    for name in ("ckasim", "ckasim_se", "neuronsim", "svsim", "svsim_low"):
        np.testing.assert_allclose(stored[name], direct[name], atol=2e-5, err_msg=name)


def test_csv_has_one_line_a_pair(compared: Path) -> None:
    table = pd.read_csv(compared / "similarity.csv")
    stored = lmkin.load_result(compared / "similarity.nc")
    layers = len(json.loads(stored.attrs["widths"]))
    assert len(table) == 2 * layers**2
    cell = table[(table.scaling == "raw") & (table.model_x == table.model_y)].iloc[0]
    assert cell["ckasim"] == pytest.approx(1)
    assert {"ckasim_se", "ckasim_low", "ckasim_high"} <= set(table.columns)


def test_the_table_in_the_terminal(bert: Path, tmp_path: Path, capsys) -> None:
    code = call("similarity", bert, "--untrained", "-c", "sample", "--limit", 60, "-o", tmp_path / "o",
                "-m", "ckasim,neuronsim", "--no-charts", "--names", "Tiny")  # fmt: skip
    captured = capsys.readouterr()
    assert code == 0
    assert "ckasim" in captured.out
    assert "±" in captured.out
    assert "untrained" in captured.out
    assert "Plan:" in captured.err
    assert "open" in captured.err
    assert not (tmp_path / "o" / "charts").exists()


def test_json_for_machines(bert: Path, tmp_path: Path, capsys) -> None:
    code = call("similarity", bert, "-c", "sample", "--limit", 60, "-o", tmp_path / "o", "-m", "ckasim",
                "--no-intervals", "--neurons", "raw", "--no-charts", "--json")  # fmt: skip
    data = json.loads(capsys.readouterr().out)
    assert code == 0
    assert data["pairs"][0]["measure"] == "ckasim"
    assert data["pairs"][0]["se"] is None
    assert isinstance(data["alerts"], list)


def test_stored_activations_need_no_corpus(bert: Path, gpt: Path, tmp_path: Path) -> None:
    for name, model in (("a", bert), ("b", gpt)):
        assert call("extract", model, "sample", "--limit", 60, "-o", tmp_path / f"{name}.acts") == 0
    code = call(
        "similarity", tmp_path / "a.acts", tmp_path / "b.acts", "-o", tmp_path / "o", "--no-charts"
    )
    assert code == 0
    result = lmkin.load_result(tmp_path / "o" / "similarity.nc")
    assert any("dropped" in alert for alert in result.attrs["alerts"])  # a decoder's first words


def test_moments_from_a_file(bert: Path, tmp_path: Path) -> None:
    corpus = lmkin.read_corpus("sample")[:60]
    lmkin.moments([bert], corpus, progress=False).save(tmp_path / "m.safetensors")
    assert call("similarity", tmp_path / "m.safetensors", "-o", tmp_path / "o", "--no-charts") == 0


def test_permutations(bert: Path, tmp_path: Path) -> None:
    code = call("similarity", bert, "-c", "sample", "--limit", 60, "-o", tmp_path / "o", "-m", "ckasim",
                "--neurons", "raw", "--null", 9, "--no-charts")  # fmt: skip
    assert code == 0
    result = lmkin.load_result(tmp_path / "o" / "similarity.nc")
    assert float(result["ckasim_p"].max()) == pytest.approx(0.1)
    assert (result["ckasim_p_max"] >= result["ckasim_p"]).all()
    assert "by chance" in (tmp_path / "o" / "report.html").read_text()


def test_options_of_measures(bert: Path, tmp_path: Path) -> None:
    values = []
    for estimator in ("biased", "unbiased"):
        out = tmp_path / estimator
        code = call("similarity", bert, "-c", "sample", "--limit", 60, "-o", out, "-m", "ckasim",
                    "--set", f"estimator={estimator}", "--no-charts", "--no-intervals")  # fmt: skip
        assert code == 0
        values.append(float(lmkin.load_result(out / "similarity.nc")["ckasim"].min()))
    assert values[0] > values[1]


MINE = """
import numpy as np
import lmkin

@lmkin.measure("meansim", symmetric=True, range=(-1, 1), summary="Correlation of mean activations.")
def meansim(X, Y):
    return np.corrcoef(X.mean(1), Y.mean(1))[0, 1]
"""


def test_a_measure_of_ones_own(bert: Path, tmp_path: Path, capsys) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    try:
        assert call("measures", "--load", tmp_path / "mine.py") == 0
        assert "Correlation of mean activations" in " ".join(capsys.readouterr().out.split())
    finally:
        lmkin.measures.forget("meansim")
    try:
        code = call("similarity", bert, "-c", "sample", "--limit", 60, "-o", tmp_path / "o", "-m",
                    "meansim", "--load", tmp_path / "mine.py", "--no-charts")  # fmt: skip
    finally:
        lmkin.measures.forget("meansim")
    assert code == 0
    result = lmkin.load_result(tmp_path / "o" / "similarity.nc")
    assert "meansim_se" in result
    assert "Correlation of mean activations" in (tmp_path / "o" / "report.html").read_text()


def test_dry_run_computes_nothing(bert: Path, gpt: Path, capsys) -> None:
    assert call("similarity", bert, gpt, "-c", "sample", "--limit", 60, "--dry-run") == 0
    said = capsys.readouterr().err
    assert "Nothing is computed" in said
    assert "for the models" in said
    code = call("similarity", bert, gpt, "-c", "sample", "--limit", 60, "--dry-run", "--json")
    assert code == 0
    data = json.loads(capsys.readouterr().out)
    assert data["route"] == "joint"
    assert data["seconds_models"] >= 0
    assert data["seconds_measures"] > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-m", "cksim"), "Did you mean 'ckasim'"),
        (("--set", "varianc=0.9"), "Did you mean 'variance'"),
        (("--set", "variance"), "NAME=VALUE"),
        (("--set", "variance=7"), "between 0 and 1"),
        (("--memory", "lots"), "8GB"),
        (("--memory", "1kB"), "budget"),
        (("--neurons", "some"), "raw, standardized, both"),
        (("--route", "around"), "panels, joint, pairs, dual"),
        (("--route", "pairs"), "two models or fewer"),
        (("--level", "95"), "between 0 and 1"),
        (("--load", "no-such-file.py"), "no file"),
        (("--layers", "0,99"), "no layer 99"),
        (("--names", "a,b"), "2 names for 1 models"),
    ],
)
def test_mistakes_are_explained(
    bert: Path, tmp_path: Path, capsys, arguments: tuple[str, ...], message: str
) -> None:
    code = call("similarity", bert, "-c", "sample", "--limit", 40, "-o", tmp_path / "o", *arguments)
    error = " ".join(capsys.readouterr().err.split())
    assert code == 1
    assert message in error
    assert "Traceback" not in error


def test_a_faulty_file_of_measures_is_named(tmp_path: Path, capsys) -> None:
    (tmp_path / "bad.py").write_text("import lmkin\n\n1 / 0\n")
    assert call("measures", "--load", tmp_path / "bad.py") == 1
    error = " ".join(capsys.readouterr().err.split())
    assert "line 3: ZeroDivisionError" in error


def test_where_to_is_asked(bert: Path, capsys) -> None:
    assert call("similarity", bert, "-c", "sample") == 1
    assert "-o DIR" in capsys.readouterr().err


def test_a_model_without_corpus_is_explained(bert: Path, tmp_path: Path, capsys) -> None:
    assert call("similarity", bert, "-o", tmp_path / "o") == 1
    assert "give a corpus" in capsys.readouterr().err


def test_measures_as_json(capsys) -> None:
    assert call("measures", "--json") == 0
    found = {m["name"]: m for m in json.loads(capsys.readouterr().out)}
    assert found["ckasim"]["symmetric"] is True
    assert found["ckasim"]["unbiased"] is True
    assert "estimator" in found["ckasim"]["options"]
    assert set(found) >= {
        "neuronsim",
        "mixedsim",
        "svsim",
        "pwsim",
        "ckasim",
        "procrustes",
        "rbfcka",
    }


@pytest.mark.skipif(sys.platform == "win32", reason="kills a process by signal")
def test_a_killed_run_goes_on(model_folder, tmp_path: Path, capsys) -> None:
    """Killed after its first parts, the same command finishes with the same numbers, without running them again."""
    model, out = model_folder("bert"), tmp_path / "o"
    command = [
        sys.executable, "-m", "lmkin", "similarity", str(model), "-c", "sample", "-o", str(out),
        "-m", "ckasim", "--no-charts", "--batch-tokens", "64",
    ]  # fmt: skip
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    unfinished = out / "unfinished"
    deadline = time.monotonic() + 120
    while len(list(unfinished.glob("part-*"))) < 2 and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    kept = {p.name: p.stat().st_mtime_ns for p in unfinished.glob("part-*.safetensors")}
    assert len(kept) >= 2, "the run was over before it could be killed"
    assert not (out / "report.html").exists()
    from lmkin.moments import checkpoint

    loaded: list[object] = []
    original = checkpoint.Checkpoint.load

    def watch(self, part):
        found = original(self, part)
        loaded.append(found)
        return found

    checkpoint.Checkpoint.load = watch  # type: ignore[method-assign]
    try:
        assert call(*command[3:]) == 0
    finally:
        checkpoint.Checkpoint.load = original  # type: ignore[method-assign]
    assert sum(found is not None for found in loaded) == len(kept)
    assert f"Going on: {len(kept)} of 10 parts" in capsys.readouterr().err
    assert not unfinished.exists()
    fresh = lmkin.similarities(
        [model], ["ckasim"], corpus="sample", standardize="both", batch_tokens=64, progress=False
    )
    stored = lmkin.load_result(out / "similarity.nc")
    np.testing.assert_allclose(stored["ckasim"], fresh["ckasim"], atol=2e-6)
    np.testing.assert_allclose(stored["ckasim_se"], fresh["ckasim_se"], atol=2e-6)


def test_options_for_models_are_refused_for_what_is_stored(
    bert: Path, tmp_path: Path, capsys
) -> None:
    corpus = lmkin.read_corpus("sample")[:60]
    lmkin.moments([bert], corpus, progress=False).save(tmp_path / "m.safetensors")
    for option in (("--limit", "5"), ("--pooling", "mean"), ("--untrained",), ("--layers", "0")):
        code = call("similarity", tmp_path / "m.safetensors", "-o", tmp_path / "o", *option)
        assert code == 1
        assert option[0] in capsys.readouterr().err
    (tmp_path / "file").write_text("")
    assert call("similarity", tmp_path / "m.safetensors", "-o", tmp_path / "file") == 1
    assert "is a file" in capsys.readouterr().err


def test_a_second_run_leaves_nothing_of_the_first(bert: Path, tmp_path: Path) -> None:
    corpus = lmkin.read_corpus("sample")[:60]
    lmkin.moments([bert], corpus, progress=False).save(tmp_path / "m.safetensors")
    for measures in ("neuronsim,svsim", "ckasim"):
        assert call("similarity", tmp_path / "m.safetensors", "-o", tmp_path / "o", "-m", measures,
                    "--neurons", "raw") == 0  # fmt: skip
    assert not (tmp_path / "o" / "localization.csv").exists()
    names = {p.name for p in (tmp_path / "o" / "charts").iterdir()}
    assert names == {f"{k}-ckasim.{e}" for k in ("heatmap", "averages") for e in ("png", "svg")}


def test_a_failing_measure_is_named_with_its_layers(bert: Path, tmp_path: Path, capsys) -> None:
    (tmp_path / "mine.py").write_text(
        "import lmkin\n\n@lmkin.measure('failsim')\ndef failsim(X, Y):\n    raise ValueError('my own mistake')\n"
    )
    try:
        code = call("similarity", bert, "-c", "sample", "--limit", 60, "-o", tmp_path / "o", "-m",
                    "failsim", "--load", tmp_path / "mine.py")  # fmt: skip
    finally:
        lmkin.measures.forget("failsim")
    error = " ".join(capsys.readouterr().err.split())
    assert code == 1
    assert "failsim failed for" in error
    assert "ValueError: my own mistake" in error


def test_the_report_gives_the_command(bert: Path, tmp_path: Path, monkeypatch) -> None:
    arguments = ["similarity", str(bert), "-c", "sample", "--limit", "60", "-o", str(tmp_path / "o"), "-m", "ckasim",
                 "--no-charts"]  # fmt: skip
    monkeypatch.setattr(sys, "argv", ["lmkin", *arguments])
    assert call(*arguments) == 0
    assert "lmkin similarity" in (tmp_path / "o" / "report.html").read_text()
