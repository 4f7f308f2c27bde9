"""Tables as GLUE has them: TSV, CSV, JSON lines."""

from __future__ import annotations

import csv
import io
import json

import pytest
from corpus_files import many, problem, read
from hypothesis import given
from hypothesis import strategies as st

# Real first lines of the files of each task, and (text, text_b, label, id) of the first example.
TASKS = {
    "SST-2": ("sentence\tlabel\nfine film \t1\n", ("fine film ", None, "1", "2")),
    "STS-B": (
        "index\tgenre\tfilename\tyear\told_index\tsource1\tsource2\tsentence1\tsentence2\tscore\n"
        "7\tg\tf\t2012\t1\tnone\tnone\tA man.\tA cat.\t2.500\n",
        ("A man.", "A cat.", 2.5, "7"),
    ),
    "MRPC": (
        '\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\n1\t702\t706\tHe said " so\t" So .\n',
        ('He said " so', '" So .', "1", "2"),
    ),
    "QQP": (
        "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n133\t2\t3\tWhy?\tHow?\t0\n",
        ("Why?", "How?", "0", "133"),
    ),
    "QNLI": (
        "index\tquestion\tsentence\tlabel\n0\tWho?\tHe did.\tentailment\n",
        ("Who?", "He did.", "entailment", "0"),
    ),
    "MNLI": (
        "index\tpromptID\tpairID\tgenre\tsentence1_binary_parse\tsentence2_binary_parse\t"
        "sentence1_parse\tsentence2_parse\tsentence1\tsentence2\tlabel1\tgold_label\n"
        "0\t31\t31n\tgov\t( a )\t( b )\t(R a)\t(R b)\ta\tb\tneutral\tcontradiction\n",
        ("a", "b", "contradiction", "0"),
    ),
    "RTE": (
        "index\tsentence1\tsentence2\tlabel\n0\tIt rains.\tWet.\tnot_entailment\n",
        ("It rains.", "Wet.", "not_entailment", "0"),
    ),
}


def parts(sentence):
    return (sentence.text, sentence.text_b, sentence.label, sentence.id)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", ["train.tsv", "train.txt", "train"])
def test_the_tasks_of_glue_are_known_by_their_columns(task, name):
    content, expected = TASKS[task]
    corpus = read(name, content)
    assert corpus.format == "table"
    assert parts(corpus[0]) == expected


COLA = "gj04\t1\t\tOur friends won't buy this.\ngj05\t0\t*\tThey drank the pub.\n"


def test_cola_has_no_header_so_its_columns_are_given_by_position():
    corpus = read("cola.tsv", COLA, text=3, label=1)
    assert [s.text for s in corpus] == ["Our friends won't buy this.", "They drank the pub."]
    assert corpus.labels == ["1", "0"]


def test_a_table_without_known_columns_says_how_to_name_them():
    message = problem("cola.tsv", COLA)
    assert "cola.tsv: no column is known to hold the sentence" in message
    assert "Columns: 0, 1, 2, 3" in message


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ("a b", None, "x", "2")),
        ({"text": "other"}, ("c", None, "x", "2")),
        ({"text": "text", "text_b": "other"}, ("a b", "c", "x", "2")),
        ({"text_b": 2}, ("a b", "c", "x", "2")),
        ({"text": 2, "label": 0}, ("c", None, "7", "2")),
        ({"score": "n"}, ("a b", None, 7.0, "2")),
        ({"score": 0, "id": "other"}, ("a b", None, 7.0, "c")),
        ({"header": True, "text": 1, "label": 3}, ("a b", None, "x", "2")),
        ({"header": False, "text": 1, "label": 3}, ("text", None, "label", "1")),
    ],
)
@pytest.mark.parametrize("separator", ["\t", ","])
def test_columns_are_chosen_by_name_or_position(options, expected, separator):
    content = "n\ttext\tother\tlabel\n7\ta b\tc\tx\n".replace("\t", separator)
    corpus = read("x.csv" if separator == "," else "x.tsv", content, **options)
    assert parts(corpus[0]) == expected


def test_the_second_text_of_a_known_pair_can_be_another():
    content = "sentence1\tsentence2\tthird\na\tb\tc\n"
    assert parts(read("x.tsv", content, text_b="third")[0])[:2] == ("a", "c")


def test_a_name_that_is_asked_for_shows_that_the_first_line_is_a_header():
    content = "Utterance\tIntent\nhello\tgreet\n"
    assert [s.text for s in read("x.tsv", content, text="Utterance")] == ["hello"]
    assert "Did you mean 'Utterance'" in problem("x.tsv", content, text="utterance")


def test_json_lines_may_lack_keys_and_null_is_no_label():
    rows = [{"text": "a"}, {"label": 1, "text": "b"}, {"text": "c", "label": None}]
    corpus = read("x.jsonl", "\n\n".join(map(json.dumps, rows)))
    assert corpus.labels == [None, "1", None]
    assert [s.text for s in corpus] == ["a", "b", "c"]


def test_json_columns_can_be_given_by_position():
    assert parts(read("x.jsonl", '{"a": "hi", "b": 4}\n', text=0, score=1)[0])[:3] == (
        "hi",
        None,
        4,
    )


@pytest.mark.parametrize("name", ["x.json", "x.txt", "x"])
def test_json_lines_are_found_by_content(name):
    assert read(name, '{"sentence": "a b", "label": "x"}\n')[0].words == ("a", "b")


def test_a_missing_label_or_score_is_none():
    assert read("x.tsv", "text\tlabel\na\t\nb\t1\n").labels == [None, "1"]
    assert read("x.tsv", "text\tscore\na\t\nb\t1\n").labels == [None, 1.0]


def test_quotes_mean_nothing_in_tsv():
    corpus = read("x.tsv", 'text\tlabel\n"half open\t1\nshe "said" so"\t0\n')
    assert [s.text for s in corpus] == ['"half open', 'she "said" so"']


def test_csv_quotes_hold_commas_quotes_and_line_ends():
    content = 'text,label\r\n"a, ""b""\nc",1\r\n \r\nd,0\r\n'
    corpus = read("x.csv", content)
    assert [s.text for s in corpus] == ['a, "b"\nc', "d"]
    assert [s.id for s in corpus] == ["2", "5"]


def test_csv_may_use_another_separator():
    assert read("x.csv", 'text;label\n"a;b";1\n', separator=";")[0].text == "a;b"
    assert "one character as separator" in problem("x.csv", "text\na\n", separator="||")


@pytest.mark.parametrize(
    "content", ["text\tlabel\n\na b\t1\n\nc d\t0\n", "text\tlabel\na\t1\n\t\n"]
)
def test_empty_lines_in_a_table_are_passed_over(content):
    corpus = read("x.tsv", content)
    assert corpus.format == "table"
    assert len(corpus) == content.count("1\n") + content.count("0\n")


def test_crlf_ends_lines_and_u2028_does_not():
    corpus = read("x.tsv", "text\tlabel\r\na\u2028b\t1\r\n")
    assert (corpus[0].text, corpus[0].label) == ("a\u2028b", "1")


def test_words_follow_the_rule_that_is_asked_for():
    assert read("x.tsv", "text\nHi!\n", words="punctuation")[0].words == ("Hi", "!")


@pytest.mark.parametrize(
    ("name", "line", "content", "options", "says"),
    [
        (
            "x.tsv",
            3,
            "text\tlabel\na\t1\nb\n",
            {},
            "2 columns expected as on the first line, got 1",
        ),
        ("x.tsv", 2, "text\tlabel\na\t1\t2\n", {}, "got 3"),
        ("x.csv", 4, 'text,label\n"a\nb",1\nc\n', {}, "got 1"),
        ("x.csv", 2, 'text,label\n"a"b,1\n', {}, "not valid CSV"),
        ("x.csv", 2, 'text,label\n"a,1\nb,2\n', {}, "not valid CSV"),
        ("x.tsv", 2, "text\tscore\na\tgood\n", {}, "the score 'good' is not a number"),
        ("x.tsv", 2, "text\tscore\na\tnan\n", {}, "the score 'nan' is not a number"),
        ("x.tsv", 2, "text\tscore\na\tinf\n", {}, "the score 'inf' is not a number"),
        ("x.tsv", 2, "text\tlabel\na\t1\n", {"text": "txet"}, "Did you mean 'text'"),
        ("x.tsv", 2, "text\tlabel\na\t1\n", {"label": 7}, "no column 7. Known: text, label, 0, 1"),
        ("x.jsonl", 2, '{"text": "a"}\n{"text": \n', {}, "not JSON"),
        ("x.jsonl", 1, '["a"]\n', {}, "one JSON object a line"),
        ("x.jsonl", 2, '{"text": "a"}\n{"label": 1}\n', {}, "nothing in the column 'text'"),
        ("x.jsonl", 1, '{"text": ["a"]}\n', {}, "holds no text but"),
        ("x.jsonl", 1, '{"sentence1": "a", "sentence2": null}\n', {}, "the column 'sentence2'"),
    ],
)
def test_a_broken_row_is_named_by_line(name, line, content, options, says):
    message = problem(name, content, **options)
    assert f"{name}, line {line}: " in message
    assert says in message


def test_a_row_has_a_label_or_a_score_not_both():
    assert "not both" in problem("x.tsv", "text\ta\tb\nw\t1\t2\n", label="a", score="b")


def test_a_header_alone_is_no_corpus():
    assert "no sentence" in problem("x.tsv", "sentence\tlabel\n")


# -- any table -----------------------------------------------------------------------------------

anything = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
labels = st.text("abc-_012", min_size=1, max_size=4)


def check(corpus, rows):
    assert [(s.text, s.text_b, s.label) for s in corpus] == rows
    assert [list(s.words) for s in corpus] == [text.split() for text, _, _ in rows]


@given(st.lists(st.tuples(anything, anything, labels), min_size=1, max_size=5))
@many
def test_random_json_lines_are_read_as_they_were_written(rows):
    keys = ("premise", "hypothesis", "label")
    lines = [json.dumps(dict(zip(keys, row, strict=True)), ensure_ascii=False) for row in rows]
    check(read("x.jsonl", "\n".join(lines)), rows)


@given(st.lists(st.tuples(anything, anything, labels), min_size=1, max_size=5))
@many
def test_random_csv_is_read_as_it_was_written(rows):
    file = io.StringIO(newline="")
    csv.writer(file).writerows([("text_a", "text_b", "label"), *rows])
    check(read("x.csv", file.getvalue()), rows)


@given(st.lists(st.tuples(anything, anything, labels), min_size=1, max_size=5))
@many
def test_random_tsv_is_read_as_it_was_written(rows):
    rows = [(*(t.replace("\t", " ").replace("\n", " ") for t in (a, b)), c) for a, b, c in rows]
    lines = ["\t".join(row) for row in [("sentence1", "sentence2", "label"), *rows]]
    check(read("x.tsv", "\n".join(lines)), rows)


def test_labels_of_several_types_in_json_are_refused() -> None:
    lines = [
        '{"text": "a b", "label": "yes"}',
        '{"text": "b", "label": null}',
        '{"text": "c", "label": 1}',
    ]
    said = problem("x.jsonl", "\n".join(lines))
    assert "line 3: the label 1 is a number, and 'yes' on line 1 is text" in said
    assert read("y.jsonl", "\n".join(lines[:2])).labels == ["yes", None]
