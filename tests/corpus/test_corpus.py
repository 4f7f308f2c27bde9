"""`Sentence` and `Corpus`."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from corpus_files import many, words
from hypothesis import assume, given
from hypothesis import strategies as st

from lmkin import Corpus, CorpusError, Sentence
from lmkin.corpus.spans import join_words


def sentence(text: str = "a b", **fields) -> Sentence:
    """A sentence of words between spaces; every word's tag is its own capital."""
    _, spans = join_words(text.split())
    fields.setdefault("tags", {"upper": tuple(text.upper().split())})
    return Sentence(text, spans, **fields)


def numbered(n: int, name: str = "corpus", documents: int = 0) -> Corpus:
    return Corpus(
        [
            sentence(f"w{i}", id=f"s{i}", document=f"d{i % documents}" if documents else None)
            for i in range(n)
        ],
        name=name,
    )


def ids(corpus: Corpus) -> list[str]:
    return [s.id for s in corpus]


@st.composite
def sentences(draw) -> Sentence:
    forms = draw(st.lists(words, max_size=4))
    text, spans = join_words(forms)
    tags = {n: tuple(draw(words) for _ in forms) for n in draw(st.sets(st.sampled_from("xyz")))}
    optional = st.none() | st.text(max_size=3)
    return Sentence(
        text,
        spans,
        tuple(draw(words) for _ in forms) if draw(st.booleans()) else tuple(forms),
        tags,
        draw(st.text(max_size=3)),
        document=draw(optional),
        text_b=draw(optional),
        label=draw(optional | st.floats(0, 5)),
    )


corpora = st.lists(sentences(), max_size=4).map(Corpus)


# -- a sentence ----------------------------------------------------------------------------------


def test_words_are_what_stands_at_the_spans_unless_given():
    assert Sentence("du chat", ((0, 2), (3, 7))).words == ("du", "chat")
    fused = Sentence("du", ((0, 2), (0, 2)), ("de", "le"))
    assert (len(fused), fused.words) == (2, ("de", "le"))


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"words": ("a",)}, "1 words but 2 spans"),
        ({"spans": ((0, 1), (2, 4))}, r"span \(2, 4\)"),
        ({"spans": ((0, 1), (1, 1))}, "empty or outside"),
        ({"spans": ((-1, 1), (1, 2))}, "empty or outside"),
        ({"tags": {"pos": ("N",)}}, "2 words but 1 values of the tag 'pos'"),
    ],
)
def test_a_sentence_that_does_not_fit_together_is_refused(fields, says):
    right = {"text": "a b", "spans": ((0, 1), (2, 3)), "words": ("a", "b"), "id": "s7"}
    with pytest.raises(CorpusError, match=f"Sentence 's7'.*{says}"):
        Sentence(**{**right, **fields})


@given(sentences())
@many
def test_a_sentence_survives_json(one):
    assert Sentence.from_dict(json.loads(json.dumps(one.to_dict()))) == one


def test_plain_data_leave_out_what_a_sentence_does_not_have():
    assert Sentence("a").to_dict() == {"text": "a", "spans": []}


@given(sentences())
@many
def test_equal_sentences_have_equal_hashes(one):
    assert len({one, replace(one, tags=dict(one.tags))}) == 1


# -- words and tags ------------------------------------------------------------------------------


@given(corpora)
@many
def test_words_and_tags_are_those_of_the_sentences_in_order(corpus):
    assert corpus.words == [w for s in corpus for w in s.words]
    assert corpus.n_words == len(corpus.words) == sum(map(len, corpus))
    with_words = [set(s.tags) for s in corpus if s.words]
    assert set(corpus.tag_names) == (set.intersection(*with_words) if with_words else set())
    for name in corpus.tag_names:
        expected = [s.tags[name][i] for s in corpus for i in range(len(s.words))]
        assert corpus.tags(name) == expected
        assert corpus.tag_counts(name) == Counter(expected)


def test_labels_and_documents_are_those_of_the_sentences():
    corpus = Corpus([sentence(label="x", document="d"), sentence(label=1.5), sentence()])
    assert corpus.labels == ["x", 1.5, None]
    assert corpus.documents == ["d", None, None]


@pytest.mark.parametrize(
    ("sentences", "says"),
    [
        ([sentence(tags={})], "'mine.txt' has no tags, so there is no 'uper'"),
        ([sentence()], "'mine.txt' has no tag 'uper'. Did you mean 'upper'"),
        (
            [
                sentence(tags={"uper": ("x", "y"), "z": ("x", "y")}),
                sentence(id="s2", tags={"z": ("x", "y")}),
            ],
            r"no tag 'uper' \(sentence 's2' lacks it\)",
        ),
    ],
)
@pytest.mark.parametrize("ask", [Corpus.tags, Corpus.tag_counts])
def test_a_missing_tag_is_named_with_the_corpus(sentences, says, ask):
    with pytest.raises(CorpusError, match=says):
        ask(Corpus(sentences, name="mine.txt"), "uper")


# -- parts ---------------------------------------------------------------------------------------


def test_a_number_gives_a_sentence_and_all_else_a_corpus():
    corpus = Corpus(numbered(5), name="n", format="f")
    assert corpus[1].id == corpus[np.int32(1)].id == "s1"
    assert corpus[-1].id == "s4"
    for part, expected in [
        (corpus[1:4:2], ["s1", "s3"]),
        (corpus[[3, 0, 0, -1]], ["s3", "s0", "s0", "s4"]),
        (corpus[np.array([2, 1])], ["s2", "s1"]),
        (corpus[(i for i in (4, 2))], ["s4", "s2"]),
        (corpus[[True, False, False, True, False]], ["s0", "s3"]),
        (corpus[np.array([False] * 4 + [True])], ["s4"]),
        (corpus[[]], []),
        (corpus[9:], []),
    ]:
        assert ids(part) == expected
        assert (part.name, part.format) == ("n", "f")


@pytest.mark.parametrize("wrong", [5, [0, 5], [1.5], [True, False]])
def test_what_is_no_index_is_refused(wrong):
    with pytest.raises(IndexError):
        numbered(5)[wrong]


def test_sentences_are_filtered_by_length_and_by_what_one_likes():
    corpus = Corpus([sentence(" ".join("x" * n), id=str(n)) for n in range(6)])
    assert ids(corpus.filter(min_words=2, max_words=4)) == ["2", "3", "4"]
    assert ids(corpus.filter(max_words=0)) == ["0"]
    assert ids(corpus.filter(min_words=1, where=lambda s: int(s.id) % 2 == 0)) == ["2", "4"]
    assert corpus.filter() == corpus


# -- splits --------------------------------------------------------------------------------------

shares = st.sampled_from(
    [(0.9,), (0.5, 0.5), (0.8, 0.1, 0.1), (1 / 3, 1 / 3, 1 / 3), (0.33, 0.56, 0.11), (0.1,) * 10]
)


@given(st.integers(0, 60), shares, st.integers(0, 99))
@many
def test_parts_are_disjoint_cover_the_corpus_and_keep_its_order(n, shares, seed):
    corpus = numbered(n)
    parts = corpus.split(*shares, seed=seed)
    assert len(parts) == max(2, len(shares))
    assert sorted(i for part in parts for i in ids(part)) == sorted(ids(corpus))
    for part in parts:
        numbers = [int(i[1:]) for i in ids(part)]
        assert numbers == sorted(set(numbers))
    for part, share in zip(parts, shares, strict=False):
        assert abs(len(part) - share * n) <= 1 + 1e-9


@given(st.integers(1, 60), shares, st.integers(0, 99))
@many
def test_parallel_corpora_are_split_at_the_same_indices(n, shares, seed):
    there = Corpus([sentence("x y", id=s.id) for s in numbered(n)], name="other")
    for a, b in zip(
        numbered(n).split(*shares, seed=seed), there.split(*shares, seed=seed), strict=True
    ):
        assert ids(a) == ids(b)


def test_another_seed_gives_another_split_and_all_sentences_have_their_chance():
    corpus = numbered(20)
    chosen = Counter(i for seed in range(400) for i in ids(corpus.split(0.25, seed=seed)[0]))
    # Binomial(400, 1/4): 100 ± 8.7; five deviations.
    assert len(chosen) == 20
    assert all(abs(count - 100) < 44 for count in chosen.values())
    assert len({tuple(ids(corpus.split(0.5, seed=s)[0])) for s in range(20)}) == 20


def test_the_split_of_a_seed_stays_what_it_was():
    # Fisher-Yates by hand over the first numbers of random.Random(0).random().
    order, numbers = list(range(4)), [0.8444218515250481, 0.7579544029403025, 0.420571580830845]
    for i, u in zip((3, 2, 1), numbers, strict=True):
        j = int(u * (i + 1))
        order[i], order[j] = order[j], order[i]
    assert ids(numbered(4).split(0.5, seed=0)[0]) == [f"s{i}" for i in sorted(order[:2])]


def test_shares_below_one_leave_the_rest_out():
    parts = numbered(10).split(0.5, 0.2)
    assert [len(p) for p in parts] == [5, 2]


@given(st.integers(1, 40), st.integers(1, 8), st.integers(0, 9))
@many
def test_documents_are_not_torn_apart(n, documents, seed):
    corpus = numbered(n, documents=documents)
    one, other = corpus.split(0.5, seed=seed, by="document")
    assert not set(one.documents) & set(other.documents)
    assert sorted(ids(one) + ids(other)) == sorted(ids(corpus))


@pytest.mark.parametrize("wrong", [(), (0.0,), (-0.5,), (0.9, 0.2), (80, 20)])
def test_shares_must_be_shares(wrong):
    with pytest.raises(CorpusError, match="Fractions must be positive and sum to at most 1"):
        numbered(4).split(*wrong)


def test_what_one_can_split_by_is_known():
    with pytest.raises(CorpusError, match="Did you mean 'document'"):
        numbered(4).split(0.5, by="documents")
    with pytest.raises(CorpusError, match="'s0' of 'corpus' belongs to no document"):
        numbered(4).split(0.5, by="document")


# -- parallel corpora ----------------------------------------------------------------------------


@given(
    st.lists(st.permutations(range(8)).flatmap(lambda p: st.just(p[:6])), min_size=1, max_size=3)
)
@many
def test_aligned_corpora_have_the_common_ids_in_the_order_of_the_first(orders):
    common = set.intersection(*map(set, orders))
    assume(common)
    first, *others = [numbered(8, name=str(i))[order] for i, order in enumerate(orders)]
    expected = [f"s{i}" for i in orders[0] if i in common]
    aligned = first.align(*others)
    assert [ids(c) for c in aligned] == [expected] * len(orders)
    assert [c.name for c in aligned] == [c.name for c in (first, *others)]


def test_corpora_without_a_common_id_cannot_be_aligned():
    here, there = numbered(2, "here"), Corpus([sentence(id="x")], name="there")
    with pytest.raises(CorpusError, match=r"'here', 'there' share no sent_id .*'s0', 'x'"):
        here.align(there)


@pytest.mark.parametrize("side", [0, 1])
def test_an_id_that_occurs_twice_cannot_be_aligned(side):
    pair = [numbered(3, "good"), numbered(3, "bad")[[0, 1, 1]]]
    with pytest.raises(CorpusError, match="'s1' occurs more than once in 'bad'"):
        pair[side].align(pair[1 - side])


# -- identity ------------------------------------------------------------------------------------

WHOLE = Sentence(
    "ab c", ((0, 2), (3, 4)), ("ab", "c"), {"x": ("1", "2")}, "id", "doc", text_b="b", label="l"
)


@pytest.mark.parametrize(
    "change",
    [
        {"text": "ab d"},
        {"spans": ((0, 1), (3, 4))},
        {"words": ("ab", "C")},
        {"tags": {"x": ("1", "3")}},
        {"tags": {"y": ("1", "2")}},
        {"tags": {}},
        {"tags": {"x": ("1", "2"), "y": ("1", "2")}},
        {"id": "other"},
        {"id": ""},
        {"document": "other"},
        {"document": None},
        {"document": ""},
        {"text_b": "c"},
        {"text_b": None},
        {"text_b": ""},
        {"label": "m"},
        {"label": None},
        {"label": ""},
        {"label": 1.0},
    ],
)
def test_the_hash_changes_with_every_field(change):
    other = Corpus([WHOLE, replace(WHOLE, **change)])
    assert other.hash != Corpus([WHOLE, WHOLE]).hash
    assert other != Corpus([WHOLE, WHOLE])


def test_empty_and_absent_are_not_the_same():
    hashes = {
        Corpus([replace(WHOLE, text_b=b, label=c)]).hash for b in ("", None) for c in ("", None)
    }
    assert len(hashes) == 4


def test_the_hash_knows_order_and_number():
    a, b = numbered(2)
    orders = [[a, b], [b, a], [a], [a, a], []]
    assert len({Corpus(order).hash for order in orders}) == len(orders)


@given(corpora, corpora)
@many
def test_corpora_are_equal_when_their_hashes_are(a, b):
    assert (a == b) == (a.hash == b.hash)
    same = Corpus(list(a), name="other", format="other")
    assert (same.hash, hash(same)) == (a.hash, hash(a))
    assert same == a


def test_tags_may_come_in_any_order():
    turned = replace(WHOLE, tags={"y": ("1", "2"), "x": ("1", "2")})
    straight = replace(WHOLE, tags={"x": ("1", "2"), "y": ("1", "2")})
    assert Corpus([turned]).hash == Corpus([straight]).hash


def test_a_corpus_says_what_it_is():
    assert repr(numbered(1200, "big")) == "<Corpus 'big': 1,200 sentences, 1,200 words, tags upper>"


def test_tags_are_text_and_labels_text_or_numbers() -> None:
    with pytest.raises(
        CorpusError, match=r"'s' has 1 among its values of the tag 'x': tags are text.*'1'"
    ):
        Sentence("a b", ((0, 1), (2, 3)), tags={"x": ("A", 1)}, id="s")  # type: ignore[dict-item]
    with pytest.raises(
        CorpusError, match=r"'s' has the label \['a'\]: a label is text or a number"
    ):
        Sentence("a b", id="s", label=["a"])  # type: ignore[arg-type]
    assert Sentence("a b", ((0, 1), (2, 3)), tags={"x": ("A", None)}).tags["x"] == ("A", None)  # type: ignore[dict-item]
