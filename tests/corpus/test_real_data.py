"""Real treebanks and tasks, counted by hand from their files; skipped where they are absent."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from corpus_files import covered

from lmkin import Corpus, read_corpus

LANGUAGES = ["en", "de", "fr", "es", "pt", "pl", "ru", "fi", "ja"]
EWT = {"train": 12_544, "dev": 2_001, "test": 2_077}
PUD = "ud/{}_pud-ud-test.conllu"
TREEBANKS = {
    **{f"ud/en_ewt-ud-{part}.conllu": n for part, n in EWT.items()},
    **{PUD.format(language): 1_000 for language in LANGUAGES},
}


@pytest.fixture(scope="session")
def data(shared) -> Path:
    return shared("data")


@cache
def corpus_at(path: Path) -> Corpus:
    return read_corpus(path)


def blocks(path: Path) -> list[list[str]]:
    """The lines of a file between empty ones."""
    text = path.read_text(encoding="utf-8").strip("\n")
    return [block.split("\n") for block in text.split("\n\n")]


def rows_of(block: list[str]) -> list[list[str]]:
    return [line.split("\t") for line in block if not line.startswith("# ")]


def comment(block: list[str], name: str) -> str:
    return next(line.split(" = ", 1)[1] for line in block if line.startswith(f"# {name} = "))


def compact(text: str) -> str:
    """A text without its spaces, nor what the Parallel Meaning Bank writes for them."""
    return "".join(text.replace("~", "").split())


def covering_forms(rows: list[list[str]]) -> list[str]:
    """For each syntactic word the form that stands in the text: its multiword token's or its own."""
    token = {}
    for id, form, *_ in rows:
        if "-" in id:
            first, last = map(int, id.split("-"))
            token |= dict.fromkeys(range(first, last + 1), form)
    return [token.get(int(id), form) for id, form, *_ in rows if id.isdigit()]


@pytest.mark.parametrize("name", TREEBANKS)
def test_a_treebank_has_the_words_tags_texts_and_ids_of_its_file(data, name):
    corpus, written = corpus_at(data / name), blocks(data / name)
    assert corpus.format == "conllu"
    assert len(corpus) == TREEBANKS[name] == len(written)
    words = [row for block in written for row in rows_of(block) if row[0].isdigit()]
    assert corpus.words == [row[1] for row in words]
    for tag, column in {"upos": 3, "xpos": 4, "feats": 5, "deprel": 7}.items():
        counts = Counter(row[column] for row in words)
        assert (tag in corpus.tag_names) == (set(counts) != {"_"})
        if tag in corpus.tag_names:
            assert corpus.tag_counts(tag) == counts
    assert [s.id for s in corpus] == [comment(block, "sent_id") for block in written]
    assert [s.text for s in corpus] == [comment(block, "text").strip() for block in written]


@pytest.mark.parametrize("name", TREEBANKS)
def test_every_span_of_a_treebank_holds_the_form_of_its_word_or_token(data, name):
    for sentence, block in zip(corpus_at(data / name), blocks(data / name), strict=True):
        # A form may write a no-break space where the text has a plain one.
        forms = covering_forms(rows_of(block))
        assert [*map(compact, covered(sentence))] == [*map(compact, forms)]
        ends = [0, *(end for _, end in sentence.spans)]
        assert all(
            start >= before or (start, end) == sentence.spans[i - 1]
            for i, ((start, end), before) in enumerate(zip(sentence.spans, ends, strict=False))
        )


@pytest.mark.parametrize("language", LANGUAGES)
def test_forms_and_space_after_give_the_text_of_the_parallel_treebanks(data, language):
    path = data / PUD.format(language)
    rebuilt = read_corpus(path, text="forms")
    differing = [
        a.id
        for a, b in zip(rebuilt, corpus_at(path), strict=True)
        if compact(a.text) != compact(b.text)
    ]
    assert differing == []
    same = sum(a == b for a, b in zip(rebuilt, corpus_at(path), strict=True))
    assert same >= 990


def test_the_readme_counts_the_words_of_the_english_web_treebank(data):
    assert corpus_at(data / "ud/en_ewt-ud-train.conllu").n_words == 204_577


def test_the_parallel_treebanks_are_aligned_by_id_and_split_at_the_same_sentences(data):
    corpora = [corpus_at(data / PUD.format(language)) for language in LANGUAGES]
    aligned = corpora[0].align(*corpora[1:])
    keys = [s.id for s in corpora[0]]
    assert all([s.id for s in corpus] == keys for corpus in aligned)
    trains = [corpus.split(0.9, 0.1, seed=7)[0] for corpus in aligned]
    assert len({tuple(s.id for s in train) for train in trains}) == 1
    assert len(trains[0]) == 900


def test_documents_of_the_english_web_treebank_begin_at_newdoc(data):
    path = data / "ud/en_ewt-ud-dev.conllu"
    named = [
        line.split(" = ")[1]
        for block in blocks(path)
        for line in block
        if line.startswith("# newdoc id = ")
    ]
    corpus = corpus_at(path)
    assert list(dict.fromkeys(corpus.documents)) == named
    train, dev = corpus.split(0.8, by="document")
    assert not set(train.documents) & set(dev.documents)


@pytest.mark.parametrize(("part", "n_words"), [("train", 211_727), ("test", 47_377)])
def test_chunking_has_every_word_and_tag_of_its_file(data, part, n_words):
    path = data / f"conll2000/{part}.txt"
    corpus = corpus_at(path)
    assert corpus.format == "columns"
    written = [[line.split(" ") for line in block] for block in blocks(path)]
    assert [list(s.words) for s in corpus] == [[w for w, _, _ in rows] for rows in written]
    assert corpus.tags("pos") == [pos for rows in written for _, pos, _ in rows]
    assert corpus.tags("chunk") == [chunk for rows in written for _, _, chunk in rows]
    assert corpus.n_words == n_words


PMB_SENTENCES = {"en_train": 7_745, "en_dev": 1_174, "en_test": 1_053}
PMB_PARTS = [
    f"{lang}_{part}" for lang in ("en", "de", "it", "nl") for part in ("train", "dev", "test")
]


@pytest.mark.parametrize("part", PMB_PARTS)
def test_the_meaning_bank_has_every_word_and_semantic_tag_of_its_file(data, part):
    path = data / f"pmb/pmb4_{part}.conll"
    corpus = corpus_at(path)
    lines = path.read_text(encoding="utf-8").split("\n")
    rows = [line.split("\t") for line in lines if line and not line.startswith(("# ", "### "))]
    assert corpus.words == [row[0] for row in rows]
    assert corpus.tags("sem") == [row[3] for row in rows]
    assert corpus.tags("cat") == [row[4] for row in rows]
    raw = [line.split(" = ", 1)[1].strip() for line in lines if line.startswith("# raw sent")]
    assert len(corpus) == len(raw) == PMB_SENTENCES.get(part, len(raw))
    documents = [line.split(" = ")[1] for line in lines if line.startswith("# newdoc id")]
    assert list(dict.fromkeys(corpus.documents)) == documents
    for sentence, text in zip(corpus, raw, strict=True):
        assert [*map(compact, covered(sentence))] == [*map(compact, sentence.words)]
        # A few raw sentences do not have their own words; then the words make the text.
        words = [re.escape(word).replace("\\~", r"[\s~]*") for word in sentence.words]
        if re.fullmatch(r"\s*".join(words), text):
            assert sentence.text == text
        else:
            assert sentence.text == " ".join(sentence.words).replace("~", " ")


# The MRPC file here has one example fewer than the 3,668 of GLUE.
GLUE = {
    "SST-2/train": (67_349, 0, None, 1),
    "SST-2/dev": (872, 0, None, 1),
    "MRPC/train": (3_667, 3, 4, 0),
    "MRPC/dev": (408, 3, 4, 0),
    "STS-B/train": (5_749, 7, 8, 9),
    "STS-B/dev": (1_500, 7, 8, 9),
}


@pytest.mark.parametrize("name", GLUE)
def test_glue_has_the_texts_and_labels_of_its_file(data, name):
    n, first, second, mark = GLUE[name]
    path = data / f"glue/{name}.tsv"
    corpus = corpus_at(path)
    lines = path.read_text(encoding="utf-8-sig").split("\n")[1:]
    rows = [line.split("\t") for line in lines if line]
    assert (corpus.format, len(corpus)) == ("table", n)
    assert [s.text for s in corpus] == [row[first] for row in rows]
    assert [s.text_b for s in corpus] == [second and row[second] for row in rows]
    read = float if name.startswith("STS-B") else str
    assert corpus.labels == [read(row[mark]) for row in rows]
