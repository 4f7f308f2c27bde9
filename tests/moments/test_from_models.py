"""`lmkin.moments` of models, of activations and of arrays: the same rows, so the same sums."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import lmkin
from lmkin.core import LayerId
from lmkin.rows import row_source
from lmkin.rows.parts import parts_of_units


@pytest.fixture(scope="module")
def bert(model_folder: Any) -> lmkin.LanguageModel:
    return lmkin.load_model(model_folder("bert"), name="bert")


@pytest.fixture(scope="module")
def gpt2(model_folder: Any) -> lmkin.LanguageModel:
    """A decoder: it loses the first word of a sentence, which sees nothing."""
    return lmkin.load_model(model_folder("gpt2"), name="gpt2")


def rows_of(*activations: lmkin.Activations) -> dict[LayerId, np.ndarray]:
    return {
        LayerId(a.name, n): np.asarray(a.layer(n), np.float64)
        for a in activations
        for n in a.layers
    }


def assert_same(moments: lmkin.Moments, rows: dict[LayerId, np.ndarray]) -> None:
    assert moments.n == len(next(iter(rows.values())))
    assert list(moments.groups) == list(rows)
    for a, X in rows.items():
        for b, Y in rows.items():
            S = np.cov(X.T, Y.T)
            d = X.shape[1]
            size = np.sqrt(np.outer(np.diag(S)[:d], np.diag(S)[d:]))
            # Batches of another make-up round float32 activations otherwise.
            assert (np.abs(moments.cov(a, b) - S[:d, d:]) <= 1e-5 * size).all()


@pytest.mark.parametrize("batch_tokens", [None, 64])
def test_models_equal_their_activations(
    bert: Any, sample: lmkin.Corpus, batch_tokens: int | None
) -> None:
    corpus = sample[:60]
    moments = lmkin.compute_moments([bert], corpus, parts=5, batch_tokens=batch_tokens)
    acts = lmkin.extract(bert, corpus)
    assert_same(moments, rows_of(acts))
    part, _ = parts_of_units(acts.units, 5)
    assert moments.part_sizes == dict(enumerate(np.bincount(part).tolist()))
    for number in range(5):
        for group, X in rows_of(acts).items():
            place = moments.layout.find(group)
            found = moments.snapshot(without=number).mean(place)
            assert found == pytest.approx(X[part != number].mean(0), abs=1e-5)
    assert_same(lmkin.compute_moments([acts]), rows_of(acts))
    assert_same(lmkin.compute_moments(rows_of(acts)), rows_of(acts))
    assert moments.info["units_hash"] == acts.units.hash


def test_words_that_one_model_loses_are_left_out_of_all(
    bert: Any, gpt2: Any, sample: lmkin.Corpus
) -> None:
    corpus = sample[:50]
    full = [lmkin.extract(m, corpus) for m in (bert, gpt2)]
    assert len(full[0]) > len(full[1])
    kept = lmkin.common_units(*full)
    moments = lmkin.compute_moments([bert, gpt2], corpus)
    assert_same(moments, rows_of(*kept))
    assert_same(lmkin.compute_moments(full), rows_of(*kept))
    missing = len(full[0]) - len(kept[0])
    assert moments.info["dropped"] == {"bert": missing}
    assert "gpt2" in moments.info["lost"]
    result = lmkin.similarity([bert, gpt2], measures="ckasim", neurons="raw", corpus=corpus)
    assert result.attrs["n"] == len(kept[0])
    said = [a for a in map(str, result.alerts) if a.startswith("dropped")]
    assert len(said) == 1
    assert f"gpt2 lacks {missing:,} (the first token of a decoder)" in said[0]


def test_all_routes_give_the_same(bert: Any, gpt2: Any, sample: lmkin.Corpus) -> None:
    corpus = sample[:30]
    models = [bert, gpt2, bert]
    tables = [
        lmkin.similarity(
            models, measures="ckasim", neurons="raw", corpus=corpus, route=route, intervals=False
        ).matrix()
        for route in ("joint", "pairs")
    ]
    assert tables[0].x.values.tolist() == tables[1].x.values.tolist()
    assert "bert#2/0" in tables[0].x.values
    assert tables[1].values == pytest.approx(tables[0].values, abs=1e-5)
    stored = lmkin.similarity(
        [lmkin.extract(m, corpus) for m in models],
        measures="ckasim",
        neurons="raw",
        intervals=False,
    ).matrix()
    assert stored.values == pytest.approx(tables[0].values, abs=1e-5)
    same = tables[0].sel(x=["bert/0", "bert/1"], y=["bert#2/0", "bert#2/1"]).values
    assert np.diag(same) == pytest.approx(1, abs=1e-6)


def test_some_layers_and_sentences(bert: Any, sample: lmkin.Corpus) -> None:
    moments = lmkin.compute_moments([bert], sample[:20], layers=[0, 2], units="sentence", parts=0)
    acts = lmkin.extract(bert, sample[:20], layers=[0, 2], units="sentence")
    assert_same(moments, rows_of(acts))
    assert [g.layer for g in moments.groups] == [0, 2]
    assert moments.part_sizes == {}


def test_parts_of_ones_own(bert: Any, sample: lmkin.Corpus) -> None:
    n = len(lmkin.extract(bert, sample[:5]))
    labels = np.arange(n) % 3
    moments = lmkin.compute_moments([bert], sample[:5], parts=labels)
    assert moments.part_sizes == dict(enumerate(np.bincount(labels).tolist()))


def test_what_is_no_source(bert: Any, sample: lmkin.Corpus) -> None:
    acts = lmkin.extract(bert, sample[:2])
    with pytest.raises(lmkin.LmkinError, match="give a corpus"):
        lmkin.compute_moments(["some-model"])
    with pytest.raises(lmkin.LmkinError, match="bring their corpus"):
        lmkin.compute_moments([acts], sample[:2])
    for nothing in ([], 7, None):
        with pytest.raises(lmkin.LmkinError, match="Rows come from"):
            lmkin.compute_moments(nothing)


def test_stretches_that_end_inside_a_sentence(
    bert: Any, gpt2: Any, sample: lmkin.Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Long parts are read in stretches of so many rows, wherever sentences end."""
    monkeypatch.setattr("lmkin.rows.passes.CHUNK", 7)
    corpus = sample[:12]
    kept = lmkin.common_units(*(lmkin.extract(m, corpus) for m in (bert, gpt2)))
    assert_same(lmkin.compute_moments([bert, gpt2], corpus, parts=0), rows_of(*kept))


def test_long_sentences_in_windows(bert: Any, sample: lmkin.Corpus) -> None:
    """Pieces of a sentence that is read in windows are joined, whatever stretch they are in."""
    corpus = sample[:15]
    options: dict[str, Any] = {"max_length": 8, "overlap": 2}
    acts = lmkin.extract(bert, corpus, **options)
    assert acts.manifest["units"]["losses"]["sentences_in_windows"] > 0
    labels = np.arange(len(acts)) // 5
    assert_same(lmkin.compute_moments([bert], corpus, parts=labels, **options), rows_of(acts))


def test_progress_counts_every_row_once(
    bert: Any, gpt2: Any, sample: lmkin.Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A chunk that ends inside a sentence reads all of it; windows read some rows again: neither is progress."""
    monkeypatch.setattr("lmkin.rows.passes.CHUNK", 7)
    rows = row_source([bert, gpt2], sample[:12], parts=1, max_length=8, overlap=2)
    steps: list[int] = []
    for _ in rows.chunks(advance=steps.append):
        pass
    assert min(steps) >= 0
    assert sum(steps) == 2 * rows.n
