"""Stored activations by language: the same as from models; stores that do not belong together are refused."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import lmkin
from cross_lingual.treebanks import WordVectors, treebanks

SMALL: dict[str, Any] = {
    "tags": "upos",
    "thresholds": [0.5],
    "l1": 0.02,
    "parts": 4,
    "progress": False,
}
LANGUAGES = ("en", "de", "fi")


@pytest.fixture(scope="module")
def banks() -> dict[str, lmkin.Corpus]:
    return treebanks(LANGUAGES, 40)


@pytest.fixture(scope="module")
def from_models(banks: dict[str, lmkin.Corpus]) -> lmkin.CrossLingual:
    models = [WordVectors("teacher", 0.8), WordVectors("student", 1.4)]
    return lmkin.cross_lingual(models, banks, ceiling=True, **SMALL)


def stored(
    banks: dict[str, lmkin.Corpus], folder: Path | None = None, name: str = "teacher", noise: float = 0.8,
    **options: Any,
) -> dict[str, lmkin.Activations]:  # fmt: skip
    model = WordVectors(name, noise)
    return {
        language: lmkin.extract(
            model, bank, folder and folder / f"{name}-{language}.acts", progress=False, **options
        )
        for language, bank in banks.items()
    }


def test_stores_give_what_models_give(
    from_models: lmkin.CrossLingual, banks: dict[str, lmkin.Corpus], tmp_path: Path
):
    teacher = stored(banks, tmp_path)
    student = stored(banks, tmp_path, "student", 1.4)
    folders = {name: [str(teacher[name].path), student[name].path] for name in banks}
    turned = {name: [student[name], teacher[name]][:: -1 if name == "en" else 1] for name in banks}
    for given in (
        folders,
        turned,
    ):  # models are known by their weights, whatever their order in a language
        result = lmkin.cross_lingual(given, ceiling=True, **SMALL)
        xr.testing.assert_identical(result.dataset, from_models.dataset.assign_attrs(result.attrs))
        for key, probe in from_models.probes.items():
            np.testing.assert_array_equal(result.probes[key].fitted.weights, probe.fitted.weights)
    assert result.attrs["probed"] == from_models.attrs["probed"]
    acts = teacher["fi"]
    assert result.predict(acts, neurons="top") == from_models.predict(acts, neurons="top")


def test_sentences_are_found_by_their_id_in_stores(
    from_models: lmkin.CrossLingual, banks: dict[str, lmkin.Corpus]
):
    """Stores hold sentences in an order of their own, and more than all have in common."""
    order = np.random.default_rng(0).permutation(40)
    mixed = {**banks, "de": banks["de"][order]}
    result = lmkin.cross_lingual(stored(mixed), **SMALL)
    at = {"model": ["teacher"]}
    for name in ("accuracy", "macro_f1", "rows", "majority"):
        alone = from_models[name]
        wanted = alone.sel(at) if "model" in alone.dims else alone
        xr.testing.assert_allclose(result[name], wanted, atol=1e-6)
    fewer = {name: bank[:30] if name == "fi" else bank for name, bank in mixed.items()}
    some = lmkin.cross_lingual(stored(fewer), common=True, **SMALL)
    whole = lmkin.cross_lingual(
        WordVectors("teacher", 0.8), {n: b[:30] for n, b in banks.items()}, **SMALL
    )
    np.testing.assert_allclose(some.accuracy, whole.accuracy, atol=1e-6)
    assert some.attrs["left_out"] == {"en": 10, "de": 10, "fi": 0}


def test_layers_of_stores_may_be_chosen(
    from_models: lmkin.CrossLingual, banks: dict[str, lmkin.Corpus]
):
    result = lmkin.cross_lingual(stored(banks), layers="1,2", **SMALL | {"ablations": "none"})
    at = {"source": "en", "task": "upos", "language": "fi", "test": "all", "model": "teacher"}
    some, above = result.accuracy.sel(neurons="all", **at), from_models.accuracy.sel(
        neurons="above-embedding", **at
    )  # fmt: skip
    assert float(some) == pytest.approx(float(above), abs=1e-6)


def test_take_sentences_keeps_rows_with_their_words(banks: dict[str, lmkin.Corpus]):
    acts = stored(banks)["fi"]
    some = acts.take_sentences([7, 0, 31])
    assert [s.id for s in some.units.corpus] == ["s7", "s0", "s31"]
    rows = np.concatenate([np.flatnonzero(acts.units.sentence == k) for k in (7, 0, 31)])
    assert some.units.texts == [acts.units.texts[row] for row in rows]
    assert some.units.sentence.tolist() == sorted(some.units.sentence.tolist())
    for layer in acts.layers:
        np.testing.assert_array_equal(some.layer(layer)[:], acts.layer(layer)[:][rows])
    assert len(acts.take_sentences([])) == 0
    again = some.take_sentences([2])  # of what was taken
    np.testing.assert_array_equal(again.layer(0)[:], acts.sentence(31)[0])


def test_a_plan_for_stores_counts_rows_and_reads_no_model(banks: dict[str, lmkin.Corpus]):
    from lmkin.analysis import Running, Source, find_analysis

    analysis = find_analysis("cross-lingual")
    source = Source(stored(banks), by_name=True)
    plan = analysis.plan(source, analysis.Options(tags=("upos",)), Running()).to_dict()
    assert plan["models"][0]["rows"] == {name: bank.n_words for name, bank in banks.items()}
    assert [step["name"] for step in plan["steps"]] == ["teacher: clusters", "teacher: probes"]


def test_stores_that_do_not_belong_together(banks: dict[str, lmkin.Corpus], tmp_path: Path):
    good = stored(banks)
    other, some = stored(banks, name="other", noise=2.0), stored(banks, layers="0,1")
    bare = {name: lmkin.Corpus(
        [dataclasses.replace(s, tags={"deprel": s.tags["deprel"]}) for s in bank], name=f"bare-{name}"
    ) for name, bank in banks.items()}  # fmt: skip
    cases: list[tuple[Any, str]] = [
        ({**good, "de": other["de"]}, "'de' are of other, and those of 'en' of teacher. A probe"),
        ({**good, "de": stored(banks, noise=2.0)["de"]}, "the same name, but other weights"),
        ({**good, "de": some["de"]}, "other layers in 'de' than in 'en'"),
        ({"en": [good["en"], good["en"]], "de": [good["de"]]}, "two stores of the same model"),
        (
            {"en": [good["en"], other["en"]], "de": [good["de"]]},
            "'de' are of teacher, and those of 'en' of teacher, o",
        ),
        (
            {n: [good[n], stored(bare, name="other", noise=2.0)[n]] for n in banks},
            "different corpora in 'en'",
        ),
        ({"en": good["en"]}, "two corpora at least"),
        ({**good, "de": stored(bare)["de"]}, r"'de' \('bare-de'\) has no tag 'upos'"),
        ({**good, "de": stored({"de": banks["de"][:30]})["de"]}, "which 'de' lacks.*common=True"),
        ({"en": "nowhere", "de": good["de"]}, "'en' is no folder of activations.*'nowhere'"),
        ({"en": np.zeros((3, 2)), "de": good["de"]}, "'en' is no folder of activations.*ndarray"),
        ([good["en"], good["de"]], "stored activations by language"),
        (good["en"], "stored activations by language"),
    ]
    for given, message in cases:
        with pytest.raises(lmkin.LmkinError, match=message):
            lmkin.cross_lingual(given, **SMALL)
    with pytest.raises(lmkin.LmkinError, match="hold their corpora"):
        lmkin.cross_lingual(good, banks, **SMALL)
    folders = stored(banks, tmp_path)
    pairs = [f"{name}={folders[name].path}" for name in banks]
    with pytest.raises(lmkin.LmkinError, match="hold their corpora"):
        lmkin.cross_lingual(pairs, banks, **SMALL)
    with pytest.raises(lmkin.LmkinError, match=r"pooling=… is for models that read a corpus"):
        lmkin.cross_lingual(good, pooling="first", **SMALL)


def test_units_and_rules_of_stores_are_the_same(sample: lmkin.Corpus, tiny: Any):
    corpora = {"en": sample[:20], "qke": lmkin.read_corpus("sample:qke")[:20]}
    words = {n: lmkin.extract(tiny, c, progress=False) for n, c in corpora.items()}
    for options, message in (
        ({"pooling": "first"}, "pooling is 'first' in 'qke' and 'last' in 'en'"),
        ({"units": "sentence"}, "the store of 'qke' holds sentences"),
    ):
        odd = {**words, "qke": lmkin.extract(tiny, corpora["qke"], progress=False, **options)}
        with pytest.raises(lmkin.LmkinError, match=message):
            lmkin.cross_lingual(odd, **SMALL)


@pytest.mark.parametrize("language", ["en", "fi"])
def test_a_number_that_no_probe_can_read_is_named(banks: dict[str, lmkin.Corpus], language: str):
    stores = stored(banks)
    acts = stores[language]
    layers = {n: acts.layer(n)[:].copy() for n in acts.layers}
    layers[1][3, 2] = np.nan
    stores[language] = lmkin.Activations(acts.units, [layers], acts.manifest)
    with pytest.raises(
        lmkin.MeasureError,
        match=f"NaN or infinite values in '{language}': 1 of them.* layer 1, neuron 2",
    ):
        lmkin.cross_lingual(stores, **SMALL)
