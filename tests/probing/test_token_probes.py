"""Probes of tokens: each has the tag of the word it lies in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lmkin
from lmkin.analyses.probing.baselines import control_task, most_frequent, words_of
from lmkin.analyses.probing.options import ProbeOptions
from lmkin.analyses.probing.tasks import Task, read_tasks


def tag_by_characters(sentence: lmkin.Sentence, start: int, end: int, tag: str) -> str | None:
    """The one tag that is written over the characters of a token, white space apart; None for none or several."""
    over = [set() for _ in sentence.text]
    for (a, b), value in zip(sentence.spans, sentence.tags[tag], strict=True):
        for k in range(a, b):
            over[k].add(value)
    found = set().union(*over[start:end]) - {"_"}
    return found.pop() if len(found) == 1 else None


@pytest.fixture(scope="module")
def splits(sample: lmkin.Corpus) -> dict[str, lmkin.Corpus]:
    return {"train": sample[:60], "dev": sample[60:80], "test": sample[80:100]}


@pytest.fixture(scope="module")
def tokens(model_folder: Any, splits: dict[str, lmkin.Corpus]) -> dict[str, lmkin.Activations]:
    model = lmkin.load_model(model_folder("roberta"), name="tiny")
    return {
        name: lmkin.extract(model, corpus, units="token", progress=False)
        for name, corpus in splits.items()
    }


@pytest.fixture(scope="module")
def task(tokens: dict[str, lmkin.Activations]) -> Task:
    (task,) = read_tasks({n: a.units for n, a in tokens.items()}, ProbeOptions(tag=("upos",)))
    return task


def test_every_token_is_labelled_by_its_characters(
    tokens: dict[str, lmkin.Activations], task: Task
) -> None:
    for split, acts in tokens.items():
        units = acts.units
        expected = [
            tag_by_characters(units.corpus[s], a, b, "upos")
            for s, a, b in zip(units.sentence, units.start, units.end, strict=True)
        ]
        rows = [k for k, tag in enumerate(expected) if tag is not None]
        assert task.rows[split].tolist() == rows
        assert task.missing[split] == len(expected) - len(rows)
        given = [task.classes[k] for k in task.target[split]]
        assert given == [expected[k] for k in rows]
        assert len(rows) > units.corpus.n_words  # words are cut into pieces here


def test_controls_and_baselines_go_by_what_a_token_covers(
    tokens: dict[str, lmkin.Activations], task: Task
) -> None:
    units = {n: a.units for n, a in tokens.items()}
    texts = {n: [u.texts[k] for k in task.rows[n]] for n, u in units.items()}
    assert words_of(units, task) == texts
    control = control_task(task, texts, seed=3)
    drawn: dict[str, set[int]] = {}
    for split, mine in texts.items():
        for text, label in zip(mine, control.target[split].tolist(), strict=True):
            drawn.setdefault(text, set()).add(label)
    assert all(len(labels) == 1 for labels in drawn.values())
    best = most_frequent(task, texts)
    for text, found in zip(texts["test"], best["test"].tolist(), strict=True):
        mine = [y for y, t in zip(task.target["train"], texts["train"], strict=True) if t == text]
        counts = np.bincount(mine or task.target["train"])
        assert counts[found] == counts.max()


def test_a_probe_of_tokens(model_folder: Any, splits: dict[str, lmkin.Corpus], task: Task) -> None:
    result = lmkin.probe(
        [model_folder("roberta")], splits, tag="upos", units="token", fit="all", intervals=False,
        ranking="none", l1=0.01, progress=False,
    )  # fmt: skip
    assert result.attrs["units"] == "token"
    said = next(a.text for a in result.alerts if a.kind == "missing labels")
    outside = sum(
        not words for c in splits.values() for words in lmkin.extract(
            model_folder("roberta"), c, units="token", progress=False
        ).units.words
    )  # fmt: skip
    assert f"{sum(task.missing.values()):,} rows have no 'upos'" in said
    assert f"{outside:,} lie in no word" in said


def test_other_tokenizers_and_sentences_are_refused(
    model_folder: Any, splits: dict[str, lmkin.Corpus], no_models: None
) -> None:
    with pytest.raises(lmkin.LmkinError, match="the tag of the word they lie in"):
        lmkin.probe([model_folder("bert")], splits, tag="upos", units="sentence")


def test_models_whose_tokens_differ_are_refused(
    model_folder: Any, splits: dict[str, lmkin.Corpus], tmp_path: Path
) -> None:
    stores = [
        lmkin.extract(model_folder(f), splits["train"], tmp_path / f, units="token", progress=False)
        for f in ("bert", "roberta")
    ]
    with pytest.raises(lmkin.LmkinError, match="tokenizers cut the text differently"):
        lmkin.probe(stores, tag="upos", progress=False)
    with pytest.raises(lmkin.LmkinError, match=r"extract words \(units='word'\)"):
        lmkin.common_units(stores)


def test_a_decoder_says_which_layer_is_after_its_norm(
    model_folder: Any, sample: lmkin.Corpus
) -> None:
    result = lmkin.probe(
        [model_folder("gpt2")], sample[:60], tag="upos", units="token", fit="all", intervals=False,
        ranking="none", l1=0.01, progress=False,
    )  # fmt: skip
    (alert,) = [a for a in result.alerts if a.kind == "before the norm"]
    assert "layer 2 is what it emits" in alert.text
