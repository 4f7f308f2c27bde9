"""Sentences: the same ones are held out in every language; corpora that are not parallel are refused."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lmkin
from cross_lingual.treebanks import WordVectors, treebanks
from lmkin.analyses.cross_lingual.options import CrossLingualOptions
from lmkin.analyses.cross_lingual.parallel import align_corpora, require_tags


def aligned(corpora: dict[str, lmkin.Corpus], seed: int = 0, **options: object):
    return align_corpora(corpora, dataclasses.replace(CrossLingualOptions(), **options), seed)


@given(st.integers(0, 50), st.permutations(["en", "de", "fi"]), st.sampled_from([0.1, 0.3]))
def test_the_same_sentences_are_held_out_in_every_language(
    seed: int, order: list[str], share: float
):
    banks = treebanks(("en", "de", "fi"), 40)
    parallel = aligned({name: banks[name] for name in order}, seed, held_out_share=share)
    assert parallel.held_out.sum() == round(share * 40)
    ids = [
        [s.id for s, out in zip(corpus, parallel.held_out, strict=True) if out]
        for corpus in parallel.corpora.values()
    ]
    assert ids[0] == ids[1] == ids[2]
    again = aligned({name: banks[name] for name in reversed(order)}, seed, held_out_share=share)
    assert np.array_equal(again.held_out, parallel.held_out)


def test_another_seed_holds_out_others():
    banks = treebanks(("en", "de"), 100)
    drawn = {tuple(np.flatnonzero(aligned(banks, seed).held_out)) for seed in range(5)}
    assert len(drawn) == 5


def test_sentences_are_found_by_their_id_whatever_their_order():
    banks = treebanks(("en", "de"), 30)
    mixed = banks["de"][np.random.default_rng(0).permutation(30)]
    parallel = aligned({"en": banks["en"], "de": mixed})
    assert [s.id for s in parallel.corpora["de"]] == [s.id for s in banks["en"]]
    assert parallel.corpora["de"].words == banks["de"].words


def test_by_order_ids_do_not_count():
    banks = treebanks(("en", "de"), 30)
    renamed = lmkin.Corpus(
        [dataclasses.replace(s, id=f"x{s.id}") for s in banks["de"]], name="other"
    )
    parallel = aligned({"en": banks["en"], "de": renamed}, align="order")
    assert parallel.corpora["de"] == renamed
    with pytest.raises(lmkin.CorpusError, match=r"share no sent_id.*align='order'"):
        aligned({"en": banks["en"], "de": renamed})
    with pytest.raises(lmkin.CorpusError, match="'en' has 30 sentences, and 'de' 29"):
        aligned({"en": banks["en"], "de": renamed[:29]}, align="order")


def test_other_sentences_are_named_and_common_ones_can_be_taken():
    banks = treebanks(("en", "de", "fi"), 30)
    banks["fi"] = banks["fi"][[k for k in range(30) if k not in (4, 7)]]
    with pytest.raises(
        lmkin.CorpusError,
        match=r"en 30, de 30, fi 28.*number 5 of 'en', sent_id 's4', which 'fi' lacks. 28 are common.*common=True",
    ):
        aligned(banks)
    parallel = aligned(banks, common=True)
    assert {name: len(c) for name, c in parallel.corpora.items()} == dict.fromkeys(banks, 28)
    assert parallel.left_out == {"en": 2, "de": 2, "fi": 0}
    doubled = lmkin.Corpus([*banks["de"], banks["de"][0]], name="twice")
    with pytest.raises(
        lmkin.CorpusError, match=r"'s0' occurs more than once in 'twice'.*align='order'"
    ):
        aligned({"en": banks["en"], "de": doubled})


@given(st.integers(2, 12), st.booleans())
def test_parts_are_blocks_of_neighbours_that_cover_what_is_scored(count: int, held_out: bool):
    parallel = aligned(treebanks(("en", "de"), 60), held_out_share=0.4)
    part = parallel.parts(count, held_out=held_out)
    scored = np.flatnonzero(part >= 0)
    assert np.array_equal(scored, np.flatnonzero(parallel.held_out) if held_out else np.arange(60))
    assert (np.diff(part[scored]) >= 0).all()
    assert len(np.unique(part[scored])) == count
    sizes = np.bincount(part[scored])
    assert sizes.max() - sizes.min() <= 1


@pytest.mark.parametrize(
    ("corpora", "message"),
    [({}, "two corpora at least.*got none"), ({"en": "sample"}, "two corpora at least.*got only 'en'"),
     ({"en": "sample", 3: "sample"}, "called by a name"), ({"en": "sample", "a/b": "sample"}, "without a slash"),
     ("sample", "by language"), (None, "Give parallel corpora")],
)  # fmt: skip
@pytest.mark.usefixtures("no_models")
def test_what_are_no_parallel_corpora(corpora: object, message: str):
    with pytest.raises(lmkin.LmkinError, match=message):
        lmkin.cross_lingual("nowhere", corpora, progress=False)


def test_a_tag_that_one_language_lacks_is_named_with_those_that_it_has():
    banks = treebanks(("en", "de"), 20)
    bare = [dataclasses.replace(s, tags={"upos": s.tags["upos"]}) for s in banks["de"]]
    banks["de"] = lmkin.Corpus(bare, name="bare")
    with pytest.raises(
        lmkin.CorpusError,
        match=r"'de' \('bare'\) has no tag 'deprel'.*Known: upos.*All corpora have: upos",
    ):
        require_tags(banks, ("upos", "deprel"))


@pytest.mark.parametrize(
    ("options", "message"),
    [({"train_on": "dee"}, "no corpus 'dee' to fit on.*Did you mean 'de'"), ({"held_out_share": 0.01}, "1 would be"),
     ({"held_out_share": 2.0}, "between 0 and 1"), ({"thresholds": [1.5]}, "from 0 to 1"), ({"tags": ()}, "what is"),
     ({"ablations": "tops"}, "Did you mean 'top'"), ({"common": True, "align": "order"}, "leave out common"),
     ({"units": "sentence"}, "reads words"), ({"families": {"en": ""}}, "names by language"),
     ({"unseen": "right"}, "Unknown unseen 'right'"), ({"l1": -1}, "l1|λ"), ({"level": 7}, "level")],
    ids=lambda v: str(v)[:30],
)  # fmt: skip
@pytest.mark.usefixtures("no_models")
def test_what_cannot_be_meant_is_refused_before_a_model_is_loaded(options: dict, message: str):
    with pytest.raises(lmkin.LmkinError, match=message):
        lmkin.cross_lingual("nowhere", treebanks(("en", "de"), 20), progress=False, **options)


def test_a_held_out_sentence_that_was_fitted_as_another_is_counted():
    banks = treebanks(("en", "de", "fi"), 40)
    options: dict = {
        "tags": "upos", "thresholds": 0.5, "ablations": "none", "l1": 0.02, "parts": 4, "progress": False,
    }  # fmt: skip
    plain = lmkin.cross_lingual(WordVectors(), banks, **options)
    assert not [a for a in plain.alerts if a.kind == "test in train"]
    held, fitted = (np.flatnonzero(plain.held_out.values == out) for out in (1, 0))

    def repeated(language: str, *places: int) -> lmkin.Corpus:
        """At some places stand the words of sentences that are fitted, under their own ids."""
        sentences = list(banks[language])
        for k, place in enumerate(places):
            sentences[place] = dataclasses.replace(sentences[fitted[k]], id=sentences[place].id)
        return lmkin.Corpus(sentences, name=language)

    changed = {
        **banks, "en": repeated("en", held[0]), "de": repeated("de", held[0], held[1]), "fi": banks["fi"],
    }  # fmt: skip
    result = lmkin.cross_lingual(WordVectors(), changed, **options)
    (alert,) = [a for a in result.alerts if a.kind == "test in train"]
    assert "Of the 4 held-out sentences" in alert.text
    assert "1 in en, 2 in de, 1 in fi" in alert.text


def test_layers_before_a_norm_are_said_once(model_folder, sample: lmkin.Corpus):
    corpora = {"en": sample[:40], "qke": lmkin.read_corpus("sample:qke")[:40]}
    result = lmkin.cross_lingual(
        lmkin.load_model(model_folder("llama"), name="L"), corpora, train_on="all", tags="upos", thresholds=0.5,
        ablations="none", l1=0.05, parts=4, progress=False,
    )  # fmt: skip
    assert len([a for a in result.alerts if a.kind == "before the norm"]) == 1
