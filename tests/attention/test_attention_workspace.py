"""A comparison of attention that is killed goes on where it stopped."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import lmkin
from attention.random_maps import random_layer

MEASURES = "js,pearson,norm,ckasim"


class KilledError(Exception):
    """As if the process had ended."""


@pytest.fixture(scope="module")
def models(model_folder: Any) -> list[lmkin.LanguageModel]:
    return [lmkin.load_model(model_folder(n), name=n, attention=True) for n in ("bert", "gpt2")]


@pytest.fixture(scope="module")
def corpus(sample: lmkin.Corpus) -> lmkin.Corpus:
    return lmkin.Corpus([s for s in sample if 4 <= len(s) <= 9][:24], name="short")


def run(models: Any, corpus: lmkin.Corpus, folder: Path | None = None, **options: Any) -> Any:
    return lmkin.attention_similarity(
        models, corpus, measures=MEASURES, parts=4, batch_tokens=20, workspace=folder, **options
    )


def assert_same(found: Any, expected: Any) -> None:
    assert set(found) == set(expected)
    for name in ("js", "pearson", "norm", "ckasim", "sink_share"):
        assert found[name].values == pytest.approx(expected[name].values, abs=1e-5, nan_ok=True)
    for name in ("js_se", "ckasim_se"):
        assert found[name].values == pytest.approx(expected[name].values, abs=1e-4, nan_ok=True)
    assert found.attrs["counts"] == expected.attrs["counts"]
    assert found.attrs["parts"] == expected.attrs["parts"]
    assert found.attrs["alerts"] == expected.attrs["alerts"]


def counted(patch: pytest.MonkeyPatch, model: Any, stop_after: int = 10**9) -> list[int]:
    """Sentences that a model reads; at some number it is killed."""
    forward, read = model.forward, [0]

    def watched(ids: Any, types: Any, **options: Any) -> Any:
        read[0] += len(ids)
        if read[0] > stop_after:
            raise KilledError
        return forward(ids, types, **options)

    patch.setattr(model, "forward", watched)
    return read


def test_goes_on_after_a_kill(models: Any, corpus: lmkin.Corpus, tmp_path: Path) -> None:
    expected = run(models, corpus)
    with pytest.MonkeyPatch.context() as patch:
        counted(patch, models[0], stop_after=18)
        with pytest.raises(KilledError):
            run(models, corpus, tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        read = counted(patch, models[0])
        assert_same(run(models, corpus, tmp_path), expected)
    assert 0 < read[0] < len(corpus)


def test_other_numbers_are_not_taken_for_these(
    models: Any, corpus: lmkin.Corpus, tmp_path: Path
) -> None:
    run(models, corpus, tmp_path)
    vowels = str.maketrans("aeiou", "eioua")
    other = lmkin.Corpus([replace(s, text=s.text.translate(vowels), words=()) for s in corpus])
    assert_same(run(models, other, tmp_path), run(models, other))
    run(models, corpus, tmp_path)
    assert_same(run(models[:1], corpus, tmp_path), run(models[:1], corpus))
    assert_same(run(models, corpus, tmp_path, layers="1"), run(models, corpus, layers="1"))


def test_damaged_files_are_made_again(models: Any, corpus: lmkin.Corpus, tmp_path: Path) -> None:
    expected = run(models, corpus, tmp_path)
    for number, file in enumerate(sorted(p for p in tmp_path.rglob("*") if p.is_file())):
        if number % 3 == 0:
            file.write_bytes(file.read_bytes()[:40])
    assert_same(run(models, corpus, tmp_path), expected)


def test_arrays_are_read_again(tmp_path: Path) -> None:
    """Others of the same shape are not those that were compared before."""
    first, second = ({"a/1": random_layer(s, 2), "b/1": random_layer(s + 1, 2)} for s in (1, 5))
    lmkin.attention_similarity(first, measures="js", parts=3, workspace=tmp_path).matrix()
    found = lmkin.attention_similarity(second, measures="js", parts=3, workspace=tmp_path).matrix()
    assert (
        found.values == lmkin.attention_similarity(second, measures="js", parts=3).matrix().values
    ).all()
