"""`lmkin redundancy`, as a person uses it."""

from __future__ import annotations

import errno
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
import xarray as xr
from safetensors import SafetensorError
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

import lmkin
from lmkin.cli import run
from lmkin.cli.redundancy.reading import numbers

COMMON = ("-c", "sample", "--limit", 120, "--no-charts")
FEW = (*COMMON, "--thresholds", "0.2,0.4", "--no-intervals")
TEXT = "The old cook hid the letter under the table"


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
    return [model_folder("bert"), model_folder("gpt2")]


@pytest.fixture(scope="module")
def written(models: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with everything about two tiny models."""
    out = tmp_path_factory.mktemp("redundancy") / "out"
    options = (
        "--thresholds",
        "0:0.6:0.1",
        "--keep-at",
        "0.3,0.55",
        "--sentence",
        TEXT,
        "--clusters",
        2,
    )
    assert call("redundancy", *models, *COMMON, *options, "--parts", 5, "-o", out) == 0  # fmt: skip
    return out


@pytest.fixture(scope="module")
def rows(models: list[Path]) -> list[lmkin.Activations]:
    """Activations of the words that both models have, in memory."""
    corpus = lmkin.read_corpus("sample")[:120]
    return list(lmkin.common_units(*(lmkin.extract(m, corpus, progress=False) for m in models)))


def by_scipy(acts: lmkin.Activations, threshold: float) -> np.ndarray:
    """Clusters as the papers' code finds them."""
    X = np.concatenate([np.asarray(acts.layer(n)[:, :], np.float64) for n in acts.layers], axis=1)
    D = 1 - np.abs(np.corrcoef(X.T))
    tree = linkage(squareform(D, checks=False), "average")
    return fcluster(tree, threshold, "distance")


def test_everything_is_written(written: Path) -> None:
    names = {p.name for p in written.iterdir()}
    tables = {
        "left.csv",
        "left_by_layer.csv",
        "spans.csv",
        "layers.csv",
        "strips.csv",
        "members.csv",
    }
    assert (
        tables | {"redundancy.nc", "layers.nc", "clusters.safetensors", "keep", "report.html"}
        <= names
    )
    assert not {"unfinished", "charts"} & names
    assert not list(written.glob("*.acts"))
    page = (written / "report.html").read_text("utf-8")
    assert "lmkin" in page
    stored = lmkin.load_result(written / "redundancy.nc")
    expected = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.55, 0.6]  # what is kept is in the tables too
    assert stored["threshold"].values.tolist() == expected
    assert stored.attrs["command"].startswith("lmkin ")


def test_clusters_are_those_of_scipy(written: Path, rows: list[lmkin.Activations]) -> None:
    left = pd.read_csv(written / "left.csv").set_index(["model", "threshold"])["left"]
    members = pd.read_csv(written / "members.csv").set_index(["model", "threshold"])
    for acts in rows:
        for threshold in (0.3, 0.55):
            expected = by_scipy(acts, threshold)
            assert left[acts.name, threshold] == expected.max()
            mine = members.loc[acts.name, threshold].sort_values(["layer", "neuron"])
            assert len(mine) == len(expected)
            together = pd.crosstab(mine["cluster"].to_numpy(), expected)
            assert ((together > 0).sum(axis=0) == 1).all()
            assert ((together > 0).sum(axis=1) == 1).all()
            assert (mine.groupby("cluster")["kept"].sum() == 1).all()


def test_masks_are_those_of_the_clusters(
    written: Path, rows: list[lmkin.Activations], capsys: pytest.CaptureFixture[str]
) -> None:
    clustering = lmkin.Clustering.load(written / "clusters.safetensors")
    assert clustering.models == ["bert", "gpt2"]
    assert "key" not in clustering.attrs
    members = pd.read_csv(written / "members.csv").set_index(["model", "threshold"])
    names = {f"{model}-{t}.safetensors" for model in ("bert", "gpt2") for t in ("0.3", "0.55")}
    assert {p.name for p in (written / "keep").iterdir()} == names
    keep = lmkin.Keep.load(written / "keep" / "bert-0.3.safetensors")
    assert keep.hash == clustering.keep(0.3, "bert").hash
    mine = members.loc["bert", 0.3]
    kept = mine[mine["kept"] == 1].sort_values(["layer", "neuron"])
    assert keep.neurons == list(zip(kept["layer"], kept["neuron"], strict=True))
    assert keep.apply(rows[0]).shape == (len(rows[0]), len(keep))
    with pytest.raises(lmkin.LmkinError, match="another model"):
        keep.apply(rows[1])
    assert call("inspect", written / "keep" / "bert-0.3.safetensors") == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert f"{len(keep)} of 96 neurons" in shown
    assert keep.hash in shown
    assert call("inspect", written / "clusters.safetensors", "--json") == 0
    data = json.loads(capsys.readouterr().out)
    assert data["kind"] == "clusters"
    assert data["models"]["bert"]["left"][3] == len(keep)


def test_layers_are_those_of_the_library(written: Path, rows: list[lmkin.Activations]) -> None:
    table = pd.read_csv(written / "layers.csv").set_index(["model", "layer"])
    found = lmkin.layer_redundancy(rows, parts=5, progress=False)
    for acts in rows:
        for layer in acts.layers[1:]:
            for name in ("r2", "r2_se", "cka", "cka_low", "average", "rank"):
                direct = float(found[name].sel(model=acts.name, layer=layer))
                assert table.loc[acts.name, layer][name] == pytest.approx(direct, abs=1e-5), name


def test_strips_are_standardized_activations(written: Path, models: list[Path]) -> None:
    clustering = lmkin.Clustering.load(written / "clusters.safetensors")
    table = pd.read_csv(written / "strips.csv")
    assert set(table["model"]) == {"bert", "gpt2"}
    words = table["text"].unique().tolist()
    assert set(words) == set(TEXT.split())
    sentence = lmkin.Sentence(TEXT, tuple((m.start(), m.end()) for m in re.finditer(r"\w+", TEXT)))
    acts = lmkin.extract(models[0], lmkin.Corpus([sentence]), progress=False)
    mine = table[table["model"] == "bert"]
    sizes = clustering.sizes(0.3, "bert")
    assert sorted(mine["cluster"].unique()) == sorted(np.argsort(-sizes, kind="stable")[:2])
    for (layer, neuron), strip in mine.groupby(["layer", "neuron"]):
        line = np.asarray(acts.layer(layer)[:, :], np.float64)[:, neuron]
        line = (line - line.mean()) / line.std()
        sign = strip["sign"].iloc[0]
        np.testing.assert_allclose(strip["activation"], sign * line, atol=1e-4)


def test_what_is_shown(
    models: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("--names", "one,two", "--thresholds", "0.3,0.6", "--parts", 5)
    assert call("redundancy", *models, *COMMON, *options, "-o", tmp_path / "o") == 0
    captured = capsys.readouterr()
    words = " ".join(captured.out.split())
    for word in ("Neurons left, on ", "one", "two", "all 96 96", "candidates to drop", "by layer",
                 "± standard error", "on average"):  # fmt: skip
        assert word in words
    assert re.search(r"one 1 \d \d \d\.\d{3} ± \d\.\d{3} \d\.\d{3} ± ", words)
    assert "Clustering from one matrix" in captured.err
    assert "open" in captured.err
    assert "few rows" not in captured.err
    complete = (
        "--linkage",
        "complete",
        "--no-layer-maps",
        "--thresholds",
        "0.3",
        "-o",
        tmp_path / "p",
    )
    few = ("-c", "sample", "--limit", 15, "--no-charts")
    assert call("redundancy", models[0], *few, *complete) == 0
    captured = capsys.readouterr()
    assert "Warning: few rows: " in captured.err
    assert "All its members correlate" in " ".join(captured.out.split())
    assert "candidates" not in captured.out
    assert not (tmp_path / "p" / "layers.nc").exists()


def test_json_and_twins(
    models: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("--untrained", "--representative", "medoid", "--seed", 3, "--json", "-o", tmp_path)
    assert call("redundancy", models[0], *FEW, *options) == 0
    data = json.loads(capsys.readouterr().out)
    names = [m["model"] for m in data["models"]]
    assert len(names) == 2
    assert names[0] == "bert"
    assert names[1].startswith("untrained")
    assert [t["threshold"] for t in data["models"][0]["thresholds"]] == [0.2, 0.4]
    assert {row["model"] for row in data["layers"]} == set(names)
    assert all(row["r2_se"] is None for row in data["layers"])
    assert [row["rank"] for row in data["layers"][:2]] == [1, 2]
    assert data["layers"][0]["r2"] >= data["layers"][1]["r2"]
    kept = {mask["model"]: mask for mask in data["keep"]}
    assert set(kept) == set(names)
    assert {mask["threshold"] for mask in data["keep"]} == {0.2}  # of two as near to 0.3 the first
    for mask in data["keep"]:
        assert lmkin.Keep.load(mask["file"]).hash == mask["hash"]
    clustering = lmkin.Clustering.load(tmp_path / "clusters.safetensors")
    assert (clustering.representative, clustering.seed) == ("medoid", 3)
    assert Path(data["report"]).is_file()


def test_stored_activations_give_the_same(
    models: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "o"
    options = (
        "--keep-activations",
        "--dtype",
        "float16",
        "--layers",
        "0,1",
        "--sentence",
        3,
        "--strips-at",
        0.4,
    )
    assert call("redundancy", *models, *FEW, *options, "-o", out) == 0
    stores = [out / "bert.acts", out / "gpt2.acts"]
    assert all(lmkin.open_activations(s).layers == (0, 1) for s in stores)
    assert lmkin.open_activations(stores[0]).dtype == np.float16
    assert not (out / "unfinished").exists()
    capsys.readouterr()
    again = (
        "--thresholds",
        "0.2,0.4",
        "--no-intervals",
        "--no-charts",
        "--sentence",
        3,
        "--strips-at",
        0.4,
    )
    assert call("redundancy", *stores, *again, "-o", tmp_path / "p") == 0
    one, other = (lmkin.load_result(tmp_path / n / "redundancy.nc") for n in ("o", "p"))
    xr.testing.assert_equal(one, other)
    for name in ("layers.csv", "members.csv"):
        assert (out / name).read_text() == (tmp_path / "p" / name).read_text()
    # The sentence was read alone, in float32; stored, it is in float16.
    strips = [pd.read_csv(tmp_path / n / "strips.csv") for n in ("o", "p")]
    pd.testing.assert_frame_equal(*strips, atol=2e-2)
    assert all(s.exists() for s in stores)  # what was given is not removed
    # The other way round: one layer of a store.
    last = ("--layers", 1, "--no-layer-maps", "--thresholds", 0.4, "--no-charts")
    assert call("redundancy", stores[0], *last, "-o", tmp_path / "q") == 0
    assert lmkin.load_result(tmp_path / "q" / "redundancy.nc")["layer"].values.tolist() == [1]


def test_stores_that_do_not_fit(
    models: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, options in (("a", ("--limit", 40, "--layers", "0,2")), ("b", ("--limit", 50))):
        store = tmp_path / f"{name}.acts"
        assert call("extract", models[0], "sample", *options, "-o", store) == 0
    a, b = tmp_path / "a.acts", tmp_path / "b.acts"
    partial = tmp_path / "partial.acts"
    shutil.copytree(b, partial)
    manifest = json.loads((partial / "manifest.json").read_text())
    (partial / "manifest.json").write_text(json.dumps({**manifest, "status": "partial"}))
    cases = [
        ((a, b), "cannot be compared row by row"),
        ((a, "--layers", "0,1"), "has the layers 0, 2, and no layer 1"),
        ((a, "--layers", "7"), "no layer 7"),
        ((a, "--layers", "0"), "one layer here (0)"),
        ((tmp_path / "nothing.acts",), "is no folder of activations"),
        ((models[0],), "give a corpus for it to read with --corpus"),
        ((partial,), "partial.acts"),
        ((a, "--sentence", TEXT), "is the number of a sentence of their corpus"),
        ((a, "--sentence", "41"), "the corpus has sentences 1 to 40"),
        ((a, "--memory", "100kB"), "take fewer rows, fewer layers"),
    ]
    for arguments, expected in cases:
        capsys.readouterr()
        assert call("redundancy", *arguments, "-o", tmp_path / "o") == 1, arguments
        text = said(capsys)
        assert expected in text
        assert "Traceback" not in text


def test_a_plan(models: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("redundancy", *models, *COMMON, "--dry-run") == 0
    text = said(capsys)
    for word in (
        "Nothing is computed",
        "on disk",
        "route matrix",
        "for the model",
        "for the layers",
    ):
        assert word in text
    assert call("redundancy", models[0], *COMMON, "--dry-run", "--json") == 0
    (plan,) = json.loads(capsys.readouterr().out)["models"]
    acts = lmkin.extract(
        models[0], lmkin.read_corpus("sample")[:120], tmp_path / "a", progress=False
    )
    assert plan["rows"] == len(acts)
    assert plan["neurons"] == sum(acts.widths.values())
    assert plan["bytes_disk"] == len(acts) * plan["neurons"] * 4
    assert plan["route"] == "matrix"
    assert plan["bytes_clusters"] >= 12 * plan["neurons"] ** 2
    assert plan["tokens"] > plan["rows"]
    assert all(plan[f"seconds_{k}"] >= 0 for k in ("models", "clusters", "layers"))
    assert call("redundancy", tmp_path / "a", "--dry-run", "--no-layer-maps", "--json") == 0
    (plan,) = json.loads(capsys.readouterr().out)["models"]
    assert plan["rows"] == len(acts)
    assert "tokens" not in plan
    assert "seconds_layers" not in plan


def test_thresholds() -> None:
    assert numbers("0:0.9:0.1", "-") == (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
    assert numbers("0.3, 0.1,0.3", "-") == (0.1, 0.3)
    assert numbers("0:0.25:0.1,1", "-") == (0, 0.1, 0.2, 1)
    for wrong in ("", "a", "0:1", "0:1:0", "0:1:-0.1", "1:0:0.1", "nan", "0:nan:0.1", "1.1", "-0.1",
                  "0:1:1e-9", "0:inf:1", "0:1:1e-320", "0.1,,0.2", "0:1:0.1:2"):  # fmt: skip
        with pytest.raises(lmkin.LmkinError, match="numbers from 0 to 1"):
            numbers(wrong, "--thresholds")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--thresholds", "0.1,2"), "--thresholds: thresholds are numbers from 0 to 1"),
        (("--keep-at", "half"), "--keep-at: thresholds are"),
        (("--sentence", TEXT, "--strips-at", "-1"), "--strips-at: thresholds are"),
        (("--linkage", "averge"), "Did you mean 'average'"),
        (("--representative", "medoids"), "Did you mean 'medoid'"),
        (("--level", "95"), "between 0 and 1"),
        (("--memory", "lots"), "lots"),
        (("--clusters", "2"), "--clusters goes with --sentence"),
        (("--strips-at", "0.2"), "--strips-at goes with --sentence"),
        (("--no-layer-maps", "--parts", "5"), "--parts is of no use with --no-layer-maps"),
        (("--sentence", "One"), "needs two words at least"),
        (("--sentence", " "), "--sentence is empty"),
        (("--sentence", "0"), "the corpus has sentences 1 to 20"),
        (("--sentence", TEXT, "--units", "sentence"), "one row for all of it"),
        (("--layers", "9"), "no layer 9"),
        (("--layers", "last"), "one layer here (2)"),
        (("--units", "words"), "Did you mean 'word'"),
        (("--dtype", "int8"), "Unknown dtype"),
        (("--names", "a,b"), "2 names for 1 models"),
        (("--format", "nothing"), "nothing"),
        (("--revision", "x", "--side", "decoders"), "decoders"),
        (("--limit", "1", "--layers", "0,1", "--option", "x"), "NAME=VALUE"),
    ],
)  # fmt: skip
def test_mistakes(
    options: tuple[str, ...],
    expected: str,
    models: list[Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    common = ("-c", "sample", "--limit", 20, "--no-charts", "-o", tmp_path)
    assert call("redundancy", models[0], *common, *options) == 1
    text = said(capsys)
    assert expected in text
    assert "Traceback" not in text
    assert not (tmp_path / "report.html").exists()


def test_mistakes_in_what_is_given(
    models: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "empty.txt").write_text("\n")
    (tmp_path / "word.txt").write_text("One two\n")
    cases = [
        ((models[0], "-c", "sample"), "Give a folder with -o DIR"),
        ((models[0], "-c", "sample", "-o", tmp_path / "file"), "is a file"),
        ((models[0], "-c", tmp_path / "nowhere.txt", "-o", tmp_path / "o"), "nowhere.txt"),
        ((models[0], "-c", tmp_path / "empty.txt", "-o", tmp_path / "o"), "empty"),
        ((models[0], "-c", tmp_path / "word.txt", "-o", tmp_path / "o"), "three rows at least"),
        (("no/such-model", "-c", "sample", "-o", tmp_path / "o"), "no/such-model"),
    ]
    for arguments, expected in cases:
        assert call("redundancy", *arguments) == 1, arguments
        text = said(capsys)
        assert expected in text
        assert "Traceback" not in text
    assert call("redundancy", models[0], "-c", "sample", "--seed", "-1", "--dry-run") == 2
    assert "--seed" in said(capsys)


@pytest.mark.parametrize(
    "flags",
    [
        ("--first-token", "keep"), ("--side", "decoder"), ("--revision", "main"), ("--device", "cpu"),
        ("--model-dtype", "float16"), ("--trust-remote-code",), ("--units", "word"), ("--long", "window"),
        ("--pooling", "max"), ("--limit", "5"), ("--untrained",), ("--keep-activations",), ("--names", "a"),
    ],
)  # fmt: skip
def test_what_is_stored_is_not_read_again(
    flags: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("redundancy", "a.acts", *flags, "-o", tmp_path / "o") == 1
    assert f"{flags[0]} is for models that read a corpus" in said(capsys)


def test_no_cluster_to_show_loses_nothing(
    models: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("--no-layer-maps", "--sentence", TEXT, "--strips-at", 0, "-o", tmp_path)
    few = ("--thresholds", "0,0.2", "--no-charts", "-c", "sample", "--limit", 60)
    assert call("redundancy", models[0], *few, *options) == 0
    assert "no strips: at 0 every neuron of bert is alone" in said(capsys)
    assert (tmp_path / "report.html").exists()
    assert not (tmp_path / "strips.csv").exists()


def test_a_full_disk_keeps_what_was_extracted(
    models: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch
) -> None:
    from lmkin.activations import shards

    write, count = shards.write_file, 0

    def fills_up(path: Path, data: object) -> None:
        nonlocal count
        count += 1
        if count > 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(path, data)

    monkeypatch.setattr(shards, "write_file", fills_up)
    assert call("redundancy", *models, *FEW, "-o", tmp_path) == 1
    text = said(capsys)
    assert "disk is full" in text
    assert "Traceback" not in text
    monkeypatch.setattr(shards, "write_file", write)
    assert call("redundancy", *models, *FEW, "-o", tmp_path) == 0
    text = said(capsys)
    assert "Going on: 1 of 1 files of activations of bert were there" in text
    assert "of activations of gpt2" not in text
    assert not (tmp_path / "unfinished").exists()


def test_a_disk_that_is_full_at_the_end(
    models: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch
) -> None:
    from lmkin.redundancy import keeping

    def full(*_: object) -> None:
        raise SafetensorError("I/O error: No space left on device (os error 28)")

    monkeypatch.setattr(keeping, "save_file", full)
    assert call("redundancy", models[0], *FEW, "-o", tmp_path) == 1
    text = said(capsys)
    assert "bert-0.2.safetensors could not be written" in text
    assert "The disk is full" in text
    assert "Traceback" not in text
    monkeypatch.undo()
    assert call("redundancy", models[0], *FEW, "-o", tmp_path) == 0
    text = said(capsys)
    assert "Going on: the clusters are there" in text
    assert "Going on: the layers are there" in text
    assert (tmp_path / "report.html").exists()


def test_thresholds_that_memory_does_not_reach(
    models: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch
) -> None:
    """No two clusters fit into memory: nothing can be merged, and below the first merge nothing need be."""
    from lmkin.redundancy import grouping
    from lmkin.redundancy.planning import Plan

    monkeypatch.setattr(grouping, "plan_clustering", lambda *_, **__: Plan("tiles", 1, 1))
    options = (*COMMON, "--no-layer-maps", "--thresholds", "0.05,0.9")
    more = ("--keep-at", "0.05,0.9", "--sentence", TEXT, "--strips-at", "0.9")
    assert call("redundancy", models[0], *options, *more, "-o", tmp_path) == 0
    text = said(capsys)
    assert "thresholds left out: At 0.9 so many neurons hang together" in text
    assert "no masks: clusters were not reached at 0.9 (--keep-at)" in text
    assert "no strips: clusters were not reached at 0.9 (--strips-at)" in text
    assert [p.name for p in (tmp_path / "keep").iterdir()] == ["bert-0.05.safetensors"]
    assert lmkin.load_result(tmp_path / "redundancy.nc")["threshold"].values.tolist() == [0.05]
    assert call("redundancy", models[0], *COMMON, "--thresholds", "0.9", "-o", tmp_path / "o") == 1
    text = said(capsys)
    assert "not even at the lowest threshold" in text
    assert list((tmp_path / "o" / "unfinished").glob("*.acts"))  # for a second try


def test_only_what_is_ours_is_removed(models: list[Path], tmp_path: Path) -> None:
    kept = [tmp_path / "unfinished" / "mine.txt", tmp_path / "keep" / "mine.safetensors"]
    stale = tmp_path / "keep" / "bert-0.9.safetensors"
    for path in (*kept, stale):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
    assert call("redundancy", models[0], *FEW, "-o", tmp_path) == 0
    assert all(path.read_text() == "mine" for path in kept)
    assert [p.name for p in kept[0].parent.iterdir()] == ["mine.txt"]
    assert not stale.exists()  # an old mask beside new numbers would mislead
    assert (tmp_path / "keep" / "bert-0.2.safetensors").exists()


def test_two_models_of_one_name(models: list[Path], tmp_path: Path) -> None:
    few = ("--no-layer-maps", "--sentence", TEXT, "--strips-at", 0.5)
    options = ("-c", "sample", "--limit", 60, "--thresholds", "0.5", "--no-charts")
    assert call("redundancy", models[0], models[0], *options, *few, "-o", tmp_path) == 0
    stored = lmkin.load_result(tmp_path / "redundancy.nc")
    assert stored["model"].values.tolist() == ["bert", "bert#2"]
    assert stored["left"].values[0].tolist() == stored["left"].values[1].tolist()
    assert len(list((tmp_path / "keep").iterdir())) == 2
    assert set(pd.read_csv(tmp_path / "strips.csv")["model"]) == {"bert", "bert#2"}


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("redundancy", "--help") == 0
    shown = capsys.readouterr().out
    for flag in (
        "--thresholds",
        "--linkage",
        "--representative",
        "--keep-at",
        "--strips-at",
        "--no-layer",
    ):
        assert flag in shown
    assert call("--help") == 0
    assert "redundancy" in capsys.readouterr().out


SMALL_SHARDS = """
import runpy
from lmkin.activations import extraction
extraction.extract.__kwdefaults__["shard_bytes"] = 20_000
runpy.run_module("lmkin", run_name="__main__", alter_sys=True)
"""


def killed(command: list[str], ready: Path) -> None:
    """Start a command, and kill it as soon as there is a file."""
    process = subprocess.Popen(
        [sys.executable, "-c", SMALL_SHARDS, *command],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 200
    while not ready.exists() and time.monotonic() < deadline:
        assert process.poll() is None, "the run was over before it could be killed"
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert ready.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="kills a process by signal")
def test_goes_on_after_a_kill(
    models: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, whole = tmp_path / "out", tmp_path / "whole"
    command = ["redundancy", *map(str, models), "-c", "sample", "--limit", "400", "--thresholds", "0.2,0.4",
               "--parts", "5", "--no-charts"]  # fmt: skip
    unfinished = out / "unfinished"
    killed([*command, "-o", str(out)], unfinished / "bert.acts" / "shard-00001.safetensors")
    assert not (unfinished / "clusters.safetensors").exists()
    killed([*command, "-o", str(out)], unfinished / "clusters.safetensors")
    assert not (out / "report.html").exists()
    # What is kept belongs to one command: with another seed clusters are made anew, of the same activations.
    shutil.copytree(out, tmp_path / "other")
    assert call(*command, "--seed", "1", "-o", tmp_path / "other") == 0
    text = said(capsys)
    assert "the clusters are there" not in text
    assert "files of activations of gpt2 were there" in text
    assert call(*command, "-o", out) == 0
    text = said(capsys)
    assert "Going on: the clusters are there" in text
    going_on = re.search(r"Going on: (\d+) of (\d+) files of activations of bert", text)
    assert going_on is not None
    assert int(going_on[1]) == int(going_on[2]) > 1
    assert not unfinished.exists()
    assert call(*command, "-o", whole) == 0
    assert "Going on" not in said(capsys)
    one, other = (lmkin.load_result(folder / "redundancy.nc") for folder in (out, whole))
    xr.testing.assert_identical(one.drop_attrs(), other.drop_attrs())
    assert one.attrs["alerts"] == other.attrs["alerts"]
    one, other = (lmkin.load_result(folder / "layers.nc") for folder in (out, whole))
    for name in ("r2", "r2_se", "cka", "rank"):
        # Batches were cut otherwise, and activations differ in their last digit.
        np.testing.assert_allclose(one[name], other[name], atol=1e-6, err_msg=name)
    assert (out / "members.csv").read_text() == (whole / "members.csv").read_text()


@pytest.mark.skipif(sys.platform == "win32", reason="kills a process by signal")
def test_goes_on_inside_a_model_after_a_kill(
    models: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [
        "redundancy",
        str(models[0]),
        "-c",
        "sample",
        "--thresholds",
        "0.2",
        "--no-layer-maps",
        "--no-charts",
    ]
    out = tmp_path / "out"
    killed([*command, "-o", str(out)], out / "unfinished" / "bert.acts" / "shard-00002.safetensors")
    assert call(*command, "-o", out) == 0
    going_on = re.search(r"Going on: (\d+) of (\d+) files of activations of bert", said(capsys))
    assert going_on is not None
    assert 3 <= int(going_on[1]) < int(going_on[2])
    assert (out / "report.html").exists()


def test_thresholds_that_are_nearly_the_same_have_their_own_masks(
    models: list[Path], tmp_path: Path
) -> None:
    arguments = ["--keep-at", "0.3,0.3000001", "--no-layer-maps", "--no-charts", "-o", tmp_path]
    assert call("redundancy", models[0], *COMMON, *arguments) == 0
    assert len(list((tmp_path / "keep").glob("*.safetensors"))) == 2
    members = pd.read_csv(tmp_path / "members.csv")
    assert sorted(members["threshold"].unique()) == [0.3, 0.3000001]


def test_the_ridge_of_the_maps(
    models: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("1e-6", "100", "validation"):
        out = tmp_path / name
        assert call("redundancy", models[0], *FEW, "--no-charts", "--ridge", name, "-o", out) == 0
    little, much, chosen = (
        lmkin.load_result(tmp_path / n / "layers.nc")["r2"].values[0, 1:]
        for n in ("1e-6", "100", "validation")
    )
    assert (much < 0.3).all()  # next to nothing is explained with so large a ridge
    assert (little > 0.5).all()
    assert (chosen > 0.5).all()
    said(capsys)
    assert call("redundancy", models[0], *FEW, "--ridge", "much", "-o", tmp_path / "x") == 1
    assert "ridge" in said(capsys)
