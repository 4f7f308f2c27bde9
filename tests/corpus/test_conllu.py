"""CoNLL-U: what stands in the file is what the sentence says."""

from __future__ import annotations

import pytest
from corpus_files import conllu, covered, many, problem, read, words
from hypothesis import given
from hypothesis import strategies as st

FRENCH = conllu(
    "# newdoc id = d1",
    "# sent_id = fr-1",
    "# text = Il parle du chat.",
    "1 Il PRON",
    "2 parle VERB",
    "3-4 du",
    "3 de ADP",
    "4 le DET",
    "5 chat NOUN SpaceAfter=No",
    "6 . PUNCT",
    "",
)


def test_the_words_of_a_multiword_token_share_its_span():
    (sentence,) = read("fr.conllu", FRENCH)
    assert sentence.words == ("Il", "parle", "de", "le", "chat", ".")
    assert covered(sentence) == ["Il", "parle", "du", "du", "chat", "."]
    assert sentence.spans[2] == sentence.spans[3]
    assert sentence.tags == {"upos": ("PRON", "VERB", "ADP", "DET", "NOUN", "PUNCT")}
    assert (sentence.id, sentence.document) == ("fr-1", "d1")


@pytest.mark.parametrize("text", ["comment", "forms"])
def test_a_multiword_token_may_end_the_sentence(text):
    content = conllu("# text = Vengo del", "1 Vengo", "2-3 del", "2 de", "3 el")
    (sentence,) = read("es.conllu", content, text=text)
    assert covered(sentence) == ["Vengo", "del", "del"]


def test_without_a_text_comment_the_text_follows_space_after():
    content = conllu(
        "1 (", "2-3 can't _ Typo=Yes|SpaceAfter=No", "2 ca _ SpaceAfter=No", "3 n't", "4 )", "5 !"
    )
    (sentence,) = read("en.conllu", content)
    assert sentence.text == "( can't) !"
    assert covered(sentence) == ["(", "can't", "can't", ")", "!"]


def test_the_text_can_be_rebuilt_from_forms_where_the_comment_is_wrong():
    content = conllu("# sent_id = s9", "# text = A cat", "1 A", "2 dog")
    message = problem("en.conllu", content)
    assert "en.conllu, line 1" in message
    assert "s9" in message
    assert "'dog' (number 2)" in message
    assert read("en.conllu", content, text="forms")[0].text == "A dog"


def test_a_text_comment_that_goes_on_is_an_error():
    assert "goes on after the last word" in problem("x.conllu", conllu("# text = A b", "1 A"))


def test_empty_nodes_are_no_words_wherever_they_stand():
    content = conllu("0.1 She PRON", "1 Sue NOUN", "2 likes VERB", "2.1  VERB", "3 tea NOUN")
    (sentence,) = read("x.conllu", content)
    assert sentence.words == ("Sue", "likes", "tea")
    assert sentence.tags["upos"] == ("NOUN", "VERB", "NOUN")


def test_upos_xpos_feats_and_deprel_are_the_tags_and_unfilled_columns_are_none():
    row = "1\ta\tlemma\tU\tX\tF=1\t0\troot\tdeps\t_\n"
    assert read("x.conllu", row)[0].tags == {
        "upos": ("U",),
        "xpos": ("X",),
        "feats": ("F=1",),
        "deprel": ("root",),
    }
    assert read("x.conllu", row.replace("X", "_").replace("F=1", "_")).tag_names == (
        "upos",
        "deprel",
    )


def test_a_column_filled_somewhere_is_a_tag_of_every_sentence():
    corpus = read("x.conllu", conllu("1 a", "", "1 b NOUN"))
    assert corpus.tags("upos") == ["_", "NOUN"]


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf" + FRENCH.encode(),
        FRENCH.replace("\n", "\r\n"),
        FRENCH.rstrip("\n"),
        FRENCH + "\n\n\n",
        FRENCH[:-1] + "  \t \n",
        "\n\n" + FRENCH,
        FRENCH.encode("utf-16"),
    ],
    ids=["BOM", "CRLF", "no last newline", "more lines", "spaces", "lines before", "UTF-16"],
)
def test_line_ends_and_marks_change_nothing(content):
    assert read("x.conllu", content) == read("x.conllu", FRENCH)


def test_lines_end_at_line_feeds_only():
    text = "one\u2028two\u0085three"
    content = f"# text = {text}\n" + conllu(f"1 {text} X")
    assert read("x.conllu", content)[0].words == (text,)


def test_a_no_break_space_in_a_form_matches_a_space_in_the_text():
    content = "# text = 10 000 €\n" + conllu("1 10\u00a0000", "2 €")
    (sentence,) = read("x.conllu", content)
    assert sentence.words == ("10\u00a0000", "€")
    assert covered(sentence) == ["10 000", "€"]


def test_a_hash_is_a_word_and_comments_may_have_no_space():
    (sentence,) = read("x.conllu", conllu("#sent_id=q", "#text=# 1", "1 # SYM", "2 1 NUM"))
    assert (sentence.id, sentence.text, sentence.words) == ("q", "# 1", ("#", "1"))


def test_text_of_other_languages_is_not_the_text():
    content = conllu("# text = Ja", "# text_en = Yes", "# text[eng] = Yes", "1 Ja")
    assert read("x.conllu", content)[0].text == "Ja"


def test_documents_begin_at_newdoc_and_go_on():
    content = conllu(
        "1 before", "", "# newdoc id = a", "# newpar", "# sent_id = s1", "1 x", "",
        "# newpar id = p", "1 y", "", "# newdoc", "# sent_id = s3", "1 z",
    )  # fmt: skip
    corpus = read("x.conllu", content)
    assert corpus.documents == [None, "a", "a", "document-2"]
    assert [s.id for s in corpus] == ["1", "s1", "3", "s3"]


def test_an_empty_line_ends_what_comments_speak_of_but_not_the_document():
    content = conllu("# newdoc id = d", "# sent_id = gone", "# text = gone", "", "1 a")
    (sentence,) = read("x.conllu", content)
    assert (sentence.id, sentence.text, sentence.document) == ("1", "a", "d")


@pytest.mark.parametrize(
    ("line", "rows", "says"),
    [
        (2, ["1 a", "3 b"], "word 2 expected"),
        (2, ["1 a", "1 b"], "word 2 expected"),
        (1, ["0 a"], "word 1 expected"),
        (1, ["2-3 ab", "2 a", "3 b"], "right before its words"),
        (2, ["1 a", "1-2 ab", "2 b"], "right before its words"),
        (2, ["1 a", "2-1 ab", "2 b"], "right before its words"),
        (3, ["1-2 ab", "1 a", "2-3 bc", "2 b", "3 c"], "right before its words"),
        (2, ["1-2 ab", "1-2 ab", "1 a", "2 b"], "right before its words"),
        (1, ["1-2 ab", "1 a"], "lacks its last words"),
        (1, ["1-2 ab"], "lacks its last words"),
        (1, ["1-2 ab", "", "1 a", "2 b"], "lacks its last words"),
        (2, ["1 a", "2\tb\t_"], "has 3"),
        (2, ["1 a", "b\t_\t_\t_\t_\t_\t_\t_\t_\t_"], "is not a CoNLL-U id"),
        (2, ["1 a", "²\tb\t_\t_\t_\t_\t_\t_\t_\t_"], "is not a CoNLL-U id"),
        (2, ["1 a", "# late = comment"], "has 1"),
        (2, ["1 a", "2  X"], "is empty"),
        (1, ["1-2  X", "1 a", "2 b"], "is empty"),
    ],
)
def test_a_broken_line_is_named(line, rows, says):
    message = problem("bad.conllu", conllu(*rows))
    assert f"bad.conllu, line {line}: " in message
    assert says in message


def test_a_conllu_file_without_its_columns_is_not_taken_for_another_format():
    assert "x.conllu, line 1: a CoNLL-U line has 10" in problem("x.conllu", "1\ta\n\n1\tb\n")


def test_a_file_of_comments_has_no_sentence():
    message = problem("c.conllu", "# newdoc\n# text = a\n\n# sent_id = 3\n")
    assert "c.conllu: no sentence" in message


def test_an_unknown_source_of_the_text_is_an_error():
    assert "Did you mean 'forms'" in problem("x.conllu", FRENCH, text="form")


filled = st.text(st.characters(categories=["L"]), min_size=1, max_size=3)
# A token: its surface, whether a space follows, and its words (None: it is its own only word).
tokens = st.tuples(words, st.booleans(), st.none() | st.lists(words, min_size=1, max_size=3))
sentences = st.lists(tokens, min_size=1, max_size=6)


@given(st.lists(sentences, min_size=1, max_size=4), filled, st.booleans())
@many
def test_a_random_treebank_is_read_as_it_was_written(treebank, tag, with_text):
    lines, expected = [], []
    for n, sentence in enumerate(treebank):
        text, forms, spans, rows = "", [], [], []
        for surface, space, inner in sentence:
            misc = "_" if space else "SpaceAfter=No"
            if inner:
                ids = f"{len(forms) + 1}-{len(forms) + len(inner)}"
                rows.append([ids, surface, *"_______", misc])
            for form in inner or [surface]:
                forms.append(form)
                spans.append((len(text), len(text) + len(surface)))
                rows.append([str(len(forms)), form, "_", tag, *"_____", "_" if inner else misc])
            text += surface + " " * space
        text = text.rstrip(" ")
        expected.append((f"s{n}", text, tuple(forms), tuple(spans), (tag,) * len(forms)))
        lines += [f"# sent_id = s{n}", *([f"# text = {text}"] if with_text else [])]
        lines += ["\t".join(row) for row in rows] + [""]
    corpus = read("random.conllu", "\n".join(lines))
    assert [(s.id, s.text, s.words, s.spans, s.tags["upos"]) for s in corpus] == expected
