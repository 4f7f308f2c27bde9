"""What every analysis command promises, over the registry: a new analysis is tested by being registered."""

from __future__ import annotations

import json
import logging
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from command_line import Outcome, call
from transformers import AutoTokenizer

import lmkin
from least_runs import corpus_flags, corpus_of, least_flags, write_conllu
from lmkin.analysis import Running, known_analyses
from lmkin.core import option_fields
from lmkin.models import Loading, Reading

ANALYSES = known_analyses()
OTHERS = ("notes.txt", "charts/holiday.png", "unfinished/mine.txt")
"""Files of someone else, in the folder before the first run."""
UNKNOWN = "☃"


@pytest.fixture(params=list(ANALYSES), ids=str, scope="module")
def analysis(request):
    return ANALYSES[request.param]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Path:
    """A few short sentences with tags; some have a word that no tokenizer here knows."""
    path = tmp_path_factory.mktemp("corpus") / "few.conllu"
    return write_conllu(path, lmkin.read_corpus("sample")[:40], more=UNKNOWN)


@pytest.fixture(scope="module")
def arguments(analysis, corpus, model_folder) -> list[str]:
    """The smallest run of an analysis: a tiny model, its twin, few sentences."""
    small = ["--untrained", "--names", "M", *corpus_flags(analysis, corpus), "--parts", "3"]
    return [analysis.name, str(model_folder("bert")), *small, *least_flags(analysis), "--no-charts"]


@pytest.fixture(scope="module")
def finished(analysis, arguments, tmp_path_factory) -> tuple[Path, dict, Outcome]:
    """A finished run: its folder, and what it printed for machines. Files of someone else were there."""
    out = tmp_path_factory.mktemp(analysis.name)
    for name in OTHERS:
        (out / name).parent.mkdir(exist_ok=True)
        (out / name).write_text("mine")
    outcome = call(*arguments, "-o", out, "--json")
    assert outcome.code == 0, outcome.err
    return out, json.loads(outcome.out), outcome


# -- help -------------------------------------------------------------------------------------------


def test_help_lists_every_option_whole_with_its_choices(analysis):
    outcome = call(analysis.name, "--help")
    assert outcome.code == 0
    flat = " ".join(outcome.out.replace("│", " ").split())
    kinds = (analysis.Options, Reading, Loading, Running)
    for field in (
        f for kind in kinds for f in option_fields(kind) if f.name not in analysis.unread
    ):
        assert re.search(rf"{field.flags[0]}\b", flat), field.name
        for choice in field.choices:
            assert str(choice) in flat
    for flag in (
        "--corpora" if analysis.by_name else "--corpus",
        "--dry-run",
        "--overwrite",
        "--json",
        "--no-charts",
    ):
        assert flag in flat
    assert "…" not in flat.replace("mps …", "")


# -- a finished run ---------------------------------------------------------------------------------


def test_everything_is_written_and_the_manifest_names_it(finished):
    out, printed, _ = finished
    about = json.loads((out / "lmkin.json").read_text("utf-8"))
    written = {str(p.relative_to(out)) for p in out.rglob("*") if p.is_file()} - {"lmkin.json"}
    assert written - set(OTHERS) == set(about["files"])
    assert Path(printed["report"]) == out / "report.html"


def test_when_the_command_ends_its_log_ends(finished):
    logger = logging.getLogger("lmkin")
    assert not logger.handlers
    assert logger.level == logging.NOTSET


def test_files_of_others_stay(finished):
    out, _, _ = finished
    assert [(out / name).read_text() for name in OTHERS] == ["mine"] * len(OTHERS)
    assert [p.name for p in (out / "unfinished").iterdir()] == ["mine.txt"]


def in_folder(data: dict, out: Path) -> dict:
    """Plain data of a result, with files as they are named from where the command ran."""
    plain = json.loads(json.dumps(data))
    for mask in plain.get("keep", []):
        mask["file"] = str(out / mask["file"])
    return plain


def test_the_folder_can_be_loaded_and_says_the_same(analysis, finished):
    out, printed, _ = finished
    result = lmkin.load(out)
    assert isinstance(result, analysis.result)
    assert in_folder(result.data(), out) == {k: printed[k] for k in result.data()}
    assert [a.to_dict() for a in result.alerts] == printed["alerts"]
    assert result.findings() == printed["findings"]


def test_json_has_no_nan(finished):
    assert "NaN" not in json.dumps(finished[1])


def test_unknown_tokens_are_told_once_everywhere(analysis, finished, corpus, model_folder):
    """The share is what the tokenizer itself says."""
    out, printed, _ = finished
    tokenizer = AutoTokenizer.from_pretrained(model_folder("bert"))
    assert tokenizer.unk_token in tokenizer.tokenize(UNKNOWN)
    read = corpus_of(analysis, corpus)
    sentences = lmkin.read_corpus(read["en"] if analysis.by_name else read)
    sentence = analysis.reading.units == "sentence"
    n = len(sentences) if sentence else sentences.n_words
    told = [a["text"] for a in printed["alerts"] if a["kind"] == "unknown tokens"]
    mine = [text for text in told if re.match(r"M( in en)? reads", text)]
    assert len(mine) == 1, told
    assert re.match(
        rf"M( in en)? reads 20 of {n:,} {'sentence' if sentence else 'word'}s \(\d", mine[0]
    )
    page = " ".join((out / "report.html").read_text("utf-8").split())
    assert mine[0].partition("(")[0] in page


def test_the_same_run_again_is_the_same_and_is_said_to_people(arguments, finished):
    """For people now: tables on standard output, findings and every alert once on standard error."""
    out, printed, _ = finished
    before = {p for p in out.rglob("*") if p.is_file()}
    outcome = call(*arguments, "-o", out)
    assert outcome.code == 0, outcome.err
    assert before == {p for p in out.rglob("*") if p.is_file()}
    result = lmkin.load(out)
    assert in_folder(result.data(), out) == {k: printed[k] for k in result.data()}
    for table in result.tables():
        assert " ".join(table.title.split()) in outcome.printed
    for sentence in printed["findings"]:
        assert outcome.said.count(" ".join(sentence.split())) == 1
    warnings = [line for line in outcome.err.splitlines() if line.startswith("Warning:")]
    assert len(warnings) == len(set(warnings)) == len(printed["alerts"])
    assert "…" not in outcome.out
    assert not re.search(r"\w=(True|False|None)\b", outcome.err)


def test_another_run_is_refused_unless_it_may_overwrite(arguments, finished):
    out, _, _ = finished
    before = (out / "lmkin.json").read_bytes()
    outcome = call(*arguments, "-o", out, "--level", "0.9")
    assert outcome.code == 1
    assert "--overwrite" in outcome.said
    assert (out / "lmkin.json").read_bytes() == before


def test_files_of_others_with_names_of_its_own_stay(analysis, arguments, finished, tmp_path):
    """Those that every run writes are refused before a model is loaded, the others before anything is replaced."""
    names = json.loads((finished[0] / "lmkin.json").read_text("utf-8"))["files"]
    sure = {"report.html", f"{analysis.result.kind}.nc"}
    assert sure <= set(names)
    late = next(name for name in names if name not in sure)
    for name in (*sorted(sure), late):
        out = tmp_path / name
        out.mkdir()
        (out / name).write_text("mine")
        given = arguments if name == late else [analysis.name, "nowhere", *arguments[2:]]
        outcome = call(*given, "-o", out, "--overwrite")
        assert outcome.code == 1
        assert f"{name} is there already, and lmkin did not write it" in outcome.said
        assert (out / name).read_text() == "mine"
        assert not [p.name for p in out.iterdir() if p.name not in (name, "unfinished")]


# -- what it would take -------------------------------------------------------------------------------


def test_a_dry_run_says_what_it_takes_and_writes_nothing(arguments, tmp_path):
    outcome = call(*arguments, "-o", tmp_path / "out", "--dry-run", "--json")
    assert outcome.code == 0, outcome.err
    plan = json.loads(outcome.out)
    assert plan["steps"]
    assert all(step["seconds"] is None or step["seconds"] >= 0 for step in plan["steps"])
    assert not (tmp_path / "out").exists()
    outcome = call(*arguments, "--dry-run")
    assert outcome.code == 0
    assert "Nothing is computed" in outcome.said
    for step in plan["steps"]:
        assert step["name"] in outcome.said


# -- mistakes, before a model is loaded -----------------------------------------------------------------


@pytest.mark.usefixtures("no_models")
def test_a_wrong_choice_is_refused(analysis, corpus, tmp_path):
    flags = corpus_flags(analysis, corpus)
    for kind in (analysis.Options, Reading, Loading, Running):
        for field in option_fields(kind):
            if not field.choices or field.name in analysis.unread:
                continue
            given = (field.flags[0], "nonsense")
            outcome = call(analysis.name, "nowhere", *flags, "-o", tmp_path, *given)
            assert outcome.code in (1, 2), field.name
            assert "nonsense" in outcome.said, field.name
            assert "Traceback" not in outcome.err


@pytest.mark.usefixtures("no_models")
@pytest.mark.parametrize(
    ("given", "message"),
    [(["--parts", "-3"], "parts"), (["--parts", "1"], "two parts at least"), (["--level", "7"], "level"),
     (["--memory", "much"], "memory"), (["--names", "a,b,c,d,e,f"], "names"), (["--seed", "-1"], "seed"),
     (["--layers", "first"], "layers 'first'"), (["--layers", "3-1"], "Write '1-3'"),
     (["--layers", "0-9999999999"], "more than any model has"), (["--tokenizer", "a,b,c"], "3 tokenizers for 1 model"),
     (["--option", "x"], "NAME=VALUE"), (["--format", "nothing"], "nothing"), (["--load", "no.py"], "no.py"),
     (["--corpus", "nowhere.conllu"], "no corpus at 'nowhere.conllu'")],
)  # fmt: skip
def test_a_wrong_value_is_refused_in_one_paragraph(analysis, arguments, tmp_path, given, message):
    if analysis.by_name and given[0] == "--corpus":
        given = ["--corpora", f"xx={given[1]}"]
    outcome = call(*arguments, "-o", tmp_path / "out", *given)
    assert outcome.code in (1, 2)
    assert message in outcome.said
    assert "Traceback" not in outcome.err
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("no_models")
def test_without_a_folder_or_with_a_file_in_its_place_it_asks_for_one(arguments, tmp_path):
    assert "-o DIR" in call(*arguments).said
    path = tmp_path / "file"
    path.write_text("mine")
    outcome = call(*arguments, "-o", path)
    assert outcome.code == 1
    assert "is a file" in outcome.said
    assert path.read_text() == "mine"


@pytest.mark.usefixtures("no_models")
@pytest.mark.parametrize(
    "flags",
    [("--first-token", "keep"), ("--side", "decoder"), ("--revision", "main"), ("--device", "cpu"),
     ("--model-dtype", "float16"), ("--trust-remote-code",), ("--units", "token"), ("--long", "truncate"),
     ("--pooling", "first"), ("--limit", "5"), ("--untrained",), ("--tokenizer", "x"), ("--names", "a,b")],
    ids=lambda flags: flags[0],
)  # fmt: skip
def test_what_is_stored_is_not_read_again(analysis, tmp_path, flags):
    if not analysis.stored:
        assert "--corpus" in call(analysis.name, "a.acts", "-o", tmp_path / "o").said
        return
    outcome = call(analysis.name, "a.acts", "b.acts", *flags, "-o", tmp_path / "o")
    assert outcome.code == 1
    assert f"{flags[0]} is for models that read a corpus" in outcome.said


def test_a_model_that_is_not_there_or_has_no_tokenizer(analysis, corpus, model_folder, tmp_path):
    given = [*least_flags(analysis), *corpus_flags(analysis, corpus), "--untrained"]
    outcome = call(analysis.name, tmp_path / "no", *given, "-o", tmp_path / "o")
    assert outcome.code == 1
    assert outcome.err.startswith("Error:")
    assert "Traceback" not in outcome.err
    bare = tmp_path / "bare"
    bare.mkdir()
    for name in ("config.json", "model.safetensors"):
        shutil.copy(model_folder("bert") / name, bare)
    outcome = call(analysis.name, bare, *given, "-o", tmp_path / "o")
    assert outcome.code == 1
    assert "bare comes without the vocabulary of its tokenizer" in outcome.said
    assert "--tokenizer" in outcome.said
    assert not list((tmp_path / "o").glob("*"))


# -- stored activations -------------------------------------------------------------------------------


def test_stored_activations_give_the_same(analysis, finished, corpus, model_folder, tmp_path):
    if not analysis.stored:
        pytest.skip(f"{analysis.name} is computed as models run")
    folder, read = model_folder("bert"), corpus_of(analysis, corpus)
    by_name = read if analysis.by_name else {"": read}
    stores, arguments = [], []
    for name, spec in (("M", str(folder)), ("untrained M", f"untrained:{folder}@0")):
        model = lmkin.load_model(spec, name=name)
        reading = {"units": analysis.reading.units, "layers": analysis.reading.layers}
        for language, path in by_name.items():
            stores.append(tmp_path / f"{len(stores)}.acts")
            arguments.append(f"{language}={stores[-1]}" if language else stores[-1])
            lmkin.extract(model, lmkin.read_corpus(path), stores[-1], progress=False, **reading)
    given = [*least_flags(analysis), "--parts", "3", "--no-charts"]
    outcome = call(analysis.name, *arguments, "-o", tmp_path / "o", *given)
    assert outcome.code == 0, outcome.err
    one, other = lmkin.load(finished[0]), lmkin.load(tmp_path / "o")
    assert one.models == other.models
    for name in map(str, one.dataset):
        # Rows are shuffled within what is read at once.
        if one[name].dtype.kind == "f" and name in other and "_null" not in name:
            np.testing.assert_allclose(one[name], other[name], atol=1e-3, err_msg=name)
    assert all(store.is_dir() for store in stores)
