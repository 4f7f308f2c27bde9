"""Tables of the papers: what ships, its shape, figures typed from the paper, and sums and means that it prints."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import lmkin
from lmkin.results import published_names

FOLDER = Path(lmkin.__file__).parent / "results" / "published"
DOCS = Path(__file__).parents[2] / "docs" / "dependency.md"
TEXTS = {
    "dalvi2020": "analyzing-redundancy-pretrained-transformers.txt",
    "he2022": "two-tower-language-model.txt",
    "thesis2022": "distillation-redundancy-thesis.txt",
    "wu2020": "similarity-analysis-contextual-representations.txt",
}
TASKS = ["POS", "SEM", "CCG", "Chunking", "SST-2", "MRPC", "MNLI", "QNLI", "QQP", "RTE", "STS-B"]
LABELING, CLASSIFICATION = TASKS[:4], TASKS[4:]
TABLES = """
dalvi2020/table3-accuracy; group 2, model 2, step 3; sequence labeling | BERT | oracle = 93.0;
 sequence classification | XLNet | ls = 84.5
dalvi2020/table3-reduction; group 2, model 2; sequence labeling | BERT = 95.7; sequence classification | XLNet = 98.5
dalvi2020/table6-accuracy; model 2, threshold 10, task 12; BERT | 0.9 | STS-B = 32.5; XLNet | 0.7 | MRPC = 88.2
dalvi2020/table6-neurons; model 2, threshold 10, task 12; BERT | 0.7 | average = 1488; XLNet | 0.1 | average = 9006.75
dalvi2020/table7-accuracy; model 2, layer 13, task 11; BERT | 0 | MNLI = 31.8; XLNet | 12 | STS-B = 88.5
dalvi2020/table7-oracle; model 2, figure 2, task 11; XLNet | 1% loss | RTE = 70.4; BERT | oracle | POS = 95.2
dalvi2020/table8-accuracy; model 2, task 13, figure 2; BERT | MNLI | reduced = 81.8; XLNet | RTE | reduced = 71.1
dalvi2020/table8-neurons; model 2, task 13; BERT | Chunking = 750; XLNet | sentence average = 152
dalvi2020/table9-accuracy; model 2, step 3, task 4; XLNet | ccfs | Chunking = 91.8; BERT | ls | SEM = 91.2
dalvi2020/table9-layers; model 2, task 4; BERT | CCG = 8; XLNet | POS = 2
dalvi2020/table9-neurons; model 2, task 4; XLNet | CCG = 300; BERT | Chunking = 600
dalvi2020/table9-reduction; model 2, task 4; BERT | Chunking = 94; XLNet | CCG = 97
dalvi2020/table10-accuracy; model 2, step 3, task 7; XLNet | ls | QQP = 89.3; BERT | oracle | RTE = 69.3
dalvi2020/table10-neurons; model 2, task 7; BERT | QNLI = 10; XLNet | QNLI = 200
dalvi2020/table10-reduction; model 2, task 7; BERT | RTE = 99.9; XLNet | STS-B = 96.0
he2022/table1; setting 4, model 4; hidden size | ELMo = 4096; attention heads | Bert-large = 16
he2022/table2; model 5, other 5; Bert-large-run1 | Bert-large-run2 = 0.94; GPT | Bert-base = 0.26
he2022/table3-score; words 22, model 3; john, christian, william, david, charles | Bert-large = -0.30;
 ##s, ##ed, ##ly, ##ing, ##ism | GPT = -1.78
he2022/table3-rank; words 22, model 3; john, christian, william, david, charles | Bert-large = 21;
 may, year, season, march, day | ELMo = 14
he2022/table4; model 4, other 4; Frequency Rank | GPT = 0.22; Bert-large | ELMo = 0.56
thesis2022/table5.1; model 2, layer 13, threshold 10; bert-base-cased | 9 | 0.2 = 117;
 distilbert-base-cased | 6 | 0.1 = 691
thesis2022/tableA.1; layer 13, threshold 10; 1 | 0.7 = 50; 12 | 0.1 = 446
thesis2022/tableA.2; layer 7, threshold 10; 3 | 0.3 = 432; 0 | 0.2 = 716
thesis2022/tableA.3; layer 13, threshold 10; 5 | 0.3 = 1; 9 | 0.2 = 587
thesis2022/tableA.4; layer 7, threshold 10; 2 | 0.4 = 138; 6 | None = 767
thesis2022/tableA.5; layer 13, threshold 10; 12 | 0.1 = 458; 1 | 0.6 = 15
thesis2022/tableA.6; layer 13, threshold 10; 0 | 0.9 = 39; 9 | 0.2 = 145
thesis2022/tableA.7; layer 7, threshold 10; 1 | 0.6 = 12; 4 | 0.3 = 109
thesis2022/tableA.8; layer 13, threshold 10; 11 | 0.2 = 607; 12 | 0.1 = 680
thesis2022/tableB.1; language 9, threshold 11, model 3; SV | None | xlm-roberta-base = 89.42;
 JA | 0.3 | bert-base-multilingual-cased = 43.86; JA | 0.9 | bert-base-multilingual-cased = 47.29;
 ES | 0.95 | distilbert-base-multilingual-cased = 32.99
thesis2022/tableB.2; language 9, threshold 11, model 3; PL | None | bert-base-multilingual-cased = 60.76;
 RU | 0.6 | xlm-roberta-base = 60.84; FI | 0.95 | distilbert-base-multilingual-cased = 18.86
thesis2022/tableC.1; task 2, threshold 10, model 10; POS | 0.9 | distilroberta-base = 62.33; DEP | 0.3 | gpt2 = 80.87
wu2020/table1; model 2, frozen 5, task 4; BERT | bottom:6 | SST-2 = 93.00; XLNet | top:4 | QQP = 90.92
zhang2022/table2; model 13, length 6; xlnet-base-cased | 16 = 0.3412
zhang2022/table3; model 13, length 6; group | 512 = 0.9299
"""
"""Name, dimensions, and figures as read in the paper: the labels in the order of the dimensions, then the figure."""
LISTED = [line.split("; ") for line in TABLES.strip().replace("\n ", " ").splitlines()]
NAMES = [name for name, *_ in LISTED]
EMPTY = {"dalvi2020/table10-accuracy": 14, "he2022/table1": 2, "thesis2022/table5.1": 60}
"""Cells that are not printed, or that the text has lost."""


def table(name: str) -> xr.DataArray:
    return lmkin.published(name)


def raw(name: str) -> tuple[int, list[str], list[list[str]]]:
    """How many columns of the file are labels, its head, and its lines."""
    notes = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    head, *lines = csv.reader((FOLDER / f"{name}.csv").read_text("utf-8").splitlines())
    rows = [notes["rows"]] if isinstance(notes["rows"], str) else notes["rows"]
    assert head[: len(rows)] == rows
    return len(rows), head, lines


# -- every table --------------------------------------------------------------------------------------


def test_what_ships() -> None:
    assert published_names() == sorted(NAMES)


@pytest.mark.parametrize(("name", "dims"), [(name, dims) for name, dims, *_ in LISTED])
def test_every_table_is_labelled(name: str, dims: str) -> None:
    figures = table(name)
    assert ", ".join(f"{dim} {size}" for dim, size in figures.sizes.items()) == dims
    assert figures.dtype == np.float64
    assert figures.name
    assert all(figures.attrs[key] for key in ("title", "reference", "note"))
    assert isinstance(figures.attrs["names"], dict)
    for dim in figures.dims:
        labels = figures[dim].values.tolist()
        assert len(set(labels)) == len(labels)
    models = set(figures["model"].values.tolist()) if "model" in figures.dims else set()
    assert set(figures.attrs["names"]) <= models | {figures.attrs.get("model")}
    assert int(figures.isnull().sum()) == EMPTY.get(name, 0)
    k, head, lines = raw(name)
    assert len({tuple(line[:k]) for line in lines}) == len(lines)
    assert {len(line) for line in lines} == {len(head)}


@pytest.mark.parametrize(("name", "spot"), [(x[0], spot) for x in LISTED for spot in x[2:]])
def test_figures_are_those_of_the_paper(name: str, spot: str) -> None:
    figures = table(name)
    cell, _, value = spot.rpartition(" = ")
    labels = zip(figures.dims, cell.split(" | "), strict=True)
    where = {dim: figures[dim].dtype.type(label) for dim, label in labels}
    assert float(figures.sel(where)) == float(value)


@pytest.mark.parametrize("name", [n for n in NAMES if n.startswith(("dalvi", "he", "thesis"))])
def test_every_row_stands_in_the_paper(name: str, shared: Any) -> None:
    """On one line, in order; or every column does, where the lines of the paper are those."""
    text = shared("papers", TEXTS[name.partition("/")[0]]).read_text("utf-8")
    text = text.replace(
        "david, charles\t0.30", "david, charles\t-0.30"
    )  # the one sign that is changed
    printed = [re.findall(r"-?\d+(?:\.\d+)?", line) for line in text.splitlines()]

    def stands(cells: tuple[str, ...]) -> bool:
        return any(all(cell in line for cell in cells) for line in map(iter, printed))

    k, _, lines = raw(name)
    rows = [tuple(cell for cell in line[k:] if cell) for line in lines]
    assert all(map(stands, rows)) or all(map(stands, zip(*rows, strict=True)))


def test_cells_of_wu_stand_in_the_paper(shared: Any) -> None:
    """Four of the row without frozen layers, then four columns of four; for BERT, then for XLNet."""
    text = shared("papers", TEXTS["wu2020"]).read_text("utf-8")
    cells = [float(cell) for cell in re.findall(r"^\d\d\.\d\d$", text, re.MULTILINE)]
    figures = table("wu2020/table1").values
    for half, found in zip((cells[:20], cells[20:]), figures, strict=True):
        assert found[0].tolist() == half[:4]
        assert found[1:].T.ravel().tolist() == half[4:]


def test_the_page_lists_what_ships() -> None:
    page = DOCS.read_text("utf-8")
    assert [name for name in NAMES if f"`{name}`" not in page] == []


def test_labels_are_numbers_where_all_are() -> None:
    assert table("dalvi2020/table6-neurons")["threshold"].values.tolist()[3] == 0.3
    assert table("dalvi2020/table7-accuracy")["layer"].values.tolist() == list(range(13))
    assert table("thesis2022/tableC.1")["threshold"].values.tolist()[:2] == ["None", "0.1"]


@pytest.mark.parametrize(
    ("name", "listed"),
    [("dalvi2020/table4", "dalvi2020/table3-accuracy"), ("dalvi2019", "dalvi2020, he2022"), (2, "wu2020")],
)  # fmt: skip
def test_an_unknown_name_lists_tables_or_works(name: Any, listed: str) -> None:
    with pytest.raises(lmkin.LmkinError, match=listed):
        lmkin.published(name)


# -- sums and means that the papers print ----------------------------------------------------------------


def test_averages_of_correlation_clustering() -> None:
    accuracy = table("dalvi2020/table6-accuracy")
    mean = accuracy.sel(task=TASKS).mean("task")
    assert abs(mean - accuracy.sel(task="average")).max() < 0.06
    neurons = table("dalvi2020/table6-neurons")
    average = neurons.sel(task="average")
    assert abs(neurons.sel(task=TASKS).mean("task") - average).sel(model="BERT").max() <= 0.5
    clustered = neurons.sel(model="XLNet").isel(threshold=slice(1, None))
    # Of XLNet only the four labeling tasks.
    four = clustered.sel(task=LABELING).mean("task")
    assert four.values.tolist() == clustered.sel(task="average").values.tolist()
    assert clustered.sel(task=TASKS, threshold=0.7).mean() == pytest.approx(1514.45, abs=0.01)
    assert (average.diff("threshold") < 0).all()


def test_bound_of_the_layers_is_99_percent_of_the_oracle() -> None:
    oracle = table("dalvi2020/table7-oracle")
    bound = 0.99 * oracle.sel(figure="oracle")
    assert abs(bound - oracle.sel(figure="1% loss")).max() < 0.1
    # Eleven redundant layers at most in BERT for POS, ten in XLNet for CCG or QQP; none in BERT for RTE.
    kept = (table("dalvi2020/table7-accuracy") >= oracle.sel(figure="1% loss")).sum("layer")
    assert kept.max("task").values.tolist() == [11, 10]
    assert int(kept.sel(model="BERT", task="RTE")) == 0


def test_averages_of_minimal_sets() -> None:
    for tasks, average in ((LABELING, "word average"), (CLASSIFICATION, "sentence average")):
        accuracy = table("dalvi2020/table8-accuracy")
        mean = accuracy.sel(task=tasks).mean("task")
        assert abs(mean - accuracy.sel(task=average)).max() <= 0.051
        neurons = table("dalvi2020/table8-neurons")
        # 152.86 is printed as 152.
        whole = np.floor(neurons.sel(task=tasks).mean("task"))
        assert (whole == neurons.sel(task=average)).all()


def test_means_of_efficient_transfer() -> None:
    means, oracle = table("dalvi2020/table3-accuracy"), table("dalvi2020/table7-oracle")
    reduction = table("dalvi2020/table3-reduction")
    groups = {9: ("sequence labeling", LABELING), 10: ("sequence classification", CLASSIFICATION)}
    for number, (group, tasks) in groups.items():
        accuracy = table(f"dalvi2020/table{number}-accuracy")
        assert accuracy["task"].values.tolist() == tasks
        all_layers = oracle.sel(figure="oracle", task=tasks)
        assert (accuracy.sel(step="oracle").values == all_layers.values).all()
        steps = ["oracle", "ls", "ccfs"] if number == 9 else ["oracle", "ls"]
        mean = accuracy.sel(step=steps).mean("task")
        assert abs(mean - means.sel(group=group, step=steps)).max() <= 0.051
        each = table(f"dalvi2020/table{number}-reduction")
        # Cut off, not rounded; and 99.0 (BERT, classification) is 99.1 by table 10.
        assert abs(each.mean("task") - reduction.sel(group=group)).max() < 0.15
        computed = 100 - table(f"dalvi2020/table{number}-neurons") / 99.84
        off = abs(computed - each) > (0.5 if number == 9 else 0.051)
        assert int(off.sum()) == (number == 10)
        assert number == 9 or bool(off.sel(model="BERT", task="RTE"))
    layers = table("dalvi2020/table9-layers").mean("task")
    assert (layers < [6, 3]).all()  # as the prose has it


@pytest.mark.parametrize("name", ["5.1", *(f"A.{k}" for k in range(1, 9))])
def test_layers_of_the_thesis_are_places_among_what_was_left(name: str) -> None:
    """From 0.2 on, as many layers have neurons as the neurons that the threshold before left would fill."""
    figures = table(f"thesis2022/table{name}")
    for counts in figures if "model" in figures.dims else [figures]:
        counts = counts.dropna("layer")
        left = counts.sum("layer").values
        assert left[0] == 768 * counts.sizes["layer"] - 1  # one neuron is missing
        assert (np.diff(left) < 0).all()
        for k in range(2, 10):
            room = np.clip(left[k - 1] - 768 * counts["layer"].values, 0, 768)
            now = counts.isel(threshold=k).values
            assert (now <= room).all()
            assert ((now > 0) == (room > 0)).all()


def test_sums_of_the_thesis_are_those_of_its_prose() -> None:
    def left(k: int) -> float:
        return float(table(f"thesis2022/tableA.{k}").sel(threshold="0.3").sum())

    of_bert = table("thesis2022/table5.1").sel(threshold="0.3").sum("layer").values.tolist()
    assert (left(5), left(1), left(5) - left(7)) == (2747, 1464, 683)
    # The prose has 238 and 527 for these, and distilBERT 683 below BERT.
    assert (left(3) - of_bert[0], left(5) - left(6), of_bert[1] - of_bert[0]) == (237, 572, 211)


@pytest.mark.parametrize("name", ["thesis2022/tableB.1", "thesis2022/tableB.2"])
def test_slavic_languages_are_not_japanese_and_finnish(name: str) -> None:
    figures = table(name)
    assert " ".join(figures["language"].values) == "DE SV PL RU FR PT ES JA FI"
    assert figures["threshold"].values.tolist()[-2:] == ["0.9", "0.95"]
    whole = figures.sel(threshold="None")
    assert (whole.sel(language="RU") > whole.sel(language="PL")).all()  # from the discussion
    assert (whole.sel(language="JA") < whole.drop_sel(language="JA").min("language")).all()
    assert len(np.unique(figures.values.reshape(9, -1), axis=0)) == 9


@pytest.mark.parametrize("name", ["he2022/table2", "he2022/table4"])
def test_correlations_are_symmetric(name: str) -> None:
    figures = table(name)
    assert (figures.values == figures.values.T).all()
    assert (np.diag(figures.values) == 1).all()
    assert figures["model"].values.tolist() == figures["other"].values.tolist()


def test_ranks_are_those_of_the_scores_but_for_the_ones_in_the_note() -> None:
    score, rank = table("he2022/table3-score"), table("he2022/table3-rank")
    order = np.argsort(-score.values, axis=0, kind="stable")
    above = np.argsort(order, axis=0) + 1 - rank.values
    bert, elmo, gpt = (score.values[:, k][above[:, k] != 0].tolist() for k in range(3))
    assert bert == [-0.69]
    assert sorted(elmo) == [-1.16, -1.05, -0.99]
    # All from 0.81 on are one too low; 0.45, which shares its rank with 0.37, is not.
    assert sorted(gpt) == sorted(x for x in score.values[:, 2] if x < 0.82 and x != 0.45)
    assert rank.max() == 21


def test_freezing_is_as_the_prose_has_it() -> None:
    figures = table("wu2020/table1")
    but_qqp = figures.sel(task=["SST-2", "MNLI", "QNLI"])
    for n in (4, 6):
        assert (but_qqp.sel(frozen=f"bottom:{n}") > but_qqp.sel(frozen=f"top:{n}")).all()
    two = figures.sel(task=["SST-2", "QNLI"])
    assert (two.sel(frozen="bottom:6") >= two.sel(frozen="0")).all()
