"""Plain text: one sentence a line."""

from __future__ import annotations

import pytest
from corpus_files import covered, many, problem, read, words
from hypothesis import given
from hypothesis import strategies as st


@given(st.lists(st.lists(words, min_size=1, max_size=5), min_size=1, max_size=6))
@many
def test_every_line_is_a_sentence_of_the_words_between_its_spaces(lines):
    corpus = read("x.txt", "\n".join(" ".join(line) for line in lines), "text")
    assert [list(s.words) for s in corpus] == lines
    assert [covered(s) for s in corpus] == lines
    assert [s.id for s in corpus] == [str(n + 1) for n in range(len(lines))]


def test_the_raw_line_is_kept():
    assert read("x.txt", "  Two  words \n")[0].text == "  Two  words "


@pytest.mark.parametrize("space", ["\u2028", "\u0085", "\x0c", "\u00a0", "\r"])
def test_only_line_feeds_end_a_sentence(space):
    (sentence,) = read("x.txt", f"one{space}two\n")
    assert sentence.words == ("one", "two")
    assert sentence.text == f"one{space}two"


def test_crlf_and_bom_are_no_part_of_the_text():
    assert [s.text for s in read("x.txt", "\ufeffa\r\nb\r\n")] == ["a", "b"]


def test_punctuation_can_stand_apart():
    (sentence,) = read("x.txt", "Don't, please!\n", words="punctuation")
    assert sentence.words == ("Don't", ",", "please", "!")


@pytest.mark.parametrize(
    ("content", "documents"),
    [
        ("a\nb\n", [None, None]),
        ("a\n\nb\n", ["document-1", "document-2"]),
        ("a\nb\n\n \n\nc\n", ["document-1", "document-1", "document-2"]),
        ("a\n\n\n", [None]),
        ("\n\na\nb\n", [None, None]),
    ],
)
def test_empty_lines_between_sentences_end_documents(content, documents):
    assert read("x.txt", content).documents == documents


def test_sentences_are_numbered_by_line():
    assert [s.id for s in read("x.txt", "a\n\nb\n")] == ["1", "3"]


def test_other_encodings_are_read_when_named():
    assert read("x.txt", "café\n".encode("latin-1"), encoding="latin-1")[0].text == "café"


def test_an_unknown_word_rule_is_an_error():
    assert "Known: whitespace, punctuation" in problem("x.txt", "a\n", words="zzz")
