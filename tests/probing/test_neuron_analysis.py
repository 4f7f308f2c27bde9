"""Neurons within the analysis: what a run finds is what the functions give; files, tables, findings, charts."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import altair as alt
import cloudpickle
import numpy as np
import pytest
from sklearn.metrics import accuracy_score

import lmkin
from lmkin.analyses.probing.neurons.fits import FitSettings, NeuronFits, SomeColumns
from lmkin.report.charts import specification
from lmkin.report.kinds.probe.neuron_chapters import neuron_chapters, neuron_figures
from lmkin.report.page import Page, Part, write_page
from lmkin.results import jackknife

OPTIONS: dict[str, Any] = {
    "tag": ["upos", "deprel"], "fit": "all", "control": False, "code_length": False, "l1": 0.01,
    "tolerance": 0.03, "progress": False, "parts": 4, "ranking": "lca",
}  # fmt: skip


@pytest.fixture(scope="module")
def acts(model_folder: Any, sample: lmkin.Corpus) -> lmkin.Activations:
    model = lmkin.load_model(model_folder("bert"), name="bert")
    return lmkin.extract(model, sample[:120], layers=[0, 2], progress=False)


@pytest.fixture(scope="module")
def probes(acts: lmkin.Activations) -> lmkin.Probes:
    return lmkin.probe(acts, thresholds=[0.2, 0.6], resamples=2, **OPTIONS)


def test_a_run_finds_what_the_functions_give(probes: lmkin.Probes) -> None:
    for task in ("upos", "deprel"):
        ranking = lmkin.rank_neurons(probes, task=task)
        table = probes.find_table("neurons").to_records()
        mine = next(r for r in table if r["task"] == task)
        places = list(
            zip(
                probes.dataset["ranked_layer"].sel(task=task).values[0].astype(int).tolist(),
                probes.dataset["ranked_number"].sel(task=task).values[0].astype(int).tolist(),
                strict=True,
            )
        )
        assert places == ranking.places
        found = lmkin.minimal_neurons(ranking, 0.03)
        assert len(found) == mine["neurons"]
        assert found.hash == probes.smallest(task=task).hash
        assert found.test is not None
        assert mine["minimal_test"] == pytest.approx(found.test.value[0])
        assert found.test.interval is not None
        assert mine["minimal_test_se"] == pytest.approx(found.test.interval.se[0])
        assert mine["kept"] == pytest.approx(ranking.curves([len(found)])["kept"].item(), abs=0.02)
        assert sum(found.by_layer.values()) == len(found)


def test_the_smallest_set_can_be_had_without_curves(
    probes: lmkin.Probes, acts: lmkin.Activations
) -> None:
    """For a fraction of the work: the same ranking and sets, and nothing of what the curves say."""
    some = lmkin.probe(acts, **OPTIONS, curves=False)
    for task in ("upos", "deprel"):
        assert some.smallest(task=task).hash == probes.smallest(task=task).hash
    assert not [name for name in some.dataset if str(name).startswith("curve")]
    assert "curve_step" not in some.dataset.dims
    table = some.find_table("neurons")
    shown = {column.key for column in table.columns if column.shown}
    assert not shown & {"kept", "random", "removed", "ablated"}
    assert shown >= {"neurons", "minimal_test", "most"}
    assert "another probe" not in table.caption
    before = {row["task"]: row for row in probes.find_table("neurons").to_records()}
    for row in table.to_records():
        for name in ("neurons", "minimal_test", "minimal_test_se", "minimal_behind"):
            assert row[name] == pytest.approx(before[row["task"]][name])
    titles = [chapter.title for chapter in neuron_chapters(some)]
    assert titles[:2] == ["How many neurons are enough?", "Where do these neurons lie?"]
    assert not neuron_chapters(some)[0].figures
    assert "probe-neurons-where" in neuron_figures(some)
    assert any("are enough for upos" in sentence for sentence in some.findings())


def test_rankings_read_layers_that_are_named(acts: lmkin.Activations) -> None:
    some = lmkin.probe(acts, **{**OPTIONS, "tag": "upos", "fit": "each", "ranking": "none"})
    ranking = lmkin.rank_neurons(some, layers=2)
    assert {layer for layer, _ in ranking.places} == {2}
    scale = acts.layer(2)[:].std(0)
    weights = some.weights(2).values
    assert len(ranking) == len(scale) == weights.shape[1]
    found = lmkin.minimal_neurons(ranking, 0.05)
    assert set(found.masks) == {2}
    with pytest.raises(lmkin.LmkinError, match="No smallest set"):
        some.smallest()


def test_rows_on_disk_give_what_rows_in_memory_give(probes: lmkin.Probes) -> None:
    """The same matrix as a view that is read in blocks, with room for few columns beside it."""
    rows = probes.task_rows["bert", "upos"]
    assert rows.model is not None
    matrices = {
        name: rows.model.matrix(name, np.arange(len(y)), resident=False)
        for name, y in rows.target.items()
    }
    assert not any(isinstance(X, np.ndarray) for X in matrices.values())
    settings = FitSettings(l1=0.01, kkt=1e-4)
    there = NeuronFits(rows.opened(), settings)
    narrow = dataclasses.replace(
        rows, read=matrices.__getitem__, room=80 * len(rows.target["train"])
    )
    here = NeuronFits(narrow, settings)
    for columns in (np.array([3, 1, 40]), np.arange(5, 60)):
        one, other = there.fit(columns), here.fit(columns)
        assert one.weights == pytest.approx(other.weights, abs=2e-3)
        assert there.score(one) == pytest.approx(here.score(other), abs=0.01)
        again = here.fit(columns[:-1], other)
        assert here.score(again, "test") == pytest.approx(
            there.score(there.fit(columns[:-1]), "test"), abs=0.01
        )
    assert isinstance(here._columns("train", np.array([1])), np.ndarray)
    assert isinstance(here._columns("train", np.arange(60)), SomeColumns)


def test_clusters_leave_what_a_probe_of_their_own_scores(
    probes: lmkin.Probes, acts: lmkin.Activations
) -> None:
    """Against clusters on the rows of train, and the estimator, both asked for here."""
    rows = probes.task_rows["bert", "upos"]
    X = {name: np.asarray(rows.read(name)[:]) for name in ("train", "test")}
    width = acts.widths[0]
    layers = {"bert/0": X["train"][:, :width], "bert/2": X["train"][:, width:]}
    clusters = lmkin.cluster_neurons(layers, thresholds=[0.2, 0.6], progress=False)
    records = [r for r in probes.find_table("thresholds").to_records() if r["task"] == "upos"]
    assert [r["threshold"] for r in records] == [None, 0.2, 0.6]
    assert records[0]["left"] == X["train"].shape[1]
    for record in records[1:]:
        masks = clusters.keep(record["threshold"]).masks
        columns = np.concatenate([masks[0], masks[2]])
        assert record["left"] == columns.sum()
        probe = lmkin.Probe(l1=0.01).fit(X["train"][:, columns], rows.target["train"])
        predicted = probe.predict(X["test"][:, columns])
        expected = accuracy_score(rows.target["test"], predicted)
        assert record["test"] == pytest.approx(expected, abs=0.011)


def test_the_mean_over_tasks_has_the_interval_of_the_mean(probes: lmkin.Probes) -> None:
    records = probes.find_table("thresholds").to_records()
    by_task = {r["task"]: r for r in records if r["threshold"] == 0.6}
    mean = by_task.pop("mean of tasks")
    assert mean["test"] == pytest.approx(np.mean([r["test"] for r in by_task.values()]))
    # Independent tasks would halve the variance; tasks on the same words are not, and never more than equal.
    worst = np.mean([r["test_se"] for r in by_task.values()])
    assert 0 < mean["test_se"] <= worst * (1 + 1e-9)
    assert mean["test_low"] < mean["test"] < mean["test_high"]
    assert jackknife(np.array([1.0]), np.array([[0.9], [1.1]]), [5, 5]).se[0] > 0


def test_probe_clusters_adds_the_same(probes: lmkin.Probes, acts: lmkin.Activations) -> None:
    plain = lmkin.probe(acts, **{**OPTIONS, "ranking": "none"})
    more = lmkin.probe_clusters(plain, [0.2, 0.6], progress=False)
    assert (
        more.find_table("thresholds").to_records() == probes.find_table("thresholds").to_records()
    )
    with pytest.raises(lmkin.LmkinError, match="already"):
        lmkin.probe_clusters(more, 0.3)
    with pytest.raises(lmkin.LmkinError, match="got Activations"):
        lmkin.probe_clusters(acts)  # type: ignore[arg-type]


def test_a_loaded_result_ranks_and_asks_for_rows(probes: lmkin.Probes, tmp_path: Path) -> None:
    probes.save(tmp_path / "probes")
    again = lmkin.load(tmp_path / "probes")
    assert isinstance(again, lmkin.Probes)
    here, there = (lmkin.rank_neurons(p, task="upos") for p in (probes, again))
    assert np.array_equal(here.order, there.order)
    with pytest.raises(lmkin.LmkinError, match="no rows to fit probes on"):
        lmkin.minimal_neurons(there)
    with pytest.raises(lmkin.LmkinError, match="was loaded"):
        lmkin.probe_clusters(again)
    rows = probes.task_rows["bert", "upos"]
    labels = np.array(probes.classes("upos"))
    given = {
        name: (rows.read(name), labels[rows.target[name]]) for name in ("train", "dev", "test")
    }
    found = lmkin.minimal_neurons(
        there, 0.03, X=given["train"][0], y=given["train"][1], dev=given["dev"], test=given["test"]
    )
    assert len(found) == len(lmkin.minimal_neurons(here, 0.03))
    names = {p.name for p in (tmp_path / "probes").rglob("*")}
    assert {"neurons.csv", "thresholds.csv", "overlap.csv", "ranking.csv"} <= names
    mask = lmkin.load(tmp_path / "probes" / "neurons" / "bert-upos.safetensors")
    assert mask.hash == again.smallest(task="upos").hash == probes.smallest(task="upos").hash


def test_rows_stay_where_they_are(probes: lmkin.Probes) -> None:
    """They may be larger than memory: another process gets the result without them."""
    there = cloudpickle.loads(cloudpickle.dumps(probes))
    assert there.task_rows == {}
    assert probes.task_rows
    assert there.smallest(task="upos").hash == probes.smallest(task="upos").hash
    ranking = cloudpickle.loads(cloudpickle.dumps(lmkin.rank_neurons(probes, task="upos")))
    with pytest.raises(lmkin.LmkinError, match="no rows"):
        lmkin.minimal_neurons(ranking)


def test_overlap_of_tasks_is_counted(probes: lmkin.Probes) -> None:
    sets = {t: set(probes.smallest(task=t).neurons) for t in ("upos", "deprel")}
    row = probes.find_table("overlap").to_records()[0]
    assert row["both"] == len(sets["upos"] & sets["deprel"])
    total = sum(probes.attrs["probed"]["bert"]["widths"])
    assert row["expected"] == pytest.approx(len(sets["upos"]) * len(sets["deprel"]) / total)
    assert 0 < row["p"] <= 1


def test_findings_say_how_many_and_where(probes: lmkin.Probes) -> None:
    said = " ".join(probes.findings())
    for task in ("upos", "deprel"):
        size = len(probes.smallest(task=task))
        assert f", {size:,} are enough for {task}" in said
        assert f"are enough for {task}" in said
    assert "Layer" in said
    assert "pair" in said


def test_a_run_goes_on_where_it_stopped(
    acts: lmkin.Activations, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {**OPTIONS, "tag": "upos", "thresholds": [0.5], "workspace": tmp_path}
    first = lmkin.probe(acts, **options)

    def never(*_: object, **__: object) -> None:
        raise AssertionError("a probe of some neurons was fitted again")

    monkeypatch.setattr("lmkin.analyses.probing.neurons.fits.NeuronFits.fit", never)
    again = lmkin.probe(acts, **options)
    assert first.dataset.equals(again.dataset)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ranking": "lda"}, "Unknown ranking 'lda'"),
        ({"ranking": "none", "resamples": 3}, "resamples is of the ranking"),
        ({"resamples": -1}, "resamples"),
        (
            {"ranking": "probeless", "tag": None, "label": "score"},
            "of classes, and here are scores",
        ),
        ({"thresholds": [0.1, 2.0]}, "from 0 to 1"),
    ],
)
def test_options_are_checked_first(
    acts: lmkin.Activations, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(lmkin.LmkinError, match=message):
        lmkin.probe(acts, **{**OPTIONS, **options})


def test_chapters_make_a_page(probes: lmkin.Probes, tmp_path: Path) -> None:
    part = Part("Probes", neuron_chapters(probes), probes.findings())
    write_page(Page("Neurons", [part]), tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text("utf-8")
    assert "How many neurons are enough?" in text
    assert "Do tasks share neurons?" in text


def rows_in(spec: dict[str, Any]) -> list[dict[str, Any]]:
    data = spec.get("data", {})
    return data["values"] if "values" in data else spec["datasets"][data["name"]]


def test_charts_hold_what_the_result_says(probes: lmkin.Probes) -> None:
    figures = neuron_figures(probes)
    names = set(figures)
    assert {"probe-neurons-upos", "probe-neurons-where", "probe-thresholds-bert"} <= names
    assert {"probe-thresholds-left", "probe-overlap-bert", "probe-neurons-stability"} <= names
    for figure in figures.values():
        assert isinstance(figure, alt.LayerChart)
        assert specification(figure)["layer"]
    spec = specification(figures["probe-neurons-upos"])
    marks = [r for r in rows_in(spec) if r["i"] == -1]
    assert [m["n"] for m in marks] == [len(probes.smallest(task="upos"))]
    assert len(neuron_chapters(probes)) == 4
    assert (
        neuron_chapters(lmkin.Probes(probes.dataset.drop_vars(["minimal", "cluster_left"]))) == []
    )
