"""Texts cut into sequences of so many tokens, and models that read them."""

from __future__ import annotations

from typing import Any

import pytest
import transformers

import lmkin
from dependency import naive_dependency as naive
from dependency.naive_dependency import Rule
from lmkin.models import load_tokenizer

plain = {"progress": False, "intervals": False, "permutation_baseline": False}
quiet = {"progress": False}


@pytest.mark.parametrize("name", ["bert", "gpt2", "t5", "llama"])
@pytest.mark.parametrize("length", [5, 32])
def test_sequences_hold_so_many_tokens_of_the_text(
    model_folder: Any, sample: lmkin.Corpus, name: str, length: int
) -> None:
    corpus = sample[:80]
    folder = model_folder(name)
    tokenizer = load_tokenizer(folder)
    pieces = []  # of every token: its text, with the space or the border before it
    for sentence, tokens in zip(corpus, tokenizer.encode([s.text for s in corpus]), strict=True):
        position = 0
        for number, (start, end) in enumerate(tokens.spans):
            before = " " if number == 0 else sentence.text[position:start]
            pieces.append(before + sentence.text[start:end])
            position = max(position, end)
    cut = lmkin.cut_sequences(corpus, folder, length)
    assert len(cut) == len(pieces) // length
    for number, sequence in enumerate(cut):
        expected = "".join(pieces[number * length : (number + 1) * length]).strip()
        assert sequence.text.split() == expected.split()


def borders_of_words(text: str) -> set[int]:
    return {i for i in range(len(text) + 1) if i in (0, len(text)) or " " in text[i - 1 : i + 1]}


def test_a_sequence_inside_a_sentence_has_that_length_by_the_tokenizer(
    model_folder: Any, sample: lmkin.Corpus
) -> None:
    """WordPiece: what begins and ends with a whole word is cut into the same tokens when it stands alone."""
    folder = model_folder("bert")
    text = " ".join(s.text for s in sample[:200])
    corpus = lmkin.Corpus([lmkin.Sentence(text, id="one")])
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    cut = lmkin.cut_sequences(corpus, folder, 12)
    borders, position, whole = borders_of_words(text), 0, 0
    for sequence in cut:
        start = text.index(sequence.text, position)
        assert text[position:start].strip() == ""  # only white space between neighbours
        position = start + len(sequence.text)
        if start in borders and position in borders:
            assert len(tokenizer(sequence.text, add_special_tokens=False)["input_ids"]) == 12
            whole += 1
    assert whole > 20
    left = tokenizer(text[position:], add_special_tokens=False)["input_ids"]
    assert len(left) < 12 + 2  # nothing is lost but the end


def test_nothing_is_lost_but_the_end(model_folder: Any, sample: lmkin.Corpus) -> None:
    corpus = sample[:50]
    every = "".join("".join(s.text.split()) for s in corpus)
    for name in ("bert", "gpt2", "t5"):
        cut = lmkin.cut_sequences(corpus, model_folder(name), 16)
        mine = "".join("".join(s.text.split()) for s in cut)
        assert every.startswith(mine)
        assert len(every) - len(mine) < 16 * 12
        for sequence in cut:
            assert [sequence.text[a:b] for a, b in sequence.spans] == sequence.text.split()


def test_a_sequence_belongs_to_the_document_it_begins_in(model_folder: Any) -> None:
    corpus = lmkin.Corpus(
        [
            lmkin.Sentence("the dog and the cat and the", id="1", document="first"),
            lmkin.Sentence("cat and the dog and the dog", id="2", document="second"),
        ]
    )
    cut = lmkin.cut_sequences(corpus, model_folder("bert"), 4)
    tokenizer = load_tokenizer(model_folder("bert"))
    in_first = len(tokenizer.encode([corpus[0].text])[0])
    expected = ["first" if 4 * i < in_first else "second" for i in range(len(cut))]
    assert [s.document for s in cut] == expected
    assert {"first", "second"} == set(expected)


def test_so_many_sequences_and_tokenizers_of_all_kinds(
    model_folder: Any, models: Any, sample: lmkin.Corpus
) -> None:
    folder = model_folder("bert")
    cut = lmkin.cut_sequences(sample, folder, 8, limit=25)
    assert len(cut) == 25
    texts = [s.text for s in cut]
    for given in (str(folder), models[0], load_tokenizer(folder), f"untrained:{folder}@1"):
        assert [s.text for s in lmkin.cut_sequences(sample, given, 8, limit=25)] == texts


def test_models_cut_sequences_at_so_many_tokens_of_their_own(
    models: Any, model_folder: Any, sample: lmkin.Corpus
) -> None:
    cut = lmkin.cut_sequences(sample, model_folder("bert"), 20, limit=150)
    split = naive.three_splits(150)
    found = lmkin.decompose(
        models, cut, max_length=20, long="truncate", split=split, ridge=1.0, **plain
    )
    texts = [s.text for s in cut]
    by_hand = {
        "bert": naive.embedding(model_folder("bert"), texts, most=20),
        "gpt2": naive.embedding(model_folder("gpt2"), texts, skip=1, most=20),
        "t5": naive.embedding(model_folder("t5"), texts, part="encoder", most=20),
    }
    for name in naive.SPLITS:
        expected = naive.tables(by_hand, split["train"], split[name], Rule("relative", 1.0))
        for field in ("r2_group", "r2_pair"):
            mine = found.dataset[field].sel(split=name).values
            assert mine == pytest.approx(expected[field], abs=1e-4), (name, field)
