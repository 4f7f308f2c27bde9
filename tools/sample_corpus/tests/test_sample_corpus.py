"""The sample corpus: what the grammar makes is what lmkin ships, and it is what it says."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from lmkin.corpus.sample import LANGUAGES, path
from sample_corpus.__main__ import SHIPPED

TAGS = "NOUN PROPN VERB AUX ADJ ADV PRON DET ADP CCONJ SCONJ PART NUM PUNCT INTJ"
UPOS = set(TAGS.split())
Sentence = tuple[dict[str, str], list[list[str]]]


def read(file: Path) -> list[Sentence]:
    """Comments and rows (multiword rows included) of every sentence."""
    sentences = []
    for block in file.read_text(encoding="utf-8").strip().split("\n\n"):
        lines = block.split("\n")
        pairs = (line[2:].split(" = ", 1) for line in lines if line.startswith("# "))
        comments = dict(pairs)
        rows = [line.split("\t") for line in lines if not line.startswith("#")]
        sentences.append((comments, rows))
    return sentences


CORPUS = {language: read(path(language)) for language in LANGUAGES}


def words(language: str) -> list[list[str]]:
    return [row for _, rows in CORPUS[language] for row in rows if row[0].isdigit()]


def feats(row: list[str]) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in row[5].split("|")) if row[5] != "_" else {}


def test_the_command_makes_what_is_shipped(tmp_path: Path) -> None:
    tools = Path(__file__).parents[2]
    command = [sys.executable, "-m", "sample_corpus", str(tmp_path / "made")]
    subprocess.run(command, cwd=tools, check=True, capture_output=True)
    made = {file.name: file.read_bytes() for file in (tmp_path / "made").iterdir()}
    assert made == {path(language).name: path(language).read_bytes() for language in LANGUAGES}


def test_by_default_it_writes_where_the_library_reads() -> None:
    assert all(SHIPPED / f"{language}.conllu" == path(language) for language in LANGUAGES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_trees_are_valid(language: str) -> None:
    for comments, rows in CORPUS[language]:
        tree = {int(row[0]): int(row[6]) for row in rows if row[0].isdigit()}
        where = comments["sent_id"]
        assert sorted(tree) == list(range(1, len(tree) + 1)), where
        assert all(len(row) == 10 and all(row) for row in rows), where
        roots = [row for row in rows if row[6] == "0"]
        assert len(roots) == 1, where
        assert roots[0][7] == "root", where
        assert sum(row[7] == "root" for row in rows) == 1, where
        for word in tree:
            seen = set()
            while word:
                assert word not in seen, where
                assert word in tree, where
                seen.add(word)
                word = tree[word]


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_function_word_has_content_dependents(language: str) -> None:
    for comments, rows in CORPUS[language]:
        relation = {row[0]: row[7] for row in rows}
        for row in rows:
            if relation.get(row[6]) in ("case", "mark", "cc", "aux", "aux:pass", "cop", "punct"):
                pytest.fail(f"{comments['sent_id']}: {row}")


@pytest.mark.parametrize("language", LANGUAGES)
def test_forms_match_the_text(language: str) -> None:
    for comments, rows in CORPUS[language]:
        text, covered = "", 0
        for row in rows:
            if "-" in row[0]:
                covered = int(row[0].split("-")[1])
            elif int(row[0]) <= covered:
                continue
            text += row[1] + ("" if "SpaceAfter=No" in row[9] else " ")
        assert text.rstrip() == comments["text"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_punctuation_is_tidy(language: str) -> None:
    for comments, _ in CORPUS[language]:
        assert not re.search(
            r"[,.?!][,.?!]|,[\"»][.,]|\s[,.?!]|  ", comments["text"].replace("»,", "")
        )


def test_sentences_are_parallel() -> None:
    keys = ("sent_id", "newdoc id")
    ids = {
        language: [tuple(c.get(key) for key in keys) for c, _ in sentences]
        for language, sentences in CORPUS.items()
    }
    assert len(set(map(tuple, ids.values()))) == 1
    english = ids["en"]
    assert len({sent_id for sent_id, _ in english}) == len(english)
    assert sum(doc is not None for _, doc in english) == 100


def test_size() -> None:
    texts = [comments["text"] for comments, _ in CORPUS["en"]]
    assert 950 <= len(texts) <= 1150
    assert len(set(texts)) == len(texts)
    tokens = [row for row in words("en") if row[3] != "PUNCT"]
    assert 9_000 <= len(tokens) <= 12_000
    lengths = [sum(row[0].isdigit() for row in rows) for _, rows in CORPUS["en"]]
    assert min(lengths) <= 4
    assert 25 <= max(lengths) <= 32
    assert all(path(language).stat().st_size <= 900_000 for language in LANGUAGES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_parts_of_speech_occur(language: str) -> None:
    assert {row[3] for row in words(language)} == UPOS


def test_english_has_ambiguous_forms() -> None:
    tags: dict[str, set[str]] = {}
    for row in words("en"):
        tags.setdefault(row[1].lower(), set()).add(row[3])
    assert {"SCONJ", "PRON", "DET"} <= tags["that"]
    assert {"PART", "ADP"} <= tags["to"]
    assert sum({"NOUN", "VERB"} <= kinds for kinds in tags.values()) >= 20


def test_vocabularies_are_disjoint() -> None:
    vocabulary = {
        language: {
            row[1].lower() for row in words(language) if row[3] not in ("PUNCT", "NUM", "PROPN")
        }
        for language in LANGUAGES
    }
    assert not vocabulary["en"] & vocabulary["qke"]
    assert not vocabulary["en"] & vocabulary["qta"]
    assert not vocabulary["qke"] & vocabulary["qta"]


def test_special_tokens() -> None:
    multiword = Counter(
        language
        for language, sentences in CORPUS.items()
        for _, rows in sentences
        for row in rows
        if "-" in row[0]
    )
    assert set(multiword) == {"qta"}
    assert multiword["qta"] >= 100
    assert re.search("[šøéč]", path("qke").read_text(encoding="utf-8"))
    assert path("qta").read_text(encoding="utf-8").isascii()
    forms = {row[1] for row in words("en")}
    assert {"n't", "'s", "'ll", '"', ",", "?", "!"} <= forms


def test_english_articles() -> None:
    vowel_sound, consonant_sound = ("honest", "hour"), ("university", "useful", "one")
    seen = 0
    for _, rows in CORPUS["en"]:
        for row, following in pairwise(rows):
            if row[1].lower() in ("a", "an") and row[3] == "DET":
                seen += 1
                word = following[1].lower()
                expected = word[0] in "aeiou" or word.startswith(vowel_sound)
                expected = expected and not word.startswith(consonant_sound)
                assert (row[1].lower() == "an") == expected, (row[1], word)
    assert seen > 300


def test_english_subjects_agree() -> None:
    checked = 0
    for comments, rows in CORPUS["en"]:
        for row in rows:
            if row[7] not in ("nsubj", "nsubj:pass"):
                continue
            head = rows[int(row[6]) - 1]
            verbs = [head, *(r for r in rows if r[6] == head[0] and r[7][:3] in ("aux", "cop"))]
            finite = next((v for v in sorted(verbs, key=lambda v: int(v[0]))
                           if feats(v).get("Mood") == "Ind"), None)  # fmt: skip
            kind = feats(row).get("PronType")
            if finite is None or kind in ("Rel", "Int"):
                continue
            coordinated = any(r[6] == row[0] and r[7] == "conj" for r in rows)
            number = "Plur" if coordinated else feats(row).get("Number")
            person = feats(row).get("Person", "3")
            checked += 1
            assert feats(finite)["Person"] == person, comments["text"]
            if number is not None:
                assert feats(finite)["Number"] == number, comments["text"]
            singular = person == "3" and number == "Sing" and feats(finite)["Tense"] == "Pres"
            assert (finite[4] == "VBZ") == singular, comments["text"]
    assert checked > 700
