"""Units: the rows that models share."""

from __future__ import annotations

import numpy as np
import pytest
from corpus_files import many
from hypothesis import given
from hypothesis import strategies as st

from lmkin import Corpus, CorpusError, Sentence
from lmkin.corpus import Units, first_difference
from lmkin.corpus.spans import join_words, split_words
from lmkin.models.alignment import tokens_of_words


def plain(*texts: str, **fields) -> Corpus:
    return Corpus(
        Sentence(text, split_words(text), id=f"s{i}", **fields) for i, text in enumerate(texts)
    )


def units(*texts: str, **fields) -> Units:
    return Units.all_words(plain(*texts, **fields))


def rows(u: Units) -> list[tuple[int, ...]]:
    return [tuple(map(int, row)) for row in zip(u.sentence, u.index, u.start, u.end, strict=True)]


@st.composite
def random_units(draw) -> Units:
    """Words of few and short sentences, some lost: two of them are often equal, or nearly."""
    texts = draw(st.lists(st.sampled_from(["a", "a b", "a a", "b a"]), max_size=3))
    pairs = st.sampled_from([None, "", "p"])
    corpus = Corpus(
        Sentence(t, join_words(t.split())[1], id=draw(st.sampled_from("xy")), text_b=draw(pairs))
        for t in texts
    )
    kept = [row for row in rows(Units.all_words(corpus)) if draw(st.integers(0, 3))]
    return Units.from_rows(corpus, draw(st.sampled_from(["word", "word", "token"])), kept)


def meaning(u: Units) -> tuple:
    """What the rows stand for, by the definition: kind, and per sentence its texts and places."""
    groups: list[tuple] = []
    last = None
    for s, *place in rows(u):
        if s != last:
            groups.append((u.corpus[s].text, u.corpus[s].text_b, []))
        groups[-1][2].append(place)
        last = s
    return (u.kind, groups)


def test_every_word_is_a_unit_with_the_span_of_its_token():
    french = Sentence("du chat", ((0, 2), (0, 2), (3, 7)), ("de", "le", "chat"))
    u = Units.all_words(Corpus([french, Sentence(""), *plain("Hi you")]))
    assert rows(u) == [(0, 0, 0, 2), (0, 1, 0, 2), (0, 2, 3, 7), (2, 0, 0, 2), (2, 1, 3, 6)]
    assert u.texts == ["de", "le", "chat", "Hi", "you"]
    assert len(u) == 5


def test_tokens_and_sentences_are_pieces_of_the_text():
    corpus = plain("walking on")
    tokens = Units.from_rows(corpus, "token", [(0, 0, 0, 4), (0, 1, 4, 7), (0, 2, 8, 10)])
    assert tokens.texts == ["walk", "ing", "on"]
    assert Units.from_rows(corpus, "sentence", [(0, 0, 0, 10)]).texts == ["walking on"]


def test_tags_are_those_of_the_words_that_are_left():
    tagged = Corpus([Sentence("a b c", split_words("a b c"), tags={"x": ("1", "2", "3")})])
    u = Units.all_words(tagged).select(np.array([0, 2]))
    assert u.tags("x") == ["1", "3"]
    with pytest.raises(CorpusError, match="no tag 'y'"):
        u.tags("y")
    with pytest.raises(CorpusError, match="Only words have tags, and tokens by them"):
        Units.from_rows(tagged, "sentence", []).tags("x")


def test_tokens_have_the_tag_of_the_word_they_lie_in():
    spans = ((0, 2), (0, 2), (3, 6), (6, 9), (10, 12))  # two words share "du"; "(" is of no word
    tags = {"same": ("D", "D", "A", "B", "_"), "other": ("P", "D", "A", "A", "C")}
    corpus = Corpus([Sentence(""), Sentence("du chatons (a", spans, tags=tags)])
    places = [(0, 2), (3, 5), (5, 7), (7, 9), (11, 12), (12, 13), (13, 13)]
    tokens = Units.from_rows(corpus, "token", [(1, k, *p) for k, p in enumerate(places)])
    assert tokens.words == [(0, 1), (2,), (2, 3), (3,), (4,), (), ()]
    assert tokens.tags("same") == ["D", "A", "_", "B", "_", "_", "_"]
    assert tokens.tags("other") == ["_", "A", "A", "A", "C", "_", "_"]
    assert tokens.select(np.array([3, 5])).tags("same") == ["B", "_"]
    assert Units.all_words(corpus).words == [(k,) for k in range(5)]


SPANS = st.tuples(st.integers(0, 12), st.integers(0, 5)).map(lambda p: (p[0], min(12, sum(p))))


@given(
    st.lists(SPANS.filter(lambda s: s[0] < s[1]), max_size=6).map(sorted),
    st.lists(SPANS).map(sorted),
)
def test_the_words_of_a_token_are_those_that_have_it(words, tokens):
    """As words have their tokens, tokens have their words."""
    corpus = Corpus([Sentence("x" * 12, tuple(words), ("w",) * len(words))])
    placed = Units.from_rows(corpus, "token", [(0, k, *s) for k, s in enumerate(tokens)])
    owned = tokens_of_words(words, tokens)
    assert placed.words == [
        tuple(w for w, mine in enumerate(owned) if t in mine) for t in range(len(tokens))
    ]


def test_the_rows_of_a_sentence_are_a_slice():
    u = Units.all_words(Corpus([*plain("a b", "c"), Sentence(""), *plain("d e")]))
    expected = [["a", "b"], ["c"], [], ["d", "e"]]
    assert [u.texts[u.rows_of(s)] for s in range(4)] == expected


@given(random_units(), st.data())
@many
def test_a_selection_has_the_rows_that_were_asked_for(u, data):
    chosen = data.draw(st.lists(st.integers(0, max(len(u) - 1, 0)), max_size=len(u)))
    assert rows(u.select(np.array(chosen, dtype=int))) == [rows(u)[i] for i in chosen]


@given(random_units(), random_units())
@many
def test_hashes_are_equal_when_the_rows_stand_for_the_same_and_else_the_difference_is_told(a, b):
    same = meaning(a) == meaning(b)
    assert (a.hash == b.hash) == same
    assert (first_difference(a, b) is None) == same


def test_the_hash_knows_neither_tags_labels_ids_nor_sentences_without_rows():
    one = units("a b", "c")
    other = Corpus(
        [
            Sentence("", id="empty"),
            Sentence("a b", ((0, 1), (2, 3)), ("A", "B"), {"x": ("1", "2")}, "other", label="l"),
            Sentence("c", ((0, 1),), document="d"),
        ]
    )
    assert Units.all_words(other).hash == one.hash


def test_a_text_cannot_pass_for_a_pair():
    single, pair, bare = units("a\0b"), units("a", text_b="b"), units("a")
    hashes = {u.select(np.array([0])).hash for u in (single, pair, bare, units("a", text_b=""))}
    assert len(hashes) == 4


@pytest.mark.parametrize(
    ("a", "b", "says"),
    [
        (units("a b"), units("a c"), "row 0 is word 0 ('a') of sentence 's0' in both, but the text"),
        (units("a", "b"), units("a", "c"), "row 1 is word 0 ('b') of sentence 's1' in one and word 0 ('c')"),
        (units("a"), units("a", text_b="x"), "but the second text of its sentence pair differs"),
        (units("a b", "c"), units("a b"), "3 rows, the other 2; the first that only one has is row 2, word 0 ('c')"),
        (units("a b"), units("a b").select(np.array([1])), "row 0 is word 0 ('a')"),
        (units("a"), Units.from_rows(plain("a"), "token", [(0, 0, 0, 1)]), "one has words, the other tokens"),
        (
            Units.from_rows(plain("a b", "a b"), "word", [(0, 0, 0, 1), (0, 1, 2, 3)]),
            Units.from_rows(plain("a b", "a b"), "word", [(0, 0, 0, 1), (1, 1, 2, 3)]),
            "row 1 is word 1 ('b')",
        ),
    ],
)  # fmt: skip
def test_the_first_difference_is_told_in_words(a, b, says):
    assert says in first_difference(a, b)


def test_the_first_difference_looks_past_ids():
    here = units("a", "b")
    there = Units.all_words(Corpus([Sentence("a", ((0, 1),), id="x"), Sentence("c", ((0, 1),))]))
    assert first_difference(here, there).startswith("row 1 is")


def test_units_say_what_they_are():
    u = units("a b")
    assert repr(u) == f"<Units: 2 words of 'corpus', hash {u.hash[:8]}>"
    assert u.describe(1) == "word 1 ('b') of sentence 's0'"
    whole = Units.from_rows(u.corpus, "sentence", [(0, 0, 0, 3)])
    assert whole.describe(0) == "sentence 's0' ('a b')"
