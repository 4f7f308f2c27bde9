"""Ways to give rows: a corpus, several, stores, stores by split, several models; memory, and going on after a kill."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import lmkin
from cli.command_line import call
from least_runs import write_conllu
from lmkin.analyses.probing import fits as probe_fits
from lmkin.cli.unfinished import describe_unfinished, unfinished_in
from probing.tagged_activations import tagged_activations

Stores = dict[str, lmkin.Activations]
QUICK: dict[str, Any] = {
    "l1": 0.01, "fit": "all", "code_length": False, "control": False, "parts": 3, "progress": False,
}  # fmt: skip


@pytest.fixture(scope="module")
def parts(sample: lmkin.Corpus) -> dict[str, lmkin.Corpus]:
    return {"train": sample[:60], "dev": sample[60:75], "test": sample[75:90]}


def test_models_and_their_stores_say_the_same(
    tiny: lmkin.LanguageModel, parts: dict[str, lmkin.Corpus], tmp_path: Path
) -> None:
    now = lmkin.probe(tiny, parts, tag="upos", **QUICK)
    stores = {
        n: lmkin.extract(tiny, c, tmp_path / f"{n}.acts", progress=False) for n, c in parts.items()
    }
    then = lmkin.probe(stores, tag="upos", **QUICK)
    by_path = lmkin.probe({n: str(tmp_path / f"{n}.acts") for n in parts}, tag="upos", **QUICK)
    for other in (then, by_path):
        for name in ("accuracy", "rows", "majority", "word_majority"):
            np.testing.assert_allclose(now.dataset[name], other.dataset[name], atol=0.01)
    assert now.attrs["split"] == then.attrs["split"] == "as given"


def test_one_corpus_and_its_store_have_the_same_split(
    tiny: lmkin.LanguageModel, sample: lmkin.Corpus
) -> None:
    corpus = sample[:60]
    now = lmkin.probe(tiny, corpus, tag="upos", **QUICK)
    then = lmkin.probe(lmkin.extract(tiny, corpus, progress=False), tag="upos", **QUICK)
    xr.testing.assert_equal(now.dataset["rows"], then.dataset["rows"])
    assert now.attrs["split"] == then.attrs["split"]
    other = lmkin.probe(tiny, corpus, tag="upos", seed=1, **QUICK)
    assert not np.array_equal(other.dataset["rows"], now.dataset["rows"])


def test_several_models_and_tasks(sample: lmkin.Corpus) -> None:
    acts = [
        tagged_activations(sample[:60], name, layers=n, seed=n) for name, n in (("a", 2), ("b", 4))
    ]
    result = lmkin.probe(acts, tag=("upos", "deprel"), **{**QUICK, "fit": ("all", "each")})
    assert result.models == ["a", "b"]
    assert result.tasks == ["upos", "deprel"]
    assert result.dataset["probe"].values.tolist() == ["all", "0", "1", "2", "3"]
    there = np.isfinite(result.dataset["width"]).sel(task="upos")
    assert there.sel(model="a").values.tolist() == [True, True, True, False, False]
    assert there.sel(model="b").all()
    one = lmkin.probe(acts[1], tag="deprel", **{**QUICK, "fit": ("all", "each")})
    mine = result.dataset["accuracy"].sel(model="b", task="deprel")
    np.testing.assert_allclose(mine, one.dataset["accuracy"].sel(model="b", task="deprel"))


def test_sentences_with_scores(sample: lmkin.Corpus) -> None:
    from lmkin.analyses.probing.splits import all_units
    from probing.tagged_activations import activations_of

    random = np.random.default_rng(0)
    labels = random.normal(size=120).round(2)
    corpus = lmkin.Corpus(
        [
            lmkin.Sentence(s.text, s.spans, s.words, id=s.id, label=float(v))
            for s, v in zip(sample[:120], labels, strict=True)
        ],
        name="scored",
    )  # fmt: skip
    X = random.normal(size=(120, 8))
    X[:, 3] += 3 * labels
    acts = activations_of(all_units(corpus, "sentence"), {0: X}, "m")
    result = lmkin.probe(acts, label="score", l1=0.01, parts=4, progress=False)
    assert result.classes() == []
    assert float(result.dataset["pearson"].sel(probe="all", split="test").squeeze()) > 0.8
    predicted = np.array(result.predict(acts))
    assert np.corrcoef(predicted, labels)[0, 1] > 0.9
    assert {"spearman", "r2"} <= set(result.dataset)
    assert "accuracy" not in result.dataset
    assert "Pearson correlation" in result.findings()[0]
    weights = np.abs(result.weights().values).ravel()
    assert weights.argmax() == 3


def test_less_memory_gives_the_same(
    sample: lmkin.Corpus, tiny: lmkin.LanguageModel, tmp_path: Path, monkeypatch: Any
) -> None:
    acts = lmkin.extract(tiny, sample[:60], tmp_path / "a.acts", progress=False)
    options = {**QUICK, "fit": ("all", "each"), "control": True, "kkt": 0.001}
    whole = lmkin.probe(acts, tag="upos", **options)
    # No row is held: as if there were room for scores alone.
    monkeypatch.setattr("lmkin.analyses.probing.run.bytes_of_fits", lambda *_: 2**60)
    streamed = lmkin.probe(acts, tag="upos", **options)
    np.testing.assert_allclose(streamed.dataset["accuracy"], whole.dataset["accuracy"], atol=0.02)


@pytest.mark.usefixtures("bare_process")
def test_too_little_memory_is_said(planted: Stores) -> None:
    with pytest.raises(lmkin.LmkinError, match=r"train_limit|more memory"):
        lmkin.probe(planted, tag="upos", memory="1MB", **QUICK)


def test_a_run_goes_on_from_its_workspace(
    planted: Stores, tmp_path: Path, monkeypatch: Any
) -> None:
    options = {**QUICK, "fit": ("all", "each"), "code_length": True, "control": True}
    whole = lmkin.probe(planted, tag="upos", **options)
    fits = probe_fits.fit_probe
    made: list[int] = []

    def dies(*args: Any, **more: Any) -> Any:
        made.append(1)
        if len(made) == 16:
            raise KeyboardInterrupt
        return fits(*args, **more)

    monkeypatch.setattr("lmkin.analyses.probing.run.fit_probe", dies)
    monkeypatch.setattr("lmkin.analyses.probing.fits.fit_probe", dies)
    with pytest.raises(KeyboardInterrupt):
        lmkin.probe(planted, tag="upos", workspace=tmp_path / "w", **options)
    begun = len(made)
    again = lmkin.probe(planted, tag="upos", workspace=tmp_path / "w", **options)
    xr.testing.assert_equal(again.dataset, whole.dataset)
    total = 4 * (2 + len(probe_fits.PORTIONS) - 1)
    assert len(made) - begun <= total - 10  # what was finished was not done again
    # Another penalty is another run.
    other = lmkin.probe(planted, tag="upos", workspace=tmp_path / "w", **{**options, "l1": 0.02})
    assert not np.array_equal(other.weights().values, whole.weights().values)


# -- the command ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def files(parts: dict[str, lmkin.Corpus], tmp_path_factory: Any) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("files")
    return {n: write_conllu(folder / f"{n}.conllu", c) for n, c in parts.items()}


def test_the_command_reads_train_dev_and_test(
    files: dict[str, Path], model_folder: Any, tmp_path: Path
) -> None:
    splits = [part for n, path in files.items() for part in (f"--{n}", path)]
    quick = [
        "--tag",
        "upos",
        "--l1",
        "0.01",
        "--fit",
        "all,each",
        "--no-code-length",
        "--parts",
        "3",
    ]
    command = ["probe", model_folder("bert"), *splits, *quick, "--no-charts"]
    outcome = call(*command, "-o", tmp_path / "o", "--json")
    assert outcome.code == 0, outcome.err
    printed = json.loads(outcome.out)
    assert printed["split"] == "as given"
    by_hand = lmkin.probe(
        model_folder("bert"), files, tag="upos", l1=0.01, fit=("all", "each"), code_length=False,
        parts=3, progress=False,
    )  # fmt: skip
    test = {r["probe"]: r["test"] for r in printed["probes"]}
    for probe, value in test.items():
        assert value == pytest.approx(
            float(by_hand.dataset["accuracy"].sel(probe=probe, split="test").squeeze())
        )
    plan = call(*command, "--dry-run", "--json")
    assert plan.code == 0, plan.err
    (model,) = json.loads(plan.out)["models"]
    assert model["rows"] == sum(lmkin.read_corpus(path).n_words for path in files.values())
    assert (model["neurons"], model["probes"]) == (96, 4)


def test_the_command_reads_stores_by_split(
    tiny: lmkin.LanguageModel, parts: dict[str, lmkin.Corpus], tmp_path: Path
) -> None:
    for name, corpus in parts.items():
        lmkin.extract(tiny, corpus, tmp_path / f"{name}.acts", progress=False)
    given = [f"{name}={tmp_path / name}.acts" for name in ("train", "test")]
    quick = ["--tag", "upos", "--l1", "0.01", "--fit", "all", "--no-code-length", "--no-control"]
    outcome = call("probe", *given, *quick, "--parts", "3", "--no-charts", "-o", tmp_path / "o")
    assert outcome.code == 0, outcome.err
    result = lmkin.load(tmp_path / "o")
    assert result.attrs["split"].startswith("dev is 10 % of train")
    rows = result.dataset["rows"].sel(task="upos")
    assert int(rows.sel(split="test")) == parts["test"].n_words
    assert int(rows.sel(split="train") + rows.sel(split="dev")) == parts["train"].n_words


@pytest.mark.usefixtures("no_models")
@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["--corpus", "x.conllu", "--train", "y.conllu"], "not both"),
        (["--train", "y.conllu", "--tag", "x"], "Give train, and test"),
        (["--corpus", "sample"], "Say what is to be predicted"),
        (["--corpus", "sample", "--tag", "chunk"], "no tag 'chunk'"),
    ],
)
def test_mistakes_on_the_command_line(given: list[str], says: str, tmp_path: Path) -> None:
    outcome = call("probe", "nowhere", *given, "-o", tmp_path / "o")
    assert outcome.code == 1
    assert says in outcome.said
    assert "Traceback" not in outcome.err


# -- real data --------------------------------------------------------------------------------------------


REAL = [
    ("conll2000/test.txt", {"tag": "chunk"}),
    ("pmb/pmb4_en_dev.conll", {"tag": ("sem", "cat")}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("file", "task"), REAL, ids=lambda v: str(v)[:20])
def test_columns_of_real_corpora(file: str, task: Any, shared: Any, minilm: Any) -> None:
    """A probe knows more of them than the majority class, and than the labels of the control task."""
    corpus = lmkin.read_corpus(shared("data", *file.split("/")))[:80]
    options = {**QUICK, "control": True, "compare_published": True}
    result = lmkin.probe(minilm, corpus, layers="3", **task, **options)
    for name in result.tasks:
        at = {"probe": "all", "split": "test", "task": name}
        value = float(result.dataset["accuracy"].sel(at).squeeze())
        assert value > float(result.dataset["majority"].sel(task=name, split="test")) + 0.1
        assert float(result.dataset["selectivity"].sel(at).squeeze()) > 0
    assert result.published is not None
    assert set(result.published.attrs["tasks"].values()) <= {"Chunking", "SEM", "CCG"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("corpus", "label", "paper"), [("MRPC", "class", "MRPC"), ("STS-B", "score", "STS-B")]
)
def test_pairs_of_real_sentences(
    corpus: str, label: Any, paper: str, shared: Any, minilm: Any
) -> None:
    pairs = lmkin.read_corpus(shared("data", "glue", corpus, "dev.tsv"))[:200]
    pairs = lmkin.Corpus(pairs, name=f"glue/{corpus}")
    options = {**QUICK, "compare_published": True}
    result = lmkin.probe(
        minilm, pairs, label=label, units="sentence", pooling="mean", layers="6", **options
    )
    name = "matthews" if label == "class" else "pearson"
    value = float(result.dataset[name].sel(probe="all", split="train").squeeze())
    assert value > 0.4
    assert result.published is not None
    assert result.published.attrs["tasks"] == {"label": paper}


def test_unfinished_work_says_how_far_it_is(planted: Stores, tmp_path: Path) -> None:
    """As many fits as were announced are there at the end; of a run that was broken off, fewer."""
    options: dict[str, Any] = {"tag": "upos", "l1": 0.02, "workspace": tmp_path, "progress": False}
    lmkin.probe(planted, **options)
    work = unfinished_in(tmp_path)
    assert work is not None
    rows, data = describe_unfinished(work)
    assert data["planned"] == {
        "probe": 5,
        "control": 5,
        "code": 5,
    }  # 0–2 are all layers, 0–0 is layer 0
    assert data["finished"] == data["planned"]
    next(tmp_path.glob("code-*")).unlink()
    assert "code 4 of 5" in describe_unfinished(work)[0]["finished"]
    assert f"workspace='{tmp_path}'" in rows["to go on"]
    assert unfinished_in(tmp_path / "nowhere") is None


def test_activations_that_were_read_otherwise_are_refused(tiny: Any, sample: lmkin.Corpus) -> None:
    corpus = sample[:60]
    acts = lmkin.extract(tiny, corpus, progress=False)
    result = lmkin.probe(
        acts, tag="upos", l1=0.02, fit="all", control=False, code_length=False, progress=False
    )
    assert len(result.predict(acts)) == len(acts)
    for keyword, value, was in (("pooling", "mean", "last"), ("units", "token", "word")):
        other = lmkin.extract(tiny, corpus, progress=False, **{keyword: value})
        with pytest.raises(
            lmkin.LmkinError,
            match=rf"fitted on activations with {keyword}='{was}'.*{keyword}='{value}'",
        ):
            result.predict(other)
