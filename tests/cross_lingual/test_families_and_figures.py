"""Families of languages, the thesis's figures, and what a result says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import lmkin
from cross_lingual.treebanks import WordVectors, treebanks
from lmkin.analyses.cross_lingual.families import (
    FAMILIES,
    families_of,
    parse_families,
    read_families,
)
from lmkin.cli.analysis_command import one_flag_each

SMALL: dict[str, Any] = {
    "tags": "upos",
    "thresholds": [0.1, 0.5],
    "l1": 0.02,
    "parts": 4,
    "progress": False,
}


def test_the_languages_of_the_thesis_have_the_families_of_its_tables():
    tables = {
        "Germanic": ("de", "sv"), "Slavic": ("pl", "ru"), "Romance": ("fr", "es", "pt"), "Uralic": ("fi",),
        "Japonic": ("ja",),
    }  # fmt: skip
    for family, codes in tables.items():
        assert {FAMILIES[code] for code in codes} == {family}


def test_a_code_is_the_first_part_of_a_name_and_one_s_own_families_go_first():
    assert families_of(["pt_br", "ZH-hans", "xx"]) == {
        "pt_br": "Romance",
        "ZH-hans": "Sinitic",
        "xx": None,
    }
    assert families_of(["en", "en_gb"], {"en": "West"}) == {"en": "West", "en_gb": "West"}


def test_families_from_a_file(tmp_path: Path):
    path = tmp_path / "families.csv"
    path.write_text('# mine\nqke,invented\n\nqta,"invented, too"\n', "utf-8")
    assert (
        read_families(path)
        == parse_families(str(path))
        == {"qke": "invented", "qta": "invented, too"}
    )
    for text, message in (
        ("qke\n", "line 1: a language and its family"), ("a,b\na,c\n", "line 2: 'a' has a family already"),
        ("", "No family is given"), ("a,\n", "names by language"),
    ):  # fmt: skip
        path.write_text(text, "utf-8")
        with pytest.raises(lmkin.LmkinError, match=message):
            read_families(path)
    path.write_bytes(b"\xff\xfe\x00a")
    with pytest.raises(lmkin.LmkinError, match="not UTF-8"):
        read_families(path)
    with pytest.raises(lmkin.LmkinError, match=r"no file '.*familie.csv'.*Did you mean"):
        parse_families(str(tmp_path / "familie.csv"))
    with pytest.raises(lmkin.LmkinError, match="names by language"):
        parse_families("en=,de=x")


def test_figures_of_the_thesis_stand_beside_one_s_own():
    banks = treebanks(("en", "de", "fi"), 30)
    banks = {"en_pud": banks["en"], "de_pud": banks["de"], "xx": banks["fi"]}
    result = lmkin.cross_lingual(WordVectors(), banks, compare_published=True, **SMALL)
    theirs = lmkin.published("thesis2022/tableB.1")
    for label, threshold in (("all", "None"), ("0.1", "0.1"), ("0.5", "0.5")):
        for model in ("bert-base-multilingual-cased", "xlm-roberta-base"):
            wanted = float(theirs.sel(language="DE", model=model, threshold=threshold)) / 100
            at = {"task": "upos", "neurons": label, "language": "de_pud"}
            assert float(result.published.sel(published_model=model, **at)) == pytest.approx(wanted)
    assert result.published.sel(language="xx").isnull().all()
    assert result.published.sel(neurons="top").isnull().all()
    records = result.find_table("published").to_records()
    assert {r["language"] for r in records} == {"de_pud"}
    ours = {r["neurons"]: r["ours"] for r in records}
    at = {
        "model": "planted",
        "source": "en_pud",
        "task": "upos",
        "language": "de_pud",
        "test": "all",
    }
    assert ours["0.5"] == float(result.accuracy.sel(**at, neurons="0.5"))


def test_training_accuracies_of_the_thesis_stand_beside_one_s_own():
    """Whatever the other languages are: the words that were fitted are English ones."""
    banks = treebanks(("en", "de"), 30)
    result = lmkin.cross_lingual(
        [WordVectors("a"), WordVectors("b", 1.4)], {"en": banks["en"], "qke": banks["de"]},
        compare_published=True, **SMALL | {"tags": ["deprel", "upos"]},
    )  # fmt: skip
    assert "published" not in result
    theirs = lmkin.published("thesis2022/tableC.1")
    rows = {
        (r["task"], r["model"]): r for r in result.find_table("published_training").to_records()
    }
    assert len(rows) == 2 * (2 + 10)
    for task, name in (("upos", "POS"), ("deprel", "DEP")):
        for model in ("gpt2", "xlm-roberta-base"):
            for label, threshold in (("all", "None"), ("0.1", "0.1"), ("0.5", "0.5")):
                wanted = float(theirs.sel(task=name, model=model, threshold=threshold)) / 100
                assert rows[task, f"thesis: {model}"][label] == pytest.approx(wanted)
        at = {"model": "b", "source": "en", "task": task, "neurons": "0.5"}
        assert rows[task, "b"]["0.5"] == float(result.train_accuracy.sel(**at))
    assert rows["deprel", "thesis: gpt2"]["all"] == pytest.approx(0.855)  # as printed


def test_where_the_thesis_has_no_figures_there_are_none(caplog: pytest.LogCaptureFixture):
    banks = treebanks(("en", "de"), 30)
    with caplog.at_level("INFO", "lmkin"):
        result = lmkin.cross_lingual(
            WordVectors(), banks, compare_published=True, train_on="de", **SMALL
        )
    assert "published" not in result
    assert "published_train" not in result
    assert "fitted on English" in caplog.text


def test_a_result_says_what_its_labels_sentences_and_layers_are(transfer: lmkin.CrossLingual):
    data = json.loads(json.dumps(transfer.data(), allow_nan=False))
    assert data["classes"] == {"en": {"upos": ["ADJ", "DET", "NOUN", "VERB"]}}
    assert transfer.languages == ["en", "de", "fi", "ja"]
    assert transfer.tasks == ["upos"]
    with pytest.raises(lmkin.LmkinError, match="Did you mean 'upos'"):
        transfer.classes("opos")
    held = [
        str(s)
        for s, out in zip(transfer["sentence"].values, transfer.held_out.values, strict=True)
        if out
    ]
    assert len(held) == 6
    findings = transfer.findings()
    assert any("teacher" in f and "student" in f for f in findings)
    assert any("best of 3 other languages" in f for f in findings)


def test_without_intervals_there_are_none_and_findings_have_none():
    result = lmkin.cross_lingual(
        WordVectors(), treebanks(("en", "fi"), 30), intervals=False, **SMALL
    )
    assert not [name for name in result if name.endswith(("_se", "_low", "_high"))]
    assert not any("interval" in sentence for sentence in result.findings())
    assert not any(a.kind == "few parts" for a in result.alerts)


def test_every_corpus_has_a_flag_of_its_own():
    given = [
        "cross-lingual",
        "M",
        "--corpora",
        "en=a",
        "de=b=c",
        "/x/y=z",
        "--corpora",
        "fi=d",
        "-o",
        "ja=e",
    ]
    assert one_flag_each(given) == [
        "cross-lingual", "M", "--corpora", "en=a", "--corpora", "de=b=c", "/x/y=z", "--corpora", "fi=d", "-o", "ja=e",
    ]  # fmt: skip


def test_probes_are_kept_with_their_labels_and_predict_what_was_scored(
    transfer: lmkin.CrossLingual,
    banks: dict[str, lmkin.Corpus],
    models: list[WordVectors],
    tmp_path: Path,
):
    transfer.save(tmp_path / "kept")
    again = lmkin.load(tmp_path / "kept")
    assert list(again.probes) == list(transfer.probes)
    for model in models:
        acts = lmkin.extract(model, banks["fi"], progress=False)
        true = acts.units.tags("upos")
        for neurons in ("all", 0.5, "top"):
            told = again.predict(acts, neurons=neurons)
            assert told == transfer.predict(acts, neurons=neurons)
            at = {
                "model": model.name,
                "source": "en",
                "task": "upos",
                "language": "fi",
                "test": "all",
            }
            right = sum(a == b for a, b in zip(told, true, strict=True)) / len(true)
            assert right == pytest.approx(float(transfer.accuracy.sel(**at, neurons=f"{neurons}")))
    with pytest.raises(lmkin.MeasureError, match="activations are of another model"):
        again.predict(lmkin.extract(WordVectors("other", 3.0), banks["fi"][:2], progress=False))
    with pytest.raises(lmkin.LmkinError, match=r"no set of neurons 'tops'.*Did you mean 'top'"):
        again.predict(acts, neurons="tops")
    few = lmkin.extract(models[0], banks["fi"][:2], layers="0,1", progress=False)
    with pytest.raises(lmkin.MeasureError, match="reads layer 2"):
        again.predict(few)
    alone = lmkin.load(tmp_path / "kept" / "cross-lingual.nc")
    assert list(alone.probes) == list(transfer.probes)  # of a folder's file all that belongs to it


@pytest.mark.filterwarnings("ignore:.*main table alone")
def test_without_their_file_there_are_no_probes(
    transfer: lmkin.CrossLingual, models: list[WordVectors], tmp_path: Path
):
    transfer.save(tmp_path / "alone.nc")
    acts = lmkin.extract(models[0], treebanks(("fi",), 2)["fi"], progress=False)
    with pytest.raises(lmkin.MeasureError, match=r"no weights.*probes.safetensors"):
        lmkin.load(tmp_path / "alone.nc").predict(acts)


def test_a_gain_is_said_as_a_gain(transfer: lmkin.CrossLingual):
    """Whoever is ahead is named, by a number that is not negative."""
    changed = transfer.dataset.copy(deep=True)
    at = {"source": "en", "task": "upos", "neurons": "0.1", "test": "all"}
    for ending, value in (("", -0.03), ("_se", 0.004), ("_low", -0.04), ("_high", -0.02)):
        changed[f"mean_behind{ending}"].loc[at] = value
        changed[f"mean_behind{ending}"].loc[{**at, "neurons": "0.5"}] = 0.5
    told = [f for f in lmkin.CrossLingual(changed).findings() if "Clusters found" in f]
    assert len(told) == 2
    for sentence in told:
        assert "at 0.1; on upos they are ahead of all neurons by 0.030 ± 0.004 (95 %" in sentence
        assert "0.020 to 0.040" in sentence
