"""From words to character spans."""

from __future__ import annotations

import pytest
from corpus_files import many, words
from hypothesis import given
from hypothesis import strategies as st

from lmkin import CorpusError
from lmkin.corpus.spans import join_words, locate, split_words

spaced = st.lists(st.tuples(words, st.booleans()), max_size=8)
white = st.text(" \t\u00a0\u2003\u3000\u2028", min_size=1, max_size=3)


def cut(text: str, rule: str) -> list[str]:
    return [text[a:b] for a, b in split_words(text, rule)]


def at_spans(words_: list[str], text: str, marks: str = "") -> list[str] | int:
    spans = locate(words_, text, marks)
    return spans if isinstance(spans, int) else [text[a:b] for a, b in spans]


@given(spaced)
@many
def test_joined_words_stand_at_their_spans_and_are_located_there(tokens):
    forms, space_after = [w for w, _ in tokens], [s for _, s in tokens]
    text, spans = join_words(forms, space_after)
    expected = "".join(w + " " * s for w, s in tokens[:-1]) + "".join(forms[-1:])
    assert text == expected
    assert [text[a:b] for a, b in spans] == forms
    assert locate(forms, text) == spans


@given(st.lists(words, max_size=8))
@many
def test_words_are_joined_by_single_spaces_unless_told_otherwise(forms):
    assert join_words(forms)[0] == " ".join(forms)


@given(st.lists(st.tuples(white, words), max_size=6), white)
@many
def test_any_white_space_may_stand_between_located_words(pairs, end):
    text = "".join(space + word for space, word in pairs) + end
    assert at_spans([word for _, word in pairs], text) == [word for _, word in pairs]


@given(st.lists(words, min_size=1, max_size=6), st.data())
@many
def test_a_word_that_the_text_does_not_have_is_named_by_its_index(forms, data):
    missing = data.draw(st.integers(0, len(forms) - 1))
    text = " ".join(forms[:missing])
    assert locate(forms, text) == missing


@pytest.mark.parametrize(
    ("forms", "text", "marks", "expected"),
    [
        (["10 000", "€"], "10\u00a0000 €", "", ["10\u00a0000", "€"]),
        (["10\u00a0000"], "10 000", "", ["10 000"]),
        (["New~York", "!"], "New York!", "~", ["New York", "!"]),
        (["New~York"], "New~York", "~", ["New~York"]),
        (["a~b c"], "a~b\u00a0c", "~", ["a~b\u00a0c"]),
        (["New~York"], "New York", "", 0),
        (["a", "b"], "a b c", "", 2),
        (["ab"], "a b", "", 0),
        ([], "", "", []),
        ([], "a", "", 0),
        ([""], "a", "", 0),
    ],
)
def test_white_space_inside_words_may_differ_and_nothing_else(forms, text, marks, expected):
    assert at_spans(forms, text, marks) == expected


@given(st.text(max_size=40))
@many
def test_words_between_white_space_are_those_of_str_split(text):
    assert cut(text, "whitespace") == text.split()


@given(st.text(max_size=40))
@many
def test_the_punctuation_rule_loses_no_character_and_never_joins_two_whitespace_words(text):
    assert "".join(cut(text, "punctuation")) == "".join(text.split())
    starts = {a for a, _ in split_words(text, "punctuation")}
    assert {a for a, _ in split_words(text)} <= starts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't stop, e-mail me!", ["Don't", "stop", ",", "e-mail", "me", "!"]),
        ("“Yes…”", ["“", "Yes", "…", "”"]),
        ("$5.20", ["$", "5", ".", "20"]),
        ("हिन्दी में।", ["हिन्दी", "में", "।"]),
        ("cafe\u0301!", ["cafe\u0301", "!"]),
        ("می\u200cخواهم.", ["می\u200cخواهم", "."]),
        ("I ❤\ufe0f it", ["I", "❤\ufe0f", "it"]),
    ],
)
def test_punctuation_stands_alone_and_marks_stay_with_their_letters(text, expected):
    assert cut(text, "punctuation") == expected


def test_an_unknown_rule_is_answered_with_the_known_ones():
    with pytest.raises(CorpusError, match="Did you mean 'punctuation'"):
        split_words("a", "punktuation")
