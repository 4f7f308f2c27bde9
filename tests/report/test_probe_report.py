"""The report of probes: what its charts and tables show is what the dataset holds."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from made import probe_of
from readiness import settle

import lmkin
from lmkin.report import result_charts, write_report
from lmkin.report.kinds.probe.grids import class_table, classes_of, task_table
from lmkin.report.kinds.probe.layer_curves import layer_table
from lmkin.report.kinds.probe.view import ProbeView

SPLITS = ["train", "dev", "test"]
_BY_SPLIT = ("accuracy", "macro_f1", "matthews", "accuracy_unseen", "control", "selectivity")
_BY_PROBE = (
    "kept",
    "redundant",
    "behind",
    "compression",
    "bits",
    "width",
    "neurons",
    "weights",
    "l1",
    "l2",
    "kkt",
    "iterations",
    "objective",
)


def scores(
    models: tuple[str, ...],
    layers: tuple[int, ...],
    tasks: tuple[str, ...] = ("upos",),
    *,
    classes: int = 5,
    intervals: bool = True,
    seed: int = 0,
) -> xr.Dataset:
    """A dataset as `lmkin.probe` gives it, of random numbers."""
    random = np.random.default_rng(seed)
    most = max(layers)
    probes = ["all", *map(str, range(most)), *(f"0-{n}" for n in range(1, most))]
    kinds = ["all", *["each"] * most, *["upto"] * (most - 1)]
    ends = [most - 1, *range(most), *range(1, most)]
    names = {task: [f"c{k}" for k in range(classes + 2 * i)] for i, task in enumerate(tasks)}
    coords: dict[str, Any] = {
        "model": list(models), "task": list(tasks), "probe": probes, "split": SPLITS,
        "class": [f"{t}/{c}" for t in tasks for c in names[t]],
    }  # fmt: skip
    there = np.array([[n < own for n in ends] for own in layers])[:, None, :]
    there = np.broadcast_to(
        there | (np.array(kinds) == "all"), (len(models), len(tasks), len(probes))
    )

    def of(dims: tuple[str, ...], low: float = 0.5, high: float = 1.0) -> Any:
        values = random.uniform(low, high, [len(coords[d]) for d in dims]).round(4)
        if dims[:1] == ("model",):
            mine = there if "task" in dims else there.any(1)
            values = np.where(
                mine.reshape(mine.shape + (1,) * (values.ndim - mine.ndim)), values, np.nan
            )
        return dims, values

    variables: dict[str, Any] = {}
    for name in _BY_SPLIT:
        variables[name] = of(("model", "task", "probe", "split"))
        if intervals:
            dims, value = variables[name]
            variables[f"{name}_se"] = dims, value * 0 + 0.01
            variables[f"{name}_low"], variables[f"{name}_high"] = (
                (dims, value - 0.02),
                (dims, value + 0.02),
            )
    for name in _BY_PROBE:
        variables[name] = of(("model", "task", "probe"))
    dims, share = variables["kept"]
    variables["redundant"] = dims, np.where(np.isfinite(share), share > 0.8, np.nan)
    for name in ("rows", "missing", "unseen", "majority", "word_majority", "unseen_words"):
        variables[name] = of(("task", "split"), 0, 0.4)
    variables["support"] = of(("split", "class"), 1, 90)
    for name in ("f1", "recall"):
        variables[name] = of(("model", "probe", "class"))
    attrs = {
        "models": list(models), "units": "word", "corpus": "a corpus", "split": "as given", "lost": {},
        "level": 0.95, "parts": 10 * intervals, "parts_of": "sentences", "tolerance": 0.01,
        "penalty": "elementwise", "main": dict.fromkeys(tasks, "accuracy"), "classes": names,
        "probed": {
            m: {"layers": list(range(n)), "widths": [8] * n, "identity": None}
            for m, n in zip(models, layers, strict=True)
        },
        "alerts": [], "provenance": {"analysis": "probe", "options": {}, "source": {}},
    }  # fmt: skip
    extra = {"layers_read": ("probe", kinds), "layer": ("probe", ends)}
    return xr.Dataset(variables, coords=coords, attrs=attrs).assign_coords(extra)


def paper(tasks: tuple[str, ...]) -> xr.DataArray:
    """Two models of four layers, as published."""
    values = np.random.default_rng(1).uniform(0.5, 1, (2, 5, len(tasks))).round(3)
    return xr.DataArray(
        values,
        dims=("model", "layer", "task"),
        coords={"model": ["BERT", "XLNet"], "layer": ["0", "1", "2", "3", "all"], "task": list(tasks)},
        name="accuracy",
        attrs={"title": "Somebody, table 7", "reference": "Somebody", "tasks": dict.fromkeys(tasks, "POS")},
    )  # fmt: skip


@pytest.fixture(scope="module")
def dataset() -> xr.Dataset:
    return scores(("teacher", "student"), (4, 3), ("upos", "deprel"))


def test_the_table_of_layers_has_the_numbers(dataset: xr.Dataset) -> None:
    view = ProbeView(dataset)
    rows = layer_table(view, 1, 0, "each").to_records()
    assert [row["layer"] for row in rows] == ["0", "1", "2", "all"]
    for row in rows:
        at = {"model": "student", "task": "upos", "probe": row["layer"]}
        for split in SPLITS:
            assert row[split] == pytest.approx(float(dataset["accuracy"].sel(**at, split=split)))
        assert row["test_se"] == pytest.approx(0.01)
        assert row["selectivity"] == pytest.approx(
            float(dataset["selectivity"].sel(**at, split="test"))
        )
        kept = bool(dataset["redundant"].sel(at)) and row["layer"] != "all"
        assert row["keeps"] == ("yes" if kept else "")
    upto = layer_table(view, 0, 1, "upto").to_records()
    assert [row["last layer"] for row in upto] == ["0", "1", "2", "3", "all"]
    value = float(dataset["accuracy"].sel(model="teacher", task="deprel", probe="0-2", split="dev"))
    assert upto[2]["dev"] == pytest.approx(value)
    alone = dataset["accuracy"].sel(model="teacher", task="deprel", probe="0", split="dev")
    assert upto[0]["dev"] == pytest.approx(float(alone))


def test_classes_come_with_the_most_frequent_first(dataset: xr.Dataset) -> None:
    view = ProbeView(dataset)
    names = classes_of(view, 1)
    train = dataset["support"].sel(split="train")
    counts = [float(train.sel({"class": f"deprel/{name}"})) for name in names]
    assert counts == sorted(counts, reverse=True)
    for row in class_table(view, 0, 1).to_records():
        at = {"model": "teacher", "class": f"deprel/{row['class']}"}
        for column in ("0", "3", "all"):
            assert row[column] == pytest.approx(float(dataset["f1"].sel(**at, probe=column)))


def test_a_class_that_is_not_there_has_no_f1(dataset: xr.Dataset) -> None:
    gone = dataset.copy(deep=True)
    gone["f1"].loc[{"model": "teacher", "probe": "1", "class": "upos/c2"}] = np.nan
    chart = result_charts(probe_of(gone))["probe-classes-upos-teacher"]()
    names = classes_of(ProbeView(gone), 0)
    cell = values_of(chart, c=names.index("c2"), k=1)
    (value,) = [v for k, v in cell.items() if k.endswith("|")]
    assert value is None


def test_tasks_and_layers(dataset: xr.Dataset) -> None:
    for row in task_table(ProbeView(dataset), 1).to_records():
        for column in ("0", "1", "2", "all"):
            at = {"model": "student", "task": row["task"], "probe": column, "split": "test"}
            assert row[column] == pytest.approx(float(dataset["accuracy"].sel(at)))


def values_of(chart: Any, **wanted: Any) -> dict[str, Any]:
    spec = chart.to_dict()
    rows = spec["datasets"][spec["data"]["name"]]
    return next(row for row in rows if all(row[k] == v for k, v in wanted.items()))


def test_lines_are_the_splits_and_the_control(dataset: xr.Dataset) -> None:
    chart = result_charts(probe_of(dataset))["probe-each-deprel-teacher"]()
    at = {"model": "teacher", "task": "deprel", "probe": "2"}
    for line, name, split in (
        ("test", "accuracy", "test"), ("train", "accuracy", "train"), ("control task (test)", "control", "test"),
    ):  # fmt: skip
        row = values_of(chart, kind=line, layer=2)
        (value,) = [v for k, v in row.items() if k.endswith("|")]
        assert value == pytest.approx(float(dataset[name].sel(**at, split=split)))
    row = values_of(chart, kind="test", layer=2)
    assert [v for k, v in row.items() if k.endswith("kept")] == [
        float(dataset["redundant"].sel(at))
    ]


def test_what_is_not_there_has_no_chapter() -> None:
    one = scores(("alone",), (3,), intervals=False)
    charts = result_charts(probe_of(one.drop_vars(["compression", "f1", "recall"])))
    assert set(charts) == {
        f"probe-{name}-upos-alone" for name in ("each", "each-near", "upto", "classes")
    }
    each = one.sel(probe=[p for p in one["probe"].values if "-" not in str(p)])
    assert not any("upto" in name for name in result_charts(probe_of(each)))


def test_the_page_says_what_came_out_and_switches(
    dataset: xr.Dataset, tmp_path: Path, visit: Any
) -> None:
    path = write_report(probe_of(dataset, paper(("upos",))), out=tmp_path / "r.html")
    text = " ".join(re.sub("<[^>]+>", " ", path.read_text("utf-8").split("<script")[0]).split())
    for said in (
        "What do the layers of teacher and student know of upos and deprel?",
        "as given",
        "Each layer by itself",
        "Layers 0 to l side by side",
        "Models beside each other",
        "Tasks and layers",
        "Classes",
        "Code length",
        "What needs no model",
        "Somebody, table 7",
    ):
        assert said in text, said
    shown = visit(path, width=700)
    first = shown.locator("#chart-0")
    assert "BERT, as published" in first.text_content()
    assert "most frequent tag of the word" in first.text_content()
    assert "teacher" in first.text_content()
    shown.locator("select, input[type=radio]").first.wait_for(state="attached")
    for label in shown.locator("label", has_text="student").all()[:1]:
        label.click()
        settle(shown)
        assert "student" in first.text_content()


def test_a_dataset_of_another_kind_is_refused() -> None:
    with pytest.raises(lmkin.LmkinError, match=r"shows what lmkin\.probe gives"):
        ProbeView(xr.Dataset({"r2": 1.0}))


def test_facts_are_plain(dataset: xr.Dataset) -> None:
    result = probe_of(dataset)
    json.dumps(result.data(), allow_nan=False)
    assert "upos (5 classes)" in str(lmkin.report.kinds.find_report_kind(result).facts(result))
