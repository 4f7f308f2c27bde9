from __future__ import annotations

import itertools
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmkin.models.alignment import tokens_of_words
from lmkin.models.slow_offsets import spans_of_tokens


@st.composite
def cut_text(draw) -> tuple[str, list[tuple[int, int]], list[tuple[int, int]]]:
    """A text with two independent segmentations of it, each leaving some characters out."""
    text = draw(st.text(alphabet=string.ascii_letters + "  é你😀", min_size=1, max_size=40))

    def segmentation() -> list[tuple[int, int]]:
        cuts = sorted(draw(st.sets(st.integers(0, len(text)), max_size=12)) | {0, len(text)})
        pieces = list(itertools.pairwise(cuts))
        return [p for p in pieces if draw(st.integers(0, 4)) > 0]

    return text, segmentation(), segmentation()


@given(cut_text())
def test_tokens_of_words_is_overlap_of_characters(case) -> None:
    _, words, tokens = case
    naive = [
        [t for t, (c, d) in enumerate(tokens) if set(range(a, b)) & set(range(c, d))]
        for a, b in words
    ]
    assert tokens_of_words(words, tokens) == naive


def test_words_of_a_multiword_token_share_its_tokens() -> None:
    assert tokens_of_words([(0, 3), (0, 3), (4, 6)], [(0, 2), (2, 3), (4, 6)]) == [
        [0, 1],
        [0, 1],
        [2],
    ]


def test_bytes_of_one_character_all_belong_to_it() -> None:
    assert tokens_of_words([(0, 1), (1, 2)], [(0, 1), (0, 1), (0, 1), (1, 2)]) == [[0, 1, 2], [3]]


def test_empty_spans_belong_to_nobody() -> None:
    assert tokens_of_words([(0, 5)], [(0, 0), (0, 5), (5, 5)]) == [[1]]


@given(
    st.lists(
        st.text(alphabet=string.ascii_lowercase, min_size=1, max_size=6), min_size=1, max_size=12
    )
)
def test_slow_spans_of_plain_tokens_are_where_they_stand(tokens: list[str]) -> None:
    text = " ".join(tokens)
    spans = spans_of_tokens([f" {t}" for t in tokens], text)
    assert [text[a:b] for a, b in spans] == tokens


@pytest.mark.parametrize(
    ("surfaces", "text", "pieces"),
    [
        (["the", "cafe"], "The Café", ["The", "Café"]),  # lower case, accents stripped
        (["a", None, "b"], "a 😀 b", ["a", "😀", "b"]),  # unknown token between neighbours
        (["a", None, None], "a 😀 ☃", ["a", "😀", "☃"]),  # two unknown words at the end
        (["fi", "x"], "ﬁx", ["ﬁ", "x"]),  # a ligature is two characters in the token
        ([" ", "x"], "  x", ["", "x"]),  # a blank token covers nothing
        (["ab", "cd"], "ab\u200b cd", ["ab", "cd"]),  # a dropped character
    ],
)
def test_slow_spans(surfaces: list[str | None], text: str, pieces: list[str]) -> None:
    assert [text[a:b] for a, b in spans_of_tokens(surfaces, text)] == pieces
