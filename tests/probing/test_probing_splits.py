"""Train, dev and test: which sentences, in which shares, whatever a model loses."""

from __future__ import annotations

import numpy as np
import pytest

import lmkin
from lmkin.analyses.probing.splits import SPLITS, split_sentences, units_of_corpus
from lmkin.analysis import Source
from lmkin.corpus import Units
from lmkin.corpus.spans import join_words
from probing.tagged_activations import activations_of, tagged_activations


def plain(count: int, *, documents: int = 0) -> lmkin.Corpus:
    sentences = []
    for k in range(count):
        words = f"word{k} and some more words here {k % 7}".split()
        text, spans = join_words(words)
        tags = {"upos": tuple("AB"[len(w) % 2] for w in words)}
        document = f"d{k * documents // count}" if documents else None
        sentences.append(lmkin.Sentence(text, spans, tuple(words), tags, f"s{k}", document))
    return lmkin.Corpus(sentences, name="plain")


def sets_of(
    given: dict[str, tuple[lmkin.Corpus, np.ndarray]], seed: int = 0
) -> dict[str, set[int]]:
    split = split_sentences(given, "word", seed)
    return {name: set(split.sentences[name][1].tolist()) for name in SPLITS}


def test_one_corpus_is_dealt_out_in_whole_sentences() -> None:
    corpus = plain(200)
    found = sets_of({"": (corpus, np.arange(200))})
    assert set().union(*found.values()) == set(range(200))
    assert sum(map(len, found.values())) == 200
    words = {name: sum(len(corpus[s]) for s in mine) for name, mine in found.items()}
    total = sum(words.values())
    for name, share in (("train", 0.8), ("dev", 0.1), ("test", 0.1)):
        assert words[name] / total == pytest.approx(share, abs=0.02)
    assert sets_of({"": (corpus, np.arange(200))}) == found
    assert sets_of({"": (corpus, np.arange(200))}, seed=1) != found


def test_many_documents_stay_whole() -> None:
    corpus = plain(300, documents=75)
    found = sets_of({"": (corpus, np.arange(300))})
    owner = {name: {corpus[s].document for s in mine} for name, mine in found.items()}
    assert not owner["train"] & owner["test"]
    assert not owner["train"] & owner["dev"]
    few = split_sentences({"": (plain(300, documents=20), np.arange(300))}, "word", 0)
    assert "whole sentences" in few.said


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("train", "dev", "test"), "as given"),
        (("train", "test"), "dev is 10 % of train"),
        (("train", "dev"), "what was given as dev is the test"),
    ],
)
def test_parts_that_are_given(names: tuple[str, ...], said: str) -> None:
    corpus = plain(120)
    edges = {"train": np.arange(100), "dev": np.arange(100, 110), "test": np.arange(110, 120)}
    split = split_sentences({n: (corpus, edges[n]) for n in names}, "word", 0)
    assert said in split.said
    found = {name: set(mine.tolist()) for name, (_, mine) in split.sentences.items()}
    if len(names) == 3:
        assert found == {name: set(edges[name].tolist()) for name in names}
        return
    assert found["test"] == set(edges[names[1]].tolist())
    assert found["train"] | found["dev"] == set(range(100))
    assert not found["train"] & found["dev"]
    assert len(found["dev"]) == pytest.approx(10, abs=2)


def test_a_model_that_loses_words_has_the_same_split() -> None:
    corpus = plain(150)
    whole = tagged_activations(corpus, "whole")
    kept = np.flatnonzero(np.random.default_rng(0).random(len(whole)) < 0.7)
    less = whole.select(kept)
    less = activations_of(less.units, {n: less.layer(n)[:] for n in less.layers}, "less")
    alone = lmkin.probe(whole, tag="upos", fit="all", l1=0.05, code_length=False, control=False)
    both = lmkin.probe(
        [whole, less], tag="upos", fit="all", l1=0.05, code_length=False, control=False
    )
    rows = both.dataset["rows"].sel(task="upos")
    units = units_of_corpus(Source([], corpus), 0)
    for split in SPLITS:
        mine = units[split]
        pairs = {(int(s), int(i)) for s, i in zip(mine.sentence, mine.index, strict=True)}
        held = {
            (int(s), int(i)) for s, i in zip(less.units.sentence, less.units.index, strict=True)
        }
        assert int(alone.dataset["rows"].sel(task="upos", split=split)) == len(pairs)
        assert int(rows.sel(split=split)) == len(pairs & held)


def test_units_of_a_corpus_need_no_model() -> None:
    corpus = plain(90)
    found = units_of_corpus(
        Source([], {"train": corpus[:50], "dev": corpus[50:60], "test": corpus[60:]}), 0
    )
    assert [len(set(found[n].sentence.tolist())) for n in SPLITS] == [50, 10, 30]
    every = Units.all_words(corpus)
    assert sum(map(len, found.values())) == len(every)
