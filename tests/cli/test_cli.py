"""The command line as a user meets it: real processes, exit codes, what is printed where."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import get_args

import pytest

import lmkin
from lmkin.analysis import known_analyses
from lmkin.cli import run
from lmkin.corpus import known_formats
from lmkin.interchange import FORMATS, ActivationFormat
from loaded_processes import run_loaded


@pytest.fixture
def call(capsys):
    """The command line in this process: (exit code, standard output, standard error)."""

    def caller(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as caught:
            run([str(a) for a in arguments])
        out, err = capsys.readouterr()
        code = caught.value.code
        return (0 if code is None else int(code)), out, err

    return caller


def flat(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def test_importing_and_help_are_light() -> None:
    """Neither torch nor transformers is loaded by `import lmkin` or `lmkin --help`."""
    light = "assert not {'torch', 'transformers'} & set(sys.modules)"
    code = f"""
import sys, lmkin
{light}
import lmkin.cli; lmkin.cli.app(['--help'], standalone_mode=False)
{light}
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_reading_a_corpus_is_light_too() -> None:
    code = "import lmkin, sys; lmkin.read_corpus('sample'); assert 'torch' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_public_names_exist() -> None:
    for name in lmkin.__all__:
        assert getattr(lmkin, name) is not None
    with pytest.raises(AttributeError, match="no_such_name"):
        lmkin.no_such_name  # noqa: B018


@pytest.mark.parametrize("command", ["extract", "inspect", "export", "demo"])
def test_every_command_explains_itself(call, command: str) -> None:
    code, out, _ = call(command, "--help")
    assert code == 0
    assert "Usage" in out


def test_version(call) -> None:
    assert call("--version")[1].strip() == f"lmkin {lmkin.__version__}"


def test_extract_then_inspect(call, model_folder, tmp_path) -> None:
    out = tmp_path / "tiny.acts"
    code, printed, _ = call(
        "extract", model_folder("bert"), "sample", "-o", out, "--limit", 20, "--layers", "0,-1"
    )
    assert code == 0
    assert "Stored in" in printed
    acts = lmkin.open_activations(out)
    assert acts.layers == (0, 2)
    code, printed, _ = call("inspect", out)
    assert code == 0
    assert f"{len(acts):,} of {len(acts):,} words" in flat(printed)


@pytest.mark.slow
def test_json_is_json_alone(model_folder, tmp_path) -> None:
    done = run_loaded(
        ["extract", str(model_folder("bert")), "sample", "-o", str(tmp_path / "a"), "--limit", "20", "--json"]
    )  # fmt: skip
    data = json.loads(done.stdout)
    assert data["rows"] == lmkin.read_corpus("sample")[:20].n_words
    assert data["manifest"]["status"] == "complete"


def test_dry_run_writes_nothing_and_is_exact_about_bytes(call, model_folder, tmp_path) -> None:
    arguments = ("extract", model_folder("bert"), "sample", "--limit", 50, "-o", tmp_path / "a")
    code, out, _ = call(*arguments, "--dry-run", "--json")
    assert code == 0
    assert not (tmp_path / "a").exists()
    plan = json.loads(out)
    assert plan["seconds"] > 0
    assert plan["memory_bytes"] > plan["disk_bytes"]
    assert call(*arguments)[0] == 0
    acts = lmkin.open_activations(tmp_path / "a")
    assert plan["units"] == len(acts)
    assert plan["disk_bytes"] == sum(
        acts.layer(n).shape[0] * acts.layer(n).shape[1] * 4 for n in acts.layers
    )
    assert plan["layers"] == [0, 1, 2]


def test_losses_are_said(call, model_folder, tmp_path) -> None:
    code, _, err = call(
        "extract", model_folder("gpt2"), "sample", "-o", tmp_path / "a", "--limit", 30
    )
    assert code == 0
    assert re.search(r"\d+ of \d+ words left out: the first token of a decoder", flat(err))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("extract", "{model}", "sample"), "Where to?"),
        (
            ("extract", "{model}", "nowhere.conllu", "-o", "{out}"),
            "There is no corpus at 'nowhere.conllu'",
        ),
        (("extract", "./nowhere", "sample", "-o", "{out}"), "There is no model folder"),
        (("extract", "{model}", "sample:klingon", "-o", "{out}"), "no language 'klingon'"),
        (("extract", "{model}", "sample", "-o", "{out}", "--layers", "9"), "no layer 9"),
        (
            ("extract", "{model}", "sample", "-o", "{out}", "--format", "conlu"),
            "Did you mean 'conllu'",
        ),
        (("extract", "{model}", "sample", "-o", "{out}", "--option", "x"), "NAME=VALUE"),
        (
            ("extract", "{model}", "sample", "-o", "{out}", "--device", "warp"),
            "cannot be used here",
        ),
        (("inspect", "nowhere.conllu"), "no corpus"),
        (("export", "nowhere", "{out}.hdf5"), "no store of activations"),
    ],
)
def test_a_users_mistake_is_one_paragraph(
    call, model_folder, tmp_path, arguments, says: str
) -> None:
    filled = [a.format(model=model_folder("bert"), out=tmp_path / "out") for a in arguments]
    code, out, err = call(*filled)
    assert code == 1
    assert not out
    assert "Traceback" not in err
    assert says in flat(err)
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("no_models")
@pytest.mark.parametrize(
    ("given", "says"),
    [(("--layers", "x"), "Cannot understand the layers 'x'"), (("--layers", "3-1"), "Write '1-3'"),
     (("-o", "{file}"), "is a file; give a folder"), (("-o", "{full}"), "holds something else"),
     (("--units", "sentence", "--pooling", "none"), "none"), (("--max-length", "0"), "max_length"),
     (("--tokenizer", "a,b"), "2 tokenizers for 1 model"), (("--batch-tokens", "0"), "batch-tokens")],
)  # fmt: skip
def test_extract_refuses_what_cannot_be_meant_before_a_model_is_loaded(
    call, tmp_path, given: tuple[str, ...], says: str
) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine")
    filled = [a.format(file=tmp_path / "file", full=tmp_path / "full") for a in given]
    code, _, err = call("extract", "nowhere", "sample", "-o", tmp_path / "new", *filled)
    assert code in (1, 2)
    assert says in flat(err)
    assert not (tmp_path / "new").exists()


def test_choices_of_formats_are_listed_and_no_flag_says_what_is_so_anyway(call, tmp_path) -> None:
    """Help of what reads a corpus, or writes for another tool, says which formats there are; shells complete them."""
    assert set(get_args(ActivationFormat)) == set(FORMATS)
    for command, formats in (
        *((c, known_formats()) for c in ("extract", "inspect", *known_analyses())),
        ("export", FORMATS),
    ):
        helped = flat(call(command, "--help")[1].replace("│", " "))
        assert all(name in helped for name in formats), command
        assert "--no-overwrite" not in helped
    code, _, err = call("export", tmp_path, tmp_path / "x.json", "--format", "neurox")
    assert code == 2
    assert "'neurox-json'" in err


def test_wrong_usage_is_2(call) -> None:
    assert call("extract", "--no-such-option")[0] == 2


def test_a_bug_is_70_and_asks_for_a_report(call, monkeypatch) -> None:
    monkeypatch.setattr("lmkin.corpus.read_corpus", lambda *a, **k: 1 / 0)
    code, _, err = call("inspect", "sample")
    assert code == 70
    assert "ZeroDivisionError" in err
    assert "bug in lmkin" in err


def test_interruption_is_130(call, monkeypatch) -> None:
    def interrupt(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("lmkin.corpus.read_corpus", interrupt)
    assert call("inspect", "sample")[0] == 130


def test_verbose_shows_the_traceback(model_folder) -> None:
    done = run_loaded(["inspect", "nowhere.conllu", "-v"])
    assert done.returncode == 1
    assert "Traceback" in done.stderr


@pytest.mark.parametrize("language", ["en", "qke", "qta"])
def test_inspect_the_sample(call, language: str) -> None:
    code, out, _ = call("inspect", f"sample:{language}", "--json")
    assert code == 0
    assert json.loads(out)["sentences"] == len(lmkin.read_corpus(f"sample:{language}"))
    assert {"upos", "deprel"} <= set(json.loads(out)["tags"])


def test_inspect_a_model_and_a_file_of_another_tool(call, model_folder, tmp_path) -> None:
    code, out, _ = call("inspect", model_folder("llama with BOS"))
    assert code == 0
    assert "left to right" in out
    acts = lmkin.extract(str(model_folder("bert")), lmkin.read_corpus("sample")[:5], tmp_path / "a")
    assert call("export", tmp_path / "a", tmp_path / "a.hdf5")[0] == 0
    code, out, _ = call("inspect", tmp_path / "a.hdf5", "--json")
    assert json.loads(out)["layers"] == len(acts.layers)
    code, _, err = call("export", tmp_path / "a", tmp_path / "a.hdf5")
    assert code == 1
    assert "--overwrite" in err


def test_format_options_reach_the_format(call, tmp_path) -> None:
    (tmp_path / "cola.tsv").write_text("gj04\t1\t\tOne two three.\ngj04\t0\t*\tFour five.\n")
    code, out, _ = call(
        *("inspect", tmp_path / "cola.tsv", "--json"),
        *("--option", "text=3", "--option", "label=1", "--option", "header=false"),
    )
    assert code == 0
    assert json.loads(out)["sentences"] == 2
    assert json.loads(out)["labels"] == 2


def test_a_finished_run_says_that_nothing_was_computed(call, model_folder, tmp_path) -> None:
    arguments = ("extract", model_folder("bert"), "sample", "-o", tmp_path / "a", "--limit", 5)
    assert "Stored in" in call(*arguments)[1]
    assert "nothing was computed" in flat(call(*arguments)[1])


def test_sentence_pairs_are_pointed_out(call, model_folder, tmp_path) -> None:
    (tmp_path / "pairs.tsv").write_text(
        "sentence1\tsentence2\tscore\nA dog.\tA cat.\t1.0\nYes.\tNo.\t0.5\n"
    )
    arguments = ("extract", model_folder("bert"), tmp_path / "pairs.tsv", "-o", tmp_path / "a")
    _, _, err = call(*arguments, "--units", "sentence")
    assert "2 sentence pairs were each read as one input" in flat(err)


def test_near_misses_get_a_suggestion(call, model_folder, tmp_path) -> None:
    (tmp_path / "corpus.conllu").write_text("x")
    assert "corpus.conllu" in flat(call("inspect", tmp_path / "corpus.conlu")[2])
    model = model_folder("bert")
    assert "The model comes first" in flat(
        call("extract", "sample", model, "-o", tmp_path / "a")[2]
    )
    assert "Give one of its files" in flat(
        call("extract", model, tmp_path, "-o", tmp_path / "a")[2]
    )
    assert call("inspect", "sample", "--format", "tsv")[0] == 1  # read as a table, which it is not
