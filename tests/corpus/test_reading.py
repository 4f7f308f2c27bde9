"""`read_corpus`: the format is found, and what is wrong is said."""

from __future__ import annotations

import gzip

import pytest
from corpus_files import conllu, problem, read

import lmkin
from lmkin import CorpusError, read_corpus
from lmkin.corpus import corpus_format, known_formats
from lmkin.corpus import reader as reading_module

FORMATS = ["arrow", "columns", "conllu", "table", "text"]
TREE = conllu("# sent_id = s", "1 Hi INTJ", "2 you PRON")
COLUMNS = "Hi UH\nyou PRP\n\nBye UH\n"


def test_the_five_formats_are_known_with_their_options():
    formats = known_formats()
    assert sorted(formats) == FORMATS
    assert formats["conllu"].options == ("text", "encoding")
    assert all(f.summary for f in formats.values())


@pytest.mark.parametrize(
    ("name", "content", "format"),
    [
        ("a.conllu", TREE, "conllu"),
        ("a.CONLLU", TREE, "conllu"),
        ("a.txt", TREE, "conllu"),
        ("a.conll", TREE, "conllu"),
        ("a", TREE, "conllu"),
        ("a.txt", COLUMNS, "columns"),
        ("a", COLUMNS, "columns"),
        ("a.conll", "Hi UH\n", "columns"),
        ("a.iob2", "Hi\tO\n", "columns"),
        ("a.tsv", COLUMNS.replace(" ", "\t"), "columns"),
        ("a.tsv", "text\tlabel\nHi\t1\n", "table"),
        ("a.csv", "text,label\nHi,1\n", "table"),
        ("a.jsonl", '{"text": "Hi"}\n', "table"),
        ("a.txt", "Hi you\n", "text"),
        ("a.txt", "Hi you two.\n\nHow are things now?\n", "text"),
        ("a.TXT", "Hi you\n", "text"),
    ],
)
@pytest.mark.parametrize("wrap", ["plain", "CRLF", "BOM", "gzip"])
def test_the_format_is_found_by_extension_or_content(name, content, format, wrap):
    data = content.replace("\n", "\r\n" if wrap == "CRLF" else "\n").encode()
    data = b"\xef\xbb\xbf" + data if wrap == "BOM" else data
    if wrap == "gzip":
        name, data = name + ".gz", gzip.compress(data)
    corpus = read(name, data)
    assert corpus.format == format
    assert corpus.name == name
    assert corpus.words[0] == "Hi"
    assert corpus == read(name.removesuffix(".gz"), content)


@pytest.mark.parametrize("shift", range(0, len(TREE), 5))
def test_the_format_is_found_in_the_first_lines_of_a_long_file(shift):
    corpus = read("long.txt", "#" + "ö" * shift + "\n" + (TREE + "\n") * 2000)
    assert (corpus.format, len(corpus)) == ("conllu", 2000)


def test_one_line_longer_than_what_is_looked_at_is_still_a_sentence():
    assert read("long.txt", "wörd " * 20_000).n_words == 20_000


def test_the_content_does_not_depend_on_the_name_of_the_file():
    for content, suffix in [(COLUMNS, "conll"), ("a\nb\n", "txt"), ("text\tlabel\na\t1\n", "tsv")]:
        assert read(f"one.{suffix}", content).hash == read(f"other.{suffix}", content).hash


def test_a_format_that_is_given_is_not_guessed():
    assert read("a.conllu", "1 2\n", "text").words == ["1", "2"]


@pytest.mark.parametrize(
    ("wrong", "guess"), [("conlu", "conllu"), ("CoNLL-U", "conllu"), ("txet", "text")]
)
def test_an_unknown_format_is_answered_with_a_guess_and_the_known_ones(wrong, guess):
    message = problem("a.txt", "a\n", wrong)
    assert f"Unknown corpus format {wrong!r}. Did you mean {guess!r}?" in message
    assert all(name in message for name in FORMATS)


def test_an_unknown_option_is_answered_with_the_known_ones():
    message = problem("a.txt", "a\n", encodng="latin-1")
    assert "The format 'text' has no option 'encodng'. Did you mean 'encoding'?" in message


@pytest.mark.parametrize(
    ("name", "content"), [("a.xyz", "Hi you\n"), ("a", b"\x00\x01\x02"), ("a.png", b"\x89PNG\xff")]
)
def test_a_file_of_no_format_is_answered_with_the_known_ones(name, content):
    message = problem(name, content)
    assert f"{name}: cannot tell the format" in message
    assert all(format in message for format in FORMATS)


@pytest.mark.parametrize("content", ["", "\n\n", " \n\t\n", "\ufeff", "\ufeff\n", "\u3000\n"])
@pytest.mark.parametrize("suffix", ["conllu", "conll", "txt", "tsv", "csv", "jsonl"])
def test_an_empty_file_is_named(suffix, content):
    assert f"e.{suffix}: the file is empty" in problem(f"e.{suffix}", content)


@pytest.mark.parametrize("suffix", ["conllu", "conll", "txt", "tsv", "csv", "jsonl"])
@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])
def test_bad_utf8_is_named_by_line_and_byte(suffix, start):
    message = problem(f"b.{suffix}", start + b"a\tX\nb\tY\ncaf\xe9\tZ\n")
    assert f"b.{suffix}, line 3: not valid utf-8 (byte 0xe9)" in message
    assert "encoding='latin-1'" in message


def test_a_binary_file_that_is_valid_utf8_is_no_text():
    assert "b.txt, line 2: a NUL character" in problem("b.txt", b"ab\n\x00\x01\n")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_with_its_mark_is_read(encoding):
    assert read("a.txt", "\ufeffkäse\nbrot\n".encode(encoding)).words == ["käse", "brot"]


def test_an_unknown_encoding_is_an_error():
    assert "knows no encoding 'latin-99'" in problem("a.txt", "a\n", encoding="latin-99")


@pytest.mark.parametrize(
    "data",
    [b"this is no gzip\n", gzip.compress(b"some text\n" * 99)[:-20]],
    ids=["no gzip", "cut off"],
)
def test_a_damaged_gzip_file_is_named(data):
    assert "a.txt.gz: cannot be read" in problem("a.txt.gz", data)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(CorpusError, match=r"There is no corpus at .*nothing\.txt"):
        read_corpus(tmp_path / "nothing.txt")


def test_a_folder_is_no_file(tmp_path):
    (tmp_path / "a.conllu").write_text("x")
    with pytest.raises(CorpusError, match=r"is a folder\. Give one of its files: a\.conllu"):
        read_corpus(tmp_path)
    with pytest.raises(CorpusError, match="is a folder"):
        read_corpus(tmp_path, "text")


@pytest.mark.parametrize("language", ["en", "qke", "qta"])
def test_the_sample_comes_by_name(language):
    corpus = read_corpus(f"sample:{language}")
    assert (corpus.name, corpus.format) == (f"sample:{language}", "conllu")


def test_the_sample_has_no_other_languages_and_a_file_of_that_name_goes_first(
    tmp_path, monkeypatch
):
    with pytest.raises(CorpusError, match=r"no language 'xx'\. Known: en, qke, qta"):
        read_corpus("sample:xx")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sample").write_text("own words\n")
    assert read_corpus("sample", "text").words == ["own", "words"]


def test_a_format_of_ones_own_is_found_by_its_sniffer(monkeypatch):
    monkeypatch.setattr(reading_module, "_FORMATS", dict(known_formats()))

    @corpus_format("shout", summary="", sniff=lambda head: float(head.suffix == ".shout"))
    def read_shout(path, *, sign="!"):
        for line in reading_module.read_lines(path):
            yield lmkin.Sentence(line + sign)

    corpus = read("a.shout", "hey\n", sign="?")
    assert (corpus.format, corpus[0].text) == ("shout", "hey?")
